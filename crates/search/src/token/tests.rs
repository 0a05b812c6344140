//! Tests of texts and their tokens.

use super::scan::MAX_CHARACTERS;
use super::*;

/// Returns tokens as `text@position`, wholes in brackets.
fn tokens(text: &str) -> String {
    let mut scanner = Scanner::new(text);
    let mut shown = Vec::new();
    while let Some(token) = scanner.next() {
        assert!(text.is_char_boundary(token.start) && text.is_char_boundary(token.end));
        assert!(token.start <= token.end && token.end <= text.len());
        let Token { text, position, .. } = token;
        shown.push(match token.form {
            Form::Whole => format!("[{text}@{position}]"),
            Form::Cut => "CUT".to_owned(),
            _ => format!("{text}@{position}"),
        });
    }
    shown.join(" ")
}

#[test]
fn texts_give_their_words() {
    for (text, want) in [
        ("", ""),
        ("Hello, World!", "hello@0 world@1"),
        ("don't l'homme", "don@0 t@1 l@2 homme@3"),
        ("Crème BRÛLÉE Straße", "creme@0 brulee@1 strasse@2"),
        ("🙂 → 👩‍💻 €", ""),
        ("привет Ёлка", "привет@0 елка@1"),
        ("שָׁלוֹם عَرَبِيّ", "שלום@0 عربي@1"),
        ("हिन्दी भाषा", "हिन्दी@0 भाषा@1"),
        ("Ｆｕｌｌ ｗｉｄｔｈ", "full@0 width@1"),
        ("会话", "会话@0 话@1"),
        ("新会话已恢复。", "新会@0 会话@1 话已@2 已恢@3 恢复@4 复@5"),
        ("用Rust写", "用@0 rust@1 写@2"),
        ("セッション", "セッ@0 ッシ@1 ショ@2 ョン@3 ン@4"),
        ("ｾｯｼｮﾝ ガ カ\u{3099}", "セッ@0 ッシ@1 ショ@2 ョン@3 ン@4 ガ@5 ガ@6"),
        ("한국어 \u{1112}\u{1161}\u{11ab}국", "한국@0 국어@1 어@2 한국@3 국@4"),
        ("ไทย", "ไท@0 ทย@1 ย@2"),
    ] {
        assert_eq!(tokens(text), want, "{text}");
    }
}

#[test]
fn identifiers_come_whole_and_in_parts() {
    for (text, want) in [
        ("parseLegacyRecord", "parse@0 legacy@1 record@2 [parselegacyrecord@0]"),
        ("legacy_record", "legacy@0 record@1 [legacyrecord@0]"),
        ("__init__", "init@0"),
        ("foo__bar", "foo@0 bar@1 [foobar@0]"),
        ("--fake-responses", "fake@0 responses@1 [fakeresponses@0]"),
        ("session-2026-09-02T08-00", "session@0 2026@1 09@2 02@3 08@4 00@5"),
        ("HTTPServer2", "http@0 server@1 2@2 [httpserver2@0]"),
        ("HTTP2Server", "http2@0 server@1 [http2server@0]"),
        ("sha256 v2 i32 2fa", "sha@0 256@1 [sha256@0] v2@2 i32@3 2fa@4"),
        ("src/cart/tax.js", "src@0 cart@1 tax@2 js@3 [taxjs@2]"),
        (r"C:\Users\me", "c@0 users@1 me@2"),
        ("std::fs::read", "std@0 fs@1 read@2"),
        ("foo.barBaz()", "foo@0 bar@1 baz@2 [barbaz@1] [foobarbaz@0]"),
        ("ÉcoleHôtel", "ecole@0 hotel@1 [ecolehotel@0]"),
        ("end. Next", "end@0 next@1"),
        ("3.14", "3@0 14@1"),
        ("a..b a--b", "a@0 b@1 a@2 b@3"),
        ("URLs", "ur@0 ls@1 [urls@0]"),
        ("abc123f 3f2a91c0 DEADBEEF01", "abc123f@0 3f2a91c0@1 deadbeef01@2"),
        ("3f2a91c0-1234-4abc-9def-0123456789ab", "3f2a91c0@0 1234@1 4abc@2 9def@3 0123456789ab@4"),
    ] {
        assert_eq!(tokens(text), want, "{text}");
    }
}

#[test]
fn noise_is_dropped_or_cut_and_leaves_a_mark() {
    let commit = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
    assert_eq!(tokens(commit), format!("{commit}@0"));
    let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(tokens(hash), format!("{hash}@0"));
    let blob = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg== end";
    assert_eq!(tokens(blob), "end@0 CUT");
    assert_eq!(tokens("V1StGXR8Z5jdHi6B"), "v1stgxr8z5jdhi6b@0");
    let long = |length: usize| tokens(&"a".repeat(length));
    assert!(long(100_000).starts_with(&format!("{}\u{2}", "a".repeat(48))));
    assert!(long(100_000).ends_with("@0 CUT"));
    assert_ne!(long(100_000), long(100_001), "what is cut off still counts");
    assert!(tokens(&"aB".repeat(50_000)).len() < 100);
    assert!(tokens(&"é".repeat(70)).starts_with(&format!("{}\u{2}", "e".repeat(48))));
}

#[test]
fn nothing_follows_across_a_barrier() {
    assert_eq!(tokens("one\ntwo"), "one@0 two@1");
    assert_eq!(tokens("one\u{2029}two"), "one@0 two@2");
}

proptest::proptest! {
    #[test]
    fn any_text_gives_ordered_tokens(text in "\\PC{0,80}|[a-zA-Z0-9_.\\-T会话カﾞ한ไé\u{301}\u{200d} /]{0,60}") {
        tokens(&text);
        let mut scanner = Scanner::new(&text);
        let mut before = 0;
        while let Some(token) = scanner.next() {
            proptest::prop_assert!(!token.text.is_empty());
            proptest::prop_assert!(token.text.chars().count() <= MAX_CHARACTERS + 1 || token.form == Form::Whole);
            if token.form != Form::Whole {
                proptest::prop_assert!(token.position >= before);
                before = token.position;
            }
        }
    }
}
