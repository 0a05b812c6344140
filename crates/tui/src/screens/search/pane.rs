//! The message of a hit, with those around it.

use recount_blocks::Level;
use recount_display::sanitize::single_line;
use recount_display::span::{Line, StyledSpan};
use recount_display::theme::Tone;
use recount_display::width::truncate_to;
use recount_engine::Match;
use recount_model::{Message, MessageKind, SessionFacts};

use crate::draw::{Painter, columns};
use crate::shared::Shared;
use crate::transcript::Look;
use crate::work::Work;

/// Messages before and after the hit.
const AROUND: usize = 2;
/// Lines that are shown before the first match.
const ABOVE: usize = 2;

/// What a hit is known by.
pub(super) type HitKey = (recount_model::SessionKey, u64, String);

/// Returns what a hit is known by.
pub(super) fn key(hit: &Match) -> HitKey {
    let place = &hit.message.place;
    (hit.session.key(), place.offset, place.file.to_string())
}

/// The messages around a hit.
#[derive(Debug)]
pub(super) struct Around {
    key: HitKey,
    messages: Result<Vec<Message>, String>,
}

impl Around {
    /// Reads them.
    pub(super) fn read(work: &Work, hit: &Match) -> Self {
        let messages = work.engine().around(hit, AROUND);
        Self { key: key(hit), messages: messages.map_err(|error| error.full_message()) }
    }
}

/// The preview as it is drawn.
#[derive(Debug, Default)]
pub(super) struct Pane {
    around: Option<Around>,
    /// The words that match, in lower case.
    words: Vec<String>,
    /// Lines at a width, where prompts begin, and where the hit is.
    laid: Option<Laid>,
    /// The first line that is shown; by default the one of the hit.
    top: Option<usize>,
}

#[derive(Debug)]
struct Laid {
    width: usize,
    lines: Vec<Line>,
    prompts: Vec<usize>,
    hit: usize,
}

impl Pane {
    pub(super) fn is_of(&self, hit: &Match) -> bool {
        self.around.as_ref().is_some_and(|around| around.key == key(hit))
    }

    pub(super) fn show(&mut self, around: Around) {
        if self.around.as_ref().is_none_or(|before| before.key != around.key) {
            self.top = None;
        }
        self.around = Some(around);
        self.laid = None;
    }

    /// Notes the words of the query; lines are marked again.
    pub(super) fn mark(&mut self, hit: &Match) {
        let snippet = hit.snippet.as_ref();
        let words = snippet.into_iter().flat_map(|snippet| {
            let part = |range: &std::ops::Range<usize>| snippet.text.get(range.clone());
            snippet.highlights.iter().filter_map(part).map(str::to_lowercase)
        });
        let mut words: Vec<String> = words.filter(|word| !word.trim().is_empty()).collect();
        words.sort();
        words.dedup();
        if words != self.words {
            (self.words, self.laid, self.top) = (words, None, None);
        }
    }

    /// Goes to the next or previous prompt.
    pub(super) fn jump(&mut self, on: bool) {
        let Some(laid) = &self.laid else { return };
        let top = self.top.unwrap_or(laid.hit);
        let target = if on {
            laid.prompts.iter().find(|at| **at > top).copied().unwrap_or(laid.lines.len())
        } else {
            laid.prompts.iter().rev().find(|at| **at < top).copied().unwrap_or(0)
        };
        self.top = Some(target);
    }

