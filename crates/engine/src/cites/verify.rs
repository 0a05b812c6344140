//! Whether a quote is in the message that is cited for it.

use std::collections::HashMap;
use std::sync::Arc;

use recount_model::Message;
use recount_search::Field;

use super::fold::{fold, trimmed};
use super::{Cite, CitedMessage, passages};
use crate::cancel::stop_if_cancelled;
use crate::export::Redaction;
use crate::messages::View;
use crate::messages::cursor::MessageCursor;
use crate::sessions::open::Opened;
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error};

/// The number of messages that are read at a time.
const PAGE: usize = 64;
/// A passage with this many of a hundred words of the quote is near.
const NEAR: usize = 60;
/// The longest passage that is shown.
const LONGEST: usize = 240;

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is in the cited message, whose bytes are as cited.
    Verified,
    /// The cited message has something like it.
    Near {
        /// What the message says.
        passage: String,
        /// Words of the quote that are not in it.
        only_quoted: Vec<String>,
        /// Words of it that are not in the quote.
        only_recorded: Vec<String>,
    },
    /// The cited message does not have it; another message may.
    NotThere,
    /// The bytes are not as cited any more, but the quote is in the session.
    Changed,
    /// The bytes are not as cited any more, and the quote is not in the session; or there is no such session.
    Gone,
}

/// A quote, compared with what is recorded.
#[derive(Debug)]
pub struct Verification {
    /// The verdict.
    pub verdict: Verdict,
    /// Where the quote is now: the cited message, or another one.
    pub found: Option<Cite>,
    /// What the quote is part of.
    pub field: Option<Field>,
    /// The message with the quote, or the cited one.
    pub message: Option<Message>,
    /// The session.
    pub session: Option<Arc<Opened>>,
}

impl Engine {
    /// Reads the cited bytes again, and compares a quote with them. With a redaction, quotes are compared with redacted text.
    ///
    /// # Errors
    /// If the quote is empty, or nobody waits any more.
    pub fn verify(
        &self,
        cite: &Cite,
        quote: &str,
        redaction: Option<&Redaction>,
        progress: &dyn Progress,
    ) -> Result<Verification, Error> {
        let quote = Quote::new(quote, redaction)?;
        let cited = match self.cited(cite, progress) {
            Ok(Some(cited)) => cited,
            Err(Error::NoSession(_) | Error::TooShort(_)) => return Ok(gone(None, None)),
            Err(error) => return Err(error),
            Ok(None) => return self.elsewhere(cite, &quote, progress),
        };
        let CitedMessage { opened, message, is_unchanged, .. } = cited;
        let cursor = MessageCursor::new(Arc::clone(&opened), View::Full);
        if let Some(field) = quote.field_in(&message) {
            let verdict = if is_unchanged { Verdict::Verified } else { Verdict::Changed };
            let found = cursor.cite(&message.place);
            let (message, session) = (Some(message), Some(opened));
            return Ok(Verification { verdict, found, field: Some(field), message, session });
        }
        let elsewhere = quote.search(&opened, progress)?;
        if !is_unchanged {
            return Ok(elsewhere.map_or_else(
                || gone(Some(message), Some(Arc::clone(&opened))),
                |found| found.with_verdict(Verdict::Changed, &opened),
            ));
        }
        if let Some((field, verdict)) = quote.nearest(&message).filter(|_| elsewhere.is_none()) {
            let found = cursor.cite(&message.place);
            let (message, session) = (Some(message), Some(opened));
            return Ok(Verification { verdict, found, field: Some(field), message, session });
        }
        Ok(match elsewhere {
            Some(found) => found.with_verdict(Verdict::NotThere, &opened),
            None => Verification {
                verdict: Verdict::NotThere,
                found: None,
                field: None,
                message: Some(message),
                session: Some(opened),
            },
        })
    }

    /// The session has fewer messages than the cite says.
    fn elsewhere(
        &self,
        cite: &Cite,
        quote: &Quote<'_>,
        progress: &dyn Progress,
    ) -> Result<Verification, Error> {
        for opened in self.open_cited(cite, progress)? {
            let opened = Arc::new(opened);
            if let Some(found) = quote.search(&opened, progress)? {
                return Ok(found.with_verdict(Verdict::Changed, &opened));
            }
        }
        Ok(gone(None, None))
    }
}

fn gone(message: Option<Message>, session: Option<Arc<Opened>>) -> Verification {
    Verification { verdict: Verdict::Gone, found: None, field: None, message, session }
}

/// A quote that was found in another message.
struct Elsewhere {
    cite: Option<Cite>,
    field: Field,
    message: Message,
}

impl Elsewhere {
    fn with_verdict(self, verdict: Verdict, opened: &Arc<Opened>) -> Verification {
        let Self { cite, field, message } = self;
        let session = Some(Arc::clone(opened));
        Verification { verdict, found: cite, field: Some(field), message: Some(message), session }
    }
}

/// A quote in one spelling.
struct Quote<'a> {
    /// As given, and with secrets replaced: text that was shown before has tags in their places.
    forms: Vec<String>,
    redaction: Option<&'a Redaction>,
}

