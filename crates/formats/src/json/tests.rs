use proptest::prelude::*;

use super::*;

fn accepts(bytes: &[u8]) -> bool {
    let mut scanner = Scanner::new(bytes);
    scanner.skip().and_then(|()| scanner.end()).is_ok()
}

#[test]
fn it_accepts_what_json_parse_accepts() {
    for good in [
        r#"{"a":[1,2.5,-0,1e9,{"b":null}],"c":"\u00e9\n\"","d":true}"#,
        r#""lone \ud800 surrogate""#,
        r#"{"a":1,"a":2}"#,
        "  [ ]  ",
        "0",
        "-1.5E+3",
    ] {
        assert!(accepts(good.as_bytes()), "{good}");
    }
    assert!(accepts(b"\"\xff not utf-8\""));
}

#[test]
fn it_refuses_what_json_parse_refuses() {
    for bad in [
        "",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "'a'",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"a\nb\"",
        "\"tab\there\"",
        "nul",
        "truex",
        "[1 2]",
        "{\"a\" 1}",
        "]",
        "{}{}",
        "\u{feff}{}",
        "NaN",
        "\"open",
        "{1:2}",
    ] {
        assert!(!accepts(bad.as_bytes()), "{bad}");
    }
}

#[test]
fn counts_are_read_and_anything_else_is_left() {
    for (text, count) in [
        ("0,", Some(0)),
        (" 12}", Some(12)),
        ("9999999999999999999\n", Some(9_999_999_999_999_999_999)),
        ("99999999999999999999,", None),
        ("01,", None),
        ("1.5,", None),
        ("1e3,", None),
        ("-1,", None),
        ("12", None),
        ("\"1\",", None),
    ] {
        let mut scanner = Scanner::new(text.as_bytes());
        assert_eq!(scanner.count(), Ok(count), "{text}");
        let behind = if count.is_some() { text.len() - 1 } else { 0 };
        assert_eq!(scanner.offset(), behind, "{text}");
    }
    assert_eq!(Scanner::new(b"  ").count(), Err(ScanError::Incomplete));
}

#[test]
fn strings_end_where_they_end_whatever_their_length() {
    for length in 0..200 {
        for (inside, escaped) in [("x", false), ("\\n", true)] {
            let text = "y".repeat(length) + inside + &"z".repeat(length % 7);
            for behind in ["", ",", &" ".repeat(80)] {
                let written = format!("\"{text}\"{behind}");
                let mut scanner = Scanner::new(written.as_bytes());
                let read = scanner.string().unwrap();
                assert_eq!(read.raw(), text.as_bytes());
                assert_eq!(read.name().len() < text.len(), escaped);
                assert_eq!(scanner.offset(), text.len() + 2);
                let open = written.get(..text.len() + 1).unwrap_or_default();
                assert_eq!(Scanner::new(open.as_bytes()).string(), Err(ScanError::Incomplete));
            }
        }
        let broken = format!("\"{}\u{1}{}\"", "y".repeat(length), " ".repeat(80));
        assert_eq!(Scanner::new(broken.as_bytes()).string(), Err(ScanError::Syntax));
    }
}

#[test]
fn what_is_cut_is_incomplete_and_what_is_wrong_is_syntax() {
    let whole = br#"{"a":[1,"x\u00e9",{"b":nul"#;
    for end in 0..=whole.len() {
        assert_eq!(Scanner::new(&whole[..end]).skip(), Err(ScanError::Incomplete), "{end}");
    }
    assert_eq!(Scanner::new(b"{\"a\":x").skip(), Err(ScanError::Syntax));
}

