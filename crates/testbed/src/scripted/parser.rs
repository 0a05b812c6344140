//! A small JSON parser in Rust, and its bugs.

use crate::{
    call::{agent, edit, read, run, search, todos, write},
    scenario::{Level, Scenario},
};

pub(crate) const FILES: &[&str] = &[
    "Cargo.toml",
    "README.md",
    "src/lib.rs",
    "src/escape.rs",
    "src/value.rs",
    "tests/suite.rs",
    "benches/large.rs",
];

const ESCAPE: &str = "/// Reads the character after a backslash.\npub fn escaped(byte: u8) -> Option<char> {\n    Some(match byte {\n        b'n' => '\\n',\n        b't' => '\\t',\n        b'\"' => '\"',\n        b'\\\\' => '\\\\',\n        _ => return None,\n    })\n}\n";
const LIB: &str = "mod escape;\nmod value;\n\npub use value::Value;\n\npub fn parse(text: &str) -> Result<Value, Error> {\n    let mut parser = Parser { bytes: text.as_bytes(), at: 0 };\n    let value = parser.value()?;\n    parser.end().map(|()| value)\n}\n\nimpl Parser<'_> {\n    fn value(&mut self) -> Result<Value, Error> {\n        match self.peek() {\n            Some(b'[') => self.list(),\n            Some(b'{') => self.object(),\n            _ => self.scalar(),\n        }\n    }\n}\n";

pub(crate) fn escapes() -> Scenario {
    Scenario::titled("Support all string escapes")
        .ask_with("@src/escape.rs misses some escapes of the JSON grammar. Which ones?", &[("src/escape.rs", ESCAPE)])
        .say("Four of the eight short ones, and the long one:\n\n| escape | meaning | handled |\n|---|---|---|\n| `\\n` `\\t` `\\\"` `\\\\` | | yes |\n| `\\r` | carriage return | **no** |\n| `\\b` | backspace | **no** |\n| `\\f` | form feed | **no** |\n| `\\/` | slash | **no** |\n| `\\uXXXX` | any UTF-16 unit | **no** |")
        .thinking("Comparing with the grammar", "RFC 8259 section 7 lists eight two-character escapes and \\u with four digits.")
        .ask("Add the short ones.")
        .act("", [edit("src/escape.rs", ESCAPE, ("        b't' => '\\t',\n", "        b't' => '\\t',\n        b'r' => '\\r',\n        b'b' => '\\u{8}',\n        b'f' => '\\u{c}',\n        b'/' => '/',\n"), "Handle the four missing short escapes.")])
        .act("", [run("cargo test -q", "Run the test suite", "running 41 tests\n.........................................\ntest result: ok. 41 passed; 0 failed; 0 ignored\n", 0)])
        .say("All short escapes are in; 41 tests pass. `\\u` is left for another day, because surrogate pairs need some thought.")
}

pub(crate) fn deep_nesting() -> Scenario {
    let inner = Scenario::new()
        .act(
            "",
            [search(
                "fn (list|object|value)",
                &[
                    ("src/lib.rs", 14, "    fn value(&mut self) -> Result<Value, Error> {"),
                    ("src/lib.rs", 31, "    fn list(&mut self) -> Result<Value, Error> {"),
                    ("src/lib.rs", 52, "    fn object(&mut self) -> Result<Value, Error> {"),
                ],
            )],
        )
        .thinking(
            "Mapping the calls",
            "value calls list and object, which call value again: plain recursion without a limit.",
        )
        .act("", [read("src/lib.rs", LIB)]);
    Scenario::titled("Stop deeply nested input from overflowing the stack")
        .ask("A fuzzer found that 100,000 opening brackets crash the parser. Find out why before you change anything.")
        .act("", [
            run("python3 -c \"print('[' * 100000)\" | cargo run -q --example read", "Reproduce the crash", "thread 'main' has overflowed its stack\nfatal runtime error: stack overflow, aborting\nAborted (core dumped)\n", 134),
            agent("codebase_investigator", "Why does deeply nested input overflow the stack?", "Parser::value, ::list and ::object call each other without counting the depth.", inner),
        ])
        .thinking("Reproducing first", "I want to see the crash with my own eyes, then have the call graph drawn.")
        .say("`value` → `list` → `value` → … : every bracket is one more stack frame, about **230 bytes** each, and nothing counts them.\n\nTwo ways out:\n\n1. **A depth limit** (128, as `serde_json` has it): ten lines, an error instead of a crash.\n2. **An explicit stack**: no limit, but the parser is rewritten.")
        .ask("Rewrite it with an explicit stack.")
        .act("I begin with the frame type.", [todos(&[("Frame type", "in_progress"), ("Loop instead of recursion", "pending"), ("Same tests pass", "pending"), ("Benchmark", "pending")]), write("src/frame.rs", "/// What is open around the value being read.\npub enum Frame {\n    List(Vec<Value>),\n    Object(Map, String),\n}\n")])
        .act("", [run("cargo bench --bench large", "Compare the speed", "large/recursive   time: [18.2 ms 18.4 ms 18.7 ms]\nlarge/stack       time: [24.9 ms 25.3 ms 25.8 ms]\n", 0)])
        .say("It works, but it is **37 % slower** on the large file (25.3 ms against 18.4 ms).")
        .rewind(1)
        .ask("Then take the depth limit. 128 is fine.")
        .act("", [edit("src/lib.rs", LIB, ("        match self.peek() {\n", "        if self.depth > LIMIT {\n            return Err(Error::TooDeep { at: self.at });\n        }\n        match self.peek() {\n"), "Refuse input nested deeper than the limit.")])
        .act("", [run("cargo test -q && cargo bench --bench large -- --quick", "Test and measure", "test result: ok. 43 passed; 0 failed; 0 ignored\nlarge/recursive   time: [18.3 ms 18.4 ms 18.6 ms]\n", 0)])
        .say("`Error::TooDeep` with the byte offset, 43 tests pass, and the time is unchanged: 18.4 ms.")
}

