//! Tests of the rules that a caller can set.

use std::borrow::Cow;

use recount_redact::{RedactionReport, Redactor, RuleError, Rules, SecretKind};

use crate::support::{Dice, PLAIN, URL, tags};

#[test]
fn a_home_is_replaced_as_a_whole_in_every_spelling() {
    let rules =
        Rules { homes: vec!["/data/ada/".into(), "D:\\People\\Ada".into()], ..Rules::default() };
    let redactor = Redactor::new(rules).unwrap();
    for (text, redacted) in [
        ("cd /data/ada/code", "cd [PATH-HOME]/code"),
        ("/data/ada", "[PATH-HOME]"),
        ("/data/adam", "/data/adam"),
        ("-data-ada-code", "[PATH-HOME]-code"),
        ("D:\\People\\Ada\\x", "[PATH-HOME]\\x"),
        ("D:\\\\People\\\\Ada\\\\x", "[PATH-HOME]\\\\x"),
        ("d D:/People/Ada/x", "d [PATH-HOME]/x"),
        ("projects\\D--People-Ada-x", "projects\\[PATH-HOME]-x"),
    ] {
        assert_eq!(redactor.redact(text, &tags()), redacted);
    }
}

#[test]
fn a_name_with_a_dot_is_replaced_in_folder_names_without_dots() {
    let rules = Rules { homes: vec!["/home/ada.love_lace".into()], ..Rules::default() };
    let redactor = Redactor::new(rules).unwrap();
    for (text, redacted) in [
        (
            "~/.claude/projects/-home-ada-love-lace-code-shop/1.jsonl",
            "~/.claude/projects/[PATH-HOME]-code-shop/1.jsonl",
        ),
        ("/home/ada.love_lace/code", "[PATH-HOME]/code"),
        ("-home-ada-love-laced", "-home-ada-love-laced"),
    ] {
        assert_eq!(redactor.redact(text, &tags()), redacted);
    }
}

#[test]
fn only_the_name_in_a_path_is_replaced() {
    let redactor = Redactor::new(Rules::default()).unwrap();
    let text = redactor.redact("/home/ada/code/src/main.rs:12", &tags()).into_owned();
    assert!(text.starts_with("/home/[USER-") && text.ends_with("]/code/src/main.rs:12"), "{text}");
}

#[test]
fn patterns_find_their_first_group_or_all() {
    let patterns =
        vec![("ticket".into(), "SHOP-[0-9]+".into()), ("host".into(), "host (\\w+)".into())];
    let redactor = Redactor::new(Rules { patterns, ..Rules::default() }).unwrap();
    let text = redactor.redact("see SHOP-12 on host vulcan", &tags()).into_owned();
    assert!(text.starts_with("see [OWN-TICKET-") && text.contains(" on host [OWN-HOST-"), "{text}");
    assert_eq!(redactor.name(SecretKind::Own(1)), "host");
    assert_eq!(redactor.name(SecretKind::Email), "email");
}

#[test]
fn invalid_rules_are_reported() {
    let with = |name: &str, pattern: &str| {
        Redactor::new(Rules { patterns: vec![(name.into(), pattern.into())], ..Rules::default() })
            .map(|_| ())
    };
    assert!(matches!(with("a", "("), Err(RuleError::Pattern { .. })));
    assert!(matches!(with("a", "(\\w{500}){500}"), Err(RuleError::Pattern { .. })));
    assert!(matches!(with("a b", "x"), Err(RuleError::Name { .. })));
    assert_eq!(with("a", "x"), Ok(()));
    let homes = Redactor::new(Rules { homes: vec!["/".into()], ..Rules::default() }).map(|_| ());
    assert_eq!(homes, Err(RuleError::Home { home: "/".into() }));
}

#[test]
fn allowed_text_is_kept_and_disabled_kinds_are_not_found() {
    let rules = Rules { allow: vec!["@shop.dev".into(), "hunter2".into()], ..Rules::default() };
    let redactor = Redactor::new(rules).unwrap();
    let text = "ada@shop.dev password=hunter2";
    assert!(matches!(redactor.redact(text, &tags()), Cow::Borrowed(_)));
    let mut rules = Rules::default();
    rules.kinds.remove(&SecretKind::Email);
    assert!(Redactor::new(rules).unwrap().find("ada@shop.dev").is_empty());
}

#[test]
fn numbers_are_found_when_asked_for() {
    let redactor = Redactor::new(Rules::all()).unwrap();
    for (text, kind) in [
        ("from 203.0.113.7:443", Some(SecretKind::IpAddress)),
        ("at 2001:db8::7", Some(SecretKind::IpAddress)),
        ("127.0.0.1", None),
        ("version 1.2.3", None),
        ("12:30:45", None),
        ("call +49 30 1234567", Some(SecretKind::Phone)),
        ("call (555) 123-4567", Some(SecretKind::Phone)),
        ("card 4111 1111 1111 1111", Some(SecretKind::Card)),
        ("card 4111 1111 1111 1112", None),
        ("2025-11-02 10:15", None),
    ] {
        assert_eq!(redactor.find(text).first().map(|found| found.kind), kind, "{text}");
    }
}

#[test]
fn a_report_has_counts_and_no_secrets() {
    let mut dice = Dice(2);
    let secret = dice.draw(URL, 35);
    let word = dice.draw(PLAIN, 24);
    let redactor = Redactor::new(Rules::default()).unwrap();
    let mut report = RedactionReport::new();
    let text = format!("AIza{secret} and API_TOKEN={word}");
    let redacted = redactor.redact_noting(&text, &tags(), "a.json:3", &mut report);
    assert_eq!(redacted.matches('[').count(), 2);
    let shown = format!("{report:?}");
    assert!(shown.contains("AIza") && shown.contains("a.json:3"), "{shown}");
    assert!(!shown.contains(&secret[..3]) && !shown.contains(&word[..3]), "{shown}");
}

#[test]
fn the_same_secret_has_the_same_tag_everywhere() {
    let redactor = Redactor::new(Rules::default()).unwrap();
    let key = format!("AIza{}", Dice(4).draw(URL, 35));
    let tag = |text: &str| redactor.redact(text, &tags()).into_owned();
    let alone = tag(&key);
    assert_eq!(tag(&format!("\"apiKey\": \"{key}\"")), format!("\"apiKey\": \"{alone}\""));
    assert_eq!(tag(&format!("{key} {key}")), format!("{alone} {alone}"));
}
