//! Finds a text in lines, and marks it.

use recount_display::span::{Line, StyledSpan};
use recount_display::theme::{Tone, blend};

use super::layout::Row;

/// Whether a row has a text, which is in lower case.
pub(super) fn row_finds(row: &Row, lower: &str) -> bool {
    !lower.is_empty() && !places(&text_of(&row.line), lower).is_empty()
}

fn text_of(line: &Line) -> String {
    line.spans().iter().map(StyledSpan::text).collect()
}

/// Returns where a text occurs, as ranges of bytes. It is in lower case, the other text need not be.
fn places(text: &str, lower: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    for (start, _) in text.char_indices() {
        if start < from {
            continue;
        }
        let rest = text.get(start..).unwrap_or_default();
        if let Some(end) = begins(rest, lower) {
            found.push((start, start + end));
            from = start + end;
        }
    }
    found
}

/// Returns the length of the start of a text that is the other one, but for upper and lower case.
fn begins(text: &str, lower: &str) -> Option<usize> {
    let mut wanted = lower.chars().peekable();
    for (at, letter) in text.char_indices() {
        if wanted.peek().is_none() {
            return Some(at);
        }
        if !letter.to_lowercase().all(|letter| wanted.next() == Some(letter)) {
            return None;
        }
    }
    wanted.peek().is_none().then_some(text.len())
}

/// Marks a text in a line.
pub(crate) fn highlighted(line: &Line, lower: &str) -> Vec<StyledSpan> {
    if lower.is_empty() {
        return line.spans().to_vec();
    }
    let found = places(&text_of(line), lower);
    if found.is_empty() {
        return line.spans().to_vec();
    }
    let mark = Tone::Match.style().invert();
    let (mut spans, mut start) = (Vec::new(), 0);
    for span in line.spans() {
        let (text, end) = (span.text(), start + span.text().len());
        let mut at = start;
        for (from, to) in found.iter().filter(|(from, to)| *from < end && *to > start) {
            let (from, to) = ((*from).max(start), (*to).min(end));
            let part =
                |from: usize, to: usize| text.get(from - start..to - start).unwrap_or_default();
            spans.push(StyledSpan::styled(part(at, from), span.style()));
            spans.push(StyledSpan::styled(part(from, to), blend(span.style(), mark)));
            at = to;
        }
        spans.push(StyledSpan::styled(text.get(at - start..).unwrap_or_default(), span.style()));
        start = end;
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_in_any_case() {
        assert_eq!(places("Retry, RETRY", "retry"), [(0, 5), (7, 12)]);
        assert_eq!(places("Straße ÄÖ", "äö"), [(8, 12)]);
        assert_eq!(places("aaa", "aa"), [(0, 2)]);
        assert_eq!(places("a", "ab"), []);
    }

    #[test]
    fn a_match_across_styles_is_marked_whole() {
        let line = Line::new([
            StyledSpan::new("see bo", Tone::Plain),
            StyledSpan::new("ld now", Tone::Strong),
        ]);
        let spans = highlighted(&line, "bold");
        let marked: String = spans
            .iter()
            .filter(|span| span.style().get_effects().contains(anstyle::Effects::INVERT))
            .map(StyledSpan::text)
            .collect();
        assert_eq!(marked, "bold");
        let all: String = spans.iter().map(StyledSpan::text).collect();
        assert_eq!(all, "see bold now");
    }
}
