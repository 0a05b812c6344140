//! How much of a story is printed, and how to go on.

use std::borrow::Cow;
use std::sync::Arc;

use recount_engine::Opened;
use recount_platform::quote;

use crate::failure::{ERROR, Failure};

/// Tokens kept for the last line.
const LAST_LINE: u64 = 60;
/// ASCII characters of one token.
const PER_TOKEN: u64 = 4;

/// Where the rest of a story starts.
pub(super) struct Start;

impl Start {
    /// Returns the sessions from the one that a cursor names, and the number of the first message in it.
    pub(super) fn parse(
        cursor: Option<&str>,
        mut sessions: Vec<Arc<Opened>>,
    ) -> Result<(Vec<Arc<Opened>>, usize), Failure> {
        let Some(cursor) = cursor else { return Ok((sessions, 0)) };
        let invalid = || {
            Failure::new(ERROR, format!("--from {cursor}: not a cursor of this story"))
                .hint("give the cursor from the last line of the story before, with the same session or project")
        };
        let (id, number) = match cursor.rsplit_once(':') {
            Some((id, number)) => (Some(id), number),
            None => (None, cursor),
        };
        let number = number.parse().map_err(|_| invalid())?;
        let at = match id {
            Some(id) => sessions.iter().position(|opened| opened.facts.id.as_str() == id),
            None => (sessions.len() == 1).then_some(0),
        };
        let rest = sessions.split_off(at.ok_or_else(invalid)?);
        Ok((rest, number))
    }
}

/// The tokens that may still be printed.
pub(super) struct Budget {
    /// In characters of ASCII; `None` without a limit.
    left: Option<u64>,
    is_new: bool,
}

impl Budget {
    pub(super) fn new(tokens: Option<u64>) -> Self {
        let left = tokens.map(|tokens| tokens.saturating_sub(LAST_LINE).saturating_mul(PER_TOKEN));
        Self { left, is_new: true }
    }

    /// Takes the room for a text, and returns it; `None` if it does not fit. What does not fit at all is cut, so that every story has at
    /// least one message.
    pub(super) fn take<'t>(&mut self, text: &'t str) -> Option<Cow<'t, str>> {
        let Some(left) = self.left else { return Some(Cow::Borrowed(text)) };
        let size = text.chars().map(size).sum::<u64>() + 1;
        // The title alone is no story.
        let is_title = text.starts_with("# ") && self.is_new;
        if size <= left {
            self.left = Some(left - size);
            self.is_new = is_title;
            return Some(Cow::Borrowed(text));
        }
        if !self.is_new {
            return None;
        }
        (self.left, self.is_new) = (Some(if is_title { left / 2 } else { 0 }), is_title);
        Some(Cow::Owned(cut(text, if is_title { left / 2 } else { left })))
    }
}

/// Returns the size of a character, in characters of ASCII.
fn size(letter: char) -> u64 {
    if letter.is_ascii() { 1 } else { PER_TOKEN }
}

/// Cuts a text, and says so.
fn cut(text: &str, room: u64) -> String {
    const MARK: u64 = 40;
    let mut used = 0;
    let mut fits = |letter: &char| {
        used += size(*letter);
        used + MARK <= room
    };
    let kept: String = text.chars().take_while(|letter| fits(letter)).collect();
    let left = text.chars().count() - kept.chars().count();
    format!("{kept}… ({left} characters left out)")
}

/// Returns the cursor of a message.
pub(super) fn cursor(opened: &Opened, number: usize) -> String {
    format!("{}:{number}", opened.facts.id)
}

/// Returns the last line of a story that did not fit.
pub(super) fn how_to_go_on(
    what: &str,
    opened: &Opened,
    next: usize,
    messages: usize,
    sessions: usize,
) -> String {
    let further = match sessions {
        0 => String::new(),
        1 => " and 1 session".to_owned(),
        more => format!(" and {more} sessions"),
    };
    let plural = if messages == 1 { "" } else { "s" };
    format!(
        "… {messages} message{plural}{further} left: recount story {} --from {}",
        quote(what),
        quote(&cursor(opened, next))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_taken_whole_until_one_does_not_fit() {
        let mut budget = Budget::new(Some(LAST_LINE + 10));
        assert_eq!(budget.take("# title"), Some("# title".into()));
        assert_eq!(budget.take("twenty characters ok"), Some("twenty characters ok".into()));
        assert_eq!(budget.take("and fourteen more"), None);
        // Another character is a token.
        assert_eq!(budget.take("日本"), Some("日本".into()));
        assert_eq!(budget.take("日"), None);
    }

    #[test]
    fn a_first_message_that_is_too_long_is_cut_and_nothing_follows() {
        let mut budget = Budget::new(Some(100));
        assert!(budget.take("# t").is_some());
        let long = "x".repeat(1000);
        let kept = budget.take(&long).unwrap();
        assert!(kept.starts_with("xxxx") && kept.len() <= 160, "{kept}");
        assert!(kept.ends_with("characters left out)"), "{kept}");
        assert_eq!(budget.take("more"), None);
        let mut none = Budget::new(None);
        assert_eq!(none.take(&long).as_deref(), Some(long.as_str()));
    }
}
