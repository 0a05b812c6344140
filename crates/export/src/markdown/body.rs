//! Embeds the text of a message in a page: it stays Markdown, but cannot affect anything outside of its message.
//!
//! Three things could: a fence that is never closed, a tag that hides or closes something else (`</details>`, `<!--`), and
//! the end of a comment. Tags are not needed to read a conversation, so every `<` that could begin one is escaped, except
//! in code, where it is only a character. Where it is uncertain what is code, it is not treated as code.
//!
//! Images are loaded by whoever opens the page, and a link may run a script. By default images become links, and links to
//! anything but the web and to other parts of the page become text.

use crate::options::LinkPolicy;
use crate::text::{Bidi, visible};

/// Returns the text for the top level of a page.
pub(super) fn contained(text: &str, bidi: Bidi, links: LinkPolicy) -> String {
    let text = visible(text.trim_end(), bidi);
    let mut guard = Guard::new(links);
    let mut safe = String::with_capacity(text.len() + 16);
    for line in text.lines() {
        guard.line(line, &mut safe);
        safe.push('\n');
    }
    match guard.fence {
        _ if guard.is_lost => quoted(&escaped(&text, links), bidi, links),
        // It may be in a list, where a fence of ours would not close it.
        Some(fence) if fence.indent > 0 => quoted(&text, bidi, links),
        Some(fence) => {
            safe.extend(std::iter::repeat_n(fence.mark, fence.length));
            safe.push('\n');
            safe
        }
        None => safe,
    }
}

/// Returns the text as a quotation, which closes everything left open in it.
pub(super) fn quoted(text: &str, bidi: Bidi, links: LinkPolicy) -> String {
    let text = visible(text.trim_end(), bidi);
    let mut guard = Guard::new(links);
    let mut safe = String::with_capacity(text.len() + 16);
    for line in text.lines() {
        let start = safe.len();
        guard.line(line, &mut safe);
        safe.insert_str(start, if line.is_empty() { ">" } else { "> " });
        safe.push('\n');
    }
    if guard.is_lost {
        safe.clear();
        for line in text.lines() {
            safe.push_str("> ");
            escape(line, links, &mut safe);
            safe.push('\n');
        }
    }
    safe
}

fn escaped(text: &str, links: LinkPolicy) -> String {
    text.lines().fold(String::with_capacity(text.len()), |mut page, line| {
        escape(line, links, &mut page);
        page.push('\n');
        page
    })
}

/// An open fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

impl Fence {
    /// Whether it is a fence only within a list: elsewhere, it is indented too far.
    fn is_deep(self) -> bool {
        self.indent >= DEEP
    }
}

/// From this indentation on, a line is not a fence at the top level.
const DEEP: usize = 4;

/// Tracks which lines of a text are code.
#[derive(Debug)]
struct Guard {
    links: LinkPolicy,
    fence: Option<Fence>,
    /// Whether the start or end of a fence depends on lists, quotations or the reader: from there on, anything may be code
    /// or not.
    is_lost: bool,
    /// Whether a span of code may have begun on an earlier line of this paragraph.
    is_open: bool,
}

impl Guard {
    fn new(links: LinkPolicy) -> Self {
        Self { links, fence: None, is_lost: false, is_open: false }
    }

    fn line(&mut self, line: &str, safe: &mut String) {
        let words = line.trim_start_matches(' ');
        let indent = line.len() - words.len();
        if let Some(fence) = self.fence {
            self.inside(fence, words, indent);
            if fence.is_deep() {
                escape(line, self.links, safe);
            } else {
                safe.push_str(line);
            }
            return;
        }
        if let Some((mark, length)) = opens(words) {
            self.fence = Some(Fence { mark, length, indent });
            self.is_open = false;
            // The text after the fence names a language.
            escape(line, self.links, safe);
            return;
        }
        // In an item or a quotation of its own, or after a tab, whose width is undefined.
        let marks = |c: char| c.is_ascii_digit() || " \t>*+-.)".contains(c);
        self.is_lost |= opens(words.trim_start_matches(marks)).is_some();
        if is_blank(words) {
            self.is_open = false;
        }
        if self.is_open || is_doubtful(line) {
            self.is_open = !is_blank(words);
            escape(line, self.links, safe);
            return;
        }
        self.is_open = escape_outside_spans(line, self.links, safe);
    }

