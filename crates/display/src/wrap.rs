//! Breaks styled text into lines of a given width.
//!
//! Words are kept whole if they fit. Chinese and Japanese have no spaces and break between characters, but not before a
//! closing mark or after an opening one. Anything wider than a line, such as an address, is broken anywhere. Korean has
//! spaces and is treated like Latin.

use std::borrow::Cow;

use anstyle::Style;

use super::span::{Line, StyledSpan};
use super::width::clusters;

/// Breaks text at words; a `\n` always breaks.
pub fn wrap(spans: &[StyledSpan], width: usize) -> Vec<Line> {
    break_lines(spans, width, break_between)
}

/// Breaks text wherever the width is reached, as suits code.
pub fn fold(spans: &[StyledSpan], width: usize) -> Vec<Line> {
    break_lines(spans, width, |_, _| false)
}

/// Puts `first` before the first line and `rest`, which is as wide, before the others.
pub fn hang(lines: Vec<Line>, first: &Line, rest: &Line) -> Vec<Line> {
    let prefixes = std::iter::once(first).chain(std::iter::repeat(rest));
    lines.into_iter().zip(prefixes).map(|(line, prefix)| line.after(prefix)).collect()
}

/// One cluster with its style.
struct Unit<'a> {
    text: &'a str,
    width: usize,
    style: Style,
}

impl Unit<'_> {
    fn is_blank(&self) -> bool {
        self.text == " "
    }
}

/// Breaks safe text of one style at words, and passes on one line after the other: only one line is buffered.
pub fn wrap_each(text: &str, style: Style, width: usize, each: &mut dyn FnMut(Line)) {
    let mut breaker = Breaker::new(width, break_between, each);
    clusters(text).for_each(|(text, width)| breaker.take(Unit { text, width, style }));
    breaker.end();
}

fn break_lines(
    spans: &[StyledSpan],
    width: usize,
    may_break: fn(&Unit, &Unit) -> bool,
) -> Vec<Line> {
    // Clusters are found in the whole text: a mark may be in another span than its base.
    let text: Cow<'_, str> = match spans {
        [one] => one.text().into(),
        _ => spans.iter().map(StyledSpan::text).collect::<String>().into(),
    };
    let mut lines = Vec::new();
    let mut push = |line| lines.push(line);
    let mut breaker = Breaker::new(width, may_break, &mut push);
    let mut starts = spans.iter().scan(0, |end, span| {
        *end += span.text().len();
        Some((*end, span.style()))
    });
    let (mut end, mut style) = (0, Style::new());
    let mut at = 0;
    for (text, width) in clusters(&text) {
        while at >= end
            && let Some(next) = starts.next()
        {
            (end, style) = next;
        }
        at += text.len();
        breaker.take(Unit { text, width, style });
    }
    breaker.end();
    lines
}

/// Takes clusters and passes on lines. It buffers the line that is not full yet.
struct Breaker<'a, 'e> {
    width: usize,
    may_break: fn(&Unit<'_>, &Unit<'_>) -> bool,
    each: &'e mut dyn FnMut(Line),
    held: Vec<Unit<'a>>,
    /// Where the buffered line may be broken; 0 if nowhere.
    chance: usize,
    /// The width of the buffer in columns.
    taken: usize,
}

impl<'a, 'e> Breaker<'a, 'e> {
    fn new(
        width: usize,
        may_break: fn(&Unit<'_>, &Unit<'_>) -> bool,
        each: &'e mut dyn FnMut(Line),
    ) -> Self {
        Self { width, may_break, each, held: Vec::new(), chance: 0, taken: 0 }
    }

    fn take(&mut self, unit: Unit<'a>) {
        if unit.text == "\n" {
            return self.end();
        }
        if self.held.last().is_some_and(|before| (self.may_break)(before, &unit)) {
            self.chance = self.held.len();
        }
        // Spaces at the end of a line are not printed, so they always fit, and redundant ones are not buffered.
        if unit.is_blank() && self.taken > self.width {
            return;
        }
        while self.taken + unit.width > self.width && !self.held.is_empty() && !unit.is_blank() {
            let end = if self.chance > 0 { self.chance } else { self.held.len() };
            let line = self.held.get(..end).unwrap_or_default();
            // A line of only spaces would be an indentation wider than the page.
            if !line.iter().all(Unit::is_blank) {
                (self.each)(join(line));
            }
            self.held.drain(..end);
            self.chance = 0;
            self.taken = self.held.iter().map(|unit| unit.width).sum();
        }
        self.taken += unit.width;
        self.held.push(unit);
    }

