//! Passes one session to a renderer message by message, with its sub-agents.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread::Scope;

use jiff::Timestamp;
use recount_export::{Renderer, TranscriptPart};
use recount_formats::source::Detail;
use recount_model::{Message, MessageKind, Problem, SessionFacts, SessionId};
use recount_prices::Prices;

use super::Export;
use super::ahead::Ahead;
use super::gallery::{Gallery, Images};
use crate::sql::rows::CountedTimes;
use crate::stats::pricing::request_cost;
use crate::{Error, Messages, Opened};

/// How much of the first prompt is kept.
const FIRST: usize = 400;
/// The maximum depth of nested sub-agents.
const DEEPEST: usize = 4;

/// A session that is being rendered.
pub(super) struct TranscriptStream<'a> {
    export: &'a Export,
    /// Its facts, redacted if requested.
    pub(super) facts: Cow<'a, SessionFacts>,
    messages: Box<dyn Iterator<Item = Outcome<'a>> + Send + 'a>,
    renderer: &'a mut dyn Renderer,
    split: Option<usize>,
    /// Sessions of sub-agents, to be rendered where they were called.
    agents: &'a [Opened],
    /// Those of them that were rendered.
    met: BTreeSet<usize>,
    gallery: Gallery,
    /// The prices of requests, for tables.
    prices: Option<&'a Prices>,
    times: CountedTimes,
    /// The prompt that begins the next part.
    held: Option<Cow<'a, Message>>,
    /// The number of parts so far.
    number: usize,
    is_over: bool,
    /// The start of the first prompt.
    pub(super) first: Option<String>,
    /// The problems of its messages.
    pub(super) problems: Vec<Problem>,
}

/// A message, or why it could not be read.
pub(super) type Outcome<'a> = Result<Cow<'a, Message>, Problem>;

/// A session's messages, redacted if requested.
struct PassedMessage<'a> {
    export: &'a Export,
    facts: Cow<'a, SessionFacts>,
    /// The number of messages so far.
    many: usize,
    messages: Source<'a>,
    /// Requests that were made in another session, and are counted there.
    copied: Option<&'a HashSet<u64>>,
}

