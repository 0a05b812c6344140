//! The end of the selected session.

use jiff::Timestamp;
use recount_blocks::Level;
use recount_display::number::{count, plural, price};
use recount_display::sanitize::single_line;
use recount_display::span::Line;
use recount_display::theme::Tone;
use recount_display::width::truncate_to;
use recount_engine::{MessageCursor, Position, View};
use recount_model::{Message, MessageKind, SessionFacts, SessionKey};

use crate::draw::{Painter, columns};
use crate::shared::Shared;
use crate::transcript::Look;
use crate::work::Work;

/// Number of lines that are laid out.
const LINES: usize = 160;
/// Number of messages that are read.
const MESSAGES: usize = 24;

/// The end of a session.
#[derive(Debug)]
pub(crate) struct Preview {
    pub(crate) key: SessionKey,
    /// When the session was used last.
    pub(crate) updated: Option<Timestamp>,
    messages: Result<Vec<Message>, String>,
}

impl Preview {
    /// Reads the end of a session.
    pub(crate) fn read(work: &Work, key: SessionKey, updated: Option<Timestamp>) -> Self {
        let opened = work.open(&key);
        let messages = opened.map_err(|error| error.full_message()).map(|opened| {
            let mut cursor = MessageCursor::new(opened, View::Full);
            cursor.seek(&Position::Index(usize::MAX));
            cursor.previous_page(MESSAGES).into_iter().filter_map(Result::ok).collect()
        });
        Self { key, updated, messages }
    }
}

/// The preview as it is drawn.
#[derive(Debug, Default)]
pub(crate) struct Pane {
    preview: Option<Preview>,
    /// Lines at a width, and where prompts begin.
    laid: Option<(usize, Vec<Line>, Vec<usize>)>,
    /// Lines above the end.
    back: usize,
}

impl Pane {
    /// Whether it shows this state of a session.
    pub(crate) fn is_of(&self, session: &SessionFacts) -> bool {
        let is_it =
            |preview: &Preview| preview.key == session.key() && preview.updated == session.updated;
        self.preview.as_ref().is_some_and(is_it)
    }

    pub(crate) fn show(&mut self, preview: Preview) {
        let is_same = self.preview.as_ref().is_some_and(|before| before.key == preview.key);
        if !is_same {
            self.back = 0;
        }
        self.preview = Some(preview);
        self.laid = None;
    }

    /// Goes to the next or previous prompt.
    pub(crate) fn jump(&mut self, on: bool, height: usize) {
        let Some((_, lines, prompts)) = &self.laid else { return };
        let top = lines.len().saturating_sub(height + self.back);
        let target = if on {
            prompts.iter().find(|at| **at > top)
        } else {
            prompts.iter().rev().find(|at| **at < top)
        };
        let most = lines.len().saturating_sub(height);
        self.back = target.map_or(if on { 0 } else { most }, |at| most.saturating_sub(*at));
    }

    /// Draws facts and the end of the conversation.
    pub(crate) fn draw(
        &mut self,
        painter: &mut Painter<'_>,
        session: &SessionFacts,
        shared: &Shared,
    ) {
        let width = usize::from(painter.width());
        let facts = facts(session, shared);
        let is_tall = painter.height() > 12;
        let above = if is_tall { facts.len() } else { 0 };
        for (y, (text, tone)) in facts.iter().take(above).enumerate() {
            painter.text(0, columns(y), &truncate_to(&single_line(text), width), *tone);
        }
        let start = columns(above) + u16::from(is_tall);
        let height = usize::from(painter.height().saturating_sub(start));
        let Some(preview) = self.preview.as_ref().filter(|preview| preview.key == session.key())
        else {
            return;
        };
        let messages = match &preview.messages {
            Ok(messages) => messages,
            Err(error) => {
                painter.text(0, start, error, Tone::Error);
                return;
            }
        };
        if self.laid.as_ref().is_none_or(|(laid, ..)| *laid != width) {
            let project =
                session.project.path.as_ref().map(ToString::to_string).unwrap_or_default();
            let look = Look { level: Level::Actions, width, project: &project };
            // From the end on, and no further than somebody is likely to look back.
            let (mut parts, mut many) = (Vec::new(), 0);
            for message in messages.iter().rev() {
                if many >= LINES {
                    break;
                }
                let more = look.message(message);
                many += more.len();
                parts.push((message.kind == MessageKind::Prompt && !more.is_empty(), more));
            }
            let (mut lines, mut prompts) = (Vec::with_capacity(many), Vec::new());
            for (is_prompt, more) in parts.into_iter().rev() {
                if is_prompt {
                    prompts.push(lines.len());
                }
                lines.extend(more);
            }
            self.laid = Some((width, lines, prompts));
        }
        let Some((_, lines, _)) = &self.laid else { return };
        self.back = self.back.min(lines.len().saturating_sub(height));
        let top = lines.len().saturating_sub(height + self.back);
        for (y, line) in lines.iter().skip(top).take(height).enumerate() {
            painter.line(0, start + columns(y), line);
        }
    }
}

fn facts(session: &SessionFacts, shared: &Shared) -> Vec<(String, Tone)> {
    let title = session.shown_title().to_owned();
    let path = session.project.path.as_ref().map(|path| shared.folders.tilde(path.as_str()));
    let mut origin = vec![path.unwrap_or_else(|| session.project.name().to_owned())];
    origin.extend(session.branch.clone());
    origin.push(session.source.to_string());
    origin.extend(session.models.last().cloned());
    let mut figures = Vec::new();
    if !session.is_usage_unknown() {
        figures.push(format!("{} tokens", count(session.tokens.total)));
    }
    if session.cost_usd.is_some() {
        figures.push(price(session.cost_usd, session.cost_is_lower_bound == Some(true)));
    }
    figures.push(plural(session.typed_prompts(), "prompt"));
    figures.push(plural(session.tool_calls.total, "tool call"));
    vec![(title, Tone::Heading), (origin.join(" · "), Tone::Dim), (figures.join(" · "), Tone::Dim)]
}
