//! The sessions of a selection, opened when needed.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use recount_catalog::facts::MessageRow;
use recount_export::ExportTable;
use recount_formats::NativeFormat;
use recount_formats::Sources;
use recount_formats::bytes::Buffer;
use recount_formats::source::{FileAt, Stamp};
use recount_model::{Problem, SessionFacts, What};
use recount_prices::Prices;

use super::{Selection, native};
use crate::cache::growth::FullRead;
use crate::cache::refresh::{hash, is_racy, version};
use crate::snapshot::disk_scan::{DiskSnapshot, Group};
use crate::sql::rows::tokens;
use crate::stats::copies::CopiedRequests;
use crate::stats::pricing::request_cost;
use crate::{Engine, Opened};

/// Raised with every change to the output of renderers.
const RENDERERS: u32 = 4;

/// Where the files of sessions are.
#[derive(Debug)]
pub(super) struct Stock {
    disk: Arc<DiskSnapshot>,
    files: HashMap<String, (usize, Arc<FileAt>)>,
    /// Per folder: the files beside the sessions with full tool outputs.
    outputs: Vec<OnceLock<Vec<(PathBuf, Stamp)>>>,
    /// The requested sessions.
    ids: HashSet<String>,
    sources: Sources,
    /// Requests of which sessions only have copies; only determined if requests are written.
    copied: CopiedRequests,
    /// The prices of this user; `None` if one is invalid.
    prices: Option<Arc<Prices>>,
    /// A fingerprint of them.
    priced_by: u64,
}

/// A session of a selection.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) facts: &'a SessionFacts,
    opened: Option<&'a Opened>,
}

impl Engine {
    /// Finds the files of a selection. Without stamps, files beside sessions that are already open need not be listed.
    pub(super) fn stock(&self, selection: &Selection, wants_stamps: bool) -> Stock {
        let disk = match selection {
            Selection::Opened(_) if !wants_stamps => Arc::default(),
            _ => self.look(),
        };
        let mut files = HashMap::new();
        for (number, folder) in disk.folders.iter().enumerate() {
            for file in &folder.at.files {
                let path = file.path.to_string_lossy().into_owned();
                files.insert(path, (number, Arc::clone(file)));
            }
        }
        let outputs = disk.folders.iter().map(|_| OnceLock::new()).collect();
        let ids = selection.sessions().iter().map(|facts| facts.id.to_string()).collect();
        let copied = CopiedRequests::default();
        let pricing = self.pricing();
        Stock {
            disk,
            files,
            outputs,
            ids,
            sources: self.sources,
            copied,
            prices: pricing.shared(),
            priced_by: pricing.fingerprint(),
        }
    }
}

impl Stock {
    /// Excludes requests of which a session only has copies.
    pub(super) fn without(self, copied: CopiedRequests) -> Self {
        Self { copied, ..self }
    }

    /// Returns the requests of which a session only has copies.
    pub(super) fn copied(&self, facts: &SessionFacts) -> Option<&HashSet<u64>> {
        self.copied.of(facts)
    }

    /// Returns the prices of this user, unless one is invalid.
    pub(super) fn prices(&self) -> Option<&Prices> {
        self.prices.as_deref()
    }

    /// Returns what the request of a message cost, in dollars.
    pub(super) fn cost(&self, row: &MessageRow) -> Option<f64> {
        let tokens = tokens(row.tokens?, row.cache_write_1h);
        request_cost(self.prices(), row.model.as_deref(), row.at, &tokens)
    }

    /// Returns a fingerprint of the requests of which sessions only have copies.
    pub(super) fn copied_stamp(&self, items: &[Item<'_>]) -> u64 {
        let sorted = |item: &Item<'_>| {
            let mut keys: Vec<u64> =
                self.copied(item.facts).into_iter().flatten().copied().collect();
            keys.sort_unstable();
            keys
        };
        hash(&items.iter().map(sorted).collect::<Vec<_>>())
    }

