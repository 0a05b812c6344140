//! Markdown, for people: a header, then one section per turn.

mod body;
mod call;
mod escape;

use std::io::{self, Write};

use jiff::Timestamp;
use recount_blocks::CallBlock;
use recount_model::{
    Fate, Media, MediaData, Message, MessageKind, Problem, SessionFacts, SessionKind,
};

use self::escape::{fence, html, inline, span};
use crate::text::{Bidi, isolated, shortened};
use crate::{ExportOptions, Level, Renderer, TranscriptPart, media, words};

/// The longest title in a heading.
const TITLE: usize = 200;
/// The maximum number of problems that are listed individually.
const MAX_PROBLEMS: usize = 20;

/// Writes Markdown.
#[derive(Debug)]
pub(crate) struct Markdown {
    options: ExportOptions,
    bidi: Bidi,
    level: Level,
    /// The project's folder; paths below it are written without it.
    project: String,
    last: Option<Timestamp>,
    /// The last speaker and fate.
    speaker: Option<(String, Fate)>,
    number: u64,
    /// Whether a model asks, and not a human.
    is_agent: bool,
    /// The enclosing sessions, with the position in each.
    outer: Vec<Outer>,
}

/// The state of a session while a sub-agent's session is written.
#[derive(Debug)]
struct Outer {
    last: Option<Timestamp>,
    number: u64,
    is_agent: bool,
}

impl Markdown {
    pub(crate) fn new(options: &ExportOptions) -> Self {
        Self {
            bidi: options.bidi,
            level: options.level(),
            options: options.clone(),
            project: String::new(),
            last: None,
            speaker: None,
            number: 0,
            is_agent: false,
            outer: Vec::new(),
        }
    }