    /// Checks whether a line closes the fence.
    fn inside(&mut self, fence: Fence, words: &str, indent: usize) {
        let bare = words.trim_start_matches([' ', '\t']);
        let rest = bare.trim_start_matches(fence.mark);
        let is_end = bare.len() - rest.len() >= fence.length && is_blank(rest);
        // A list may have ended here, and the fence with it.
        self.is_lost |= !is_blank(words) && indent < fence.indent;
        if !is_end {
            return;
        }
        // Readers do not agree on tabs.
        self.is_lost |= bare.len() != words.len() || rest.contains('\t');
        let closes = if fence.is_deep() { indent == fence.indent } else { indent < DEEP };
        if closes {
            self.fence = None;
        } else {
            self.is_lost |= fence.indent > 0;
        }
    }
}

/// Returns the mark and length of the fence that a line opens.
fn opens(words: &str) -> Option<(char, usize)> {
    let mark = words.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = words.trim_start_matches(mark);
    let length = words.len() - rest.len();
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length))
}

/// Whether a line is blank in Markdown, which knows no other white space.
fn is_blank(line: &str) -> bool {
    line.trim_matches([' ', '\t']).is_empty()
}

/// Whether a link may contain backticks that then begin no code.
fn is_doubtful(line: &str) -> bool {
    let mut targets = line.split("](").skip(1);
    targets.any(|rest| {
        rest.split_once(')').is_none_or(|(target, _)| target.contains(['`', '"', '\'', '(', '<']))
    })
}

/// Escapes what may begin a tag, except in code spans that begin and end on this line. Returns whether a span may have
/// begun that continues.
fn escape_outside_spans(line: &str, links: LinkPolicy, safe: &mut String) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (before, ticks) = rest.split_at(at);
        escape(before, links, safe);
        let backslashes = before.len() - before.trim_end_matches('\\').len();
        if backslashes % 2 == 1 {
            safe.push('`');
            rest = ticks.get(1..).unwrap_or_default();
            continue;
        }
        let inside = ticks.trim_start_matches('`');
        let length = ticks.len() - inside.len();
        let Some(end) = span_end(inside, length) else {
            escape(ticks, links, safe);
            return true;
        };
        let (code, behind) = ticks.split_at(length + end);
        safe.push_str(code);
        rest = behind;
    }
    escape(rest, links, safe);
    false
}

/// Returns where a code span that was opened by `length` backticks ends, including its closing backticks.
fn span_end(inside: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        at += inside.get(at..)?.find('`')?;
        let ticks = inside.get(at..)?;
        let run = ticks.len() - ticks.trim_start_matches('`').len();
        at += run;
        if run == length {
            return Some(at);
        }
    }
}

/// Escapes every `<` that may begin a tag, a comment or a declaration, and disables images and links according to the
/// policy.
fn escape(text: &str, links: LinkPolicy, safe: &mut String) {
    let is_inert = links == LinkPolicy::Inert;
    let mut characters = text.char_indices().peekable();
    let mut backslashes = 0;
    let mut last = '\n';
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let begins = |next: char| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?');
        let target = || text.get(at + 1..).unwrap_or_default();
        // An escaped character must not lose its backslash to another.
        let is_active = match character {
            '<' => next.is_some_and(begins),
            '!' => is_inert && next == Some('['),
            '(' | ':' => is_inert && last == ']' && !is_harmless(target()),
            _ => false,
        };
        if is_active && backslashes % 2 == 0 {
            safe.push('\\');
        }
        backslashes = if character == '\\' { backslashes + 1 } else { 0 };
        last = character;
        safe.push(character);
    }
}