    /// Draws the hit and what is around it.
    pub(super) fn draw(&mut self, painter: &mut Painter<'_>, hit: &Match, shared: &Shared) {
        let width = usize::from(painter.width());
        let is_tall = painter.height() > 12;
        let mut start = 0;
        if is_tall {
            for (text, tone) in facts(&hit.session, shared) {
                painter.text(0, start, &truncate_to(&single_line(&text), width), tone);
                start += 1;
            }
            start += 1;
        }
        let height = usize::from(painter.height().saturating_sub(start));
        if hit.is_gone {
            let words = "its file is gone, and the text with it: only the index knows it";
            painter.text(0, start, words, Tone::Dim);
            return;
        }
        let Some(around) = self.around.as_ref().filter(|around| around.key == key(hit)) else {
            return;
        };
        let messages = match &around.messages {
            Ok(messages) => messages,
            Err(error) => {
                painter.text(0, start, error, Tone::Error);
                return;
            }
        };
        if self.laid.as_ref().is_none_or(|laid| laid.width != width) {
            self.laid = Some(lay(messages, hit, width, &self.words));
        }
        let Some(laid) = &self.laid else { return };
        let most = laid.lines.len().saturating_sub(height);
        let top = self.top.unwrap_or(laid.hit).min(most);
        self.top = self.top.map(|_| top);
        for (y, line) in laid.lines.iter().skip(top).take(height).enumerate() {
            painter.line(0, start + columns(y), line);
        }
    }
}

fn lay(messages: &[Message], hit: &Match, width: usize, words: &[String]) -> Laid {
    let project = hit.session.project.path.as_ref().map(ToString::to_string).unwrap_or_default();
    // A thought or a tool's output is found as well.
    let look = Look { level: Level::Trace, width, project: &project };
    let usual = Look { level: Level::Actions, ..look };
    let (mut lines, mut prompts, mut place) = (Vec::new(), Vec::new(), 0);
    for message in messages {
        let is_hit = message.place.offset == hit.message.place.offset
            && message.place.file == hit.message.place.file;
        let more = if is_hit { look.message(message) } else { usual.message(message) };
        if message.kind == MessageKind::Prompt && !more.is_empty() {
            prompts.push(lines.len());
        }
        let more: Vec<Line> =
            more.into_iter().map(|line| if is_hit { marked(&line, words) } else { line }).collect();
        if is_hit {
            let has_match =
                |line: &Line| line.spans().iter().any(|span| span.style() == Tone::Match.style());
            let first = more.iter().position(has_match).unwrap_or_default();
            // The heading stays in view if the match is near it.
            let above = if first > ABOVE + 1 { first - ABOVE } else { 0 };
            place = lines.len() + above;
        }
        lines.extend(more);
    }
    Laid { width, lines, prompts, hit: place }
}

/// Marks words in a line.
fn marked(line: &Line, words: &[String]) -> Line {
    let mut spans = Vec::new();
    for span in line.spans() {
        let (text, lower) = (span.text(), span.text().to_lowercase());
        // Where case changes the length, places would be wrong.
        if lower.len() != text.len() {
            spans.push(span.clone());
            continue;
        }
        let mut from = 0;
        while let Some((start, end)) = next_match(&lower, words, from) {
            let (Some(before), Some(word)) = (text.get(from..start), text.get(start..end)) else {
                break;
            };
            spans.push(StyledSpan::styled(before, span.style()));
            spans.push(StyledSpan::new(word, Tone::Match));
            from = end;
        }
        spans.push(StyledSpan::styled(text.get(from..).unwrap_or_default(), span.style()));
    }
    Line::new(spans)
}

fn next_match(text: &str, words: &[String], from: usize) -> Option<(usize, usize)> {
    let rest = text.get(from..)?;
    let found = words.iter().filter_map(|word| {
        let at = rest.find(word.as_str())?;
        Some((from + at, from + at + word.len()))
    });
    found.min_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)))
}

fn facts(session: &SessionFacts, shared: &Shared) -> [(String, Tone); 2] {
    let title = session.shown_title().to_owned();
    let path = session.project.path.as_ref().map(|path| shared.folders.tilde(path.as_str()));
    let mut origin = vec![path.unwrap_or_else(|| session.project.name().to_owned())];
    origin.extend(session.branch.clone());
    origin.push(session.source.to_string());
    origin.extend(session.models.last().cloned());
    [(title, Tone::Heading), (origin.join(" · "), Tone::Dim)]
}
