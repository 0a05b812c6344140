//! The Rust syntax that the checks need: comments, literals, and where tests begin.

/// Returns the lines before the tests.
pub(crate) fn code_lines(code: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = code.lines().collect();
    let end = lines
        .windows(2)
        .position(|pair| matches!(pair, [first, second] if opens_tests(first, second)))
        .unwrap_or(lines.len());
    lines.into_iter().take(end)
}

/// Returns the content of every string literal before the tests, with its line, counted from 1.
pub(crate) fn strings(text: &str) -> Vec<(usize, String)> {
    let code = without_comments(text);
    let end: usize = code_lines(&code).map(|line| line.len() + 1).sum();
    let mut rest = code.get(..end.min(code.len())).unwrap_or(&code);
    let mut found = Vec::new();
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let literal = literal_length(rest);
        let (piece, after) = rest.split_at(literal.max(first.len_utf8()).min(rest.len()));
        if literal > 0 && !piece.starts_with('\'') {
            let inside = piece.trim_start_matches('r').trim_matches('#').trim_matches('"');
            found.push((line, inside.to_owned()));
        }
        line += piece.matches('\n').count();
        rest = after;
    }
    found
}

/// Tests are at the end of a file, so everything after their first line belongs to them.
fn opens_tests(first: &str, second: &str) -> bool {
    first.trim() == "#[cfg(test)]" && second.trim() == "mod tests {"
}

/// Returns the text with comments blanked, so that lines keep their numbers.
pub(crate) fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let comment = comment_length(rest);
        let length = if comment > 0 { comment } else { literal_length(rest) };
        let length = length.max(first.len_utf8()).min(rest.len());
        let (piece, after) = rest.split_at(length);
        if comment > 0 {
            code.extend(piece.chars().filter(|character| *character == '\n'));
        } else {
            code.push_str(piece);
        }
        rest = after;
    }
    code
}

/// Returns the length of the comment that the text begins with; 0 if there is none.
fn comment_length(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if !text.starts_with("/*") {
        return 0;
    }
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Returns the length of the string or character literal that the text begins with, so that a quote or slashes inside it
/// are skipped; 0 if there is none.
fn literal_length(text: &str) -> usize {
    if let Some(raw) = text.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if let Some(body) = raw.get(hashes..).and_then(|after| after.strip_prefix('"')) {
            let close = format!("\"{}", "#".repeat(hashes));
            let open = text.len() - body.len();
            return body.find(&close).map_or(text.len(), |end| open + end + close.len());
        }
    }
    if text.starts_with('"') {
        return quoted_length(text, '"');
    }
    if text.starts_with('\'') {
        let length = quoted_length(text, '\'');
        let inside = text.get(1..length.saturating_sub(1)).unwrap_or_default();
        // A lifetime has no closing quote nearby: 'a' and '
        // ' are characters, 'a> is not.
        let is_character = inside.starts_with('\\') || inside.chars().count() == 1;
        return if is_character { length } else { 0 };
    }
    0
}

fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + quote.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_found_with_their_lines_but_not_in_comments_and_tests() {
        let text = "// \"no\"\nlet a = \"one\";\nlet b = ('\"', r#\"two\n\"#, b\"three\");\nlet c = \"\";\n\
                    #[cfg(test)]\nmod tests {\n    const A: &str = \"no\";\n}\n";
        let found: Vec<(usize, &str)> = vec![(2, "one"), (3, "two\n"), (4, "three"), (5, "")];
        let strings = strings(text);
        let strings: Vec<(usize, &str)> =
            strings.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!(strings, found);
    }
}
