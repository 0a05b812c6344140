//! Measures text in terminal columns, and cuts or pads it to a number of columns.
//!
//! Text is measured by grapheme clusters: a combining mark takes no column, an ideograph two, and a sequence of emoji with
//! joiners two in total.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

const TAB_STOP: usize = 4;

/// Returns the width of the text on one line, in columns.
pub fn width(text: &str) -> usize {
    if text.contains('\t') {
        return width(&expand_tabs(text));
    }
    clusters(text).map(|(_, columns)| columns).sum()
}

/// Splits text into the pieces that a line may be cut between, each with its width.
pub fn clusters(text: &str) -> Clusters<'_> {
    Clusters { rest: text, wide: 0 }
}

/// Returns the text cut to the given number of columns, with `…` if it was cut.
pub fn truncate_to(text: &str, columns: usize) -> String {
    let text = expand_tabs(text);
    if width(&text) <= columns {
        return text;
    }
    let Some(room) = columns.checked_sub(1) else {
        return String::new();
    };
    let mut cut = String::new();
    let mut taken = 0;
    for (cluster, wide) in clusters(&text) {
        if taken + wide > room {
            break;
        }
        taken += wide;
        cut.push_str(cluster);
    }
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// Returns the end of the text in the given number of columns, with `…` before it if it was cut. A path is cut between
/// folders, if enough of it is left then.
pub fn truncate_start(text: &str, columns: usize) -> String {
    let text = expand_tabs(text);
    let whole = width(&text);
    if whole <= columns {
        return text;
    }
    let Some(room) = columns.checked_sub(1) else {
        return String::new();
    };
    let mut left = whole;
    let mut at = 0;
    for (cluster, wide) in clusters(&text) {
        if left <= room {
            break;
        }
        left -= wide;
        at += cluster.len();
    }
    let end = text.get(at..).unwrap_or_default();
    let folder = end.find('/').filter(|&slash| slash * 2 < end.len());
    format!("…{}", folder.and_then(|slash| end.get(slash..)).unwrap_or(end))
}

/// Returns the text padded with spaces to the given number of columns.
pub fn pad_to(text: &str, columns: usize) -> String {
    let mut padded = expand_tabs(text);
    let missing = columns.saturating_sub(width(&padded));
    padded.extend(std::iter::repeat_n(' ', missing));
    padded
}

/// Returns the text with tabs replaced by spaces up to the next tab stop, line by line.
pub fn expand_tabs(text: &str) -> String {
    if !text.contains('\t') {
        return text.to_owned();
    }
    let mut expanded = String::with_capacity(text.len() + 32);
    let mut column = 0;
    for (cluster, wide) in clusters(text) {
        match cluster {
            "\t" => {
                let blanks = TAB_STOP - column % TAB_STOP;
                expanded.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            }
            "\n" => {
                expanded.push('\n');
                column = 0;
            }
            _ => {
                expanded.push_str(cluster);
                column += wide;
            }
        }
    }
    expanded
}

/// The pieces of a text that a line may be cut between.
#[derive(Clone, Debug)]
pub struct Clusters<'a> {
    rest: &'a str,
    /// The number of bytes at the start of `rest` that belong to a cluster that is too wide to stay whole.
    wide: usize,
}

impl<'a> Iterator for Clusters<'a> {
    type Item = (&'a str, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let first = *self.rest.as_bytes().first()?;
        // Nearly all text is ASCII, where only a following mark could join the cluster.
        if first.is_ascii() && self.rest.as_bytes().get(1).is_none_or(u8::is_ascii) {
            return Some((self.take(1), 1));
        }
        if self.wide == 0 {
            let cluster = self.rest.graphemes(true).next()?;
            let columns = cluster.width();
            if columns <= 2 {
                return Some((self.take(cluster.len()), columns));
            }
            // Some clusters have no bound, such as a run of Hangul initials. Terminals draw them one by one, and no line is
            // long enough for all, so they may be cut.
            self.wide = cluster.len();
        }
        let end = self.rest.get(..self.wide).map_or(self.rest.len(), one_visible);
        self.wide = self.wide.saturating_sub(end);
        let piece = self.take(end);
        Some((piece, piece.width()))
    }
}

impl<'a> Clusters<'a> {
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }
}

/// Returns where the second visible character begins: marks and selectors stay with the first.
fn one_visible(cluster: &str) -> usize {
    cluster
        .char_indices()
        .skip(1)
        .find(|(_, character)| character.width().unwrap_or(0) > 0)
        .map_or(cluster.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_is_counted_in_columns() {
        for (text, columns) in [
            ("", 0),
            ("abc", 3),
            ("会话", 4),
            ("e\u{301}", 1),
            ("👩\u{200D}👩\u{200D}👧", 2),
            ("👍🏽", 2),
            ("🇩🇪", 2),
            ("❤\u{FE0F}", 2),
            ("a\u{200B}b", 2),
            ("한국어", 6),
            ("a\tb", 5),
            ("\u{1100}\u{1100}\u{1100}", 6),
        ] {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }

    #[test]
    fn text_is_cut_between_clusters_with_an_ellipsis() {
        for (text, columns, cut) in [
            ("short", 5, "short"),
            ("longer", 5, "long…"),
            ("one two", 5, "one…"),
            ("会话会话", 5, "会话…"),
            ("会话会话", 4, "会…"),
            ("👩\u{200D}💻👩\u{200D}💻", 3, "👩\u{200D}💻…"),
            ("abc", 1, "…"),
            ("abc", 0, ""),
        ] {
            assert_eq!(truncate_to(text, columns), cut, "{text:?} to {columns}");
        }
    }

    #[test]
    fn a_path_is_cut_at_its_start_between_folders() {
        for (text, columns, cut) in [
            ("~/code/shop", 11, "~/code/shop"),
            ("~/jobs/clients/acme/code/shop", 16, "…/acme/code/shop"),
            ("~/jobs/clients/acme/code/shop", 15, "…/code/shop"),
            ("a-name-without-folders", 10, "…t-folders"),
            ("会话会话", 5, "…会话"),
            ("abc", 1, "…"),
            ("abc", 0, ""),
        ] {
            assert_eq!(truncate_start(text, columns), cut, "{text:?} to {columns}");
        }
    }

    #[test]
    fn padding_fills_up_and_never_cuts() {
        assert_eq!(pad_to("会", 4), "会  ");
        assert_eq!(pad_to("abc", 2), "abc");
    }

    #[test]
    fn tabs_reach_the_next_stop_on_each_line() {
        assert_eq!(expand_tabs("\ta\n会\tb"), "    a\n会  b");
    }
}
