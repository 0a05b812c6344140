//! Writes HTML. Markup is known at compile time; everything from a session is escaped text.
//!
//! [`HtmlWriter::mark`] takes only static text, so that session text cannot be passed to it by mistake.

use std::io::{self, Write};

use crate::text::{Bidi, may_override, push_visible, shortened, single_line, visible};

/// Bytes per step: without branches, many are compared at a time.
const BLOCK: usize = 32;

/// Writes HTML to an output.
pub(super) struct HtmlWriter<'a> {
    out: &'a mut dyn Write,
    bidi: Bidi,
}

impl<'a> HtmlWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Write, bidi: Bidi) -> Self {
        Self { out, bidi }
    }

    /// Writes trusted markup.
    pub(super) fn mark(&mut self, markup: &'static str) -> io::Result<()> {
        self.out.write_all(markup.as_bytes())
    }

    /// Writes text unchanged, with its line breaks.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        match self.bidi {
            Bidi::Kept if !may_override(text) => write_text(self.out, text),
            Bidi::Kept => write_text(self.out, &visible(text, Bidi::Kept)),
            Bidi::Shown => write_text(self.out, &visible(text, Bidi::Shown)),
        }
    }

    /// Writes text on one line, in at most `most` characters, with its text direction isolated.
    pub(super) fn line(&mut self, text: &str, most: usize) -> io::Result<()> {
        let line = single_line(start(text, most), self.bidi);
        self.mark("<bdi>")?;
        write_text(self.out, &shortened(&line, most))?;
        self.mark("</bdi>")
    }

    /// Writes a number.
    pub(super) fn number(&mut self, number: u64) -> io::Result<()> {
        write!(self.out, "{number}")
    }

    /// Writes an attribute with a static name.
    pub(super) fn attribute(&mut self, name: &'static str, value: &str) -> io::Result<()> {
        write!(self.out, " {name}=\"")?;
        for (number, part) in single_line(value, self.bidi).split('"').enumerate() {
            if number > 0 {
                self.mark("&quot;")?;
            }
            write_text(self.out, part)?;
        }
        self.mark("\"")
    }

    /// Writes an attribute with a number after a static prefix.
    pub(super) fn numbered(
        &mut self,
        name: &'static str,
        prefix: &'static str,
        number: u64,
    ) -> io::Result<()> {
        write!(self.out, " {name}=\"{prefix}{number}\"")
    }
}

/// Returns as much of a text as may be needed for `most` characters on a line, without reading all of a large text.
fn start(text: &str, most: usize) -> &str {
    let trimmed = text.trim_start();
    // White space may be dropped on the way.
    let enough = trimmed.char_indices().nth(most.saturating_mul(4).saturating_add(1));
    enough.and_then(|(at, _)| trimmed.get(..at)).unwrap_or(trimmed)
}

/// Writes text with markup escaped and control characters made visible.
fn write_text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let mut rest = text;
    while let Some(at) = next_special(rest.as_bytes()) {
        // The special bytes are first bytes of characters.
        let (plain, special) = rest.split_at(at);
        out.write_all(plain.as_bytes())?;
        let mut characters = special.chars();
        match characters.next() {
            Some('&') => out.write_all(b"&amp;")?,
            Some('<') => out.write_all(b"&lt;")?,
            Some('>') => out.write_all(b"&gt;")?,
            Some('\r') if characters.as_str().starts_with('\n') => {}
            Some(character) if character.is_control() => {
                let mut shown = String::new();
                push_visible(&mut shown, character);
                out.write_all(shown.as_bytes())?;
            }
            Some(character) => write!(out, "{character}")?,
            None => {}
        }
        rest = characters.as_str();
    }
    out.write_all(rest.as_bytes())
}

/// Returns the position of the next byte that may begin something special.
fn next_special(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    for block in bytes.chunks(BLOCK) {
        if block.iter().fold(0, |any, &byte| any | special(byte)) > 0 {
            return block.iter().position(|&byte| special(byte) > 0).map(|at| from + at);
        }
        from += block.len();
    }
    None
}

/// Returns 1 for a special byte. Without a branch, as it is called for every byte.
fn special(byte: u8) -> u8 {
    let is = |other: u8| u8::from(byte == other);
    let control = u8::from(byte < 0x20) & (1 ^ is(b'\n') ^ is(b'\t'));
    // 0xc2 begins the controls from U+0080 on.
    control | is(b'&') | is(b'<') | is(b'>') | is(0x7f) | is(0xc2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn on_paper(bidi: Bidi, write: impl FnOnce(&mut HtmlWriter<'_>) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut HtmlWriter::new(&mut out, bidi)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_is_only_text() {
        for (text, written) in [
            ("<b> & \"c\"", "&lt;b&gt; &amp; \"c\""),
            ("a\0\u{85}©\r\nb\r", "a␀\\x85©\nb␍"),
            ("&lt;", "&amp;lt;"),
        ] {
            assert_eq!(on_paper(Bidi::Kept, |html| html.text(text)), written);
        }
        assert_eq!(on_paper(Bidi::Shown, |html| html.text("a\u{202e}")), "a&lt;U+202E&gt;");
    }

    #[test]
    fn an_attribute_cannot_be_closed_by_its_value() {
        let written = on_paper(Bidi::Kept, |html| html.attribute("href", "\" onclick=\"x\n'>"));
        assert_eq!(written, " href=\"&quot; onclick=&quot;x '&gt;\"");
    }

    #[test]
    fn a_line_is_short_whatever_it_is_made_of() {
        let written = on_paper(Bidi::Kept, |html| html.line(&"ab \n".repeat(1_000_000), 5));
        assert_eq!(written, "<bdi>ab a…</bdi>");
    }

    proptest! {
        #[test]
        fn the_quick_way_is_the_right_way(text in "(?s)[<>&a\\x00-\\x1f\\x7f-\\xff]{0,100}") {
            let written = on_paper(Bidi::Kept, |html| html.text(&text));
            let shown = visible(&text, Bidi::Kept);
            let expected = shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            prop_assert_eq!(written, expected);
        }
    }
}
