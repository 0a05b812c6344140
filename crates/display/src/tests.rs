//! Guarantees of every renderer for any text: no panic, no line too wide, no byte a terminal obeys.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;

use super::canvas::{Canvas, Paint};
use super::columns::{self, Align, Column, Fit};
use super::span::StyledSpan;
use super::theme::Tone;
use super::width::width;
use super::{code, diff, markdown, plain};

/// Text in every position that a renderer treats specially.
const TEMPLATES: &[&str] = &[
    "@",
    "# @",
    "> @",
    "- @",
    "- [ ] @",
    "1. @",
    "*@*",
    "~~@~~",
    "`@`",
    "```@\ncode\n```",
    "```rust\n@\n```",
    "```diff\n-@\n+@\n```",
    "    @",
    "[text](@)",
    "[text](<@>)",
    "[text][ref]\n\n[ref]: @",
    "[@](https://example.org)",
    "![@](@ \"@\")",
    "<https://@>",
    "| @ | @ |\n|---|--:|\n| @ | @ |",
    "<div>@</div>",
    "a <b @> c",
    "@@ -1,2 +1,2 @@ @\n-@\n+@",
    "--- @\n+++ @",
];

const PLANTED: &[&str] = &[
    "\x1b]0;pwn\x07",
    "\u{9b}31m",
    "\x1b[2J\x1b[H",
    "\u{202E}evil\u{202C}",
    "\u{2066}x\u{2069}\u{200E}\u{200F}\u{061C}",
    "\x08\x08\x08\x7f\0",
    "over\rwritten\r\n",
    "&#27;[31m&#x9b;2J&#x202e;",
    "\u{2028}\u{2029}\u{85}\x0b\x0c",
    "\x1bP1$r\x1b\\\x1b_x\x1b\\",
];

const PIECES: &[&str] = &[
    "word ",
    " ",
    "\n",
    "\n\n",
    "\t",
    "会话",
    "。",
    "「",
    "한국어",
    "👩\u{200D}💻",
    "❤",
    "\u{FE0F}",
    "\u{200D}",
    "e\u{301}",
    "🇩",
    "🇪🇫",
    "\u{1100}",
    "\u{1161}",
    "\u{0600}",
    "क्षि",
    "لا",
    "\u{17D8}",
    "- ",
    "1. ",
    "999999999. ",
    "> ",
    "# ",
    "```",
    "```rust\n",
    "~~~",
    "|",
    "\n|---|:-:|\n",
    "| a | b |\n",
    "*",
    "**",
    "_",
    "~~",
    "`",
    "[",
    "](",
    ")",
    "<",
    ">",
    "&#27;",
    "\\",
    "'",
    "\"",
    "r#\"",
    "/*",
    "*/",
    "//",
    "#",
    "---",
    "+++ ",
    "@@ -1,2 +3 @@\n",
    "    ",
    "https://example.org/a/very/long/address?that=does&not=end",
    "<br>",
];

fn everything(text: &str, language: &str, canvas: &Canvas) -> String {
    let columns = [
        Column { heading: "ID", align: Align::Left, fit: Fit::Keep },
        Column { heading: "COUNT", align: Align::Right, fit: Fit::Drop(1) },
        Column { heading: "TITLE", align: Align::Left, fit: Fit::Flexible },
    ];
    let cell = || StyledSpan::new(text, Tone::Strong);
    [
        markdown::render(&recount_blocks::markdown(text), canvas),
        plain::render(text, Tone::Thought, canvas),
        code::render(text, language, canvas),
        diff::render(text, canvas),
        columns::render(&columns, &[vec![cell(), cell(), cell()], vec![cell()]], canvas),
    ]
    .concat()
}

fn assert_harmless(page: &str, columns: usize, paint: Paint) {
    let bare = match paint {
        Paint::On => without_our_escapes(page),
        Paint::Off => page.to_owned(),
    };
    for character in bare.chars().filter(|character| *character != '\n') {
        let is_bidi = matches!(character, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
            | '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{2028}' | '\u{2029}');
        assert!(!character.is_control() && !is_bidi, "{character:?} in {bare:?}");
    }
    for line in bare.lines() {
        assert!(width(line) <= columns, "{} > {columns}: {line:?}", width(line));
    }
}

/// Removes `ESC [ digits m` and nothing else.
fn without_our_escapes(page: &str) -> String {
    let mut parts = page.split("\x1b[");
    let mut bare = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        bare.push_str(rest.strip_prefix('m').expect("only colours are printed"));
    }
    bare
}

fn canvases(columns: usize) -> [(Canvas, Paint); 4] {
    [Paint::On, Paint::Off]
        .map(|paint| {
            let canvas = Canvas::new(columns, paint);
            [(canvas.indent(StyledSpan::new("│ ", Tone::Dim)), paint), (canvas, paint)]
        })
        .concat()
        .try_into()
        .expect("two canvases for each paint")
}

#[test]
fn planted_escapes_are_shown_and_never_obeyed() {
    for template in TEMPLATES {
        for planted in PLANTED {
            let text = template.replace('@', planted);
            for (canvas, paint) in canvases(30) {
                let page = everything(&text, planted, &canvas);
                assert_harmless(&page, 30, paint);
            }
        }
    }
}

fn nasty_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => select(PIECES).prop_map(str::to_owned),
        1 => select(PLANTED).prop_map(str::to_owned),
        2 => any::<String>(),
        1 => (select(PIECES), 1..80_usize).prop_map(|(piece, count)| piece.repeat(count)),
    ];
    prop_oneof![vec(piece, 0..30).prop_map(|pieces| pieces.concat()), any::<String>()]
}

proptest! {
    #[test]
    fn no_text_breaks_out(
        text in nasty_text(),
        language in prop_oneof![Just("rust".to_owned()), Just("diff".to_owned()), any::<String>()],
        columns in 20..120_usize,
    ) {
        for (canvas, paint) in canvases(columns) {
            assert_harmless(&everything(&text, &language, &canvas), columns, paint);
        }
    }

    #[test]
    fn paint_changes_no_line_of_code(text in nasty_text(), columns in 20..120_usize) {
        let painted = code::render(&text, "rust", &Canvas::new(columns, Paint::On));
        let plain = code::render(&text, "rust", &Canvas::new(columns, Paint::Off));
        assert_eq!(without_our_escapes(&painted), plain);
    }
}
