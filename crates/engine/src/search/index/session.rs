//! The messages of one session, for the index.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

use foldhash::quality::FixedState;
use jiff::Timestamp;
use recount_catalog::IndexedSession as Row;
use recount_formats::Source;
use recount_formats::bytes::{Buffer, Input};
use recount_formats::outline::Outline;
use recount_formats::source::{SessionFile, SessionFiles};
use recount_model::Message;
use recount_search::Document;

use super::file_key;
use super::update::Stale;
use crate::cache::growth::{self, Reading};
use crate::cache::refresh::hash;
use crate::messages::{Messages, View};
use crate::search::wording::Wording;
use crate::snapshot::disk_scan::{DiskSnapshot, Group, LocatedFolder};

/// Reads sessions whose current state is not in the index.
pub(crate) struct Reader<'a> {
    pub(crate) disk: &'a DiskSnapshot,
    pub(crate) reading: &'a dyn Reading,
    /// What is in the index.
    pub(crate) known: &'a HashMap<u64, Row>,
}

/// A session that was read, and its new part.
pub(crate) struct Read<'a> {
    folder: Option<&'a LocatedFolder>,
    session_files: Option<SessionFiles>,
    /// The number of message versions in its file when it was indexed.
    since: u64,
    /// Whether it is in the index except for appended messages.
    pub(crate) is_grown: bool,
}

impl<'a> Reader<'a> {
    /// Reads a session again.
    pub(crate) fn read(&self, stale: &Stale<'_>, buffer: &mut Buffer) -> Read<'a> {
        let folder = self.disk.folders.get(stale.digest.folder);
        let session_files =
            folder.and_then(|folder| self.session_files(folder.source, stale, buffer));
        let since =
            session_files.as_ref().and_then(|session_files| self.grown(stale, session_files));
        Read { folder, session_files, since: since.unwrap_or_default(), is_grown: since.is_some() }
    }

    fn session_files(
        &self,
        source: &'static dyn Source,
        stale: &Stale<'_>,
        buffer: &mut Buffer,
    ) -> Option<SessionFiles> {
        let files = stale.digest.files.iter().map(|file| (file.folder, file.at.clone())).collect();
        let id = &stale.digest.facts.id;
        Group { source, files }.session_files(id, self.disk, self.reading, buffer)
    }

    /// Returns the number of indexed versions of a session of which one file only grew.
    fn grown(&self, stale: &Stale<'_>, session_files: &SessionFiles) -> Option<u64> {
        let known = self.known.get(&stale.key)?;
        let (_, grower) = grower(session_files)?;
        let more = grower.file.outline.versions.len() as u64 >= known.versions;
        // Messages undone since are marked again, wherever they are.
        let same = known.undone == stale.digest.facts.counts.undone
            && known.files == stale.files
            && known.others == others_key(session_files)
            && known.title == title_key(stale);
        // The title is indexed with the first message.
        let outline = &grower.file.outline;
        let first = outline.entries.first();
        let begun = first.is_some_and(|first| !outline.is_recorded_since(first, known.versions));
        let may_be = known.versions > 0 && known.files != 0 && more && same && begun;
        // A log that was cut off and written further, or replaced, may have as many messages as before.
        let is_grown = may_be && versions_print(grower, known.versions) == Some(known.print);
        let since = known.versions;
        (is_grown && has_own_ids(session_files, outline, since)).then_some(since)
    }
}

/// Whether no other message, in any file, has the id of one that is indexed again: the index knows messages by their ids, and what is
/// shown of one may come from several files.
fn has_own_ids(session_files: &SessionFiles, grower: &Outline, since: u64) -> bool {
    let new = grower.entries.iter().filter(|entry| grower.is_recorded_since(entry, since));
    let new = new.filter_map(|entry| entry.id.as_deref());
    let new: HashSet<&str, FixedState> = new.collect();
    let all = session_files.files.iter().flat_map(|of| &of.file.outline.entries);
    let all = all.filter_map(|entry| entry.id.as_deref());
    new.is_empty() || all.filter(|id| new.contains(id)).count() == new.len()
}

/// Returns the file with most of a session, which may grow; resumes leave small ones beside it.
fn grower(session_files: &SessionFiles) -> Option<(usize, &SessionFile)> {
    let members = session_files.files.iter().enumerate();
    members.max_by_key(|(_, session_file)| session_file.file.outline.versions.len())
}

/// Returns a fingerprint of the other files of a session, and of what each file is to its agent: fates depend on it.
fn others_key(session_files: &SessionFiles) -> u64 {
    let grower = grower(session_files).map(|(at, _)| at);
    let keys = session_files.files.iter().enumerate().map(|(at, of)| {
        let other = (Some(at) != grower).then_some((&of.file.at.path, of.file.at.stamp));
        (other, of.role, of.is_loaded, of.compressed, of.file.outline.loadable)
    });
    hash(&keys.collect::<Vec<_>>())
}

/// Returns a fingerprint of the given number of message versions, and of a file from the first to the last of them. What stands before
/// them may change while messages are added: a document has the time of the last one there.
fn versions_print(session_file: &SessionFile, many: u64) -> Option<u64> {
    let file = &session_file.file;
    let versions = file.outline.versions.get(..usize::try_from(many).ok()?)?;
    let spans = || versions.iter().map(|version| (version.span.offset, version.span.bytes));
    let start = spans().map(|(offset, _)| offset).min()?;
    let end = spans().map(|(offset, bytes)| offset.saturating_add(bytes)).max()?;
    // Offsets in a compressed file are those of its text: all of the file is compared.
    let is_compressed = Input::open(&file.at.path).ok()?.is_compressed();
    let range = if is_compressed { 0..file.at.bytes } else { start..end };
    let mut hasher = FixedState::default().build_hasher();
    growth::range_print(&file.at, range)?.hash(&mut hasher);
    // The index has the places of messages, so they must be the same; so must what they are, which later records may change.
    spans().for_each(|span| span.hash(&mut hasher));
    let known = file.outline.entries.iter();
    for entry in known.filter(|entry| file.outline.is_recorded_before(entry, many)) {
        (&entry.id, entry.kind, entry.fate).hash(&mut hasher);
    }
    Some(hasher.finish())
}

impl Read<'_> {
    /// Returns the row for the catalog once it is committed. If a message could not be read, the session is indexed again when it changes.
    pub(crate) fn row(&self, stale: &Stale<'_>, is_whole: bool) -> Row {
        let grower = self.session_files.as_ref().and_then(grower);
        let versions =
            grower.map_or(0, |(_, session_file)| session_file.file.outline.versions.len() as u64);
        let others = self.session_files.as_ref().map(others_key).unwrap_or_default();
        let print = grower.filter(|_| is_whole);
        let print = print.and_then(|(_, session_file)| versions_print(session_file, versions));
        Row {
            session: stale.key,
            stamp: stale.stamp,
            files: stale.files,
            others,
            // Without a fingerprint, nothing is taken for grown.
            versions: print.map_or(0, |_| versions),
            print: print.unwrap_or_default(),
            undone: stale.digest.facts.counts.undone,
            title: title_key(stale),
        }
    }

