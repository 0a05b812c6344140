//! Plain text: every line unchanged, nothing wrapped.

use std::borrow::Cow;
use std::io::{self, Write};

use jiff::Timestamp;
use recount_blocks::CallBlock;
use recount_model::{Fate, Media, MediaData, Message, Problem, SessionFacts, SessionKind};

use crate::text::{Bidi, isolated, visible};
use crate::{ExportOptions, Level, Renderer, TranscriptPart, words};

/// Writes plain text.
#[derive(Debug)]
pub(crate) struct Plain {
    options: ExportOptions,
    bidi: Bidi,
    level: Level,
    project: String,
    last: Option<Timestamp>,
    /// Whether a model asks, and not a human.
    is_agent: bool,
    /// The callers of a sub-agent: the time of their last message, and whether each is a sub-agent itself.
    outer: Vec<(Option<Timestamp>, bool)>,
}

impl Plain {
    pub(crate) fn new(options: &ExportOptions) -> Self {
        let (bidi, level) = (options.bidi, options.level());
        let (options, project) = (options.clone(), String::new());
        Self { options, bidi, level, project, last: None, is_agent: false, outer: Vec::new() }
    }

    fn head(&self, session: &SessionFacts, out: &mut dyn Write) -> io::Result<()> {
        let strict = self.options.strict;
        if !self.options.minimal {
            let path = session.project.path.as_ref().map(recount_model::RecordedPath::as_str);
            let place = path.unwrap_or_else(|| session.project.name());
            writeln!(out, "Project: {}", isolated(place, self.bidi))?;
            let id = isolated(session.id.as_str(), self.bidi);
            writeln!(out, "Session: {id} ({})", session.source)?;
            if let (SessionKind::Subagent, Some(parent)) = (session.kind, &session.parent) {
                writeln!(out, "Sub-agent of: {}", isolated(parent.as_str(), self.bidi))?;
            }
        }
        if let (Some(began), Some(ended)) = (session.started, session.updated) {
            writeln!(out, "Time: {} to {}", words::minute(began), words::minute(ended))?;
        }
        if !session.models.is_empty() {
            writeln!(out, "Models: {}", isolated(&session.models.join(", "), self.bidi))?;
        }
        if !self.options.minimal {
            writeln!(out, "Said: {}", words::figures(session, strict))?;
            writeln!(out, "Tokens: {}", words::tokens(session, strict))?;
            if let Some(cost) = words::cost(session) {
                writeln!(out, "Cost: {cost}")?;
            }
        }
        if let Some(words) = words::problems(session) {
            writeln!(out, "Damaged: {words}")?;
            let count = if self.options.minimal { 0 } else { session.problem_list.len() };
            for problem in session.problem_list.iter().take(count) {
                writeln!(out, "  {}", isolated(&problem.to_string(), self.bidi))?;
            }
        }
        Ok(())
    }

    fn call(&self, call: &CallBlock<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut line = format!("- {}", call.name);
        for more in [call.key_argument, call.agent] {
            line.extend(more.map(|more| format!(" {more}")));
        }
        line.extend(call.ending().map(|ending| format!(" ({ending})")));
        writeln!(out, "{}", isolated(&line, self.bidi))?;
        if let Some(arguments) = &call.arguments {
            self.indented(&arguments.text, out)?;
        }
        if let Some(diff) = &call.diff {
            self.indented(diff.patch, out)?;
        }
        self.indented(call.outcome(), out)?;
        self.media(call.media, out)
    }

    fn indented(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        for line in self.safe(text).lines() {
            writeln!(out, "    {line}")?;
        }
        Ok(())
    }

    fn safe<'a>(&self, text: &'a str) -> Cow<'a, str> {
        visible(text.trim_end(), self.bidi)
    }

    fn media(&self, all: &[Media], out: &mut dyn Write) -> io::Result<()> {
        for media in all {
            let what = words::media(media);
            let line = match &media.held {
                MediaData::Beside(name) => format!("{what}: {name}"),
                MediaData::Base64(_) | MediaData::Elsewhere => {
                    format!("{what}, not part of this file")
                }
            };
            writeln!(out, "[{}]", isolated(&line, self.bidi))?;
        }
        Ok(())
    }

    fn beside(&self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        self.media(&message.media, out)?;
        let files = message.files.iter().filter(|_| !self.options.minimal);
        for file in files {
            let name = isolated(&format!("@{}", file.path), self.bidi);
            writeln!(out, "[{name}, {} sent along]", words::size(file.bytes))?;
            if self.level == Level::Full {
                self.indented(&file.content, out)?;
            }
        }
        Ok(())
    }
}

impl Renderer for Plain {
    fn begin(
        &mut self,
        session: &SessionFacts,
        part: TranscriptPart<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let path = session.project.path.as_ref().map(|path| path.as_str().to_owned());
        self.project = path.unwrap_or_default();
        self.last = None;
        self.is_agent = session.kind == SessionKind::Subagent;
        let title = isolated(session.title.as_deref().unwrap_or(words::UNTITLED), self.bidi);
        if let Some(previous) = part.previous {
            return writeln!(out, "{title} (part {})\nBegins in: {previous}", part.number);
        }
        writeln!(out, "{title}")?;
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
        let title = isolated(agent.title.as_deref().unwrap_or(words::UNTITLED), self.bidi);
        self.outer.push((self.last.take(), self.is_agent));
        self.is_agent = true;
        writeln!(out, "\n>>> Sub-agent {}: {title}", isolated(agent.id.as_str(), self.bidi))
    }

    fn unnest(&mut self, out: &mut dyn Write) -> io::Result<()> {
        (self.last, self.is_agent) = self.outer.pop().unwrap_or_default();
        writeln!(out, "\n<<< End of the sub-agent")
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        if !self.shows(message) {
            return Ok(());
        }
        let who =
            isolated(&words::speaker(message, self.options.minimal, self.is_agent), self.bidi);
        let time = message.time.map(|time| format!("  {}", words::since(time, self.last)));
        self.last = message.time.or(self.last);
        let fate = match message.fate {
            Fate::Kept => String::new(),
            fate => format!("  [{fate}]"),
        };
        writeln!(out, "\n=== {who}{}{fate}", time.unwrap_or_default())?;
        if self.options.thinks() {
            for thought in &message.thoughts {
                writeln!(out, "(thought) {}", isolated(&thought.subject, self.bidi))?;
                self.indented(&thought.description, out)?;
            }
        }
        let trace = self.level >= Level::Trace;
        let text = self.safe(if trace { &message.text } else { &message.display_text });
        if !text.trim().is_empty() {
            writeln!(out, "{text}")?;
        }
        self.beside(message, out)?;
        let calls = message.tool_calls.iter().filter(|_| self.level >= Level::Actions);
        for call in calls {
            self.call(&CallBlock::new(call, self.level, &self.project), out)?;
        }
        for problem in message.problems.iter().filter(|_| !self.options.minimal) {
            writeln!(out, "[damaged: {} in this message]", problem.phrase())?;
        }
        Ok(())
    }

    fn unread(&mut self, problem: &Problem, out: &mut dyn Write) -> io::Result<()> {
        if self.options.minimal {
            return writeln!(out, "\n[damaged: a message could not be read]");
        }
        let words = isolated(&problem.to_string(), self.bidi);
        writeln!(out, "\n[damaged: a message could not be read: {words}]")
    }

    fn end(&mut self, next: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
        next.map_or(Ok(()), |next| writeln!(out, "\nGoes on in: {next}"))
    }
}