pub(crate) fn surrogates() -> Scenario {
    Scenario::titled("Decode \\u escapes and lone surrogates")
        .ask("Now the \\u escapes. What do we do with a lone surrogate such as \\ud83d?")
        .say("Rust's `char` cannot hold one, so there are three choices:\n\n1. **Refuse** the text. Strict, but other writers do produce them.\n2. **Replace** it by U+FFFD `�`. Loses the exact value, keeps the rest.\n3. **Keep** the raw units beside the string. Exact, and costs an enum.\n\nI would take 2, and note where it happened.")
        .thinking("Weighing the choices", "JavaScript's JSON.stringify escapes lone surrogates, so they occur in practice: cut emoji, mostly.")
        .ask("Take 2. Pairs must become one character: \"\\ud83c\\udf4e\" is 🍎")
        .act("", [read("src/escape.rs", ESCAPE), search("escaped\\(", &[("src/value.rs", 77, "                let character = escape::escaped(self.next()?)?;")])])
        .act("Pairs first.", [write("src/unicode.rs", "/// Joins a high and a low surrogate; anything else becomes U+FFFD.\npub fn join(high: u16, low: Option<u16>) -> char {\n    let units = [Some(high), low];\n    char::decode_utf16(units.into_iter().flatten())\n        .next()\n        .and_then(Result::ok)\n        .unwrap_or(char::REPLACEMENT_CHARACTER)\n}\n"), run("cargo test -q unicode", "Run the new tests", "running 5 tests\n..F..\nfailures:\n    unicode::tests::a_low_one_first_is_replaced\ntest result: FAILED. 4 passed; 1 failed\n", 101)])
        .thinking("A lone low one", "decode_utf16 gives an error for it as well, so the fallback should do; unless the caller never gets there.")
        .act("", [run("cargo test -q unicode -- --nocapture", "See the failure", "thread 'unicode::tests::a_low_one_first_is_replaced' panicked:\nleft: '\\u{dc00}' is not a char\n", 101)])
        .say("The test itself was wrong: it built the expected value with `char::from_u32(0xdc00).unwrap()`, which can never work. With `'\\u{fffd}'` it passes.")
        .compress("<state_snapshot>\n<overall_goal>Decode \\u escapes in tinyparse.</overall_goal>\n<key_knowledge>\n- Lone surrogates become U+FFFD.\n- src/unicode.rs joins pairs; 5 tests pass.\n- The depth limit is 128.\n</key_knowledge>\n<current_plan>\n1. [DONE] Join pairs\n2. [TODO] Report the byte offset of a replaced surrogate\n</current_plan>\n</state_snapshot>")
        .ask("Go on with the offsets.")
        .act("", [edit("src/value.rs", "    replaced: usize,\n", ("    replaced: usize,\n", "    /// Byte offsets of surrogates that were replaced.\n    replaced: Vec<usize>,\n"), "Keep the offsets instead of a count.")])
        .notice(Level::Warning, "⚠️  Response truncated due to token limits.")
        .say("`Parsed::replaced` now lists the byte offsets:\n\n```rust\nassert_eq!(parse(r#\"\"a\\ud83d b\"\"#)?.replaced, [2]);\n```")
        .model("gemini-3.1-pro-preview")
}
