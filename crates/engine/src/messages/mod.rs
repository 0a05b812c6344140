//! The messages of one session, read one after the other from their locations on disk.

pub(crate) mod cursor;
pub(crate) mod marks;
mod merged;
pub(crate) mod records;
pub(crate) mod window;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use recount_formats::Source;
use recount_formats::bytes::Input;
use recount_formats::outline::{MessageEntry, Outline};
use recount_formats::source::{
    Detail, MessageRequest, OtherVersions, PieceBytes, SessionFile, SessionFiles,
};
use recount_model::{Fate, FileRole, Message, Problem, RecordLocation, Span, What};

use crate::messages::window::{OpenFiles, Window};
use crate::sessions::facts::main;
use crate::sessions::union::{Row, union};

/// Which messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// What the agent's own loader would show.
    Strict,
    /// Everything ever recorded.
    #[default]
    Full,
}

/// An end of a range of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The n-th message, from 1; from the end if negative.
    Number(i64),
    /// The first message at or after this time, or the last one at or before it.
    Time(Timestamp),
    /// The message whose id has this prefix.
    Id(String),
}

/// A message that is not read yet.
#[derive(Clone, Copy, Debug)]
struct Pending {
    session_file: usize,
    entry: usize,
    span: Span,
    fate: Fate,
    /// A version with more than the one that the agent shows.
    richer: Option<Richer>,
}

/// The location of a richer version.
#[derive(Clone, Copy, Debug)]
struct Richer {
    session_file: usize,
    entry: usize,
    span: Span,
}

/// What is known about a message before it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Upcoming<'a> {
    /// The session's file that it is in.
    pub(crate) session_file: usize,
    pub(crate) outline: &'a Outline,
    pub(crate) entry: &'a MessageEntry,
    /// The number of the entry in the outline.
    pub(crate) index: usize,
    pub(crate) span: Span,
    pub(crate) fate: Fate,
}

/// The messages of one session, in order.
#[derive(Debug)]
pub struct Messages<'a> {
    source: &'static dyn Source,
    session_files: &'a SessionFiles,
    folder: Option<&'a Path>,
    pending: std::vec::IntoIter<Pending>,
    kept: Kept,
    detail: Detail,
}

/// What later messages of the session may use again. It is made when a message needs it: a session may have thousands of
/// files, and be read in as many pages.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    files: OpenFiles,
    /// The sub-agent that each call ran, as far as the session's files record it.
    agents: Option<HashMap<Box<str>, Box<str>>>,
}

impl<'a> Messages<'a> {
    pub(crate) fn new(
        source: &'static dyn Source,
        session_files: &'a SessionFiles,
        folder: Option<&'a Path>,
        view: View,
    ) -> Self {
        Self::over(source, session_files, folder, pending(session_files, view))
    }

    /// Reads only these.
    fn over(
        source: &'static dyn Source,
        session_files: &'a SessionFiles,
        folder: Option<&'a Path>,
        pending: Vec<Pending>,
    ) -> Self {
        Self {
            source,
            session_files,
            folder,
            pending: pending.into_iter(),
            kept: Kept::default(),
            detail: Detail::Whole,
        }
    }

    /// Returns those that were not read.
    fn into_pending(self) -> Vec<Pending> {
        self.pending.collect()
    }

    /// Sets how much of each message is read.
    #[must_use]
    pub fn in_detail(self, detail: Detail) -> Self {
        Self { detail, ..self }
    }

    /// Skips what the session shares with its base, where it is counted.
    pub(crate) fn keep_own(&mut self) {
        let all: Vec<Pending> = self.pending.by_ref().collect();
        let is_own = |pending: &Pending| {
            let session_file = self.session_files.files.get(pending.session_file);
            session_file.is_some_and(|session_file| session_file.role != FileRole::Base)
        };
        let kept: Vec<Pending> = all.into_iter().filter(|pending| is_own(pending)).collect();
        self.pending = kept.into_iter();
    }

    /// Skips messages of which nothing was recorded since one of the files had this number of message versions. The others
    /// must not have changed.
    pub(crate) fn keep_since(&mut self, session_file: usize, versions: u64) {
        let all: Vec<Pending> = self.pending.by_ref().collect();
        let outline = self.session_files.files.get(session_file).map(|file| &file.file.outline);
        let is_new = |pending: &Pending| {
            let entry = self.entry(pending).filter(|_| pending.session_file == session_file);
            entry.zip(outline).is_some_and(|(entry, of)| of.is_recorded_since(entry, versions))
        };
        let kept: Vec<Pending> = all.into_iter().filter(|pending| is_new(pending)).collect();
        self.pending = kept.into_iter();
    }

