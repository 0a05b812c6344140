//! Finds the session that a user means: a full id, a prefix of one, a path, a row of the last list, the latest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_formats::Source;
use recount_formats::bytes::Buffer;
use recount_formats::source::SessionFiles;
use recount_model::{FileRole, SessionFacts, SessionId, SessionKey, TitleFrom};

use crate::cache::growth::FullRead;
use crate::cache::refresh::recall_groups;
use crate::projects::resolve::ProjectHints;
use crate::sessions::facts::{facts, main};
use crate::sessions::list::ListQuery;
use crate::sessions::open::Opened;
use crate::snapshot::disk_scan::{DiskSnapshot, Group, Progress};
use crate::stats::usage::UsageLog;
use crate::{Engine, Error};

/// The shortest accepted id prefix.
pub const SHORTEST: usize = 4;

impl Engine {
    /// Opens the session that `wanted` matches.
    ///
    /// # Errors
    /// If there is none, or several, or the named file is not a session.
    pub fn open(&self, wanted: &str, progress: &dyn Progress) -> Result<Opened, Error> {
        if wanted == "latest" {
            let latest = self.newest(1, progress)?.into_iter().next().ok_or(Error::NoSessions)?;
            return self.open_key(&latest.key(), progress);
        }
        if let Some(row) = wanted.strip_prefix('@').filter(|row| !row.is_empty()) {
            let (source, id) = self.row(row).ok_or_else(|| Error::NoRow(row.to_owned()))?;
            return self.open_id(id.as_str(), source.as_deref(), progress);
        }
        let path = Path::new(wanted);
        if wanted.contains(['/', '\\']) || path.is_file() {
            return self.open_file(path);
        }
        // Ids are unique only within their source: `source:id` is one of that source.
        match wanted.split_once(':') {
            Some((source, id)) if self.sources.iter().any(|s| s.name().as_str() == source) => {
                self.open_id(id, Some(source), progress)
            }
            _ => self.open_id(wanted, None, progress),
        }
    }

    /// Returns the newest sessions of the project that contains the current folder, or of all if it is in none: first those
    /// with a prompt of a person.
    ///
    /// # Errors
    /// If the aliases of projects are invalid.
    pub fn newest(
        &self,
        limit: usize,
        progress: &dyn Progress,
    ) -> Result<Vec<Arc<SessionFacts>>, Error> {
        let here = self.env.current_folder().cloned();
        let query = ListQuery { here, ..ListQuery::default() };
        let mut sessions = self.list(&query, progress)?.sessions;
        sessions.sort_by_key(|session| session.kind.is_subagent() || session.is_empty());
        sessions.truncate(limit);
        Ok(sessions)
    }

    /// Opens a known session.
    ///
    /// # Errors
    /// If it no longer exists.
    pub fn open_key(&self, key: &SessionKey, progress: &dyn Progress) -> Result<Opened, Error> {
        self.open_id(key.id.as_str(), Some(key.source.as_str()), progress)
    }