    /// Opens a session; `None` if its files no longer exist, or cannot be read: then nothing is written, and the earlier
    /// export is kept.
    pub(super) fn open<'a>(&self, item: &Item<'a>) -> Option<Cow<'a, Opened>> {
        self.open_any(item).filter(|opened| !opened.is_unread())
    }

    fn open_any<'a>(&self, item: &Item<'a>) -> Option<Cow<'a, Opened>> {
        if let Some(opened) = item.opened {
            return Some(Cow::Borrowed(opened));
        }
        let group = self.group(item)?;
        let source = group.source;
        let session_files =
            group.session_files(&item.facts.id, &self.disk, &FullRead, &mut Buffer::new())?;
        let main =
            crate::sessions::facts::main(&session_files).or_else(|| session_files.files.first());
        let folder = main.and_then(|session_file| self.disk.folders.get(session_file.file.folder));
        let folder = folder.map(|folder| folder.at.path.clone());
        Some(Cow::Owned(Opened::new(source, item.facts.clone(), session_files, folder)))
    }

    fn group(&self, item: &Item<'_>) -> Option<Group> {
        if let Some(opened) = item.opened {
            return Some(opened.group());
        }
        let known = |path: &String| self.files.get(path).cloned();
        let files: Vec<_> = item.facts.files.iter().filter_map(|file| known(&file.path)).collect();
        let source = files.first().and_then(|(folder, _)| self.disk.folders.get(*folder))?.source;
        Some(Group { source, files })
    }

    /// Returns a stamp that changes when the export of a session does; `None` if that is unknown.
    pub(super) fn stamp(&self, item: &Item<'_>) -> Option<String> {
        let mut group = self.group(item)?;
        let unknown = |(_, file): &(usize, Arc<FileAt>)| file.stamp == Stamp::default();
        if is_racy(&group, &self.disk) || group.files.iter().any(unknown) {
            return None;
        }
        group.files.sort_by(|(_, one), (_, other)| one.path.cmp(&other.path));
        let files: Vec<_> = group.files.iter().map(|(_, file)| (&file.path, file.stamp)).collect();
        let project = &item.facts.project;
        let names = (&item.facts.title, project.key(), project.name());
        let outputs = self.outputs(item, &group);
        let versions = (RENDERERS, version(self.sources), self.priced_by);
        Some(format!("{:016x}", hash(&(versions, files, names, outputs))))
    }

    /// Returns the files from which tool outputs of a session may be filled in: they change independently of the session.
    fn outputs(&self, item: &Item<'_>, group: &Group) -> Vec<&(PathBuf, Stamp)> {
        let opened = item.opened.and_then(Opened::folder);
        let is_own = |(at, folder): (usize, &Path)| match item.opened {
            Some(_) => opened == Some(folder),
            None => group.files.iter().any(|(of, _)| *of == at),
        };
        let folders = self.disk.folders.iter().map(|folder| folder.at.path.as_path());
        let own = folders.enumerate().filter(|folder| is_own(*folder)).map(|(at, _)| at);
        own.flat_map(|at| self.outputs_in(at))
            .filter(|(path, _)| self.is_for(path, item.facts.id.as_str()))
            .collect()
    }

    fn outputs_in(&self, folder: usize) -> &[(PathBuf, Stamp)] {
        let (Some(slot), Some(folder)) = (self.outputs.get(folder), self.disk.folders.get(folder))
        else {
            return &[];
        };
        slot.get_or_init(|| {
            let stamped = |path: PathBuf| {
                let stamp = path.metadata().map(|found| Stamp::of(&found)).unwrap_or_default();
                (path, stamp)
            };
            let mut outputs: Vec<_> =
                folder.source.outputs(&folder.at).into_iter().map(stamped).collect();
            outputs.sort_by(|(one, _), (other, _)| one.cmp(other));
            outputs
        })
    }

    /// Whether an output may belong to a session: it is in a folder named by its id, or in one that is not named by any
    /// session's id.
    fn is_for(&self, output: &Path, id: &str) -> bool {
        let folder = output.parent().and_then(Path::file_name).unwrap_or_default();
        let folder = folder.to_string_lossy();
        let named = folder.split_once('-').map_or(&*folder, |(_, rest)| rest);
        named == id || !self.ids.contains(named)
    }
}

impl Selection {
    /// Returns its sessions.
    pub(super) fn items(&self) -> Vec<Item<'_>> {
        match self {
            Self::Opened(all) => all
                .iter()
                .map(|opened| Item { facts: &opened.facts, opened: Some(opened) })
                .collect(),
            Self::Listed(listing) => {
                let item = |facts| Item { facts, opened: None };
                listing.sessions.iter().map(|facts| item(facts)).collect()
            }
        }
    }
}

impl<'a> Item<'a> {
    /// Returns a session of a list.
    pub(super) fn listed(facts: &'a SessionFacts) -> Self {
        Self { facts, opened: None }
    }
}

impl Item<'_> {
    /// Whether it has rows in a table. Nobody said anything in what the agent ran for itself, and yet its requests count.
    pub(super) fn is_told(&self, table: ExportTable) -> bool {
        !self.facts.is_background || table == ExportTable::Requests
    }

    /// Returns the name that the agent itself would give to the session's file.
    pub(super) fn own_stem(&self, form: &dyn NativeFormat) -> String {
        let SessionFacts { id, kind, started, .. } = self.facts;
        match self.opened.filter(|opened| opened.is_saved()) {
            Some(saved) => {
                let began = started.or_else(|| native::time_of_saved(saved));
                form.stem(&native::id_of_saved(saved, form), *kind, began)
            }
            None => form.stem(id, *kind, *started),
        }
    }

    /// Returns the problem that a session is of another agent than the requested format.
    pub(super) fn other_form(&self) -> Problem {
        let done = "the session was not exported: it is another agent's";
        Problem { done: done.into(), what: What::OtherAgent, ..self.lost() }
    }

    /// Returns the problem that a session no longer exists.
    pub(super) fn lost(&self) -> Problem {
        let file = self.facts.files.first().map_or("", |file| file.path.as_str());
        Problem {
            file: Arc::from(file),
            span: None,
            what: What::Unreadable,
            done: "the session was not exported: its files cannot be read, or changed meanwhile"
                .into(),
        }
    }
}
