//! One session, told to a renderer message by message.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use recount_export::{Part, Renderer};
use recount_model::{Message, MessageKind, Problem, SessionFacts};

use super::{Export, Redaction};
use crate::{Error, Messages, Opened};

/// So much of the first prompt is kept.
const FIRST: usize = 400;

/// A session that is being told.
pub(super) struct Telling<'a> {
    /// What is known of it, without secrets if they are taken out.
    pub(super) facts: Cow<'a, SessionFacts>,
    redaction: Option<&'a Redaction>,
    /// How many messages there were so far.
    told: usize,
    messages: Source<'a>,
    renderer: &'a mut dyn Renderer,
    split: Option<usize>,
    /// The prompt that begins the next part.
    held: Option<Cow<'a, Message>>,
    /// How many parts there are so far.
    number: usize,
    is_over: bool,
    /// How the first prompt begins.
    pub(super) first: Option<String>,
    /// What could not be used of its messages.
    pub(super) problems: Vec<Problem>,
}

/// Where messages come from: a session's files, or a saved chat, which is in memory.
enum Source<'a> {
    Files(Messages<'a>),
    Saved(std::slice::Iter<'a, Message>),
}

impl<'a> Telling<'a> {
    pub(super) fn new(
        opened: &'a Opened,
        export: &'a Export,
        renderer: &'a mut dyn Renderer,
        split: Option<usize>,
    ) -> Self {
        let redaction = export.redaction.as_deref();
        let facts = match redaction {
            Some(redaction) => Cow::Owned(redaction.facts(&opened.facts)),
            None => Cow::Borrowed(&opened.facts),
        };
        let messages = match opened.messages(export.view()) {
            _ if !renderer.wants_messages() => Source::Saved([].iter()),
            Some(messages) => Source::Files(messages),
            None => Source::Saved(opened.saved().iter()),
        };
        Self {
            facts,
            redaction,
            told: 0,
            messages,
            renderer,
            split,
            held: None,
            number: 0,
            is_over: false,
            first: None,
            problems: Vec::new(),
        }
    }

    /// Writes each part to the file that `place` names, and returns the files with their sizes.
    pub(super) fn write(
        &mut self,
        place: &dyn Fn(usize) -> PathBuf,
    ) -> Result<Vec<(PathBuf, u64)>, Error> {
        let name = |number: usize| {
            place(number).file_name().unwrap_or_default().to_string_lossy().into_owned()
        };
        let mut written = Vec::new();
        while !self.is_over {
            let path = place(self.number + 1);
            let bytes = recount_writer::write_with(&path, |out| self.part(&name, out))?;
            written.push((path, bytes));
        }
        Ok(written)
    }

    /// Writes one part, or all when it is not split. `name` is the file of a part.
    pub(super) fn part(
        &mut self,
        name: &dyn Fn(usize) -> String,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.number += 1;
        let previous = (self.number > 1).then(|| name(self.number - 1));
        let part = Part { number: self.number, previous: previous.as_deref() };
        self.renderer.begin(&self.facts, part, out)?;
        let mut shown = 0;
        while let Some(message) = self.next() {
            let message = match message {
                Ok(message) => message,
                Err(problem) => {
                    self.renderer.unread(&problem, out)?;
                    self.problems.push(problem);
                    continue;
                }
            };
            let is_full = self.split.is_some_and(|most| shown >= most.max(1));
            if is_full && message.kind == MessageKind::Prompt {
                self.held = Some(message);
                return self.renderer.end(Some(&name(self.number + 1)), out);
            }
            self.problems.extend(message.located_problems());
            if message.kind == MessageKind::Prompt && self.first.is_none() {
                self.first = Some(message.display_text.trim_start().chars().take(FIRST).collect());
            }
            shown += usize::from(self.renderer.shows(&message));
            self.renderer.message(&message, out)?;
        }
        self.is_over = true;
        self.renderer.end(None, out)
    }

    fn next(&mut self) -> Option<Result<Cow<'a, Message>, Problem>> {
        if let Some(held) = self.held.take() {
            return Some(Ok(held));
        }
        let next = match &mut self.messages {
            Source::Files(messages) => messages.next().map(|message| message.map(Cow::Owned)),
            Source::Saved(messages) => messages.next().map(|message| Ok(Cow::Borrowed(message))),
        };
        self.told += 1;
        let mut next = next?;
        match (&mut next, self.redaction) {
            (Ok(message), Some(redaction)) => {
                redaction.message(&self.facts, self.told, message.to_mut());
            }
            (Err(problem), Some(redaction)) => {
                problem.file = redaction.plain(&problem.file).into();
            }
            (_, None) => {}
        }
        Some(next)
    }
}

/// Returns the path of a file in a folder, for a name that may have a folder of its own in front.
pub(super) fn below(folder: &Path, name: &str) -> PathBuf {
    name.split('/').fold(folder.to_owned(), |path, part| path.join(part))
}
