//! Exports a session in its agent's native format: record by record from disk, without undone messages.

use std::io::{self, Write};
use std::sync::Arc;

use jiff::Timestamp;
use recount_export::json::write_safe;
use recount_formats::NativeFormat;
use recount_formats::bytes::{Buffer, read_limited};
use recount_formats::native::{Fields, HeadRequest, HeaderOverrides, NativeTexts};
use recount_model::{FileRole, Problem, SessionId, Span, What};

use super::redaction::{Pass, Redaction};
use super::{Bidi, Export, View};
use crate::Opened;
use crate::messages::window::OpenFiles;
use crate::sessions::conversation::{Conversation, Record};

/// The maximum size of a saved chat; those are read at once.
const SAVED: u64 = 512 * 1024 * 1024;
/// The replacement for the hash of a path that is redacted.
const NO_HASH: &str = "redacted";
/// The longest value that is checked together with its key.
const KEYED: usize = 4096;

/// A session that is being written.
pub(super) struct NativeExport<'a> {
    opened: &'a Opened,
    form: &'static dyn NativeFormat,
    redaction: Option<&'a Redaction>,
    is_strict: bool,
    /// Whether it goes to a terminal, which might interpret it.
    is_seen: bool,
}

/// The result.
#[derive(Debug, Default)]
pub(super) struct NativeOutcome {
    /// The problems.
    pub(super) problems: Vec<Problem>,
    /// Data that was not scanned for secrets.
    pub(super) unseen: u64,
}

/// Returns the id for a saved chat: its own name is not one.
pub(super) fn id_of_saved(saved: &Opened, form: &dyn NativeFormat) -> SessionId {
    let file = saved.facts.files.first().map(|file| file.path.as_str());
    form.made_up_id(file.unwrap_or_else(|| saved.facts.id.as_str()))
}

/// Returns when a saved chat was saved: nothing in it records the time.
pub(super) fn time_of_saved(saved: &Opened) -> Option<Timestamp> {
    let file = saved.files().next()?;
    let time = std::fs::metadata(file.path).and_then(|about| about.modified()).ok()?;
    time.try_into().ok()
}

impl<'a> NativeExport<'a> {
    pub(super) fn new(
        opened: &'a Opened,
        export: &'a Export,
        form: &'static dyn NativeFormat,
    ) -> Self {
        let is_strict = export.view() == View::Strict;
        let is_seen = export.options.bidi == Bidi::Shown;
        Self { opened, form, redaction: export.redaction.as_deref(), is_strict, is_seen }
    }

