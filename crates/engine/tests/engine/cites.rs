//! Quotes of generated sessions, compared with what they cite: true ones, altered ones, ones that moved in their file, and ones that were deleted.
#![expect(clippy::disallowed_methods, reason = "the test changes session files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use recount_engine::{Cite, Engine, ListQuery, MessageCursor, Opened, Verdict, View, passages};
use recount_model::Message;
use recount_testbed::TestbedOptions;

use crate::engine;

/// Quotes of each kind.
const EACH: usize = 250;

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most.max(1)
    }
}

struct Quote {
    cite: Cite,
    words: Vec<String>,
    opened: Arc<Opened>,
}

fn opened(engine: &Engine) -> Vec<Arc<Opened>> {
    let listed = engine.list(&ListQuery::default(), &()).unwrap().sessions;
    let keys = listed.iter().filter(|facts| !facts.is_empty()).map(|facts| facts.key());
    keys.filter_map(|key| engine.open_key(&key, &()).ok()).map(Arc::new).collect()
}

fn messages(opened: &Arc<Opened>) -> Vec<Message> {
    let mut cursor = MessageCursor::new(Arc::clone(opened), View::Full);
    cursor.next_page(usize::MAX).into_iter().flatten().collect()
}

/// Takes quotes from messages: some words in a row of any text.
fn quotes(engine: &Engine, many: usize, numbers: &mut Numbers) -> Vec<Quote> {
    let sessions: Vec<_> = opened(engine).into_iter().map(|one| (messages(&one), one)).collect();
    let mut quotes = Vec::new();
    while quotes.len() < many {
        let (messages, opened) = &sessions[numbers.below(sessions.len())];
        let Some(message) = messages.get(numbers.below(messages.len())) else { continue };
        let texts = passages(message);
        let Some((_, text)) = texts.get(numbers.below(texts.len())) else { continue };
        let all: Vec<&str> = text.split_whitespace().collect();
        if all.len() < 5 {
            continue;
        }
        let length = 4 + numbers.below(9).min(all.len() - 4);
        let start = numbers.below(all.len() - length + 1);
        let words = all[start..start + length].iter().map(|word| (*word).to_owned()).collect();
        let cursor = MessageCursor::new(Arc::clone(opened), View::Full);
        let cite = cursor.cite(&message.place).unwrap();
        assert_eq!(cite.to_string().parse::<Cite>().unwrap(), cite);
        quotes.push(Quote { cite, words, opened: Arc::clone(opened) });
    }
    quotes
}

fn verdict(engine: &Engine, quote: &Quote) -> (Verdict, Option<Cite>) {
    let found = engine.verify(&quote.cite, &quote.words.join(" "), None, &()).unwrap();
    (found.verdict, found.found)
}

fn home(seed: u64) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let options = TestbedOptions {
        seed,
        projects: 4,
        sessions: 40,
        megabytes: 2.0,
        ..TestbedOptions::default()
    };
    recount_testbed::generate(&home.path().join("home"), &options, &mut |_, _| {}).unwrap();
    home
}

fn at(home: &Path) -> Engine {
    engine(&home.join("home"), None)
}

#[test]
fn true_quotes_are_verified_and_altered_ones_never_are() {
    let home = home(7);
    let engine = at(home.path());
    let mut numbers = Numbers(1);
    for quote in quotes(&engine, EACH, &mut numbers) {
        let (found, cite) = verdict(&engine, &quote);
        assert_eq!(found, Verdict::Verified, "{} {:?}", quote.cite, quote.words);
        assert_eq!(cite.as_ref(), Some(&quote.cite));
    }
    for mut quote in quotes(&engine, EACH, &mut numbers) {
        let at = numbers.below(quote.words.len());
        quote.words[at] = format!("altered{at}");
        let (found, _) = verdict(&engine, &quote);
        let is_near = |only: &[String]| only.contains(&format!("altered{at}"));
        let is_right = match &found {
            Verdict::Near { only_quoted, .. } => is_near(only_quoted),
            Verdict::NotThere => true,
            _ => false,
        };
        assert!(is_right, "{} {:?}: {found:?}", quote.cite, quote.words);
    }
}

/// Shifts everything after the first record of a file.
fn shift(path: &str) {
    let bytes = fs::read(path).unwrap();
    let at = bytes.iter().position(|byte| *byte == b'\n').map_or(1, |end| end + 1);
    let space: &[u8] = if at == 1 { b"  " } else { b"\n\n" };
    let mut moved = bytes[..at].to_vec();
    moved.extend_from_slice(space);
    moved.extend_from_slice(&bytes[at..]);
    fs::write(path, moved).unwrap();
}