    /// Keeps only the message at `place` and the given number before and after it.
    pub(crate) fn keep_around(&mut self, place: &RecordLocation, many: usize) {
        let all: Vec<Pending> = self.pending.by_ref().collect();
        let mut files = self.session_files.files.iter();
        let file = files.position(|file| file.file.at.path.to_string_lossy() == *place.file);
        let is_it = |pending: &Pending| {
            pending.span.offset == place.offset && Some(pending.session_file) == file
        };
        let at = all.iter().position(is_it);
        let kept = at.and_then(|at| {
            all.get(at.saturating_sub(many)..(at + many + 1).min(all.len())).map(<[_]>::to_vec)
        });
        self.pending = kept.unwrap_or_default().into_iter();
    }

    /// Drops everything before `from` and after `to`, and returns the number of messages before. If nothing is left, the
    /// bound that caused it is the error.
    pub fn between(&mut self, from: Option<&Bound>, to: Option<&Bound>) -> Result<usize, Bound> {
        let all: Vec<Pending> = self.pending.by_ref().collect();
        let start = from.map_or(Some(0), |bound| self.place(&all, bound, End::From));
        let end = to.map_or(Some(all.len()), |bound| self.place(&all, bound, End::To));
        let missing = match (start, end) {
            (None, _) => from.cloned(),
            (_, None) => to.cloned(),
            (Some(start), Some(end)) if start >= end => from.or(to).cloned(),
            _ => None,
        };
        let (start, end) = (start.unwrap_or(0), end.unwrap_or(0));
        let kept = all.get(start..end.max(start)).unwrap_or_default().to_vec();
        self.pending = kept.into_iter();
        missing.map_or(Ok(start), Err)
    }

    fn place(&self, all: &[Pending], bound: &Bound, end: End) -> Option<usize> {
        let behind = usize::from(end == End::To);
        match bound {
            Bound::Number(0) => None,
            Bound::Number(number) => {
                let from_start = usize::try_from(*number).ok().map(|number| number - 1);
                let back = usize::try_from(number.unsigned_abs()).ok();
                let at = from_start.or_else(|| back.map(|back| all.len().saturating_sub(back)))?;
                Some((at + behind).min(all.len()))
            }
            Bound::Id(start) => {
                let same = |pending: &Pending| {
                    let id = self.entry(pending).and_then(|entry| entry.id.as_deref());
                    id.is_some_and(|id| id.starts_with(start.as_str()))
                };
                all.iter().position(same).map(|at| at + behind)
            }
            Bound::Time(time) => {
                let millis = time.as_millisecond();
                let at = |pending: &Pending| self.entry(pending).and_then(|entry| entry.time);
                Some(match end {
                    End::From => {
                        let later = |p: &Pending| at(p).is_some_and(|time| time >= millis);
                        all.iter().position(later).unwrap_or(all.len())
                    }
                    End::To => {
                        let earlier = |p: &Pending| at(p).is_some_and(|time| time <= millis);
                        all.iter().rposition(earlier).map_or(0, |at| at + 1)
                    }
                })
            }
        }
    }