    /// Passes each message that is new to the index to `visit`, until that has enough. Returns whether each one could be read.
    pub(crate) fn each(
        &self,
        stale: &Stale<'_>,
        visit: &mut dyn FnMut(&Document<'_>) -> bool,
    ) -> bool {
        let (Some(folder), Some(session_files)) = (self.folder, &self.session_files) else {
            return false;
        };
        let mut messages =
            Messages::new(folder.source, session_files, Some(&folder.at.path), View::Full);
        messages.keep_own();
        if let (true, Some((grower, _))) = (self.is_grown, grower(session_files)) {
            messages.keep_since(grower, self.since);
        }
        let title = stale.digest.facts.title.as_deref().filter(|_| !self.is_grown);
        let mut title = title.unwrap_or_default();
        let mut is_whole = true;
        for message in messages {
            // Unreadable messages are reported by lists and views; here they are skipped.
            let Ok(message) = message else {
                is_whole = false;
                continue;
            };
            if !with_document(stale.key, title, &message, &mut *visit) {
                break;
            }
            title = "";
        }
        is_whole
    }
}

fn title_key(stale: &Stale<'_>) -> u64 {
    hash(&stale.digest.facts.title)
}

/// Marks the length of a message that was recorded in several pieces: it cannot be read from one location.
pub(crate) const SPLIT: u64 = 1 << 63;

/// Passes the indexed text of a message to `look`. `title` is the session's, for its first message.
pub(crate) fn with_document<T>(
    session: u64,
    title: &str,
    message: &Message,
    look: impl FnOnce(&Document<'_>) -> T,
) -> T {
    let wording = Wording::of(message);
    let tools = wording.tools();
    let paths = wording.paths();
    let place = &message.place;
    look(&Document {
        session,
        message: message_key(session, message),
        file: file_key(&place.file),
        offset: place.offset,
        bytes: if place.pieces.is_empty() { place.bytes } else { place.bytes | SPLIT },
        line: u64::from(place.line),
        time: message.time.map(Timestamp::as_millisecond),
        kind: message.kind,
        fate: message.fate,
        model: message.model.as_deref(),
        tools: &tools,
        is_error: wording.is_error,
        text: wording.texts(&paths, title),
    })
}

/// Returns the key of a message in the index.
fn message_key(session: u64, message: &Message) -> u64 {
    match &message.id {
        Some(id) => hash(&(session, id.as_str())),
        None => hash(&(session, message.place.offset)),
    }
}
