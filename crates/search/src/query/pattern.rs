//! `/regex/` terms: what they match, and which letters every match must contain.

use std::ops::Range;

use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_syntax::ParserBuilder;

use super::QueryError;
use super::needed::{Need, literals, needed};

/// The memory limit of a compiled expression; those that need more would also be slow.
const MAX_SIZE: usize = 1 << 20;

/// A regular expression.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    needed: Vec<Need>,
    literals: Vec<String>,
}

impl Pattern {
    /// Parses an expression at `start` of the query.
    pub(super) fn new(source: &str, ignores_case: bool, start: usize) -> Result<Self, QueryError> {
        let mistake = |at: Range<usize>, what: String| {
            QueryError::new(start + at.start..start + at.end, what, "/legacy_?record/i")
        };
        let parsed = ParserBuilder::new()
            .case_insensitive(ignores_case)
            .multi_line(true)
            .nest_limit(64)
            .build()
            .parse(source);
        let tree = parsed.map_err(|error| {
            let (at, what) = reason(&error);
            // At the end, the slash behind it is shown.
            let first = source.get(at.start..).and_then(|rest| rest.chars().next());
            mistake(at.start..at.end.max(at.start + first.map_or(1, char::len_utf8)), what)
        })?;
        let config = Config::new()
            .nfa_size_limit(Some(MAX_SIZE))
            .onepass_size_limit(Some(MAX_SIZE))
            .hybrid_cache_capacity(MAX_SIZE)
            .which_captures(WhichCaptures::Implicit);
        let regex = Regex::builder().configure(config).build_from_hir(&tree);
        let whole = 0..source.len();
        let regex = regex.map_err(|_| mistake(whole, "this regex is too large".to_owned()))?;
        Ok(Self { regex, needed: needed(&tree), literals: literals(&tree) })
    }

    /// Whether a text matches.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns the matches in a text, except empty ones.
    pub(crate) fn spans<'r, 't>(
        &'r self,
        text: &'t str,
    ) -> impl Iterator<Item = Range<usize>> + use<'r, 't> {
        self.regex.find_iter(text).map(|found| found.range()).filter(|range| !range.is_empty())
    }

    /// Returns what must be within a token of any match.
    pub(crate) fn needed(&self) -> &[Need] {
        &self.needed
    }

    /// Returns the adjacent letters that any match has exactly.
    pub(crate) fn literals(&self) -> &[String] {
        &self.literals
    }
}

fn reason(error: &regex_syntax::Error) -> (Range<usize>, String) {
    let (span, kind) = match error {
        regex_syntax::Error::Parse(error) => (*error.span(), error.kind().to_string()),
        regex_syntax::Error::Translate(error) => (*error.span(), error.kind().to_string()),
        _ => return (0..0, "this regex cannot be used".to_owned()),
    };
    (span.start.offset..span.end.offset, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_letters_are_found() {
        for (source, ignores_case, want) in [
            ("legacyRecord", false, "*legacyrecord*"),
            ("legacy_?records", true, "*legacy* *records*"),
            ("sk(ip)ping", true, "*skipping*"),
            ("(foo|bar)bazz", false, "*bazz*"),
            ("(abcd)+efg", false, "*abcd* *efg*"),
            (r"fn parse_\w+", false, "parse"),
            (r"\bretry\b", false, "retry"),
            (r"\bretr", true, "retr*"),
            (r"panicked at\s+main", false, "at main*"),
            (r"x\s*main", false, "*main*"),
            (r"(?-u:\b)main", false, "*main*"),
            ("02T08:15", false, "08 15*"),
            ("-02T08:15", false, "02 08 15*"),
            ("T1234x", false, "*1234x*"),
            (" T1234x", false, "t1234x*"),
            ("é main", false, "main*"),
            ("a.b", false, ""),
            ("会话abc", false, "*abc*"),
            ("[0-9]+abc", false, "*abc*"),
        ] {
            let pattern = Pattern::new(source, ignores_case, 0).unwrap();
            let star = |is_edge: bool| if is_edge { "" } else { "*" };
            let shown =
                |need: &Need| format!("{}{}{}", star(need.begins), need.letters, star(need.ends));
            let got: Vec<String> = pattern.needed().iter().map(shown).collect();
            assert_eq!(got.join(" "), want, "{source}");
        }
    }

    #[test]
    fn required_letters_keep_their_case() {
        for (source, ignores_case, want) in [
            ("err[a-z]+", false, "err"),
            ("Err[a-z]+", true, ""),
            (r"fn parse_\w+\(", false, "fn parse"),
            ("legacy_?Records", false, "Records legacy"),
            ("(foo|bar)bazz", false, "bazz"),
            ("(abcd)+efg", false, "abcd efg"),
            ("(abcd)*efg", false, "efg"),
            ("sk(ip)p[i]ng", false, "skipping"),
            (r"a.b", false, ""),
            ("naïve", false, "na ve"),
        ] {
            let pattern = Pattern::new(source, ignores_case, 0).unwrap();
            assert_eq!(pattern.literals().join(" "), want, "{source}");
        }
    }

    #[test]
    fn expressions_that_are_wrong_or_huge_are_mistakes() {
        assert_eq!(Pattern::new("a(b", false, 5).unwrap_err().at, 6..7);
        assert_eq!(
            Pattern::new(r"\w{500}{500}", false, 0).unwrap_err().what,
            "this regex is too large"
        );
    }
}
