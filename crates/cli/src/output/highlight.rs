//! Colours for code, by a small lexer that knows comments, literals and words of many languages.
//!
//! It is no parser and does not try: a reader needs to see at a glance what is comment, text and keyword.
//! A grammar engine (syntect with the syntaxes of bat) was measured and left out: it loads in 2 ms but
//! compiles its expressions at first use, which took 30 ms for Rust and 300 ms for TypeScript, more than
//! everything else together, and backtracks on foreign text. This one is linear and needs no start-up.

use super::languages::{Language, Quote, find};
use super::span::Span;
use super::theme::Tone;

/// What is longer than this is shown without colours.
const MAX_BYTES: usize = 64 * 1024;

/// Returns the lines of the code in coloured spans.
///
/// The language is the label of a fence or the extension of a file; if it is unknown, or the code is too
/// long, each line is one plain span.
pub(crate) fn highlight(code: &str, language: &str) -> Vec<Vec<Span>> {
    let tokens = match find(language) {
        Some(language) if code.len() <= MAX_BYTES => tokens(code, language),
        _ => vec![(code, Tone::Plain)],
    };
    let mut lines = vec![Vec::new()];
    for (text, tone) in tokens {
        for (index, part) in text.split('\n').enumerate() {
            if index > 0 {
                lines.push(Vec::new());
            }
            if let Some(line) = lines.last_mut()
                && !part.is_empty()
            {
                line.push(Span::new(part, tone));
            }
        }
    }
    if lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

fn tokens<'a>(code: &'a str, language: &Language) -> Vec<(&'a str, Tone)> {
    let mut tokens = Vec::new();
    let mut rest = code;
    let mut before = ' ';
    while !rest.is_empty() {
        let (length, tone) = next_token(rest, language, before);
        let (token, after) = rest.split_at(length);
        before = token.chars().next_back().unwrap_or(before);
        tokens.push((token, tone));
        rest = after;
    }
    tokens
}

/// Returns how many bytes the next token has, at least one character, and its tone.
fn next_token(rest: &str, language: &Language, before: char) -> (usize, Tone) {
    if let Some(length) = comment(rest, language, before) {
        return (length, Tone::Comment);
    }
    if let Some((length, tone)) = language.quotes.iter().find_map(|quote| quoted(rest, quote)) {
        let is_key = language.has_keys && starts_value(rest.get(length..).unwrap_or_default());
        return (length, if is_key { Tone::Name } else { tone });
    }
    for mark in language.word_marks {
        if let Some(length) = rest.strip_prefix(mark).map(|word| run(word, is_word))
            && length > 0
        {
            return (mark.len() + length, Tone::Name);
        }
    }
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() {
        return (run(rest, |character| is_word(character) || character == '.'), Tone::Constant);
    }
    if is_word(first) {
        let joins = |character| is_word(character) || (language.has_keys && character == '-');
        let (word, after) = rest.split_at(run(rest, joins));
        return (word.len(), word_tone(word, after, language));
    }
    (first.len_utf8(), Tone::Plain)
}

fn word_tone(word: &str, after: &str, language: &Language) -> Tone {
    let is_keyword = |keyword: &&str| {
        *keyword == word || (language.ignores_case && keyword.eq_ignore_ascii_case(word))
    };
    if language.keywords.iter().any(|list| list.split(' ').any(|keyword| is_keyword(&keyword))) {
        Tone::Keyword
    } else if matches!(
        word,
        "true" | "false" | "null" | "nil" | "None" | "True" | "False" | "undefined" | "NULL"
    ) {
        Tone::Constant
    } else if (language.has_keys && starts_value(after))
        || (language.has_types && word.starts_with(char::is_uppercase))
    {
        Tone::Name
    } else {
        Tone::Plain
    }
}

/// Whether what follows a word or string makes that word a key.
fn starts_value(after: &str) -> bool {
    after.trim_start_matches(' ').starts_with([':', '='])
}

fn comment(rest: &str, language: &Language, before: char) -> Option<usize> {
    for (open, close) in language.block_comments {
        if let Some(inside) = rest.strip_prefix(open) {
            let end = inside.find(close).map(|at| open.len() + at + close.len());
            return Some(end.unwrap_or(rest.len()));
        }
    }
    // `#` within a word is no comment: `$#`, `a#b`.
    let starts = |mark: &str| rest.starts_with(mark) && (before.is_whitespace() || mark != "#");
    let is_comment = language.line_comments.iter().any(|mark| starts(mark));
    is_comment.then(|| rest.find('\n').unwrap_or(rest.len()))
}