    /// Returns the mark of a heading; headings of sub-agents are one level below those of their callers.
    fn rank(&self) -> &'static str {
        match self.outer.len() {
            0 => "##",
            1 => "####",
            _ => "######",
        }
    }

    fn head(&self, session: &SessionFacts, out: &mut dyn Write) -> io::Result<()> {
        let strict = self.options.strict;
        let mut rows: Vec<(&str, String)> = Vec::new();
        if !self.options.minimal {
            let name = inline(session.project.name(), self.bidi);
            let path = session.project.path.as_ref().map(|path| span(path.as_str(), self.bidi));
            let path = path.map(|path| format!(" ({path})")).unwrap_or_default();
            rows.push(("Project", format!("{name}{path}")));
            let id = span(session.id.as_str(), self.bidi);
            rows.push(("Session", format!("{id} ({})", session.source)));
            if session.kind == SessionKind::Subagent {
                let parent = session.parent.as_ref().map(|parent| self.link(parent.as_str()));
                rows.push(("Sub-agent of", parent.unwrap_or_else(|| "another session".into())));
            }
        }
        if let (Some(began), Some(ended)) = (session.started, session.updated) {
            rows.push(("Time", format!("{} to {}", words::minute(began), words::minute(ended))));
        }
        if !session.models.is_empty() {
            let models: Vec<String> =
                session.models.iter().map(|model| inline(model, self.bidi)).collect();
            rows.push(("Models", models.join(", ")));
        }
        if !self.options.minimal {
            rows.push(("Said", words::figures(session, strict)));
            rows.push(("Tokens", words::tokens(session, strict)));
            rows.extend(words::cost(session).map(|cost| ("Cost", cost)));
        }
        for (name, value) in rows {
            writeln!(out, "- **{name}:** {value}")?;
        }
        self.problems(session, out)
    }

    fn problems(&self, session: &SessionFacts, out: &mut dyn Write) -> io::Result<()> {
        let Some(words) = words::problems(session) else { return Ok(()) };
        writeln!(out, "\n> **Damaged:** {words}.")?;
        if self.options.minimal {
            return Ok(());
        }
        for problem in session.problem_list.iter().take(MAX_PROBLEMS) {
            writeln!(out, ">\n> - {}", inline(&problem.to_string(), self.bidi))?;
        }
        Ok(())
    }

    /// Returns a session's id, as a link if it was exported as well.
    fn link(&self, id: &str) -> String {
        let shown = span(id, self.bidi);
        match self.options.links.get(id) {
            Some(file) => format!("[{shown}](<{file}>)"),
            None => shown,
        }
    }

    /// Returns a link to a file beside this one.
    fn file(&self, name: &str) -> String {
        format!("[{}]{}", inline(name, self.bidi), self.target(name))
    }

    fn target(&self, name: &str) -> String {
        let target = name.replace('%', "%25").replace('<', "%3C").replace('>', "%3E");
        format!("(<{}>)", isolated(&target, self.bidi))
    }

    fn heading(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        let who = words::speaker(message, self.options.minimal, self.is_agent);
        let speaker = Some((who.clone(), message.fate));
        let goes_on = self.level < Level::Full && message.kind == MessageKind::Answer;
        if goes_on && self.speaker == speaker {
            self.last = message.time.or(self.last);
            return Ok(());
        }
        self.speaker = speaker;
        let mut parts = vec![inline(&who, self.bidi)];
        if let Some(time) = message.time {
            parts.push(words::since(time, self.last));
            self.last = Some(time);
        }
        if message.fate != Fate::Kept {
            parts.push(format!("*{}*", message.fate));
        }
        if let Some(tokens) = message.tokens.filter(|_| self.level >= Level::Full) {
            parts.push(words::plural(tokens.total, "token"));
        }
        writeln!(out, "\n{} {}", self.rank(), parts.join(" · "))?;
        if self.level >= Level::Trace {
            let id = message.id.as_ref().map_or("no id", |id| id.as_str());
            let place = &message.place;
            let at = format!("{}:{} +{}", place.file, place.line, place.bytes);
            let (id, at) = (span(id, self.bidi), span(&at, self.bidi));
            writeln!(out, "\n\\#{} {id} at {at}", self.number)?;
        }
        Ok(())
    }

    fn said(&self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        let trace = self.level >= Level::Trace;
        let text = if trace { &message.text } else { &message.display_text };
        if !text.trim().is_empty() {
            let text = match message.kind {
                MessageKind::Answer | MessageKind::Summary => {
                    body::contained(text, self.bidi, self.options.link_policy)
                }
                MessageKind::Prompt | MessageKind::Notice | MessageKind::Nudge => {
                    body::quoted(text, self.bidi, self.options.link_policy)
                }
                MessageKind::Shell
                | MessageKind::Context
                | MessageKind::Hook
                | MessageKind::ToolResult => fence(text.trim_end(), "", self.bidi),
            };
            write!(out, "\n{text}")?;
        }
        self.media(&message.media, out)?;
        self.files(message, out)
    }

    fn media(&self, all: &[Media], out: &mut dyn Write) -> io::Result<()> {
        for media in all {
            let what = inline(&words::media(media), self.bidi);
            match (&media.held, media::address(media)) {
                (MediaData::Beside(name), _) => {
                    let mark = if media::is_image(name) { "!" } else { "" };
                    writeln!(out, "\n{mark}[{what}]{}", self.target(name))?;
                }
                (_, Some(address)) => writeln!(out, "\n![{what}](<{address}>)")?,
                _ => writeln!(out, "\n*\\[{what}, not part of this file\\]*")?,
            }
        }
        Ok(())
    }

    fn files(&self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        if self.options.minimal {
            let many = message.files.len() as u64;
            return if many > 0 {
                writeln!(out, "\n*\\[{} sent along\\]*", words::plural(many, "file"))
            } else {
                Ok(())
            };
        }
        for file in &message.files {
            let size = words::size(file.bytes);
            // At the last level it is part of the text.
            if self.level != Level::Full || file.content.is_empty() {
                writeln!(
                    out,
                    "\n*{} ({size} sent along)*",
                    span(&format!("@{}", file.path), self.bidi)
                )?;
                continue;
            }
            let name = html(&format!("@{} ({size} sent along)", file.path), self.bidi);
            let content = fence(&file.content, "", self.bidi);
            writeln!(out, "\n<details>\n<summary>{name}</summary>\n\n{content}\n</details>")?;
        }
        Ok(())
    }
}

