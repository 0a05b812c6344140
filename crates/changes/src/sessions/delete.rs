//! Deletes a session: all its files, by its full id, and all its artifacts.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use recount_engine::disk::{DiskSnapshot, LocatedFolder, Named};
use recount_engine::{Listing, Progress};
use recount_formats::SOURCES;
use recount_formats::source::Artifact;
use recount_model::{FileRole, SessionFacts, SessionId, SourceName};
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, Plan};

use crate::sessions::steps::{SUBAGENT, check_paths, role, subject};
use crate::{Changes, Error, Notice, Proposal, Reason, SharedBy};

impl Changes<'_> {
    /// Plans to delete the sessions that these arguments match, each with its sub-agents.
    ///
    /// # Errors
    /// If an argument matches none, or several; if a file cannot be read.
    pub fn delete_plan(
        self,
        wanted: &[String],
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        // Files are found by the ids in them, not by their names: this needs a complete list.
        let survey = self.scan_files(progress)?;
        let mut chosen: Vec<&SessionFacts> = Vec::new();
        for wanted in wanted {
            let facts = match self.engine.find_in(&survey, wanted)? {
                Named::Session(facts) => facts,
                Named::Saved(id) => return Err(Error::no_session(id.as_str())),
            };
            if !chosen.iter().any(|known| known.key() == facts.key()) {
                chosen.push(facts);
            }
        }
        let mut offer = self.offer("delete");
        let shared = SharedFiles::of(&survey.listing);
        let companions = Companions::of(&survey.listing, &survey.disk);
        for facts in chosen {
            if let Some(other) = shared.other(facts) {
                let (session, other) = (facts.id.clone(), other.id.clone());
                return Err(Reason::SharedFile { session, other }.into());
            }
            take(&mut offer.plan, facts, &companions)?;
            offer.notices.extend(prompts_stay(&[facts], &survey.disk));
        }
        Ok(offer)
    }
}

/// What is deleted together with sessions, looked up once for all of them.
#[derive(Debug)]
pub(super) struct Companions<'a> {
    disk: &'a DiskSnapshot,
    /// The sub-agents of each session.
    agents: HashMap<(SourceName, &'a SessionId), Vec<&'a SessionFacts>>,
    /// The directories, by number, that may have something with an id.
    named: HashMap<String, Vec<usize>>,
    /// Directories that must be checked for each session.
    unlisted: Vec<usize>,
}

impl<'a> Companions<'a> {
    pub(super) fn of(listing: &'a Listing, disk: &'a DiskSnapshot) -> Self {
        let mut agents: HashMap<_, Vec<&SessionFacts>> = HashMap::new();
        for facts in &listing.sessions {
            if let Some(parent) = &facts.parent {
                agents.entry((facts.source, parent)).or_default().push(facts);
            }
        }
        let (mut named, mut unlisted) = (HashMap::<_, Vec<usize>>::new(), Vec::new());
        for (number, folder) in disk.folders.iter().enumerate() {
            let Some(ids) = folder.source.artifact_ids(&folder.at) else {
                unlisted.push(number);
                continue;
            };
            for id in ids {
                named.entry(id).or_default().push(number);
            }
        }
        Self { disk, agents, named, unlisted }
    }

    /// Returns the directories of a session's agent that may have something of it, in order.
    fn folders(&self, facts: &SessionFacts) -> impl Iterator<Item = &'a LocatedFolder> + use<'a> {
        let named = self.named.get(facts.id.as_str()).into_iter().flatten();
        let numbers: BTreeSet<usize> = named.chain(&self.unlisted).copied().collect();
        let (disk, source) = (self.disk, facts.source);
        let folders = numbers.into_iter().filter_map(|number| disk.folders.get(number));
        folders.filter(move |folder| folder.source.name() == source)
    }
}