/// The origin of messages: a session's files, or a saved chat, which is in memory.
enum Source<'a> {
    Files(Box<Messages<'a>>),
    Saved(std::slice::Iter<'a, Message>),
}

impl<'a> TranscriptStream<'a> {
    pub(super) fn new(
        opened: &'a Opened,
        export: &'a Export,
        renderer: &'a mut dyn Renderer,
        split: Option<usize>,
        copied: Option<&'a HashSet<u64>>,
    ) -> Self {
        // Images cannot be scanned.
        let images = if export.redaction.is_some() { Images::Named } else { export.images };
        let passed = PassedMessage::new(opened, export, renderer, copied);
        Self {
            export,
            facts: passed.facts.clone(),
            messages: Box::new(passed),
            renderer,
            split,
            agents: &[],
            met: BTreeSet::new(),
            gallery: Gallery::new(images),
            prices: None,
            times: CountedTimes::from(opened.facts.started),
            held: None,
            number: 0,
            is_over: false,
            first: None,
            problems: Vec::new(),
        }
    }

    /// Reads ahead on a separate thread while others are written.
    pub(super) fn ahead<'scope>(mut self, scope: &'scope Scope<'scope, '_>) -> Self
    where
        'a: 'scope,
    {
        self.messages = Box::new(Ahead::new(scope, self.messages));
        self
    }

    /// Renders sub-agents' sessions, too, if the format supports them.
    pub(super) fn with_agents(mut self, agents: &'a [Opened]) -> Self {
        if self.renderer.nests() {
            self.agents = agents;
        }
        self
    }

    /// Tells tables what requests cost.
    pub(super) fn with_prices(mut self, prices: Option<&'a Prices>) -> Self {
        self.prices = prices.filter(|_| self.renderer.is_table());
        self
    }

    /// Writes each part to the file that `place` returns, and returns the files with their sizes.
    pub(super) fn write(
        &mut self,
        place: &dyn Fn(usize) -> PathBuf,
    ) -> Result<Vec<(PathBuf, u64)>, Error> {
        let name = |number: usize| {
            place(number).file_name().unwrap_or_default().to_string_lossy().into_owned()
        };
        self.gallery.beside(place(1));
        let mut written = Vec::new();
        while !self.is_over {
            let path = place(self.number + 1);
            let bytes = recount_writer::write_with(&path, |out| self.part(&name, out))?;
            written.push((path, bytes));
        }
        written.append(&mut self.gallery.written);
        Ok(written)
    }

    /// Writes one part, or all if it is not split. `name` is the file of a part.
    pub(super) fn part(
        &mut self,
        name: &dyn Fn(usize) -> String,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.number += 1;
        let previous = (self.number > 1).then(|| name(self.number - 1));
        let part = TranscriptPart { number: self.number, previous: previous.as_deref() };
        self.renderer.begin(&self.facts, part, out)?;
        let mut shown = 0;
        while let Some(message) = self.held.take().map(Ok).or_else(|| self.messages.next()) {
            let is_prompt = message.as_ref().is_ok_and(|one| one.kind == MessageKind::Prompt);
            let is_full = self.split.is_some_and(|most| shown >= most.max(1));
            match message {
                Ok(prompt) if is_prompt && is_full => {
                    self.held = Some(prompt);
                    return self.renderer.end(Some(&name(self.number + 1)), out);
                }
                message => shown += usize::from(self.message(message, out)?),
            }
        }
        let own = self.facts.id.clone();
        self.uncalled(&own, 1, out)?;
        self.is_over = true;
        self.renderer.end(None, out)
    }

    /// Renders one message and the sub-agents it called, and returns whether anything of it is shown.
    fn message(&mut self, message: Outcome<'a>, out: &mut dyn Write) -> io::Result<bool> {
        let Some(message) = self.one(message, out)? else { return Ok(false) };
        if message.kind == MessageKind::Prompt && self.first.is_none() {
            self.first = Some(message.display_text.trim_start().chars().take(FIRST).collect());
        }
        self.called(&message, 1, out)?;
        Ok(self.renderer.shows(&message))
    }

    /// Renders one message; `None` if it could not be read.
    fn one(
        &mut self,
        message: Outcome<'a>,
        out: &mut dyn Write,
    ) -> io::Result<Option<Cow<'a, Message>>> {
        let mut message = match message {
            Ok(message) => message,
            Err(problem) => {
                self.renderer.unread(&problem, out)?;
                self.problems.push(problem);
                return Ok(None);
            }
        };
        let has_media = !message.media.is_empty()
            || message.tool_calls.iter().any(|call| !call.media.is_empty());
        if has_media && self.renderer.shows(&message) {
            let calls = self.renderer.shows_outputs();
            self.gallery.store_media(message.to_mut(), calls)?;
        }
        self.problems.extend(message.located_problems());
        if self.renderer.is_table() {
            let time = message.time.map(Timestamp::as_millisecond);
            let at = self.times.at(time, message.tokens.is_some() || is_said(&message));
            let (model, tokens) = (message.model.as_deref(), message.tokens.unwrap_or_default());
            self.renderer.price(request_cost(self.prices, model, at, &tokens));
        }
        self.renderer.message(&message, out)?;
        Ok(Some(message))
    }

    /// Renders the sub-agents that a message called.
    fn called(&mut self, message: &Message, depth: usize, out: &mut dyn Write) -> io::Result<()> {
        for call in message.tool_calls.iter().filter(|_| !self.agents.is_empty()) {
            let is_it =
                |agent: &SessionFacts| agent.parent_call.is_some() && agent.parent_call == call.id;
            self.agents(is_it, depth, out)?;
        }
        Ok(())
    }

    /// Renders the sub-agents of a session whose call was not found: it is unknown, or was in an unreadable part. In the
    /// strict view it may have been undone.
    fn uncalled(&mut self, by: &SessionId, depth: usize, out: &mut dyn Write) -> io::Result<()> {
        let strict = self.export.options.strict;
        let is_it = |agent: &SessionFacts| {
            agent.parent.as_ref() == Some(by) && (agent.parent_call.is_none() || !strict)
        };
        self.agents(is_it, depth, out)
    }

    /// Renders the wanted sub-agents, each once.
    fn agents(
        &mut self,
        wanted: impl Fn(&SessionFacts) -> bool,
        depth: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if depth > DEEPEST {
            return Ok(());
        }
        for (number, agent) in self.agents.iter().enumerate() {
            if !wanted(&agent.facts) || !self.met.insert(number) {
                continue;
            }
            let passed = PassedMessage::new(agent, self.export, self.renderer, None);
            self.renderer.nest(&passed.facts, out)?;
            for message in passed {
                if let Some(message) = self.one(message, out)? {
                    self.called(&message, depth + 1, out)?;
                }
            }
            self.uncalled(&agent.facts.id, depth + 1, out)?;
            self.renderer.unnest(out)?;
        }
        Ok(())
    }
}