    /// Writes the session, one record at a time.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<NativeOutcome> {
        let mut outcome = NativeOutcome::default();
        if self.opened.is_saved() {
            self.write_saved(out, &mut outcome)?;
        } else {
            self.write_session(out, &mut outcome)?;
        }
        if let Some(redaction) = self.redaction {
            for problem in &mut outcome.problems {
                problem.file = redaction.plain(&problem.file).into();
            }
        }
        Ok(outcome)
    }

    fn write_session(&self, out: &mut dyn Write, outcome: &mut NativeOutcome) -> io::Result<()> {
        let session_files = self.opened.session_files();
        let Conversation { records, is_buried } = if self.is_strict {
            Conversation::strict(session_files)
        } else {
            Conversation::of(session_files)
        };
        if is_buried {
            let done = "everything that was said in it was brought back";
            outcome.problems.push(self.problem(0, None, What::Buried, done));
        }
        if records.is_empty() {
            let done = "written without a message: the agent takes it for no session";
            outcome.problems.push(self.problem(0, None, What::Empty, done));
        }
        let mut fields = Vec::new();
        let mut buffer = Buffer::new();
        for (at, session_file) in session_files.files.iter().enumerate() {
            let is_asked = !self.is_strict || session_file.role == FileRole::Main;
            if !is_asked || session_file.role == FileRole::Stub {
                continue;
            }
            match self.form.fields(&session_file.file.at.path, &mut buffer) {
                Ok(read) => fields.push((session_file.role, read)),
                Err(_) => outcome.problems.push(self.gone(at, None)),
            }
        }
        self.write_head(&fields, &self.opened.facts.id, None, out, outcome)?;
        let mut files = OpenFiles::default();
        let mut before = None;
        for (number, record) in records.iter().enumerate() {
            for (piece, span) in std::iter::once(&record.span).chain(&record.pieces).enumerate() {
                let Some(bytes) = self.bytes(record, *span, &mut files) else {
                    outcome.problems.push(self.gone(record.session_file, Some(*span)));
                    continue;
                };
                let id = record.id.as_deref().filter(|_| piece == 0);
                let Some(line) = self.form.record(bytes, id) else {
                    let done = "left out: the agent takes no such record";
                    let problem =
                        self.problem(record.session_file, Some(*span), What::UnknownRecord, done);
                    outcome.problems.push(problem);
                    continue;
                };
                // A record may be empty in the written format.
                if !line.is_empty() {
                    let line = self.form.behind(line, before.as_deref());
                    self.line(&line, &format!("message {}", number + 1), out, outcome)?;
                    before = Some(line);
                }
            }
        }
        Ok(())
    }

    fn write_saved(&self, out: &mut dyn Write, outcome: &mut NativeOutcome) -> io::Result<()> {
        let Some(file) = self.opened.files().next() else { return Ok(()) };
        let time = time_of_saved(self.opened);
        let bytes = read_limited(file.path, SAVED)?;
        let Some(records) = self.form.saved(&bytes, time) else {
            outcome.problems.push(self.gone(0, None));
            return Ok(());
        };
        let id = id_of_saved(self.opened, self.form);
        self.write_head(&[], &id, time, out, outcome)?;
        for (number, line) in records.iter().enumerate() {
            self.line(line, &format!("message {}", number + 1), out, outcome)?;
        }
        Ok(())
    }

    fn write_head(
        &self,
        files: &[(FileRole, Fields)],
        id: &SessionId,
        time: Option<Timestamp>,
        out: &mut dyn Write,
        outcome: &mut NativeOutcome,
    ) -> io::Result<()> {
        let facts = &self.opened.facts;
        let (started, updated) = (facts.started.or(time), facts.updated.or(time));
        let hash = self.project_hash();
        let project_hash = hash.as_deref();
        let lines = self.form.head(&HeadRequest {
            files,
            id,
            project_hash,
            started,
            updated,
            overrides: HeaderOverrides::default(),
        });
        lines.iter().try_for_each(|line| self.line(line, "(title and paths)", out, outcome))
    }

    /// Writes a line, redacted if requested.
    fn line(
        &self,
        line: &[u8],
        place: &str,
        out: &mut dyn Write,
        outcome: &mut NativeOutcome,
    ) -> io::Result<()> {
        let Some(redaction) = self.redaction else { return self.put(line, out) };
        let pass = redaction.pass(format!("{} {place}", self.opened.facts.id));
        let mut cleaner = Cleaner { pass, unseen: 0 };
        let Some(clean) = self.form.replace(line, &mut cleaner) else {
            let done = "left out: it could not be looked through";
            outcome.problems.push(self.problem(0, None, What::UnknownRecord, done));
            return Ok(());
        };
        outcome.unseen += cleaner.unseen;
        cleaner.pass.note();
        self.put(&clean, out)
    }

    fn put(&self, line: &[u8], mut out: &mut dyn Write) -> io::Result<()> {
        if self.is_seen {
            write_safe(&mut out, line)?;
        } else {
            out.write_all(line)?;
        }
        out.write_all(b"\n")
    }

    fn bytes<'f>(&self, record: &Record, span: Span, files: &'f mut OpenFiles) -> Option<&'f [u8]> {
        let session_file = self.opened.session_files().files.get(record.session_file)?;
        files.read(record.session_file, &session_file.file.at.path, span)
    }

    /// Returns the hash of the project's path, if it is known.
    fn project_hash(&self) -> Option<String> {
        let project = &self.opened.facts.project;
        let by_path = || {
            Some(self.opened.source().project_hash(project.path.as_ref()?.as_str())?.to_string())
        };
        project.hash.as_ref().map(ToString::to_string).or_else(by_path)
    }

    fn gone(&self, session_file: usize, span: Option<Span>) -> Problem {
        self.problem(
            session_file,
            span,
            What::Unreadable,
            "left out: the file changed while it was read",
        )
    }

    fn problem(
        &self,
        session_file: usize,
        span: Option<Span>,
        what: What,
        done: &'static str,
    ) -> Problem {
        let file = self.opened.session_files().files.get(session_file);
        let file =
            file.map(|session_file| session_file.file.at.path.to_string_lossy().into_owned());
        Problem { file: Arc::from(file.unwrap_or_default()), span, what, done: done.into() }
    }
}

/// Removes secrets from the texts of a line.
struct Cleaner<'a> {
    pass: Pass<'a>,
    unseen: u64,
}

impl NativeTexts for Cleaner<'_> {
    fn text(&mut self, key: Option<&str>, text: &str) -> Option<String> {
        let alone = self.pass.changed(text);
        let key = key.filter(|_| text.len() <= KEYED);
        let known = alone.as_deref().unwrap_or(text);
        let named = key.and_then(|key| self.pass.changed_value(key, known));
        named.or(alone)
    }

    fn name(&mut self, name: &str) -> Option<String> {
        self.pass.changed_name(name)
    }

    fn key(&mut self, key: &str) -> Option<String> {
        self.pass.changed(key)
    }

    fn pieces(&mut self, pieces: &[String]) -> Option<Vec<String>> {
        self.pass.changed_pieces(pieces)
    }

    fn path_hash(&mut self) -> Option<String> {
        // The hash of a path can be guessed from likely paths.
        Some(NO_HASH.into())
    }

    fn media(&mut self) {
        self.unseen += 1;
    }
}
