//! What is deleted with a session: its tool outputs, its activity log, its own folder, its sub-agents.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use foldhash::fast::RandomState;
use recount_model::{DeletionReason, PendingDeletion, SessionId};

use super::rules::Rules;
use crate::folder::entry_name;
use crate::retention::RetentionSettings;

/// Folders of the program in a project directory.
const RESERVED: &[&str] = &["chats", "logs", "tool-outputs"];

/// The maximum depth of a folder. The program itself creates at most three levels.
const DEEPEST: usize = 16;

/// Folders that may have artifacts of a session.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// The project directory itself.
    Project,
    Chats,
    Logs,
    Outputs,
}

/// The number of places.
const PLACES: usize = 4;

impl Place {
    /// Returns the folder below a project directory.
    fn below(self, project: &Path) -> PathBuf {
        match self {
            Self::Project => project.to_owned(),
            Self::Chats => project.join("chats"),
            Self::Logs => project.join("logs"),
            Self::Outputs => project.join("tool-outputs"),
        }
    }
}

/// The names in a folder.
type Names = HashSet<String, RandomState>;

/// Finds the artifacts of sessions, listing each folder once.
#[derive(Debug)]
pub(crate) struct Beside<'a> {
    folder: &'a Path,
    rules: &'a Rules,
    /// Names in listed folders, by place.
    names: [Option<Names>; PLACES],
    /// By path, so that nothing is reported twice.
    found: BTreeMap<PathBuf, PendingDeletion>,
}

impl<'a> Beside<'a> {
    pub(crate) fn new(folder: &'a Path, rules: &'a Rules) -> Self {
        Self { folder, rules, names: [const { None }; PLACES], found: BTreeMap::new() }
    }

    /// Adds what is deleted with a session, and with which file of it.
    pub(crate) fn session(&mut self, id: &SessionId, with: &str, why: DeletionReason) {
        let Some(name) = safe(id.as_str()) else { return };
        self.artifacts(&name, id, with, why);
        if !self.rules.takes_agents || !self.has(Place::Chats, &name) {
            return;
        }
        let agents = self.folder.join("chats").join(&*name);
        // A linked folder is read, and only the link is deleted.
        for entry in fs::read_dir(&agents).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            let agent = path.file_stem().filter(|_| is_file && is_session(&path, self.rules.logs));
            if let Some(name) =
                agent.and_then(|agent| Some(safe(&agent.to_string_lossy())?.into_owned()))
            {
                self.artifacts(&name, id, with, why);
            }
        }
        self.all(&agents, id, with, why);
    }

    fn artifacts(&mut self, name: &str, id: &SessionId, with: &str, why: DeletionReason) {
        let rules = self.rules;
        if rules.takes_logs && !self.names_in(Place::Logs).is_empty() {
            self.one(Place::Logs, &format!("session-{name}.jsonl"), id, with, why);
        }
        if rules.takes_outputs && !self.names_in(Place::Outputs).is_empty() {
            self.one(Place::Outputs, &format!("session-{name}"), id, with, why);
        }
        // Names have only ASCII characters by now.
        let is_reserved = RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name));
        let is_spared = rules.spares_reserved && is_reserved;
        if rules.takes_folder && !is_spared && self.has(Place::Project, name) {
            self.all(&self.folder.join(name), id, with, why);
        }
    }

    /// Adds tool outputs that are too old or too many, regardless of their sessions.
    pub(crate) fn outputs(&mut self, retention: &RetentionSettings, now: i64) {
        let Some(outputs) = self.rules.outputs.filter(|_| retention.outputs) else { return };
        let place = self.folder.join(outputs);
        let cut_off = retention.max_age.as_ref().map(|(_, age)| now.saturating_sub(*age));
        let is_old = |modified: i64| cut_off.is_some_and(|cut| modified < cut);
        let mut kept = Vec::new();
        for entry in fs::read_dir(&place).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let modified = millis(&metadata).unwrap_or(i64::MAX);
            let name = entry.file_name().to_string_lossy().into_owned();
            if metadata.is_dir() {
                let is_session = self.rules.output_folders && name.starts_with("session-");
                if is_session && safe(&name).as_deref() == Some(&*name) && is_old(modified) {
                    let mut files = Vec::new();
                    collect(&entry.path(), DEEPEST, &mut files);
                    for file in files {
                        self.add(file, DeletionReason::OutputAge, None);
                    }
                }
            } else if metadata.is_file() && is_old(modified) {
                self.add(Found::file(entry.path(), &metadata), DeletionReason::OutputAge, None);
            } else if metadata.is_file() {
                kept.push((modified, Found::file(entry.path(), &metadata)));
            }
        }
        kept.sort();
        let most = retention.max_count.and_then(|most| usize::try_from(most).ok());
        let over = most.map_or(0, |most| kept.len().saturating_sub(most));
        for (_, file) in kept.into_iter().take(over) {
            self.add(file, DeletionReason::OutputCount, None);
        }
    }

    /// Adds what is deleted at every start.
    pub(crate) fn restore_points(&mut self) {
        let mut files = Vec::new();
        collect(&self.folder.join("checkpoints"), DEEPEST, &mut files);
        for file in files {
            self.add(file, DeletionReason::EveryStart, None);
        }
    }

    pub(crate) fn into_found(self) -> Vec<PendingDeletion> {
        self.found.into_values().collect()
    }

    fn all(&mut self, path: &Path, id: &SessionId, with: &str, why: DeletionReason) {
        let mut files = Vec::new();
        collect(path, DEEPEST, &mut files);
        for file in files {
            self.add(file, DeletionReason::Beside, Some((id, with, why)));
        }
    }

    fn add(
        &mut self,
        Found { path, bytes, is_link }: Found,
        why: DeletionReason,
        of: Option<(&SessionId, &str, DeletionReason)>,
    ) {
        let text = path.to_string_lossy().into_owned();
        self.found.entry(path).or_insert_with(|| PendingDeletion {
            path: text,
            bytes,
            is_link,
            why,
            with: of.map(|(_, with, _)| with.to_owned()),
            with_why: of.map(|(_, _, why)| why),
            session: of.map(|(id, _, _)| id.clone()),
        });
    }

    /// Adds the entry of this name, if there is one.
    fn one(&mut self, place: Place, name: &str, id: &SessionId, with: &str, why: DeletionReason) {
        if self.has(place, name) {
            self.all(&place.below(self.folder).join(name), id, with, why);
        }
    }

    /// Whether a folder of the project directory has an entry of this name.
    fn has(&mut self, place: Place, name: &str) -> bool {
        self.names_in(place).contains(name)
    }

    /// Returns the names in a folder of the project directory, which is listed once.
    fn names_in(&mut self, place: Place) -> &Names {
        let folder = self.folder;
        let [project, chats, logs, outputs] = &mut self.names;
        let names = match place {
            Place::Project => project,
            Place::Chats => chats,
            Place::Logs => logs,
            Place::Outputs => outputs,
        };
        names.get_or_insert_with(|| {
            let entries = fs::read_dir(place.below(folder)).into_iter().flatten().flatten();
            entries.map(|entry| entry_name(&entry)).collect()
        })
    }
}