    fn entry(&self, pending: &Pending) -> Option<&'a MessageEntry> {
        self.session_files.files.get(pending.session_file)?.file.outline.entries.get(pending.entry)
    }

    /// Returns the agent that wrote them.
    pub(crate) fn source(&self) -> &'static dyn Source {
        self.source
    }

    /// Returns what is known about the next message.
    pub(crate) fn upcoming(&self) -> Option<Upcoming<'a>> {
        let &Pending { session_file, entry: index, span, fate, .. } =
            self.pending.as_slice().first()?;
        let outline = &self.session_files.files.get(session_file)?.file.outline;
        let entry = outline.entries.get(index)?;
        Some(Upcoming { session_file, outline, entry, index, span, fate })
    }

    /// Skips the next message without reading it.
    pub(crate) fn skip_next(&mut self) {
        self.pending.next();
    }

    /// Documents are read without counting lines, so that is done here.
    fn count_line(&mut self, pending: &mut Pending) {
        if pending.span.line > 0 {
            return;
        }
        let file = self.session_files.files.get(pending.session_file);
        let path = file.map(|session_file| &session_file.file.at.path);
        let line = path
            .and_then(|path| self.kept.files.line(pending.session_file, path, pending.span.offset));
        pending.span.line = line.unwrap_or(0);
    }

    /// Advances to the next message whose bytes are `wanted`; other messages are not parsed.
    pub(crate) fn next_wanted(
        &mut self,
        wanted: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Option<Result<Message, Problem>> {
        loop {
            let pending = self.pending.next()?;
            // An unreadable message is reported by reading it; one recorded in pieces may match in all of them together.
            let is_split = pending.richer.is_some()
                || self.entry(&pending).is_some_and(|entry| !entry.pieces.is_empty());
            if is_split || self.bytes(&pending).is_none_or(&mut *wanted) {
                return Some(self.read(pending));
            }
        }
    }

    /// Returns the raw bytes of a message on disk.
    fn bytes(&mut self, pending: &Pending) -> Option<&[u8]> {
        let path = &self.session_files.files.get(pending.session_file)?.file.at.path;
        self.kept.files.read(pending.session_file, path, pending.span)
    }

    /// Returns the pieces of a message after the first. Most messages have none.
    fn pieces(&mut self, pending: &Pending) -> Option<Vec<(Span, Vec<u8>)>> {
        let outline = &self.session_files.files.get(pending.session_file)?.file.outline;
        let entry = outline.entries.get(pending.entry)?;
        let mut pieces = Vec::new();
        for version in outline.pieces_of(entry) {
            let bytes = self.bytes(&Pending { span: version.span, ..*pending })?;
            pieces.push((version.span, bytes.to_vec()));
        }
        Some(pieces)
    }

    /// Reads a message: what the agent shows of it, and what only a richer version has.
    fn read(&mut self, pending: Pending) -> Result<Message, Problem> {
        let shown = self.read_version(pending);
        let Some(Richer { session_file, entry, span }) = pending.richer else { return shown };
        let richer = self.read_version(Pending { session_file, entry, span, ..pending });
        match (shown, richer) {
            (Ok(shown), Ok(richer)) => Ok(merged::merged(shown, richer)),
            (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
            (Err(problem), Err(_)) => Err(problem),
        }
    }

    fn read_version(&mut self, mut pending: Pending) -> Result<Message, Problem> {
        self.count_line(&mut pending);
        let session_file = self.session_files.files.get(pending.session_file);
        let path = session_file.map(|session_file| &session_file.file.at.path);
        let name = path.and_then(|path| self.kept.files.name(pending.session_file, path));
        let name = name.unwrap_or_else(|| Arc::from(""));
        let gone = || Problem {
            file: Arc::clone(&name),
            span: Some(pending.span),
            what: What::Unreadable,
            done: "left out: the file changed while it was read".into(),
        };
        let (source, folder, detail) = (self.source, self.folder, self.detail);
        let session_file = session_file.ok_or_else(gone)?;
        let path = &session_file.file.at.path;
        let pieces = self.pieces(&pending).ok_or_else(gone)?;
        let bytes = self.bytes(&pending).ok_or_else(gone)?;
        let pieces: Vec<PieceBytes<'_>> =
            pieces.iter().map(|(span, bytes)| PieceBytes { bytes, span: *span }).collect();
        let outline = &session_file.file.outline;
        let entry = outline.entries.get(pending.entry);
        let model = entry.and_then(|entry| outline.models.get(usize::from(entry.model?)));
        let others = Versions { outline, pending, path };
        let mut message = source.message(&MessageRequest {
            bytes,
            pieces: &pieces,
            file: &name,
            span: pending.span,
            fate: pending.fate,
            entry,
            model: model.map(|model| &**model),
            others: &others,
            folder,
            detail,
        })?;
        // Not every record of a call names the agent that it ran.
        for call in message.tool_calls.iter_mut().filter(|call| call.agent_id.is_none()) {
            let Some(id) = call.id.as_deref() else { continue };
            let agents = self.kept.agents.get_or_insert_with(|| agents(self.session_files));
            call.agent_id = agents.get(id).map(ToString::to_string);
        }
        Ok(message)
    }
}

/// Returns calls that ran sub-agents, each with its agent.
fn agents(session_files: &SessionFiles) -> HashMap<Box<str>, Box<str>> {
    let calls = session_files.files.iter().flat_map(|file| &file.file.outline.agent_calls);
    calls.filter_map(|call| Some((call.call.clone(), call.agent.clone()?))).collect()
}

impl Iterator for Messages<'_> {
    type Item = Result<Message, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let pending = self.pending.next()?;
        Some(self.read(pending))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.pending.size_hint()
    }
}

