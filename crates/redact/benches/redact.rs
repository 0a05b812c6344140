//! Measures scanning: of ordinary text, and of text with many findings.

#![expect(clippy::unwrap_used, reason = "a benchmark may fail by panic")]

use divan::{Bencher, black_box, counter::BytesCount};
use recount_redact::{Redactor, Rules, Tags};

fn main() {
    divan::main();
}

const LENGTH: usize = 4 << 20;

/// Typical session text, repeated.
fn repeated(text: &str) -> String {
    text.repeat(LENGTH / text.len() + 1)
}

fn prose() -> String {
    repeated(include_str!("../../../ARCHITECTURE.md"))
}

fn code() -> String {
    repeated(include_str!("../src/scan/value.rs"))
}

fn json() -> String {
    repeated(include_str!("../../../e2e/package-lock.json"))
}

/// One very long line.
fn minified() -> String {
    code().replace(['\n', ' '], "")
}

fn secrets() -> String {
    let key: String =
        ('A'..='Z').zip('0'..='9').flat_map(|(a, b)| [a, b, 'x']).chain("Ab3dE".chars()).collect();
    repeated(&format!(
        "{}\nGEMINI_KEY=AIza{key} by ada@lovelace.org in /home/ada/code\n",
        "an ordinary line\n".repeat(50)
    ))
}

fn find(bencher: Bencher<'_, '_>, rules: Rules, text: &str) {
    let redactor = Redactor::new(rules).unwrap();
    bencher.counter(BytesCount::of_str(text)).bench(|| redactor.find(black_box(text)));
}

#[divan::bench]
fn find_in_prose(bencher: Bencher<'_, '_>) {
    find(bencher, Rules::default(), &prose());
}

#[divan::bench]
fn find_in_code(bencher: Bencher<'_, '_>) {
    find(bencher, Rules::default(), &code());
}

#[divan::bench]
fn find_in_json(bencher: Bencher<'_, '_>) {
    find(bencher, Rules::default(), &json());
}

#[divan::bench]
fn find_in_one_line(bencher: Bencher<'_, '_>) {
    find(bencher, Rules::default(), &minified());
}

#[divan::bench]
fn find_all_kinds_in_code(bencher: Bencher<'_, '_>) {
    find(bencher, Rules::all(), &code());
}

#[divan::bench]
fn redact_secrets(bencher: Bencher<'_, '_>) {
    let redactor = Redactor::new(Rules::default()).unwrap();
    let (text, tags) = (secrets(), Tags::new(&[1; 32]));
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| redactor.redact(black_box(&text), &tags).len());
}
