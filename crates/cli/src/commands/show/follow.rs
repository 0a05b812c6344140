//! `recount show --follow`: the transcript as it grows.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use recount_engine::export::json::write_json;
use recount_engine::{Bound, Engine, MessageCursor, Opened, View, WatchEvent, WatchMode};

use super::{Figures, PAGE, ShowArgs, Transcript, ViewArg};
use crate::context::{Context, Out, Paged};
use crate::failure::Failure;

/// The timeout of a wait for changes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The state of what was printed.
struct Follower {
    out: Out,
    /// The state for drawing the next message; `None` for JSON.
    transcript: Option<Transcript>,
    /// The state before the last message was drawn, in case it changes.
    before: Option<Transcript>,
    view: View,
    /// The number of messages printed.
    printed: usize,
    /// The last message, as JSON: if it changes, it is printed again.
    last: Vec<u8>,
    /// The last message as printed: if it grows, only the rest is printed.
    shown: String,
}

/// Prints the transcript, then each message as it arrives, until the reader is gone.
pub(super) fn run(
    opened: &Arc<Opened>,
    view: View,
    args: &ShowArgs,
    context: &Context,
) -> Result<ExitCode, Failure> {
    let engine: Engine = context.plain_engine()?;
    let subscription = engine.watch(WatchMode::Events)?;
    let facts = &opened.facts;
    let mut out = context.out(Paged::No);
    let mut transcript = None;
    if !context.global.json {
        let figures = match args.view {
            ViewArg::Strict => Figures::Strict,
            ViewArg::Full => Figures::Full,
        };
        let text = Transcript::new(context.canvas(), args.level.into(), args.thoughts, facts);
        out.write_all(text.heading(facts, figures, &context.folders).as_bytes())?;
        transcript = Some(text);
    }
    let mut follower = Follower {
        out,
        transcript,
        before: None,
        view,
        printed: 0,
        last: Vec::new(),
        shown: String::new(),
    };
    follower.print(opened)?;
    let (source, id) = (facts.source, facts.id.clone());
    // Changes between the first read and the start of the watch.
    let mut is_changed = true;
    loop {
        if is_changed {
            let newest = engine.at(&subscription.snapshot());
            // A session that is missing for a moment may be being rewritten.
            if let Ok(opened) = newest.open(id.as_str(), &()) {
                follower.print(&Arc::new(opened))?;
            }
        }
        is_changed = match subscription.next(TIMEOUT) {
            Some(WatchEvent::Changed(change)) => {
                change.after.source == source && change.after.id == id
            }
            Some(WatchEvent::Added(facts)) => facts.source == source && facts.id == id,
            Some(WatchEvent::Reset) => true,
            Some(WatchEvent::Gone(_) | WatchEvent::Project(_) | WatchEvent::Problems(_)) | None => {
                false
            }
        };
    }
}

impl Follower {
    /// Prints what is new in a session.
    fn print(&mut self, opened: &Arc<Opened>) -> Result<(), Failure> {
        let mut messages = MessageCursor::new(Arc::clone(opened), self.view);
        if messages.len() < self.printed {
            // Printed messages were undone, so the next message is a new one.
            self.printed = messages.len();
            self.last.clear();
            self.shown.clear();
            return Ok(());
        }
        let mut skipped = 0;
        if self.printed > 0 {
            let first = Bound::Number(i64::try_from(self.printed).unwrap_or(i64::MAX));
            let Ok(before) = messages.keep_between(Some(&first), None) else { return Ok(()) };
            skipped = before;
        }
        let mut number = skipped;
        loop {
            let page = messages.next_page(PAGE);
            if page.is_empty() {
                break;
            }
            for message in page {
                number += 1;
                // A message that cannot be read yet may be incomplete.
                let Ok(message) = message else { continue };
                let mut line = Vec::new();
                write_json(&mut line, &message)?;
                if number == self.printed && line == self.last {
                    continue;
                }
                if let Some(transcript) = &mut self.transcript {
                    let is_same = number == self.printed && !self.shown.is_empty();
                    match &self.before {
                        Some(before) if is_same => *transcript = before.clone(),
                        _ => self.before = Some(transcript.clone()),
                    }
                    let text = transcript.message(&message, number);
                    let new = if is_same { rest_of(&text, &self.shown) } else { &text };
                    self.out.write_all(new.as_bytes())?;
                    self.shown = text;
                } else {
                    self.out.write_all(&line)?;
                    self.out.write_all(b"\n")?;
                }
                self.last = line;
                self.printed = number;
            }
        }
        self.out.flush()?;
        Ok(())
    }
}

/// Returns what is new in a message that was printed before: the rest if it only grew, else all of it.
fn rest_of<'text>(text: &'text str, shown: &str) -> &'text str {
    let kept = shown.trim_end();
    let ending = shown.get(kept.len()..).unwrap_or_default();
    match text.strip_prefix(kept) {
        Some(rest) => rest.strip_prefix(ending).unwrap_or(rest),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::rest_of;

    #[test]
    fn only_the_rest_of_a_grown_message_is_printed() {
        assert_eq!(rest_of("An answer\n  a call\n", "An answer\n"), "  a call\n");
        assert_eq!(rest_of("Another\n", "An answer\n"), "Another\n");
        assert_eq!(rest_of("An answer, longer\n", "An answer\n"), ", longer\n");
    }
}
