use proptest::prelude::*;

use super::filter::{FilterMaker, may_have};
use super::{Pair, Recorder, recorder, word_hash};
use crate::token::{Form, Scanner};

/// Returns the filter of a text, and its words with their positions.
fn recorded(text: &str) -> (Vec<u8>, Vec<(String, u32)>) {
    let mut words = Vec::new();
    let mut recorder = Recorder::default();
    let mut scanner = Scanner::new(text);
    while let Some(token) = scanner.next() {
        recorder.see(&token, word_hash(token.text));
        if token.form != Form::Cut {
            words.push((token.text.to_owned(), token.position));
        }
    }
    recorder.finish();
    let mut filter = Vec::new();
    recorder::with_pairs(|pairs| FilterMaker::default().append(pairs, &mut filter));
    (filter, words)
}

fn has_all_neighbours(text: &str) {
    let (filter, words) = recorded(text);
    for (first, at) in &words {
        for (second, _) in words.iter().filter(|(_, next)| *next == at + 1) {
            assert!(may_have(&filter, &[Pair::of(first, second)]), "{first} {second} in {text}");
        }
    }
}

#[test]
fn identifiers_are_neighbours_whole_and_in_parts() {
    for text in [
        "a parseLegacyRecord b",
        "x a_fooBar.bazQux-1 y_z",
        "会话记录 of 会话 x",
        "2026-09-02T08:15 server2.log",
        "fooBar\u{2029}bazQux",
        "a_\u{301}_b c",
    ] {
        has_all_neighbours(text);
    }
}

#[test]
fn words_apart_are_not_neighbours() {
    let words: Vec<String> = (0..2000).map(|number| format!("w{number}x")).collect();
    let (filter, _) = recorded(&words.join(" "));
    let apart = words.iter().zip(words.iter().skip(2));
    let wrong = apart.filter(|(one, two)| may_have(&filter, &[Pair::of(one, two)])).count();
    assert!(wrong < 80, "{wrong} of 1998");
    // Eight bits per pair.
    assert!(filter.len() < 2200, "{} bytes", filter.len());
}

#[test]
fn a_repeated_pair_takes_no_space() {
    let (once, _) = recorded("one two three four");
    let (often, _) = recorded(&"one two three four ".repeat(1000));
    assert!(often.len() <= once.len() + 8, "{} bytes", often.len());
}

#[test]
fn the_format_on_disk_is_stable() {
    // A change of these numbers changes the index format: raise the version in its schema.
    assert_eq!(Pair::of("rate", "limit"), Pair(2_928_103_865));
    let (filter, _) = recorded("the rate limit of the queue");
    assert_eq!(filter, [192, 192, 24, 66, 37, 56, 50, 4]);
}

#[test]
fn without_a_filter_any_pair_is_possible() {
    assert!(may_have(&[], &[Pair::of("a", "b")]));
}

proptest! {
    #[test]
    fn no_neighbours_are_missed(text in "([a-zA-Z0-9会话é_.\u{2029}-]{0,12}[ /\n]){0,40}") {
        has_all_neighbours(&text);
    }
}