#[test]
fn quotes_that_moved_are_found_again() {
    let home = home(8);
    let engine = at(home.path());
    let quotes = quotes(&engine, EACH, &mut Numbers(2));
    let files: BTreeSet<String> = quotes
        .iter()
        .flat_map(|quote| quote.opened.facts.files.iter().map(|file| file.path.clone()))
        .collect();
    for file in files
        .iter()
        .filter(|file| Path::new(file.as_str()).extension().is_none_or(|name| name != "zst"))
    {
        shift(file);
    }
    let engine = at(home.path());
    let mut again = 0;
    for quote in quotes {
        let (found, cite) = verdict(&engine, &quote);
        let cite = cite.unwrap_or_else(|| panic!("{} {:?}: {found:?}", quote.cite, quote.words));
        match found {
            Verdict::Changed => again += 1,
            // The first record of a file did not move.
            Verdict::Verified => assert_eq!(cite, quote.cite),
            other => panic!("{} {:?}: {other:?}", quote.cite, quote.words),
        }
        let (found, _) = verdict(&engine, &Quote { cite, ..quote });
        assert_eq!(found, Verdict::Verified);
    }
    assert!(again > EACH * 3 / 4, "{again}");
}

#[test]
fn quotes_whose_session_or_message_was_deleted_are_gone() {
    let home = home(9);
    let engine = at(home.path());
    let quotes = quotes(&engine, EACH, &mut Numbers(3));
    // Half of the sessions are deleted, of the others the cited messages are emptied.
    let mut cited: Vec<(&str, u64, u64)> = Vec::new();
    let is_deleted =
        |opened: &Opened| opened.facts.id.as_str().bytes().map(usize::from).sum::<usize>() % 2 == 0;
    let all: Vec<Vec<Message>> = quotes.iter().map(|quote| messages(&quote.opened)).collect();
    for (quote, messages) in quotes.iter().zip(&all) {
        if is_deleted(&quote.opened) {
            for file in &quote.opened.facts.files {
                let _gone_already = fs::remove_file(&file.path);
            }
        } else {
            let place = &messages[quote.cite.message - 1].place;
            cited.push((&place.file, place.offset, place.bytes));
        }
    }
    for (file, offset, bytes) in cited {
        let Ok(mut text) = fs::read(file) else { continue };
        let range = usize::try_from(offset).unwrap()..usize::try_from(offset + bytes).unwrap();
        // Letters become others, so that lengths and quotation marks stay.
        for byte in text[range].iter_mut().filter(|byte| byte.is_ascii_lowercase()) {
            *byte = b'q';
        }
        fs::write(file, text).unwrap();
    }
    let engine = at(home.path());
    let mut gone = 0;
    for quote in &quotes {
        let (found, cite) = verdict(&engine, quote);
        match found {
            Verdict::Gone => gone += 1,
            // A copy in another directory has the same bytes at the same place.
            Verdict::Verified => assert!(quote.opened.facts.files.len() > 1, "{}", quote.cite),
            // The same words are in another message of the session, or in another file of it.
            Verdict::Changed => {
                let (again, _) = verdict(
                    &engine,
                    &Quote {
                        cite: cite.unwrap(),
                        words: quote.words.clone(),
                        opened: Arc::clone(&quote.opened),
                    },
                );
                assert_eq!(again, Verdict::Verified, "{} {:?}", quote.cite, quote.words);
            }
            other => panic!("{} {:?}: {other:?}", quote.cite, quote.words),
        }
    }
    assert!(gone > EACH / 2, "{gone}");
}

#[test]
fn what_is_no_cite_is_refused() {
    for text in [
        "",
        "r1",
        "r1:a:0:1+2:ffff",
        "r1:a:1:1+2:fffff",
        "r1:a:1:1-2:ffff",
        "r1:a:1:1+2:ffff:x",
        "a/b:1",
        "a:x",
        ":1",
    ] {
        assert!(text.parse::<Cite>().is_err(), "{text}");
    }
    assert!("r1:279d2ba9:14:646744+4457:9f3c".parse::<Cite>().is_ok());
    assert!("279d2ba9:14".parse::<Cite>().is_ok());
}
