//! Properties that hold for any text.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;
use recount_redact::{Redactor, Rules};

use crate::support::{Dice, HEX, PLAIN, tags};

fn strict() -> Redactor {
    let mut rules = Rules::all();
    rules.homes = vec!["/data/ada".into(), "D:\\ada".into()];
    rules.patterns = vec![
        ("ticket".into(), "[A-Z]+-[0-9]+".into()),
        ("word".into(), "secret is (\\w+)".into()),
        ("greedy".into(), "q.*p".into()),
    ];
    Redactor::new(rules).unwrap()
}

/// Pieces that mean something to one pass or another, combined at random.
#[expect(clippy::too_many_lines, reason = "a list of pieces")]
fn pieces() -> impl Strategy<Value = String> {
    let mut dice = Dice(3);
    let mut known: Vec<String> = [
        "password",
        "=",
        ": ",
        "\"",
        "\\\"",
        "'",
        "\\",
        "\\n",
        "\n",
        " ",
        "@",
        "ada",
        ".org",
        "://",
        "/",
        "/home/",
        "C:\\Users\\",
        "\u{1b}[31m",
        "\u{1b}",
        "[",
        "]",
        "\u{200b}",
        "\\u001b[0m",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "AIza",
        "eyJ",
        ".",
        "Bearer ",
        "Cookie: ",
        "AA",
        "12345678:",
        "é",
        "会",
        "Q-1",
        "[EMAIL-ABCDEFGH]",
        "[PATH-HOME]",
        "/data/ada",
        "secret is ",
        "qp",
        " --token ",
        " -u ",
        "%3D",
        ";",
        "+49 30 123456",
        "10.1.2.3",
        "::1",
        "fe80::1:2",
        "4111111111111111",
        "AKIA",
        "sk-",
        "ghp_",
        "<",
        ">",
        "token",
        "key",
        "\\u0041",
        "\\\\u0041",
        "%41",
        "&#65;",
        "&quot;",
        "$2b$12$",
        "mysql -p",
        "redis-cli -a ",
        "machine a login b password ",
        "variable \"db_password\" {",
        "default = ",
        "name: API_TOKEN",
        "value: ",
        "cGFzc3dvcmQ9aHVudGVyMg",
        "\u{1b}(B",
        "\u{1b}]8;;",
        "otpauth://a?secret=",
        ":5432:a:b:",
        "8Q~",
    ]
    .map(str::to_owned)
    .into();
    for length in [8, 20, 35, 36, 40, 43, 48] {
        known.push(dice.draw(PLAIN, length));
        known.push(dice.draw(HEX, length));
    }
    vec(prop_oneof![9 => prop::sample::select(known), 1 => any::<String>()], 0..24)
        .prop_map(|pieces| pieces.concat())
}

fn check(redactor: &Redactor, text: &str) -> Result<(), TestCaseError> {
    let found = redactor.find(text);
    let mut last = 0;
    for finding in &found {
        prop_assert!(finding.range.start >= last && finding.range.end > finding.range.start);
        prop_assert!(text.get(finding.range.clone()).is_some(), "{:?} {:?}", text, finding);
        last = finding.range.end;
    }
    let once = redactor.redact(text, &tags());
    prop_assert_eq!(matches!(once, Cow::Borrowed(_)), found.is_empty());
    let twice = redactor.redact(&once, &tags());
    prop_assert_eq!(&*twice, &*once, "{:?}", text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_redacted_once_and_for_all(text in any::<String>()) {
        check(&strict(), &text)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn telling_pieces_in_any_order_are_redacted_once_and_for_all(text in pieces()) {
        thread_local!(static STRICT: Redactor = strict());
        STRICT.with(|redactor| check(redactor, &text))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_string_of_json_stays_one(text in pieces()) {
        thread_local!(static ALL: Redactor = Redactor::new(Rules::all()).unwrap());
        let json = serde_json::to_string(&text).unwrap();
        let inside = json.get(1..json.len() - 1).unwrap();
        let redacted = ALL.with(|redactor| redactor.redact(inside, &tags()).into_owned());
        let read = serde_json::from_str::<String>(&format!("\"{redacted}\""));
        prop_assert!(read.is_ok(), "{} became {}", inside, redacted);
    }
}

/// Texts on which a careless scanner takes quadratic time.
#[test]
fn time_is_linear_in_the_text() {
    let redactor = strict();
    let mut dice = Dice(9);
    let plain = dice.draw(PLAIN, 3_000);
    for unit in [
        "a",
        "=",
        ":",
        "apikey=",
        "apikey=\"",
        "-eyJ",
        "eyJ",
        ".eyJ",
        "@",
        "a@a.",
        "://",
        "x://a:b",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAA",
        "\\",
        "\\u001b[",
        "\u{1b}[1",
        "\u{200b}",
        "AKIA",
        "AIza-",
        "/home/",
        "/home/a",
        "Cookie: a=",
        "Cookie: a=b; ",
        "Bearer ",
        "authorization: ",
        "1",
        "1.",
        "1:",
        "+1 ",
        " -u ",
        " --token ",
        "sk-",
        "MMMM.",
        "[",
        "[A-",
        "password: ",
        "password ",
        "password('",
        "token', '",
        " -p",
        "mysql -p",
        "$",
        "$6$",
        "value: ",
        "name value=",
        "{ value: ",
        "\\u0041",
        "%41",
        "&#65;",
        "aB3dE5fG\n",
        "cGFzc3dvcmQ9aHVudGVyMg\n",
        "cGFzc3dvcmQ9aHVudGVyMg/",
        ":1234",
        ":*",
        "pass:",
        "echo chpasswd",
        "htpasswd -b ",
        "Private-Lines: 1",
        "otpauth://",
        "@tcp(",
        "Q~",
        "{SHA}",
        &plain,
    ] {
        let text = unit.repeat(250_000 / unit.len());
        let start = Instant::now();
        let found = redactor.find(&text).len();
        let spent = start.elapsed();
        assert!(
            spent < Duration::from_secs(20),
            "{:?} took {spent:?} with {found} found",
            unit.get(..20).unwrap_or(unit)
        );
    }
}