#[test]
fn a_million_brackets_neither_overflow_nor_stall() {
    let deep = [vec![b'['; 1_000_000], vec![b']'; 1_000_000]].concat();
    assert!(accepts(&deep));
    let mixed = r#"{"a":["#.repeat(100_000) + &"]}".repeat(100_000);
    assert!(accepts(mixed.as_bytes()));
    assert!(!accepts((r#"{"a":["#.repeat(100_000) + &"}]".repeat(100_000)).as_bytes()));
    assert!(JsonTree::parse(&deep).is_ok());
}

#[test]
fn escapes_are_decoded() {
    let text = |json: &str| match JsonTree::parse(json.as_bytes()) {
        Ok(JsonTree::String(text)) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(text(r#""a\n\t\"\\\/\u0041""#), "a\n\t\"\\/A");
    assert_eq!(text(r#""\ud83d\ude00""#), "😀");
    assert_eq!(text(r#""\ud83d!\ude00""#), "\u{fffd}!\u{fffd}");
    assert_eq!(text(r#""\ud83d\u0041""#), "\u{fffd}A");
}

#[test]
fn the_last_of_equal_keys_wins() {
    let tree = JsonTree::parse(br#"{"a":1,"b":2,"a":"z"}"#).unwrap();
    assert_eq!(tree.text("a"), Some("z"));
    assert_eq!(tree.as_object().map(<[_]>::len), Some(2));
}

#[test]
fn compacting_keeps_strings_as_they_are() {
    assert_eq!(compact(b"{\n  \"a b\": [ 1,\t\" \\\" \" ]\n}"), r#"{"a b":[1," \" "]}"#);
}

/// `serde_json` refuses lone surrogates and depth over 128, which these values do not have.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".{0,40}".prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec((".{0,12}", inner), 0..6)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn long_strings_are_judged_like_short_ones(
        pieces in prop::collection::vec(
            prop::sample::select(vec!["a", "\\\\", "\\n", "\\\"", "\\u00e9", "\\x", "\n", "é", "0123456789abcdef", "\\"]),
            0..60,
        ),
    ) {
        let text = format!("\"{}\"", pieces.concat());
        let expected = serde_json::from_str::<String>(&text);
        prop_assert_eq!(accepts(text.as_bytes()), expected.is_ok(), "{}", text);
        // Not at the end of the input, so that whole blocks are used.
        let padded = format!("[{text}, \"{}\"]", "x".repeat(100));
        let expected = serde_json::from_str::<Vec<String>>(&padded);
        prop_assert_eq!(accepts(padded.as_bytes()), expected.is_ok(), "{}", padded);
    }

    #[test]
    fn it_agrees_with_serde_json_on_valid_text(value in any_json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.unwrap();
        prop_assert!(accepts(text.as_bytes()));
        let again: serde_json::Value = serde_json::from_str(&compact(text.as_bytes())).unwrap();
        let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(again, expected);
    }

    #[test]
    fn it_agrees_with_serde_json_on_damaged_text(
        value in any_json(),
        at in any::<prop::sample::Index>(),
        byte in prop::sample::select(b"{}[],:\"\\0x\n\t ".to_vec()),
    ) {
        let mut bytes = serde_json::to_vec(&value).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(text) = std::str::from_utf8(&bytes) {
            let expected = serde_json::from_str::<serde_json::Value>(text);
            // Numbers beyond the range of a double are fine for JavaScript.
            let range = expected.as_ref().err().is_some_and(|e| e.to_string().contains("out of range"));
            let lone = text.contains("\\u");
            prop_assert!(range || lone || accepts(&bytes) == expected.is_ok(), "{}", text);
        }
    }

    #[test]
    fn damaged_text_is_what_the_reference_parser_says(
        value in any_json(),
        at in any::<prop::sample::Index>(),
        patch in prop::collection::vec(prop::sample::select(b"{}[],:\"\\ud8e019-.x\n\x00\xff\xc3\xa9 ".to_vec()), 0..8),
    ) {
        let mut bytes = serde_json::to_vec(&value).unwrap();
        let at = at.index(bytes.len());
        bytes.splice(at..bytes.len().min(at + patch.len() / 2), patch);
        crate::fuzz::json(&bytes);
    }

    #[test]
    fn any_bytes_are_what_the_reference_parser_says(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        crate::fuzz::json(&bytes);
    }
}

#[test]
fn keys_of_every_length_end_at_their_quote() {
    for length in 0..80 {
        for (odd, is_valid) in
            [("", true), ("\\n", true), ("\\\"", true), ("é", true), ("\\x", false), ("\n", false)]
        {
            let key = format!("{}{odd}{}", "k".repeat(length / 2), "y".repeat(length - length / 2));
            // Near the end of the bytes there is no whole block.
            for after in ["", "                                                               "] {
                let text = format!("{{\"{key}\" :1}}{after}");
                let mut seen = Vec::new();
                let mut scanner = Scanner::new(text.as_bytes());
                let read = scanner.object(|scanner, key| {
                    seen.push(key);
                    scanner.skip()
                });
                assert_eq!(read.is_ok(), is_valid, "{text}");
                let raw = seen.first().map(|key| key.raw());
                assert_eq!(raw, is_valid.then_some(key.as_bytes()), "{text}");
                assert_eq!(Scanner::new(text.as_bytes()).skip().is_ok(), is_valid, "{text}");
            }
        }
    }
}