impl ExactSizeIterator for Messages<'_> {}

/// Which end of a range is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    From,
    To,
}

fn pending(session_files: &SessionFiles, view: View) -> Vec<Pending> {
    match view {
        View::Full => full(session_files),
        View::Strict => strict(session_files),
    }
}

/// Returns everything ever recorded. What the agent's loader shows of a message is shown here, too; what only a richer
/// version has is added when it is read.
fn full(session_files: &SessionFiles) -> Vec<Pending> {
    let mut shown: Vec<Option<Vec<Option<Span>>>> = vec![None; session_files.files.len()];
    let mut shown = |session_file: usize, entry: usize| {
        let outline = &session_files.files.get(session_file)?.file.outline;
        let spans = shown.get_mut(session_file)?.get_or_insert_with(|| shown_spans(outline));
        spans.get(entry).copied().flatten()
    };
    let pending = |row: Row| {
        let Row { session_file, entry, fate, loaded } = row;
        let outline = &session_files.files.get(session_file)?.file.outline;
        let known = outline.entries.get(entry)?;
        let best = outline.versions.get(known.best as usize)?.span;
        let visible = loaded.and_then(|(file, at)| Some((file, at, shown(file, at)?)));
        let is_best = visible.is_none_or(|(file, _, span)| file == session_file && span == best);
        let Some((file, at, span)) = visible.filter(|_| !is_best && known.pieces.is_empty()) else {
            return Some(Pending { session_file, entry, span: best, fate, richer: None });
        };
        let richer = Some(Richer { session_file, entry, span: best });
        Some(Pending { session_file: file, entry: at, span, fate, richer })
    };
    union(session_files).into_iter().filter_map(pending).collect()
}

/// Returns per entry of a file the location of the version that the agent shows.
fn shown_spans(outline: &Outline) -> Vec<Option<Span>> {
    let mut spans = vec![None; outline.entries.len()];
    for shown in &outline.strict {
        let span = outline.versions.get(shown.version as usize).map(|version| version.span);
        if let Some(slot) = spans.get_mut(shown.entry as usize) {
            *slot = span;
        }
    }
    spans
}

fn strict(session_files: &SessionFiles) -> Vec<Pending> {
    let Some(main) = main(session_files) else { return Vec::new() };
    let is_main = |session_file: &SessionFile| session_file.file.at.path == main.file.at.path;
    let is_shown = |session_file: &SessionFile| {
        session_file.role == FileRole::Base || session_file.is_loaded || is_main(session_file)
    };
    let members =
        session_files.files.iter().enumerate().filter(|(_, session_file)| is_shown(session_file));
    let shown = members.flat_map(|(number, session_file)| {
        let outline = &session_file.file.outline;
        outline.strict.iter().filter_map(move |shown| {
            let span = outline.versions.get(shown.version as usize)?.span;
            Some(Pending {
                session_file: number,
                entry: shown.entry as usize,
                span,
                fate: Fate::Kept,
                richer: None,
            })
        })
    });
    shown.collect()
}

/// The other versions of a message, newest first.
#[derive(Debug)]
struct Versions<'a> {
    outline: &'a Outline,
    pending: Pending,
    path: &'a Path,
}

impl OtherVersions for Versions<'_> {
    fn each(&self, visit: &mut dyn FnMut(&[u8]) -> bool) {
        let Some(entry) = self.outline.entries.get(self.pending.entry) else { return };
        let Ok(mut window) = Window::open(self.path) else { return };
        for version in self.outline.versions_of(entry) {
            if version.span.offset == self.pending.span.offset {
                continue;
            }
            match window.read(version.span) {
                Ok(bytes) if visit(bytes) => {}
                _ => break,
            }
        }
    }
}

/// A file of a session on disk.
#[derive(Debug)]
pub struct RawFile<'a> {
    /// Its path.
    pub path: &'a Path,
    /// Its role in the session.
    pub role: FileRole,
}

impl RawFile<'_> {
    /// Opens the file for reading.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(&self) -> std::io::Result<Input> {
        Input::open(self.path)
    }
}
