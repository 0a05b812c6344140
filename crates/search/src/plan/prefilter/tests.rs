//! Tests that every match passes, in any spelling.

use std::fmt::Write as _;

use jiff::Zoned;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use recount_model::{Fate, MessageKind};
use unicode_normalization::char::decompose_canonical;

use super::needle::{is_dense_form, is_never_plain, is_plain_lead};
use crate::token::{Spelling, fold_dense, is_dense, spelling};
use crate::{Document, MessageTexts, QueryPlan, SearchQuery};

fn plan(query: &str) -> QueryPlan {
    SearchQuery::parse(query).unwrap().plan(&Zoned::default(), &mut |_| vec![])
}

fn may_hold(query: &str, bytes: &str) -> bool {
    plan(query).prefilter().is_none_or(|filter| filter.may_hold(bytes.as_bytes()))
}

#[test]
fn words_are_found_in_any_spelling() {
    for (query, bytes, want) in [
        ("legacyrecord", r#""parse legacy_record""#, true),
        ("legacyrecord", r#""parseLEGACYRecord""#, true),
        ("legacy_record", r#""a legacy, a record""#, true),
        ("legacy_record", r#""a legacy, a rec-ord""#, true),
        ("legacyrecord", r#""legacy record""#, false),
        ("legacyrecord", r#""legacy\u005frecord""#, true),
        ("ecole", r#""École""#, true),
        ("ecole", r#""\u00c9cole""#, true),
        ("ecole", r#""E\u0301cole""#, true),
        ("ecole", r#""\u0065\u0063ole""#, true),
        ("ecole", r#""ｅｃｏｌｅ""#, true),
        ("u00e9", r#""\\u00e9cole""#, true),
        ("strasse", r#""Straße""#, true),
        ("file", r#""the ﬁle""#, true),
        ("xylograph", r#""nxylograph""#, true),
        ("xylograph", r#""\nxylograph""#, true),
        ("xylograph", r#"[{"text":"a xylo"},{"text":"graph"}]"#, true),
        ("xylograph", "[{\"text\": \"a xylo\"\n  },\n  {\n  \"text\" : \"graph\"}]", true),
        ("xylograph", r#"["a xylo","graph"]"#, true),
        ("xylograph", r#"{"xylo":"graph"}"#, false),
        ("xylograph", r#"{"a":"xylo","b":"graph"}"#, false),
        ("xylo graph", r#""graph""#, false),
        ("xylo OR graph", r#""graph""#, true),
        ("xylo NOT graph", r#""xylo graph""#, true),
        ("xylo kind:prompt", r#""graph""#, false),
        ("/xylo-[0-9]+/", r#""xylo""#, true),
        ("/xylo-[0-9]+/", r#""graph""#, false),
        ("xylo*", r#""xylograph""#, true),
        ("会话恢复", r#""新会话恢复""#, true),
        ("会话恢复", r#""新会话已恢""#, false),
        ("会话", r#""\u4f1a\u8bdd""#, true),
        ("会话", r#""会\u200b话""#, true),
        ("会话", r#"[{"text":"会"},{"text":"话"}]"#, true),
        ("会话", r#""会 话""#, false),
        ("ガ", r#""ｶﾞ""#, true),
        ("한국", r#""ᄒ""#, true),
        ("привет", r#""ПРИВЕТ""#, true),
        ("привет", r#""\u041f\u0440ивет""#, true),
        ("привет", r#""пока""#, false),
        ("हिन्दी", r#""हिन्दी""#, true),
    ] {
        assert_eq!(may_hold(query, bytes), want, "{query} in {bytes}");
    }
}

#[test]
fn questions_without_words_let_everything_through() {
    for query in ["kind:prompt", "colour~", "/a.b/", "-xylo", "x", "xylo OR kind:prompt"] {
        assert!(plan(query).prefilter().is_none(), "{query}");
    }
}

#[test]
fn every_form_of_an_ascii_letter_is_checked() {
    let mut folded = String::new();
    for character in (0x80..=0x10_ffff).filter_map(char::from_u32) {
        if spelling(character, &mut folded) == Spelling::Letters
            && folded.contains(|c: char| c.is_ascii())
        {
            assert!(!is_never_plain(character.into()), "{character:?}");
            assert!(is_plain_lead(character.to_string().as_bytes()[0]), "{character:?}");
        }
    }
}

#[test]
fn every_form_of_a_dense_character_is_checked() {
    for character in (0x80..=0x10_ffff).filter_map(char::from_u32).filter(|c| is_dense(*c)) {
        let mut folded = Vec::new();
        fold_dense(character, &mut folded);
        for letter in folded.into_iter().filter(|letter| *letter != character) {
            assert!(is_dense_form(character, letter), "{character:?}");
        }
        let mut pieces = Vec::new();
        decompose_canonical(character, |piece| pieces.push(piece));
        let mut joined = Vec::new();
        for piece in &pieces {
            fold_dense(*piece, &mut joined);
        }
        if pieces.len() > 1 && joined == [character] {
            assert!(pieces.iter().any(|piece| is_dense_form(*piece, character)), "{character:?}");
        }
    }
}

const PIECES: [&str; 34] = [
    "parse",
    "legacy",
    "Record",
    "legacyRecord",
    "legacy_record",
    "tax.js",
    "sha256",
    "HTTPServer2",
    "École",
    "e\u{301}",
    "ecole",
    "ß",
    "ﬁ",
    "ｆｉ",
    "½",
    "会话",
    "恢复",
    "会",
    "ガ",
    "ｶﾞ",
    "か\u{3099}",
    "한국",
    "\u{1112}\u{1161}\u{11ab}",
    "привет",
    "ПРИВЕТ",
    "ёлка",
    "हिन्दी",
    "2026-09-02T08",
    "\u{200d}",
    "\u{ad}",
    "x",
    "ss",
    "Ⅻ",
    "𝐱𝐲",
];

fn text() -> impl Strategy<Value = String> {
    let glue = select(
        &[" ", " ", ", ", "-", "_", "__", ".", "/", "\n", "\"", "\\", "\\u00e9", "", "", ""][..],
    );
    vec((select(&PIECES[..]), glue), 0..8)
        .prop_map(|parts| parts.into_iter().flat_map(|(word, glue)| [word, glue]).collect())
}

fn query() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        text().prop_map(|text| format!("\"{}\"", text.replace(['"', '\n'], " "))),
        text().prop_map(|text| text.replace(['"', '\n', '\\', ' '], "")),
        select(&PIECES[..]).prop_map(str::to_owned),
        select(&PIECES[..]).prop_map(|word| format!("{word}*")),
        select(&["/legacy.?record/i", "/ecole/", "/(?i)skip|x/", "/\\bparse/", "kind:prompt"][..])
            .prop_map(str::to_owned),
    ];
    vec((select(&["", "OR ", "NOT ", "AND "][..]), leaf), 1..4).prop_map(|terms| {
        terms.into_iter().flat_map(|(glue, leaf)| [glue.to_owned(), leaf, " ".to_owned()]).collect()
    })
}

/// Returns the text as JSON: plain, with everything escaped that is not ASCII, and in parts.
fn written(text: &str, cut: usize) -> [String; 3] {
    let quoted = |text: &str| {
        let mut out = String::from("\"");
        for character in text.chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                _ => out.push(character),
            }
        }
        out + "\""
    };
    let plain = quoted(text);
    let mut escaped = String::new();
    for character in plain.chars() {
        if character.is_ascii() {
            escaped.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(escaped, "\\u{unit:04x}").unwrap();
            }
        }
    }
    let cut = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let parts =
        format!("[{{\"text\":{}}},{{\"text\":{}}}]", quoted(&text[..cut]), quoted(&text[cut..]));
    [plain, escaped, parts]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn what_holds_is_let_through(text in text(), queries in vec(query(), 8), cut in 0_usize..60, case in any::<bool>()) {
        let text = if case { text.to_uppercase() } else { text };
        let document = Document {
            session: 0, message: 0, file: 0, offset: 0, bytes: 0, line: 0, time: None,
            kind: MessageKind::Prompt, fate: Fate::Kept, model: None, tools: &[], is_error: false,
            text: MessageTexts { prompt: &text, ..MessageTexts::default() },
        };
        for query in &queries {
            let Ok(parsed) = SearchQuery::parse(query) else { continue };
            let plan = parsed.plan(&Zoned::default(), &mut |_| vec![]);
            let Some(filter) = plan.prefilter() else { continue };
            if plan.holds(&document) {
                for written in written(&text, cut) {
                    let written = format!("{:cut$}{written}{:80}", "", "");
                    prop_assert!(filter.may_hold(written.as_bytes()), "{query} in {written}");
                }
            }
        }
    }
}