pub(super) fn take(
    plan: &mut Plan,
    facts: &SessionFacts,
    companions: &Companions<'_>,
) -> Result<(), Error> {
    check_paths(facts)?;
    let id = facts.id.as_str();
    plan.sessions.push(subject(facts));
    remove_files(plan, id, facts, role)?;
    for agent in companions.agents.get(&(facts.source, &facts.id)).into_iter().flatten() {
        remove_files(plan, id, agent, |_| SUBAGENT)?;
    }
    let source = SOURCES.iter().find(|source| source.name() == facts.source);
    let Some(source) = source else { return Ok(()) };
    let own: Vec<PathBuf> = facts.own_files().map(|file| PathBuf::from(&file.path)).collect();
    for folder in companions.folders(facts) {
        let artifacts = source.artifacts(&folder.at, &facts.id, &own);
        for Artifact { path, kind } in &artifacts.files {
            let about = ChangeDetails { session: Some(id), what: kind.as_str() };
            plan.remove_unread(&RealDisk, path, about)?;
        }
        for path in &artifacts.folders {
            plan.remove_folder(&RealDisk, path)?;
        }
    }
    Ok(())
}

/// Files that more than one session needs: as their own or as their base.
#[derive(Debug, Default)]
pub(super) struct SharedFiles<'l>(HashMap<&'l str, Vec<&'l SessionFacts>>);

impl<'l> SharedFiles<'l> {
    pub(super) fn of(listing: &'l Listing) -> Self {
        let mut files: HashMap<&str, Vec<&SessionFacts>> = HashMap::new();
        for facts in &listing.sessions {
            for file in &facts.files {
                files.entry(file.path.as_str()).or_default().push(facts);
            }
        }
        files.retain(|_, sessions| sessions.len() > 1);
        Self(files)
    }

    /// Returns a session that needs a file of this one, and is neither it nor one of its sub-agents.
    pub(super) fn other(&self, facts: &SessionFacts) -> Option<&'l SessionFacts> {
        let is_own = |other: &SessionFacts| {
            let is_agent = other.parent.as_ref() == Some(&facts.id);
            other.source == facts.source && (is_agent || other.key() == facts.key())
        };
        let sharing = facts.own_files().filter_map(|file| self.0.get(file.path.as_str()));
        sharing.flatten().copied().find(|other| !is_own(other))
    }
}

/// Returns a notice with the number of prompts of sessions that stay, if any do.
pub(super) fn prompts_stay(sessions: &[&SessionFacts], disk: &DiskSnapshot) -> Option<Notice> {
    let folders: HashMap<(SourceName, &Path), usize> = { disk.folders.iter().enumerate() }
        .map(|(number, folder)| ((folder.source.name(), folder.at.path.as_path()), number))
        .collect();
    // The sessions with files in a folder, by the folder's number.
    let mut inside: BTreeMap<usize, BTreeSet<&SessionId>> = BTreeMap::new();
    for facts in sessions {
        for file in &facts.files {
            let above = Path::new(&file.path).ancestors();
            for number in above.filter_map(|folder| folders.get(&(facts.source, folder))) {
                inside.entry(*number).or_default().insert(&facts.id);
            }
        }
    }
    let mut prompts = 0;
    for (number, ids) in inside {
        let Some(folder) = disk.folders.get(number) else { continue };
        let traces = folder.source.traces(&folder.at);
        prompts += traces.iter().filter(|trace| ids.contains(&trace.session)).count();
    }
    let of = match sessions {
        [one] => SharedBy::Session(one.id.clone()),
        many => SharedBy::Sessions(many.len()),
    };
    (prompts > 0).then_some(Notice::PromptsStay { prompts, of })
}

pub(super) fn remove_files(
    plan: &mut Plan,
    id: &str,
    facts: &SessionFacts,
    what: impl Fn(FileRole) -> &'static str,
) -> Result<(), Error> {
    for file in facts.own_files() {
        // A file that is already in the plan is skipped: sub-agents may be in the file of the session that ran them.
        let about = ChangeDetails { session: Some(id), what: what(file.role) };
        plan.remove_unread(&RealDisk, file.path.as_ref(), about)?;
    }
    Ok(())
}
