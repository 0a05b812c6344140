//! HTML: one page per session, whole in one file, an index of a folder of them, and a report of what was used.
//!
//! A page is written as its session is told. What is known only at the end, the list of prompts and the charts, stands at the
//! end and is put in its place by the style. Everything up to the last level is in the page; which of it is seen, the
//! reader chooses, without a script: elements are marked with the level from which on they are shown.

mod call;
mod chart;
mod diff;
mod document;
mod head;
mod marked;
mod message;
mod paper;
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
use self::paper::Paper;
use self::turn::Turn;
use crate::{ExportOptions, Level, Renderer, TranscriptPart, words};

/// The longest that a line has room for: a name, an argument, a path.
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
    /// How many messages there were.
    number: u64,
    turns: Vec<Turn>,
    is_turn_open: bool,
    /// Whether a model asks, and not a human.
    is_agent: bool,
    /// Where the sessions were left in which a sub-agent was called: when they spoke last, and whether they are one.
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

    /// A turn is a prompt and all up to the next; what comes before the first one is a turn without.
    fn turn(&mut self, message: &Message, paper: &mut Paper<'_>) -> io::Result<()> {
        if !self.outer.is_empty() {
            // What a sub-agent does is part of the turn in which it was called.
            return Ok(());
        }
        let is_prompt = message.kind == MessageKind::Prompt;
        if is_prompt || !self.is_turn_open {
            if self.is_turn_open {
                paper.mark("</section>\n")?;
            }
            paper.mark("<section class=\"turn\"")?;
            if is_prompt {
                self.turns.push(Turn::new(message, self.options.bidi));
                self.speakers = [None, None];
                paper.numbered("id", "p", self.turns.len() as u64)?;
            }
            paper.mark(">\n")?;
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
        let mut paper = Paper::new(out, self.options.bidi);
        self.head(session, &mut paper)?;
        paper.mark("<main id=\"session\" tabindex=\"-1\">\n")
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
        let mut paper = Paper::new(out, self.options.bidi);
        if !self.is_turn_open {
            paper.mark("<section class=\"turn\">\n")?;
            self.is_turn_open = true;
        }
        self.outer.push((self.last.take(), self.is_agent));
        self.is_agent = true;
        self.speakers = [None, None];
        paper.mark("<details class=\"fold actions sub-agent\"><summary>Sub-agent: ")?;
        paper.line(agent.title.as_deref().unwrap_or(words::UNTITLED), LINE)?;
        paper.mark(" <span class=\"dim\">")?;
        paper.text(&words::figures(agent, self.options.strict))?;
        paper.mark("</span></summary>\n")?;
        if let Some(words) = words::problems(agent) {
            paper.mark("<p class=\"damage\"><b>Damaged:</b> ")?;
            paper.text(&words)?;
            paper.mark(".</p>\n")?;
        }
        Ok(())
    }

    fn unnest(&mut self, out: &mut dyn Write) -> io::Result<()> {
        (self.last, self.is_agent) = self.outer.pop().unwrap_or_default();
        self.speakers = [None, None];
        Paper::new(out, self.options.bidi).mark("</details>\n")
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        self.number += 1;
        if !self.shows(message) {
            return Ok(());
        }
        let mut paper = Paper::new(out, self.options.bidi);
        self.turn(message, &mut paper)?;
        self.told(message, &mut paper)
    }

    fn unread(&mut self, problem: &Problem, out: &mut dyn Write) -> io::Result<()> {
        self.number += 1;
        self.speakers = [None, None];
        let mut paper = Paper::new(out, self.options.bidi);
        paper.mark("<p class=\"damage\"><b>Damaged:</b> a message could not be read")?;
        if !self.options.minimal {
            paper.mark(": ")?;
            paper.line(&problem.to_string(), LINE)?;
        }
        paper.mark(".</p>\n")
    }

    fn end(&mut self, _next: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
        let mut paper = Paper::new(out, self.options.bidi);
        if self.is_turn_open {
            paper.mark("</section>\n")?;
        }
        paper.mark("</main>\n")?;
        prompts::write(&self.turns, self.options.minimal, &mut paper)?;
        if !self.options.minimal {
            chart::write(&self.turns, &mut paper)?;
        }
        paper.mark(
            "<footer class=\"foot\"><p>Written by recount. All times are UTC.</p></footer>\n",
        )?;
        head::help(self.options.minimal, &mut paper)?;
        PAGE.close(&mut paper)
    }
}

/// A number with its thousands apart.
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

/// Writes a moment: the minute, with its day where that is another than before.
fn moment(time: Timestamp, before: Option<Timestamp>, paper: &mut Paper<'_>) -> io::Result<()> {
    paper.mark("<time")?;
    paper.attribute("datetime", &time.to_string())?;
    paper.mark(">")?;
    paper.text(&words::since(time, before))?;
    paper.mark("</time>")
}