impl<'a> Quote<'a> {
    fn new(quote: &str, redaction: Option<&'a Redaction>) -> Result<Self, Error> {
        let given = fold(trimmed(quote));
        if given.is_empty() {
            return Err(Error::EmptyQuote);
        }
        let redacted = redaction.map(|redaction| fold(&redaction.text(trimmed(quote))));
        let mut forms = vec![given];
        forms.extend(redacted.filter(|redacted| !forms.contains(redacted)));
        Ok(Self { forms, redaction })
    }

    /// Returns a recorded text in one spelling.
    fn folded(&self, text: &str) -> String {
        match self.redaction {
            Some(redaction) => fold(&redaction.text(text)),
            None => fold(text),
        }
    }

    /// Returns the part of a message that has the quote.
    fn field_in(&self, message: &Message) -> Option<Field> {
        let has = |text: &str| {
            let text = self.folded(text);
            self.forms.iter().any(|form| text.contains(form.as_str()))
        };
        passages(message).into_iter().find(|(_, text)| has(text)).map(|(field, _)| field)
    }

    /// Looks for the quote in a session.
    fn search(
        &self,
        opened: &Arc<Opened>,
        progress: &dyn Progress,
    ) -> Result<Option<Elsewhere>, Error> {
        let mut cursor = MessageCursor::new(Arc::clone(opened), View::Full);
        loop {
            stop_if_cancelled(progress)?;
            let page = cursor.next_page(PAGE);
            if page.is_empty() {
                return Ok(None);
            }
            for message in page.into_iter().flatten() {
                if let Some(field) = self.field_in(&message) {
                    let cite = cursor.cite(&message.place);
                    return Ok(Some(Elsewhere { cite, field, message }));
                }
            }
        }
    }

    /// Returns what is most like the quote in a message.
    fn nearest(&self, message: &Message) -> Option<(Field, Verdict)> {
        let form = self.forms.last()?;
        let wanted: Vec<&str> = form.split(' ').collect();
        let mut best: Option<(usize, Field, Verdict)> = None;
        for (field, text) in passages(message) {
            let text = self.folded(text);
            let said: Vec<&str> = text.split(' ').collect();
            let Some((many, start, end)) = closest(&wanted, &said) else { continue };
            if best.as_ref().is_none_or(|(most, ..)| many > *most) {
                best = Some((many, field, near(&wanted, said.get(start..end).unwrap_or_default())));
            }
        }
        let (many, field, verdict) = best?;
        (many * 100 >= wanted.len() * NEAR && many > 0).then_some((field, verdict))
    }
}

/// Counts words.
fn counted<'t>(words: &[&'t str]) -> HashMap<&'t str, usize> {
    let mut many = HashMap::new();
    for word in words {
        *many.entry(*word).or_default() += 1;
    }
    many
}

/// Returns the stretch, as long as the wanted words, that has most of them: how many, and where it begins and ends. One pass.
fn closest(wanted: &[&str], said: &[&str]) -> Option<(usize, usize, usize)> {
    let mut missing = counted(wanted);
    let length = wanted.len().min(said.len());
    let (mut many, mut best) = (0usize, None::<(usize, usize)>);
    // A word counts as often as it is wanted; what is met more often is owed.
    let mut owed: HashMap<&str, usize> = HashMap::new();
    for (at, word) in said.iter().enumerate() {
        if let Some(left) = missing.get_mut(word) {
            if *left > 0 {
                *left -= 1;
                many += 1;
            } else {
                *owed.entry(word).or_default() += 1;
            }
        }
        if at + 1 >= length {
            let start = at + 1 - length;
            if best.is_none_or(|(most, _)| many > most) {
                best = Some((many, start));
            }
            if let Some(first) = said.get(start)
                && let Some(left) = missing.get_mut(first)
            {
                if let Some(owed) = owed.get_mut(first).filter(|owed| **owed > 0) {
                    *owed -= 1;
                } else {
                    *left += 1;
                    many -= 1;
                }
            }
        }
    }
    best.map(|(many, start)| (many, start, start + length))
}

/// Describes how a passage differs from a quote.
fn near(wanted: &[&str], said: &[&str]) -> Verdict {
    let without = |words: &[&str], others: &[&str]| {
        let mut others = counted(others);
        let mut only: Vec<String> = Vec::new();
        for word in words {
            match others.get_mut(word).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => only.push((*word).to_owned()),
            }
        }
        only
    };
    let passage: String = said.join(" ").chars().take(LONGEST).collect();
    Verdict::Near {
        passage,
        only_quoted: without(wanted, said),
        only_recorded: without(said, wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_stretch_is_found_in_one_pass() {
        let said: Vec<&str> = "a b c ten pieces of one kind c d".split(' ').collect();
        let wanted: Vec<&str> = "twelve pieces of one kind".split(' ').collect();
        assert_eq!(closest(&wanted, &said), Some((4, 3, 8)));
        assert_eq!(
            near(&wanted, &said[3..8]),
            Verdict::Near {
                passage: "ten pieces of one kind".into(),
                only_quoted: vec!["twelve".into()],
                only_recorded: vec!["ten".into()],
            }
        );
        assert_eq!(closest(&["a", "a", "b"], &["a"]), Some((1, 0, 1)));
        assert_eq!(closest(&["x", "x"], &["x", "y", "x", "x"]), Some((2, 2, 4)));
    }
}