impl Renderer for Markdown {
    fn begin(
        &mut self,
        session: &SessionFacts,
        part: TranscriptPart<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let path = session.project.path.as_ref().map(|path| path.as_str().to_owned());
        self.project = path.unwrap_or_default();
        self.speaker = None;
        self.last = None;
        self.is_agent = session.kind == SessionKind::Subagent;
        let title = session.title.as_deref().unwrap_or(words::UNTITLED);
        let title = inline(&shortened(title.trim(), TITLE), self.bidi);
        if let Some(previous) = part.previous {
            writeln!(out, "# {title} (part {})\n", part.number)?;
            return writeln!(out, "Begins in the part before: {}", self.file(previous));
        }
        self.number = 0;
        writeln!(out, "# {title}\n")?;
        self.head(session, out)
    }

    fn shows(&self, message: &Message) -> bool {
        self.level.shows(message, self.options.thinks())
    }

    fn shows_outputs(&self) -> bool {
        self.level >= Level::Full
    }

    fn nests(&self) -> bool {
        self.level >= Level::Actions
    }

    fn nest(&mut self, agent: &SessionFacts, out: &mut dyn Write) -> io::Result<()> {
        let title = agent.title.as_deref().unwrap_or(words::UNTITLED);
        let title = inline(&shortened(title.trim(), TITLE), self.bidi);
        let rank = self.rank();
        writeln!(out, "\n{rank}# Sub-agent: {title}\n")?;
        writeln!(
            out,
            "{}. {}",
            span(agent.id.as_str(), self.bidi),
            words::figures(agent, self.options.strict)
        )?;
        self.problems(agent, out)?;
        let (last, number, is_agent) = (self.last.take(), self.number, self.is_agent);
        self.outer.push(Outer { last, number, is_agent });
        self.is_agent = true;
        self.speaker = None;
        self.number = 0;
        Ok(())
    }

    fn unnest(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(outer) = self.outer.pop() {
            self.last = outer.last;
            self.number = outer.number;
            self.is_agent = outer.is_agent;
        }
        self.speaker = None;
        writeln!(out, "\n*End of the sub-agent.*")
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        self.number += 1;
        if !self.shows(message) {
            return Ok(());
        }
        self.heading(message, out)?;
        if self.options.thinks() {
            for thought in &message.thoughts {
                let subject = inline(&thought.subject, self.bidi);
                let text = body::quoted(&thought.description, self.bidi, self.options.link_policy);
                write!(out, "\n> **Thought: {subject}**\n>\n{text}")?;
            }
        }
        self.said(message, out)?;
        if self.level >= Level::Actions {
            for call in &message.tool_calls {
                self.call(&CallBlock::new(call, self.level, &self.project), out)?;
            }
        }
        if !self.options.minimal {
            for problem in &message.problems {
                writeln!(out, "\n> **Damaged:** {} in this message.", problem.phrase())?;
            }
        }
        Ok(())
    }

    fn unread(&mut self, problem: &Problem, out: &mut dyn Write) -> io::Result<()> {
        self.number += 1;
        self.speaker = None;
        if self.options.minimal {
            return writeln!(out, "\n> **Damaged:** a message could not be read.");
        }
        let words = inline(&problem.to_string(), self.bidi);
        writeln!(out, "\n> **Damaged:** a message could not be read: {words}")
    }

    fn end(&mut self, next: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
        match next {
            Some(next) => writeln!(out, "\nGoes on in the next part: {}", self.file(next)),
            None => Ok(()),
        }
    }
}