    /// Ends a line.
    fn end(&mut self) {
        (self.each)(join(&self.held));
        self.held.clear();
        (self.chance, self.taken) = (0, 0);
    }
}

fn join(units: &[Unit<'_>]) -> Line {
    let kept = units.iter().rposition(|unit| !unit.is_blank()).map_or(0, |last| last + 1);
    let units = units.get(..kept).unwrap_or_default();
    let runs = units.chunk_by(|one, next| one.style == next.style);
    Line::new(runs.filter_map(|run| {
        let style = run.first()?.style;
        Some(StyledSpan::styled(&run.iter().map(|unit| unit.text).collect::<String>(), style))
    }))
}

fn break_between(before: &Unit, after: &Unit) -> bool {
    if after.is_blank() {
        return false;
    }
    if before.is_blank() {
        return true;
    }
    (breaks_anywhere(before) || breaks_anywhere(after))
        && !after.text.starts_with(NEVER_FIRST)
        && !before.text.ends_with(NEVER_LAST)
}

fn breaks_anywhere(unit: &Unit) -> bool {
    let hangul = |first| matches!(first, '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7FF}');
    unit.width == 2 && !unit.text.starts_with(hangul)
}

/// Marks that close something, and small kana, which belong to the character before.
const NEVER_FIRST: &[char] = &[
    '。', '，', '、', '．', '：', '；', '！', '？', '）', '」', '』', '】', '》', '〉', '〕', '］',
    '｝', '…', '‥', '・', 'ー', '々', '’', '”', ',', '.', ':', ';', '!', '?', ')', ']', '}', '%',
    '％', '～', 'ぁ', 'ぃ', 'ぅ', 'ぇ', 'ぉ', 'っ', 'ゃ', 'ゅ', 'ょ', 'ァ', 'ィ', 'ゥ', 'ェ', 'ォ',
    'ッ', 'ャ', 'ュ', 'ョ',
];

/// Marks that open something.
const NEVER_LAST: &[char] =
    &['（', '「', '『', '【', '《', '〈', '〔', '［', '｛', '‘', '“', '(', '[', '{', '￥', '＄'];

#[cfg(test)]
mod tests {
    use super::super::canvas::{Canvas, Paint};
    use super::super::theme::Tone;
    use super::*;

    fn shown(lines: Vec<Line>) -> Vec<String> {
        let page = Canvas::new(usize::MAX, Paint::Off).print(lines);
        page.lines().map(str::to_owned).collect()
    }

    #[test]
    fn lines_break_where_the_script_allows() {
        for (text, width, expected) in [
            ("", 10, &[""] as &[&str]),
            ("one two three", 8, &["one two", "three"]),
            ("one  two   ", 20, &["one  two"]),
            ("one\n\n  two", 20, &["one", "", "  two"]),
            ("a https://example.org/x", 10, &["a", "https://ex", "ample.org/", "x"]),
            ("                   far", 10, &["far"]),
            ("会话列表显示", 7, &["会话列", "表显示"]),
            ("显示会话。列表", 8, &["显示会", "话。列表"]),
            ("显示会「话」", 8, &["显示会", "「话」"]),
            ("看 recount 吧", 10, &["看 recount", "吧"]),
            ("한국어 문장", 8, &["한국어", "문장"]),
            ("。。。。。。", 4, &["。。", "。。", "。。"]),
        ] {
            assert_eq!(
                shown(wrap(&[StyledSpan::new(text, Tone::Plain)], width)),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn code_breaks_at_the_width_and_nowhere_else() {
        assert_eq!(
            shown(fold(&[StyledSpan::new("let x = 12;", Tone::Plain)], 6)),
            ["let x", "= 12;"]
        );
    }

    #[test]
    fn a_word_that_changes_its_look_stays_whole() {
        let spans = [StyledSpan::new("see bo", Tone::Plain), StyledSpan::new("ld", Tone::Strong)];
        assert_eq!(shown(wrap(&spans, 6)), ["see", "bold"]);
        let style = |line: &Line| line.spans().last().map(StyledSpan::style);
        assert_eq!(wrap(&spans, 6).last().and_then(style), Some(Tone::Strong.style()));
    }

    #[test]
    fn following_lines_hang_below_the_first() {
        let [bullet, blank] =
            ["• ", "  "].map(|text| Line::new([StyledSpan::new(text, Tone::Dim)]));
        let lines = wrap(&[StyledSpan::new("one two", Tone::Plain)], 4);
        assert_eq!(shown(hang(lines, &bullet, &blank)), ["• one", "  two"]);
    }
}
