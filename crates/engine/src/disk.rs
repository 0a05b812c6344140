//! What is on disk, as needed for planning changes: directories, sessions and their projects at one moment, and the records
//! of a conversation.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_formats::Source;
use recount_formats::source::SessionFiles;
use recount_model::{Project, SessionFacts, SessionId};

use crate::cache::growth::FullRead;
use crate::projects::resolve::Effort;
use crate::sessions::list::Listing;
use crate::sessions::scope::nearest;
use crate::snapshot::disk_scan::{Progress, scan_files};
use crate::{Engine, Error};

pub use crate::messages::window::Window;
pub use crate::sessions::conversation::{Conversation, Record};
pub use crate::sessions::select::SHORTEST;
pub use crate::snapshot::disk_scan::{DiskSnapshot, LocatedFolder};

/// What an argument matches.
#[derive(Clone, Debug)]
pub enum Named<'s> {
    /// A session.
    Session(&'s SessionFacts),
    /// A saved chat, by the name of its file.
    Saved(SessionId),
}

/// Every session, the directories they were found in, and the project of each directory.
#[derive(Debug)]
pub struct Survey {
    /// Every session, most recent first.
    pub listing: Listing,
    /// The directories, with all files in them.
    pub disk: Arc<DiskSnapshot>,
    /// The project of each directory, by its number in `disk`.
    pub projects: Vec<Arc<Project>>,
    /// The projects that sessions record themselves.
    pub recorded: Vec<Arc<Project>>,
}

impl Engine {
    /// Lists every session, with the directories and projects they were found in.
    ///
    /// # Errors
    /// If it was cancelled.
    pub fn scan_files(&self, progress: &dyn Progress) -> Result<Survey, Error> {
        let (listing, disk, resolved) = self.scan_all(&Effort::List, progress)?;
        let recorded = resolved.recorded.values().cloned().collect();
        Ok(Survey { listing, disk, projects: resolved.projects.clone(), recorded })
    }

    /// Finds what `wanted` matches among the sessions of a survey, by the rules of [`Engine::open`]. The disk is not listed
    /// again.
    ///
    /// # Errors
    /// If there is none, or several, or the named file is not a session.
    pub fn find_in<'s>(&self, survey: &'s Survey, wanted: &str) -> Result<Named<'s>, Error> {
        let sessions = &survey.listing.sessions;
        let by_id = |source: Option<&str>, id: &SessionId| {
            let is_source =
                |facts: &SessionFacts| source.is_none_or(|source| facts.source.as_str() == source);
            let found = sessions.iter().find(|facts| facts.id == *id && is_source(facts));
            found.map(|facts| Named::Session(facts)).ok_or_else(|| Error::NoSession(id.to_string()))
        };
        if wanted == "latest" {
            let here = self.env.current_folder();
            let scope = here.and_then(|here| nearest(sessions, here, &self.homes()));
            let scope = scope.map(|project| project.key());
            let is_own = |facts: &&Arc<SessionFacts>| {
                scope.as_ref().is_none_or(|scope| facts.project.key() == *scope)
            };
            let mut own = sessions.iter().filter(is_own);
            let said = own.clone().find(|s| !s.kind.is_subagent() && !s.is_empty());
            let latest = said.or(own.next()).ok_or(Error::NoSessions)?;
            return Ok(Named::Session(latest));
        }
        if let Some(row) = wanted.strip_prefix('@').filter(|row| !row.is_empty()) {
            let (source, id) = self.row(row).ok_or_else(|| Error::NoRow(row.to_owned()))?;
            return by_id(source.as_deref(), &id);
        }
        let path = Path::new(wanted);
        if wanted.contains(['/', '\\']) || path.is_file() {
            let opened = self.open_file(path)?;
            return if opened.is_saved() {
                Ok(Named::Saved(opened.facts.id))
            } else {
                by_id(Some(opened.facts.source.as_str()), &opened.facts.id)
            };
        }
        // As in `Engine::open`, `source:id` is one of that source.
        if let Some((source, id)) = wanted.split_once(':')
            && self.sources.iter().any(|known| known.name().as_str() == source)
        {
            let is_own = |facts: &&Arc<SessionFacts>| facts.source.as_str() == source;
            return find_id(sessions.iter().filter(is_own), id).map(Named::Session);
        }
        find_id(sessions.iter(), wanted).map(Named::Session)
    }

    /// Lists the agents' directories and the files in them; none is read.
    pub fn disk(&self) -> DiskSnapshot {
        DiskSnapshot::look(&self.roots)
    }

    /// Returns the catalog's file, if it exists and cannot be used.
    pub fn damaged_catalog(&self) -> Option<PathBuf> {
        let path = self.folders.data.as_ref()?.join(crate::cache::refresh::FILE);
        (path.is_file() && !recount_catalog::is_sound(&path)).then_some(path)
    }
}

/// Finds the only session with this id or prefix. A parent takes precedence over sub-agents with the same prefix.
fn find_id<'s>(
    sessions: impl Iterator<Item = &'s Arc<SessionFacts>>,
    wanted: &str,
) -> Result<&'s SessionFacts, Error> {
    let is_exact = |facts: &&SessionFacts| facts.id.as_str() == wanted;
    let is_long = wanted.chars().count() >= SHORTEST;
    let is_like = |facts: &&SessionFacts| {
        is_exact(facts) || (is_long && facts.id.as_str().starts_with(wanted))
    };
    let mut found: Vec<&SessionFacts> = sessions.map(|facts| &**facts).filter(is_like).collect();
    if found.iter().filter(|facts| is_exact(facts)).count() == 1 {
        found.retain(|facts| is_exact(facts));
    }
    if let [main] = *found.iter().filter(|facts| facts.parent.is_none()).collect::<Vec<_>>() {
        let main = *main;
        let is_its =
            |facts: &&SessionFacts| facts.id == main.id || facts.parent.as_ref() == Some(&main.id);
        if found.iter().all(is_its) {
            found = vec![main];
        }
    }
    match *found {
        [one] => Ok(one),
        [] if is_long => Err(Error::NoSession(wanted.to_owned())),
        [] => Err(Error::TooShort(wanted.to_owned())),
        _ => {
            let mut candidates: Vec<SessionFacts> = found.into_iter().cloned().collect();
            candidates.sort_by(|one, next| one.id.cmp(&next.id));
            Err(Error::Ambiguous { wanted: wanted.to_owned(), candidates })
        }
    }
}

impl DiskSnapshot {
    /// Reads the files of all sessions, on all cores, and returns the result of `digest` for each session.
    pub fn each_session<T: Send>(
        &self,
        progress: &dyn Progress,
        digest: impl Fn(&'static dyn Source, SessionFiles) -> T + Sync,
    ) -> Vec<T> {
        let found = scan_files(self, &self.groups(|_, _| true), &FullRead, progress, digest);
        found.into_iter().map(|(_, made)| made).collect()
    }
}
