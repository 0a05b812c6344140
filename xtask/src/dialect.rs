//! Plain English: phrases that were once common in help, docs and comments, and must not come back.

use crate::Report;
use crate::files::RustFile;

/// A phrase in lower case, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("begin alike", "have the same start, or prefix"),
    ("begins alike", "has the same start, or prefix"),
    ("behind each", "around, or after each"),
    ("by and by", "gradually, or one per attempt"),
    ("by lot", "random"),
    ("ends alike", "has the same ending"),
    ("foretells", "predicts"),
    ("goes by what", "uses"),
    ("gone on with", "continued, or resumed"),
    ("has the turn", "holds the lock"),
    ("in so many words", "explicitly"),
    ("in the eyes of", "as seen by"),
    ("in vain", "without a result"),
    ("is called so", "has this name"),
    ("is told as", "is shown as"),
    ("laid by", "cached, or set aside"),
    ("laid ready", "staged, or prepared"),
    ("lay by", "cache, or set aside"),
    ("lay ready", "stage, or prepare"),
    ("left out of account", "ignored"),
    ("lie about", "be left over, or orphaned"),
    ("lies about", "is left over, or orphaned"),
    ("lies ready", "is staged, or prepared"),
    ("made anew", "rebuilt"),
    ("made-up", "synthetic"),
    ("make anew", "rebuild"),
    ("no file tells", "no file records"),
    ("of which nobody", "without a known"),
    ("out of the way", "removed"),
    ("so many", "a number of"),
    ("spoken of", "mentioned"),
    ("take along", "delete together with"),
    ("taken along", "deleted together with"),
    ("taken down", "recorded"),
    ("takes along", "deletes together with"),
    ("tells it", "shows, or reports it"),
    ("the dearest", "the most expensive"),
    ("the whole story", "the message with all causes"),
    ("told as", "shown as"),
    ("what became of", "the fate, or outcome, of"),
    ("what lies in it", "its contents"),
    ("what lies there", "its contents, or what exists there"),
    ("what stands there", "its text, or value"),
    ("whatever became of", "regardless of"),
    ("whatever came of it", "whatever the outcome"),
    ("who calls says", "the caller decides"),
    ("who goes on", "the same speaker"),
    ("write anew", "rewrite"),
    ("written anew", "rewritten"),
    ("written down once more", "rewritten"),
];

/// This file, which has to contain them.
const SELF: &str = "xtask/src/dialect.rs";

/// Fails on every line of Rust, docs or help with one of the phrases.
pub(crate) fn check(files: &[RustFile]) -> Report {
    let mut report = Report::default();
    for file in files.iter().filter(|file| file.path != SELF) {
        for (number, line) in (1..).zip(file.text.lines()) {
            let lower = line.to_lowercase();
            for (phrase, instead) in PHRASES.iter().filter(|(phrase, _)| has(&lower, phrase)) {
                report
                    .failures
                    .push(format!("{}:{number}: \"{phrase}\": say \"{instead}\"", file.path));
            }
        }
    }
    report
}

/// Whether a phrase is in a line, as whole words.
fn has(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, found)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + found.len()..).and_then(|text| text.chars().next());
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(path: &str, text: &str) -> Vec<String> {
        let file = RustFile { path: path.to_owned(), text: text.to_owned() };
        check(&[file]).failures
    }

    #[test]
    fn phrases_are_found_as_whole_words_in_any_case() {
        assert_eq!(
            failures("docs/a.md", "fine\nSo many\n"),
            ["docs/a.md:2: \"so many\": say \"a number of\""]
        );
        assert_eq!(failures("a.rs", "// also many, and ruby lottery"), [""; 0]);
        assert_eq!(failures(SELF, "so many"), [""; 0]);
    }
}