/// A file or link that was found.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    path: PathBuf,
    bytes: u64,
    is_link: bool,
}

impl Found {
    fn file(path: PathBuf, metadata: &fs::Metadata) -> Self {
        Self { path, bytes: metadata.len(), is_link: metadata.is_symlink() }
    }
}

/// Lists all files at or below a path, without following links.
fn collect(path: &Path, depth: usize, files: &mut Vec<Found>) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    if !metadata.is_dir() {
        files.push(Found::file(path.to_owned(), &metadata));
    } else if depth > 0 {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut inner: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        inner.sort();
        for path in inner {
            collect(&path, depth - 1, files);
        }
    }
}

/// Returns an id as the program writes it in names; `None` if it refuses it.
fn safe(id: &str) -> Option<Cow<'_, str>> {
    if matches!(id, "" | "." | "..") {
        return None;
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    // Almost every id is one that it makes itself, of ASCII characters.
    if id.bytes().all(|byte| byte.is_ascii() && allowed(char::from(byte))) {
        return Some(Cow::Borrowed(id));
    }
    // Characters are UTF-16 units there.
    let keep = |c: char| if allowed(c) { c.to_string() } else { "_".repeat(c.len_utf16()) };
    Some(id.chars().map(keep).collect::<String>().into())
}

/// Whether an id is written in names as it is, and is not the name of a folder of the program.
pub(super) fn is_plain(id: &str) -> bool {
    let is_reserved = RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(id));
    !is_reserved && matches!(safe(id), Some(Cow::Borrowed(_)))
}

/// Whether a file is a sub-agent's for a release with or without logs.
fn is_session(path: &Path, logs: bool) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension == "json" || logs && extension == "jsonl")
}

fn millis(metadata: &fs::Metadata) -> Option<i64> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}
