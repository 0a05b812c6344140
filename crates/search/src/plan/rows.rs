//! Searches the raw bytes of a record for words that must be adjacent and for letters that a regex needs exactly, to decide
//! whether it must be read.
//!
//! Fields without positions know that all words exist, not whether they are adjacent, and no field knows case; most such
//! records fail here, at a tenth of the cost of reading them. It may have false positives, never false negatives.

use memchr::memmem;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use super::adjacency::Sequence;
use super::{Check, QueryPlan};
use crate::query::{Matcher, Node, TextLeaf};

/// What may be between two adjacent words: anything except letters and digits, escapes (color sequences completely), the
/// `T` between a date and a time, and the border between two parts of a text.
const BETWEEN: &str = concat!(
    r"(?:[^0-9A-Za-z\\]|\\[^u]|\\u001b\[[0-9;?]*[A-Za-z]|\\u[0-9A-Fa-f]{4}|T",
    r#"|"\s*\}\s*,\s*\{\s*"text"\s*:\s*")*"#,
);

/// The number of bytes that are checked together.
const CHUNK: usize = 256;

/// Adjacent words and regex letters that a plan requires.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    words: Vec<WordRow>,
    letters: Vec<memmem::Finder<'static>>,
}

/// Words that must be adjacent.
#[derive(Clone, Debug)]
struct WordRow {
    /// Excludes most records, many times faster than the regex.
    sequence: Option<Sequence>,
    regex: Regex,
}

impl WordRow {
    fn is_in(&self, record: &[u8]) -> bool {
        self.sequence.as_ref().is_none_or(|words| words.may_be_in(record))
            && self.regex.is_match(record)
    }
}

impl QueryPlan {
    /// Returns the adjacent words that every hit must have. `None` if there are none that can be checked in bytes.
    pub fn rows(&self) -> Option<Rows> {
        let nodes = match &self.root {
            Node::All(children) => children.as_slice(),
            only => std::slice::from_ref(only),
        };
        let letters = nodes.iter().flat_map(letters);
        let finder = |letters: &String| memmem::Finder::new(letters.as_bytes()).into_owned();
        let rows = Rows {
            words: nodes.iter().filter_map(row).collect(),
            letters: letters.map(finder).collect(),
        };
        (!rows.words.is_empty() || !rows.letters.is_empty()).then_some(rows)
    }
}

/// Returns the letters that a regex needs exactly.
fn letters(node: &Node<Check>) -> &[String] {
    match node {
        Node::Text(TextLeaf { matcher: Matcher::Pattern(pattern), .. }) => pattern.literals(),
        _ => &[],
    }
}

impl Rows {
    /// Whether a record may contain them.
    pub fn may_contain(&self, record: &[u8]) -> bool {
        let has_letters = || self.letters.iter().all(|letters| letters.find(record).is_some());
        let has_words = || self.words.iter().all(|row| row.is_in(record)) || has_forms(record);
        (has_letters() || may_be_split(record)) && has_words()
    }
}

