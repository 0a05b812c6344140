//! Secrets of many kinds in the places where people leave them. Measures the share that is found.
//!
//! No complete key is in this file: each is generated from a fixed sequence, so that no scanner reports this file as a
//! leak.

use recount_redact::{Redactor, Rules};

use crate::contexts::contexts;
use crate::support::tags;
use crate::table::{Dice, base64, is_left, json, kinds};

/// The percentage of kinds that must be found.
const LEAST: f64 = 97.0;

fn unicode(secret: &str) -> String {
    secret.chars().fold(String::new(), |text, c| text + &format!("\\u{:04x}", u32::from(c)))
}

fn percent(secret: &str) -> String {
    secret
        .bytes()
        .map(|b| {
            if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") }
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred")]
#[expect(clippy::print_stdout, reason = "the share is a figure that people ask for")]
fn check(form: &str, write: impl Fn(&str, &str) -> Option<(String, String)>) {
    let redactor = Redactor::new(Rules::default()).unwrap();
    let (mut count, mut missed) = (0, Vec::new());
    for (name, around, secret) in kinds(61).into_iter().chain(contexts(&mut Dice(61))) {
        let Some((text, secret)) = write(&around, &secret) else { continue };
        count += 1;
        let redacted = redactor.redact(&text, &tags());
        if is_left(&redacted, &secret) {
            missed.push(format!("{name}: {text:?} became {redacted:?}"));
        }
        assert_eq!(redactor.redact(&redacted, &tags()), redacted, "{name}");
    }
    let share = 100.0 * (count - missed.len()) as f64 / count as f64;
    println!("{form}: {} of {count} found", count - missed.len());
    assert!(share >= LEAST, "{form}: {share:.1} % of {count} kinds\n{}", missed.join("\n"));
}

#[test]
fn kinds_are_found_in_plain_text() {
    assert!(kinds(61).len() >= 200 && contexts(&mut Dice(61)).len() >= 190);
    check("plain text", |around, secret| Some((around.replace("{}", secret), secret.to_owned())));
}

#[test]
fn kinds_are_found_in_json() {
    check("JSON", |around, secret| Some((json(&around.replace("{}", secret)), secret.to_owned())));
    check("JSON in JSON", |around, secret| {
        Some((json(&json(&around.replace("{}", secret))), secret.to_owned()))
    });
}

#[test]
fn kinds_are_found_among_other_lines() {
    check("a page", |around, secret| {
        let text = around.replace("{}", secret);
        Some((
            format!("I ran this today:\n\n```sh\n{text}\n```\n\nand it worked."),
            secret.to_owned(),
        ))
    });
}

#[test]
fn kinds_are_found_between_colors() {
    check("colors", |around, secret| {
        let (head, tail) =
            secret.split_at(secret.char_indices().nth(secret.chars().count() / 2)?.0);
        let colored = format!("\u{1b}[32m{head}\u{1b}(B\u{1b}[m\u{1b}[1m{tail}\u{1b}[0m");
        (!secret.contains('\n')).then(|| (around.replace("{}", &colored), tail.to_owned()))
    });
}

#[test]
fn kinds_are_found_in_escapes() {
    check("\\u", |around, secret| {
        (!secret.contains('\n')).then(|| (around.replace("{}", &unicode(secret)), unicode(secret)))
    });
    check("%", |around, secret| {
        let encoded = percent(secret);
        (encoded != secret && !secret.contains(['\n', ' ']))
            .then(|| (around.replace("{}", &encoded), encoded.clone()))
    });
}

#[test]
fn long_kinds_are_found_when_broken_over_lines() {
    check("broken over lines", |around, secret| {
        let is_key = secret.len() >= 24
            && secret.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
        let (head, tail) = secret.split_at(secret.len() / 2);
        is_key.then(|| {
            (format!("{}\n", around.replace("{}", &format!("{head}\n{tail}"))), tail.to_owned())
        })
    });
}

#[test]
fn kinds_are_found_in_base64() {
    check("base64", |around, secret| {
        let encoded = base64(&around.replace("{}", secret));
        (encoded.len() >= 24).then(|| (format!("blob: {encoded}\n"), encoded.clone()))
    });
}