impl<'a> PassedMessage<'a> {
    fn new(
        opened: &'a Opened,
        export: &'a Export,
        renderer: &dyn Renderer,
        copied: Option<&'a HashSet<u64>>,
    ) -> Self {
        let facts = match export.redaction.as_deref() {
            Some(redaction) => Cow::Owned(redaction.facts(&opened.facts)),
            None => Cow::Borrowed(&opened.facts),
        };
        let detail = if renderer.shows_outputs() { Detail::Whole } else { Detail::Gist };
        let messages = match opened.messages(export.view()) {
            _ if !renderer.wants_messages() => Source::Saved([].iter()),
            Some(mut messages) => {
                // As in `sql`: what is borrowed from another session is counted there.
                if renderer.is_table() {
                    messages.keep_own();
                }
                Source::Files(Box::new(messages.in_detail(detail)))
            }
            None => Source::Saved(opened.saved().iter()),
        };
        Self { export, facts, many: 0, messages, copied }
    }
}

impl<'a> Iterator for PassedMessage<'a> {
    type Item = Outcome<'a>;

    fn next(&mut self) -> Option<Outcome<'a>> {
        let next = match &mut self.messages {
            Source::Files(messages) => {
                let is_copy = is_copy(messages, self.copied);
                let uncounted = |message: Message| {
                    let tokens = message.tokens.filter(|_| !is_copy);
                    Message { tokens, ..message }
                };
                messages.next().map(|message| message.map(|message| Cow::Owned(uncounted(message))))
            }
            Source::Saved(messages) => messages.next().map(|message| Ok(Cow::Borrowed(message))),
        };
        self.many += 1;
        let mut next = next?;
        match (&mut next, self.export.redaction.as_deref()) {
            (Ok(message), Some(redaction)) => {
                redaction.message(&self.facts, self.many, message.to_mut());
            }
            (Err(problem), Some(redaction)) => {
                problem.file = redaction.plain(&problem.file).into();
            }
            (_, None) => {}
        }
        Some(next)
    }
}

/// Whether a message gives its time to those after it, as in `stats`.
fn is_said(message: &Message) -> bool {
    let is_turn =
        |kind| matches!(kind, MessageKind::Prompt | MessageKind::Answer | MessageKind::Summary);
    is_turn(message.kind) || !message.tool_calls.is_empty()
}

/// Whether the request of the next message was made in another session.
fn is_copy(messages: &Messages<'_>, copied: Option<&HashSet<u64>>) -> bool {
    let Some((copied, next)) = copied.zip(messages.upcoming()) else { return false };
    let key = messages.source().request_key(next.outline, next.entry);
    key.is_some_and(|key| copied.contains(&key))
}

/// Returns the path of a file in a folder, for a name that may include a folder.
pub(super) fn below(folder: &Path, name: &str) -> PathBuf {
    name.split('/').fold(folder.to_owned(), |path, part| path.join(part))
}
