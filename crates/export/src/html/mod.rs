//! HTML: one self-contained page per session, an index of a folder of them, and a usage report.
//!
//! A page is written as its session is read. The list of prompts and the charts are known only at the end, so they are at
//! the end and are positioned by the style. Everything up to the last level is in the page; the reader chooses what is
//! visible, without a script: elements are marked with the level from which on they are shown.

mod call;
mod chart;
mod diff;
mod document;
mod head;
mod html_writer;
mod marked;
mod message;
mod prompts;
pub mod report;
pub mod site;
#[cfg(test)]
mod tests;
mod turn;

use std::io::{self, Write};

use jiff::Timestamp;
use recount_model::{Fate, Message, MessageKind, Problem, SessionFacts, SessionKind};

use self::document::PAGE;
use self::html_writer::HtmlWriter;
use self::turn::Turn;
use crate::{ExportOptions, Level, Renderer, TranscriptPart, words};

/// The longest text on a line: a name, an argument, a path.
const LINE: usize = 300;

/// Writes a page.
#[derive(Debug)]
pub(crate) struct Page {
    options: ExportOptions,
    /// The project's folder; paths below it are written without it.
    project: String,
    last: Option<Timestamp>,
    /// The last speaker and fate, at the levels `talk` and `actions`.
    speakers: [Option<(String, Fate)>; 2],
    /// The number of messages.
    number: u64,
    turns: Vec<Turn>,
    is_turn_open: bool,
    /// Whether a model asks, and not a human.
    is_agent: bool,
    /// The sessions that called the current sub-agent: the time of their last message, and whether each is a sub-agent
    /// itself.
    outer: Vec<(Option<Timestamp>, bool)>,
}

impl Page {
    pub(crate) fn new(options: &ExportOptions) -> Self {
        Self {
            options: options.clone(),
            project: String::new(),
            last: None,
            speakers: [None, None],
            number: 0,
            turns: Vec::new(),
            is_turn_open: false,
            is_agent: false,
            outer: Vec::new(),
        }
    }

    /// Returns the level that is shown first.
    fn first(&self) -> Level {
        self.options.level()
    }

    /// Begins a turn: a prompt and everything up to the next one. Messages before the first prompt are a turn without one.
    fn turn(&mut self, message: &Message, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        if !self.outer.is_empty() {
            // What a sub-agent does is part of the turn in which it was called.
            return Ok(());
        }
        let is_prompt = message.kind == MessageKind::Prompt;
        if is_prompt || !self.is_turn_open {
            if self.is_turn_open {
                html.mark("</section>\n")?;
            }
            html.mark("<section class=\"turn\"")?;
            if is_prompt {
                self.turns.push(Turn::new(message, self.options.bidi));
                self.speakers = [None, None];
                html.numbered("id", "p", self.turns.len() as u64)?;
            }
            html.mark(">\n")?;
            self.is_turn_open = true;
        }
        if let (Some(turn), Some(tokens)) = (self.turns.last_mut(), message.tokens) {
            turn.add(tokens);
        }
        Ok(())
    }
}

impl Renderer for Page {
    fn begin(
        &mut self,
        session: &SessionFacts,
        _part: TranscriptPart<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        *self = Self::new(&self.options);
        let path = session.project.path.as_ref().map(|path| path.as_str().to_owned());
        self.project = path.unwrap_or_default();
        self.is_agent = session.kind == SessionKind::Subagent;
        let mut html = HtmlWriter::new(out, self.options.bidi);
        self.head(session, &mut html)?;
        html.mark("<main id=\"session\" tabindex=\"-1\">\n")
    }

    fn shows(&self, message: &Message) -> bool {
        !self.options.minimal || Level::Talk.shows(message, false)
    }

    fn shows_outputs(&self) -> bool {
        !self.options.minimal
    }

    fn nests(&self) -> bool {
        !self.options.minimal
    }

    fn nest(&mut self, agent: &SessionFacts, out: &mut dyn Write) -> io::Result<()> {
        let mut html = HtmlWriter::new(out, self.options.bidi);
        if !self.is_turn_open {
            html.mark("<section class=\"turn\">\n")?;
            self.is_turn_open = true;
        }
        self.outer.push((self.last.take(), self.is_agent));
        self.is_agent = true;
        self.speakers = [None, None];
        html.mark("<details class=\"fold actions sub-agent\"><summary>Sub-agent: ")?;
        html.line(agent.title.as_deref().unwrap_or(words::UNTITLED), LINE)?;
        html.mark(" <span class=\"dim\">")?;
        html.text(&words::figures(agent, self.options.strict))?;
        html.mark("</span></summary>\n")?;
        if let Some(words) = words::problems(agent) {
            html.mark("<p class=\"damage\"><b>Damaged:</b> ")?;
            html.text(&words)?;
            html.mark(".</p>\n")?;
        }
        Ok(())
    }

    fn unnest(&mut self, out: &mut dyn Write) -> io::Result<()> {
        (self.last, self.is_agent) = self.outer.pop().unwrap_or_default();
        self.speakers = [None, None];
        HtmlWriter::new(out, self.options.bidi).mark("</details>\n")
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        self.number += 1;
        if !self.shows(message) {
            return Ok(());
        }
        let mut html = HtmlWriter::new(out, self.options.bidi);
        self.turn(message, &mut html)?;
        self.write_message(message, &mut html)
    }

    fn unread(&mut self, problem: &Problem, out: &mut dyn Write) -> io::Result<()> {
        self.number += 1;
        self.speakers = [None, None];
        let mut html = HtmlWriter::new(out, self.options.bidi);
        html.mark("<p class=\"damage\"><b>Damaged:</b> a message could not be read")?;
        if !self.options.minimal {
            html.mark(": ")?;
            html.line(&problem.to_string(), LINE)?;
        }
        html.mark(".</p>\n")
    }

    fn end(&mut self, _next: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
        let mut html = HtmlWriter::new(out, self.options.bidi);
        if self.is_turn_open {
            html.mark("</section>\n")?;
        }
        html.mark("</main>\n")?;
        prompts::write(&self.turns, self.options.minimal, &mut html)?;
        if !self.options.minimal {
            chart::write(&self.turns, &mut html)?;
        }
        html.mark(
            "<footer class=\"foot\"><p>Written by recount. All times are UTC.</p></footer>\n",
        )?;
        head::help(self.options.minimal, &mut html)?;
        PAGE.close(&mut html)
    }
}

/// Formats a number with separated thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes a time: hour and minute, with the day if it differs from the one before.
fn moment(time: Timestamp, before: Option<Timestamp>, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    html.mark("<time")?;
    html.attribute("datetime", &time.to_string())?;
    html.mark(">")?;
    html.text(&words::since(time, before))?;
    html.mark("</time>")
}
