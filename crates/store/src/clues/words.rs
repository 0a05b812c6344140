//! Splits a command line as shells do, as far as they agree.

/// Splits a line into its commands, each a list of words without quotes. Expansions are left as written.
pub(super) fn commands(line: &str) -> Vec<Vec<String>> {
    let mut split = Split::default();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => split.quoted(chars.by_ref().take_while(|c| *c != '\'')),
            '"' => split.quoted(InDoubleQuotes(&mut chars)),
            '\\' => split.quoted(chars.next().into_iter()),
            '#' if split.word.is_none() => break,
            ';' | '&' | '|' | '(' | ')' | '<' | '>' | '\n' => split.end_command(),
            c if c.is_whitespace() => split.end_word(),
            c => split.quoted(std::iter::once(c)),
        }
    }
    split.end_command();
    split.commands
}

/// The result so far.
#[derive(Debug, Default)]
struct Split {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
}

impl Split {
    /// Adds to the current word; even an empty text makes it a word.
    fn quoted(&mut self, text: impl Iterator<Item = char>) {
        self.word.get_or_insert_default().extend(text);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}

/// The text up to the closing quote; a backslash is removed only where it is an escape.
#[derive(Debug)]
struct InDoubleQuotes<'a, 'b>(&'a mut std::str::Chars<'b>);

impl Iterator for InDoubleQuotes<'_, '_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self.0.next()? {
            '"' => None,
            '\\' => {
                let escaped = self.0.clone().next().filter(|c| matches!(c, '"' | '\\' | '$' | '`'));
                if escaped.is_some() { self.0.next() } else { Some('\\') }
            }
            c => Some(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_shells_do() {
        let cases: &[(&str, &[&[&str]])] = &[
            ("cd /a", &[&["cd", "/a"]]),
            ("cd /a && ls -l; pwd|wc", &[&["cd", "/a"], &["ls", "-l"], &["pwd"], &["wc"]]),
            ("cd '/a b' # cd /c", &[&["cd", "/a b"]]),
            (r#"cd "/a \"b\" \c" x"#, &[&["cd", r#"/a "b" \c"#, "x"]]),
            (r"cd /a\ b/c\'d", &[&["cd", "/a b/c'd"]]),
            ("cd /a\"b c\"'d e'f", &[&["cd", "/ab cd ef"]]),
            ("echo '' x#y", &[&["echo", "", "x#y"]]),
            ("(cd /a) >/dev/null", &[&["cd", "/a"], &["/dev/null"]]),
            ("cd 'open", &[&["cd", "open"]]),
            ("cd \\", &[&["cd", ""]]),
            ("  ;;  ", &[]),
        ];
        for (line, expected) in cases {
            assert_eq!(commands(line), *expected, "{line}");
        }
    }
}