    /// Opens the session whose id has this prefix.
    pub(crate) fn open_id(
        &self,
        wanted: &str,
        source: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Opened, Error> {
        let disk = self.look();
        let is_source = |own: &dyn Source| source.is_none_or(|name| own.name().as_str() == name);
        // Most ids are in the names of their files: check those first.
        let near = |own: &dyn Source, group: &str| is_source(own) && own.may_hold(group, wanted);
        let mut found = self.group_sessions(&disk, wanted, progress, near)?;
        if found.is_empty() {
            found = self.group_sessions(&disk, wanted, progress, |own, _| is_source(own))?;
        }
        let mut found = join(&disk, found);
        if found.len() > 1 {
            let exact =
                |(_, session_files): &(_, SessionFiles)| session_files.id.as_str() == wanted;
            if found.iter().filter(|item| exact(item)).count() == 1 {
                found.retain(exact);
            }
        }
        if found.len() > 1 {
            prefer_parent(&mut found);
        }
        if found.len() > 1 {
            let candidates =
                found.iter().map(|(source, session_files)| facts(*source, session_files)).collect();
            return Err(Error::Ambiguous { wanted: wanted.to_owned(), candidates });
        }
        let Some((source, session_files)) = found.pop() else {
            let short = wanted.chars().count() < SHORTEST;
            let wanted = wanted.to_owned();
            return Err(if short { Error::TooShort(wanted) } else { Error::NoSession(wanted) });
        };
        let folder = main(&session_files).map(|session_file| session_file.file.folder);
        let folder_path: Option<PathBuf> =
            folder.and_then(|at| disk.folders.get(at)).map(|folder| folder.at.path.clone());
        let mut row = facts(source, &session_files);
        let root = folder.and_then(|at| disk.folders.get(at)).map(|folder| folder.root);
        if let Some(name) = root.and_then(|root| name_of(&disk, root, &row.id)) {
            (row.title, row.title_from) = (Some(name.to_owned()), TitleFrom::Name);
        }
        self.pricing().put(&UsageLog::of(source, &session_files, &row), &mut row);
        if let Some(number) = folder {
            let hash = main(&session_files)
                .and_then(|session_file| session_file.file.outline.head.project_hash.as_deref());
            let mut hints = ProjectHints::default();
            hints.add(number, hash, &row.directories);
            hints.paths.extend(row.cwd.clone());
            row.project = self.project_of(&disk, number, &hints, row.cwd.as_ref());
        }
        Ok(Opened::new(source, row, session_files, folder_path))
    }

    /// Reads the files of some groups, and returns those of the wanted session. Large logs are read from where they were read last.
    pub(crate) fn group_sessions(
        &self,
        disk: &DiskSnapshot,
        wanted: &str,
        progress: &dyn Progress,
        groups: impl Fn(&dyn Source, &str) -> bool,
    ) -> Result<Vec<Found>, Error> {
        let long_enough = wanted.chars().count() >= SHORTEST;
        let is_wanted = |id: &SessionId| {
            id.as_str() == wanted || (long_enough && id.as_str().starts_with(wanted))
        };
        let keep = |source, session_files: SessionFiles| {
            is_wanted(&session_files.id).then_some((source, session_files))
        };
        let found = recall_groups(self, disk, &disk.groups(groups), progress, keep)?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// Returns the name that the user gave to a session, if the agent stores names beside its sessions.
fn name_of<'a>(disk: &'a DiskSnapshot, root: usize, id: &SessionId) -> Option<&'a str> {
    let mut names = disk.names.get(root)?.iter().rev();
    names.find(|(named, _)| named == id).map(|(_, name)| name.as_str())
}

/// Merges results of one session's files under different names.
fn join(disk: &DiskSnapshot, found: Vec<Found>) -> Vec<Found> {
    let mut same: BTreeMap<_, Vec<Found>> = BTreeMap::new();
    for (source, session_files) in found {
        let key = (source.name(), session_files.id.clone(), session_files.parent.clone());
        same.entry(key).or_default().push((source, session_files));
    }
    let mut joined: Vec<Found> = Vec::new();
    let mut buffer = Buffer::new();
    for ((_, id, _), mut found) in same {
        let Some((source, _)) = found.first() else { continue };
        let source = *source;
        if found.len() == 1 {
            joined.append(&mut found);
            continue;
        }
        // All at once: a session may have thousands of files.
        let members = found.into_iter().flat_map(|(_, session_files)| session_files.files);
        let own = members.filter(|session_file| session_file.role != FileRole::Base);
        let files =
            own.map(|session_file| (session_file.file.folder, session_file.file.at)).collect();
        let grouped = Group { source, files }.group_sessions(disk, &FullRead, &mut buffer);
        joined.extend(grouped.into_iter().filter(|new| new.id == id).map(|new| (source, new)));
    }
    joined
}

/// A session and its source.
type Found = (&'static dyn Source, SessionFiles);

/// Sub-agents recorded under their parent's id have the same prefix: then the parent is meant.
fn prefer_parent(found: &mut Vec<Found>) {
    let mut mains = found.iter().filter(|(_, session_files)| session_files.parent.is_none());
    let (Some(main), None) =
        (mains.next().map(|(_, session_files)| session_files.id.clone()), mains.next())
    else {
        return;
    };
    if found.iter().all(|(_, session_files)| {
        session_files.id == main || session_files.parent.as_ref() == Some(&main)
    }) {
        found.retain(|(_, session_files)| session_files.id == main);
    }
}