/// Whether adjacent letters of a text may be written differently: as escapes, with color sequences between them, or in two
/// parts of a text.
fn may_be_split(record: &[u8]) -> bool {
    memmem::find(record, br"\u").is_some()
        || memmem::find_iter(record, br#""text""#).nth(1).is_some()
}

fn row(node: &Node<Check>) -> Option<WordRow> {
    let Node::Text(TextLeaf { matcher: Matcher::Words(words), .. }) = node else { return None };
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let adjacent = words.parts.windows(2).all(|pair| match pair {
        [one, next] => next.offset == one.offset + 1,
        _ => false,
    });
    if words.parts.len() < 2 || !adjacent || !words.parts.iter().all(|part| is_plain(&part.text)) {
        return None;
    }
    let parts: Vec<&str> = words.parts.iter().map(|part| part.text.as_str()).collect();
    let syntax = syntax::Config::new().unicode(false).utf8(false).case_insensitive(true);
    // Every record that is looked at has all of the words, so looking for one of them first tells nothing; where it is found
    // often, a search that begins in the middle ends with the slowest engine.
    let config = Regex::config().auto_prefilter(false);
    let regex = Regex::builder().syntax(syntax).configure(config).build(&parts.join(BETWEEN));
    Some(WordRow { sequence: Sequence::new(&parts), regex: regex.ok()? })
}

/// Whether there is a character that is a form of a plain letter or digit, or that is ignored within a word: then a word
/// may have spellings that are not checked here.
fn has_forms(record: &[u8]) -> bool {
    has_escaped(record) || {
        record.chunks(CHUNK).enumerate().any(|(number, chunk)| {
            // Characters begin in a chunk and may end in the next.
            let rest = || record.get(number * CHUNK..).unwrap_or_default();
            !chunk.is_ascii() && rest().windows(3).take(CHUNK).any(is_form)
        })
    }
}

/// Whether any character except controls is written as an escape.
fn has_escaped(record: &[u8]) -> bool {
    memmem::find_iter(record, br"\u").any(|at| {
        let code = record.get(at + 2..at + 5).unwrap_or_default();
        !matches!(code, b"000" | b"001")
    })
}

/// Whether a character that begins with these bytes is such a form. Not so: Cyrillic, most of Chinese, Japanese and Korean,
/// and punctuation of all kinds.
fn is_form(bytes: &[u8]) -> bool {
    let [first, second, third] = *bytes else { return false };
    match first {
        0..0xc2 | 0xd0 | 0xd1 | 0xe4..=0xe9 => false,
        0xc2 => matches!(second, 0xaa | 0xad | 0xb2 | 0xb3 | 0xb9 | 0xba | 0xbc..=0xbe),
        0xe2 => match second {
            0x80 => matches!(third, 0x8b..=0x8f | 0xaa..=0xae),
            0x81 => third >= 0xa0,
            0x86 => third == 0x89,
            0x82..=0x85 | 0x91..=0x93 | 0x9d | 0x9e | 0xb0..=0xbf => true,
            _ => false,
        },
        0xe3 => match second {
            0x80 => third >= 0xaa,
            0x82 => matches!(third, 0x99 | 0x9a),
            0x88..=0x8f => true,
            _ => false,
        },
        0xef => match second {
            0xbc => matches!(third, 0x90..=0x99 | 0xa1..=0xba),
            0xbd => matches!(third, 0x81..=0x9a),
            _ => true,
        },
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Zoned;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::SearchQuery;
    use crate::token::{Spelling, spelling};

    fn rows(query: &str) -> Option<Rows> {
        SearchQuery::parse(query).unwrap().plan(&Zoned::now(), &mut |_| Vec::new()).rows()
    }

    #[test]
    fn adjacent_words_are_distinguished_from_separate_ones() {
        let rows = rows("parseLegacyRecord").unwrap();
        for record in [
            "parseLegacyRecord",
            "parselegacyrecord()",
            "PARSE_LEGACY_RECORD",
            r"parse\nlegacy\trecord",
            r#"**parse** "legacy" — record"#,
            r#"parse"},{"text":"legacy record"#,
            "pärse legacy record",
            r"par\u200bse legacy record",
            r"\u001b[31mparse\u001b[0m \u001b[1;34mlegacy\u001b[0m record",
        ] {
            assert!(rows.may_contain(record.as_bytes()), "{record}");
        }
        for record in ["legacy record parse", "parse a legacy record", "parse legacy", ""] {
            assert!(!rows.may_contain(record.as_bytes()), "{record}");
        }
    }

    #[test]
    fn a_date_and_a_time_are_one_row() {
        let rows = rows("2031-02-17T09-41").unwrap();
        assert!(rows.may_contain(b"session-2031-02-17T09-41-5eabcd12"));
    }

    #[test]
    fn letters_of_a_regex_are_looked_for_as_they_are_written() {
        let plan = rows("/err[a-z]+ in/ after:2020").unwrap();
        for record in [
            r#"{"content":"an error in line 3"}"#,
            r#"{"content":"in an errand"}"#,
            r#"{"content":"\u0065rror in"}"#,
            r#"{"content":"er\u001b[0mror in"}"#,
            r#"{"content":[{"text":"er"},{"text":"ror in"}]}"#,
        ] {
            assert!(plan.may_contain(record.as_bytes()), "{record}");
        }
        for record in ["an Error in line 3", r#"{"text":"Error in"}"#, "ERROR in", "error at"] {
            assert!(!plan.may_contain(record.as_bytes()), "{record}");
        }
        for query in ["/err[a-z]+/i", "/e.r/", "NOT /error/", "a OR /error/"] {
            assert!(rows(query).is_none(), "{query}");
        }
    }

    #[test]
    fn one_word_or_other_scripts_are_not_looked_for() {
        for query in ["word", "会话记录", "\"привет мир\"", "a OR \"b c\"", "NOT \"b c\""]
        {
            assert!(rows(query).is_none(), "{query}");
        }
    }

    #[test]
    fn every_form_of_a_plain_letter_is_known() {
        for character in (0x80_u32..=0x10_ffff).filter_map(char::from_u32) {
            let mut folded = String::new();
            let matters = match spelling(character, &mut folded) {
                Spelling::Letters => folded.bytes().any(|byte| byte.is_ascii_alphanumeric()),
                Spelling::Mark => true,
                Spelling::Joint | Spelling::Dense | Spelling::Separator => false,
            };
            if matters {
                let text = format!("{character}  ");
                assert!(has_forms(text.as_bytes()), "U+{:04x}", u32::from(character));
            }
        }
    }

    /// Words, and what may be between them.
    const PIECES: [&str; 37] = [
        "tax",
        "test",
        "rate",
        "ab",
        "n",
        "RATE",
        "Tax",
        "31m",
        "beef",
        "and",
        " ",
        " ",
        ", ",
        "-",
        "_",
        "T",
        "t",
        r"\n",
        r"\t",
        r"\\",
        "\\",
        "u",
        r"\u00e9",
        r"\u00ab",
        r"\ubeef",
        r"\u001b[0m",
        r"\u001b[31;1m",
        r"\u001b[t",
        r"\u001b[",
        "0",
        "\"",
        r#"\""#,
        r#""},{"text":""#,
        "\" }\n, {\x0b\"text\": \"",
        "天",
        "é",
        "x",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

        #[test]
        fn no_row_of_words_is_excluded(
            words in vec(select(&["tax", "test", "rate", "ab", "n", "31m", "beef", "and"][..]), 2..4),
            pieces in vec(select(&PIECES[..]), 0..24),
            more in vec(select(&PIECES[..]), 1..3),
            blank in 0_usize..70,
        ) {
            // Half of the records have the words, with something between them.
            let glued = words.join(&more.concat());
            for record in [pieces.concat(), format!("{}{glued}{}", pieces.concat(), more.concat())] {
                let record = format!("{:blank$}{record}", "");
                let row = rows(&format!("\"{}\"", words.join(" "))).unwrap().words.remove(0);
                let Some(sequence) = row.sequence else { continue };
                prop_assert!(
                    !row.regex.is_match(record.as_bytes()) || sequence.may_be_in(record.as_bytes()),
                    "{words:?} in {record}"
                );
            }
        }
    }

    #[test]
    fn words_that_are_apart_are_excluded_without_the_regex() {
        let rows = rows("\"and after drop\"").unwrap();
        let sequence = rows.words[0].sequence.as_ref().unwrap();
        for record in [
            "drop, and so after all: and after that",
            r"\nafter drop\nand then",
            r#"{"output":"and after","more":"drop"}"#,
            "and afterdrops",
            "",
        ] {
            let is_row = rows.words[0].regex.is_match(record.as_bytes());
            assert_eq!(sequence.may_be_in(record.as_bytes()), is_row, "{record}");
        }
    }
}