/// Returns how long a literal is and its tone.
fn quoted(rest: &str, quote: &Quote) -> Option<(usize, Tone)> {
    let inside = rest.strip_prefix(quote.open)?;
    if quote.one_character {
        let length = one_character(inside)?;
        return Some((quote.open.len() + length + quote.close.len(), Tone::Text));
    }
    let mut from = 0;
    while let Some(found) = inside.get(from..)?.find(['\\', '\n', quote.last()]) {
        let at = from + found;
        let here = inside.get(at..)?;
        if here.starts_with(quote.close) {
            return Some((quote.open.len() + at + quote.close.len(), Tone::Text));
        }
        let mut characters = here.chars();
        match characters.next()? {
            '\\' if quote.escapes => from = at + 1 + characters.next().map_or(0, char::len_utf8),
            // An apostrophe in prose must not colour the lines below. The rest of its own line is one
            // token: looking for the end again from each quote in it would take quadratic time.
            '\n' if !quote.spans_lines => return Some((quote.open.len() + at, Tone::Plain)),
            other => from = at + other.len_utf8(),
        }
    }
    Some((rest.len(), if quote.spans_lines { Tone::Text } else { Tone::Plain }))
}

/// Returns the length of a character literal, which is closed soon or is none.
fn one_character(inside: &str) -> Option<usize> {
    /// The longest escape is `\u{10FFFF}`.
    const MAX_ESCAPE: usize = 10;
    let mut characters = inside.char_indices().skip(1);
    if inside.starts_with('\\') {
        characters.next();
        return characters.take(MAX_ESCAPE).find(|(_, next)| *next == '\'').map(|(at, _)| at);
    }
    characters.next().filter(|(_, next)| *next == '\'').map(|(at, _)| at)
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character)).unwrap_or(text.len())
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the tokens that have a colour, as `tone text`.
    fn marked(code: &str, language: &str) -> Vec<String> {
        let tokens = tokens(code, find(language).expect("a known language"));
        let coloured = tokens.into_iter().filter(|(_, tone)| *tone != Tone::Plain);
        coloured.map(|(text, tone)| format!("{tone:?} {text}")).collect()
    }

    #[test]
    fn comments_literals_and_words_are_told_apart() {
        for (language, code, expected) in [
            (
                "rust",
                "fn f<'a>() -> 'x' '\\'' // c",
                &["Keyword fn", "Text 'x'", "Text '\\''", "Comment // c"] as &[_],
            ),
            (
                "rs",
                "r#\"a \" b\"# /* x\n*/ 0x1f",
                &["Text r#\"a \" b\"#", "Comment /* x\n*/", "Constant 0x1f"],
            ),
            ("ts", "const a = `x\n${b}`", &["Keyword const", "Text `x\n${b}`"]),
            (
                "python",
                "def f(): '''a\nb''' # c",
                &["Keyword def", "Text '''a\nb'''", "Comment # c"],
            ),
            (
                "sh",
                "if [ $# -gt 1 ]; then # c",
                &["Keyword if", "Constant 1", "Keyword then", "Comment # c"],
            ),
            (
                "json",
                "{\"a\": \"b\\\"\", \"c\": [true]}",
                &["Name \"a\"", "Text \"b\\\"\"", "Name \"c\"", "Constant true"],
            ),
            ("yaml", "my-key: 12 # c", &["Name my-key", "Constant 12", "Comment # c"]),
            (
                "sql",
                "select 'it''s' -- c",
                &["Keyword select", "Text 'it'", "Text 's'", "Comment -- c"],
            ),
            (
                "html",
                "<!-- c --><a href=\"x\"></a>",
                &["Comment <!-- c -->", "Name <a", "Name href", "Text \"x\"", "Name </a"],
            ),
            ("sh", "echo don't\necho 'x'", &["Keyword echo", "Keyword echo", "Text 'x'"]),
        ] {
            assert_eq!(marked(code, language), expected, "{language}: {code}");
        }
    }

    #[test]
    fn unknown_languages_and_huge_blocks_stay_plain() {
        let plain = |code: &str, language: &str| {
            highlight(code, language).concat().iter().all(|span| span.style().is_plain())
        };
        assert!(plain("fn main() {}", "klingon"));
        assert!(plain(&"fn main() {}\n".repeat(6000), "rust"));
        assert!(!plain("fn main() {}", "rust"));
    }

    #[test]
    fn lines_are_kept_as_they_are() {
        let lines = highlight("/* a\n\nb */\nfn\n", "rust");
        let text = |line: &Vec<Span>| line.iter().map(Span::text).collect::<String>();
        assert_eq!(lines.iter().map(text).collect::<Vec<_>>(), ["/* a", "", "b */", "fn"]);
    }
}