/// Whether the target of a link may be followed: a web address, or one without a scheme. Only the spelling counts;
/// ambiguous targets are not harmless.
fn is_harmless(target: &str) -> bool {
    let target = target.trim_start_matches([' ', '\t']);
    let begins = |scheme: &str| {
        target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if ["https://", "http://", "mailto:", "#"].into_iter().any(begins) {
        return true;
    }
    let end = target.find(['/', '?', '#', ')', ' ', '\t']).unwrap_or(target.len());
    let start = target.get(..end).unwrap_or_default();
    // Empty on this line, a scheme, or something that becomes one.
    !target.is_empty() && !target.starts_with("//") && !start.contains([':', '&', '\\', '<', '%'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        contained(text, Bidi::Kept, LinkPolicy::Inert)
    }

    #[test]
    fn plain_markdown_stays_as_it_is() {
        for text in [
            "# Title\n\n- one\n- *two*\n",
            "a < b && b > c, x<3\n",
            "```rust\nlet v: Vec<u8> = vec![];\n```\n",
            "Use `Vec<u8>` and ``a`<b>``.\n",
            "~~~\n<div>\n~~~\nend\n",
            "See [a](https://a.example/x?y#z), [b](src/lib.rs), [c](#top) and [d](mailto:a@b.example).\n",
            "`[a](javascript:x)`\n```\n![a](http://b)\n```\n",
            "[ref]: https://a.example/\n",
        ] {
            assert_eq!(shown(text), text, "{text}");
        }
    }

    #[test]
    fn tags_are_only_text() {
        for (text, written) in [
            ("</details>", "\\</details>\n"),
            ("a <!-- b", "a \\<!-- b\n"),
            ("\\<b>", "\\<b>\n"),
            ("\\\\<b>", "\\\\\\<b>\n"),
            ("`a` <i> `<b>", "`a` \\<i> `\\<b>\n"),
            ("\\`<b>`", "\\`\\<b>`\n"),
            // A span that may have begun on the line before.
            ("a ` b\n` <script> `", "a ` b\n` \\<script> `\n"),
            ("[a](b`c) ` x ` <script> `", "[a](b`c) ` x ` \\<script> `\n"),
        ] {
            assert_eq!(shown(text), written, "{text}");
        }
    }

    #[test]
    fn active_images_and_links_are_only_text() {
        for (text, written) in [
            ("[a](javascript:alert(1))", "[a]\\(javascript:alert(1))\n"),
            ("[a]( JaVaScRiPt:x)", "[a]\\( JaVaScRiPt:x)\n"),
            ("[a](java&#115;cript:x)", "[a]\\(java&#115;cript:x)\n"),
            ("[a](javascript\\:x)", "[a]\\(javascript\\:x)\n"),
            ("[a](\njavascript:x)", "[a]\\(\njavascript:x)\n"),
            (
                "[a](data:text/html,x) [b](vbscript:x) [c](file:///etc/passwd)",
                "[a]\\(data:text/html,x) [b]\\(vbscript:x) [c]\\(file:///etc/passwd)\n",
            ),
            ("[a](//evil.example/x)", "[a]\\(//evil.example/x)\n"),
            ("![a](https://evil.example/p.png)", "\\![a](https://evil.example/p.png)\n"),
            ("\\![a](b)", "\\![a](b)\n"),
            ("\\\\![a](b)", "\\\\\\![a](b)\n"),
            ("![a][r]\n\n[r]: javascript:x", "\\![a][r]\n\n[r]\\: javascript:x\n"),
            ("[r]:\njavascript:x", "[r]\\:\njavascript:x\n"),
            ("[a](<javascript:x>)", "[a]\\(\\<javascript:x>)\n"),
        ] {
            assert_eq!(shown(text), written, "{text}");
            let kept = contained(text, Bidi::Kept, LinkPolicy::Kept);
            assert_eq!(kept.replace("\\<", "<"), format!("{text}\n"), "{text}");
        }
    }

    #[test]
    fn bidi_controls_are_shown() {
        assert_eq!(shown("a\u{202E}b"), "a\\<U+202E>b\n");
    }

    #[test]
    fn a_fence_ends_with_its_message() {
        assert_eq!(shown("```js\nopen"), "```js\nopen\n```\n");
        assert_eq!(shown("~~~~\n```\n~~~"), "~~~~\n```\n~~~\n~~~~\n");
        // In a list, the end of the item ends it, or does not: a quotation ends it for certain.
        assert_eq!(shown("- a\n  ```\n<b>"), "> - a\n>   ```\n> \\<b>\n");
        let nested = "1. a\n\n    ```\n    x\n    ```\n\n2. b\n";
        assert_eq!(shown(nested), nested);
        assert_eq!(shown("- ```\n  x\n  ```\n  <b>"), "> - ```\n>   x\n>   ```\n>   \\<b>\n");
        assert_eq!(shown("* a\n  ~~~"), "> * a\n>   ~~~\n");
        assert_eq!(
            quoted("```\nopen\n\nx", Bidi::Kept, LinkPolicy::Inert),
            "> ```\n> open\n>\n> x\n"
        );
    }
}
