//! A session to the trash: all its files, by its full id, and all that belongs to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_engine::disk::{DiskSnapshot, Named};
use recount_engine::{Listing, Progress};
use recount_formats::SOURCES;
use recount_formats::source::Artifact;
use recount_model::{FileFacts, FileRole, SessionFacts, SessionId};
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, Plan};

use crate::sessions::steps::{SUBAGENT, role, subject};
use crate::{Changes, Error, Notice, Proposal, Reason, SharedBy};

impl Changes<'_> {
    /// Plans to delete the sessions that these arguments name, each with its sub-agents.
    ///
    /// # Errors
    /// If an argument names none, or several; if a file cannot be read.
    pub fn delete_plan(
        self,
        wanted: &[String],
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        // Files are found by the ids in them, whatever their names say: only a list of all knows.
        let survey = self.scan_files(progress)?;
        let mut chosen: Vec<&SessionFacts> = Vec::new();
        for wanted in wanted {
            let facts = match self.engine.find_in(&survey, wanted)? {
                Named::Session(facts) => facts,
                Named::Saved(id) => return Err(Error::no_session(id.as_str())),
            };
            if !chosen.iter().any(|known| known.id == facts.id) {
                chosen.push(facts);
            }
        }
        let mut offer = self.offer("delete");
        for facts in chosen {
            take(&mut offer.plan, facts, &survey.listing, &survey.disk)?;
            offer.notices.extend(prompts_stay(&[facts], &survey.disk));
        }
        Ok(offer)
    }
}

pub(super) fn take(
    plan: &mut Plan,
    facts: &SessionFacts,
    listing: &Listing,
    disk: &DiskSnapshot,
) -> Result<(), Error> {
    let id = facts.id.as_str();
    if let Some(other) = shares_a_file(facts, listing) {
        let (session, other) = (facts.id.clone(), other.id.clone());
        return Err(Reason::SharedFile { session, other }.into());
    }
    plan.sessions.push(subject(facts));
    let is_agent = |other: &&Arc<SessionFacts>| {
        other.source == facts.source && other.parent.as_ref() == Some(&facts.id)
    };
    remove_files(plan, id, facts, role)?;
    for agent in listing.sessions.iter().filter(is_agent) {
        remove_files(plan, id, agent, |_| SUBAGENT)?;
    }
    let source = SOURCES.iter().find(|source| source.name() == facts.source);
    let Some(source) = source else { return Ok(()) };
    let own: Vec<PathBuf> = facts.own_files().map(|file| PathBuf::from(&file.path)).collect();
    for folder in disk.folders.iter().filter(|folder| folder.source.name() == facts.source) {
        let artifacts = source.artifacts(&folder.at, &facts.id, &own);
        for Artifact { path, kind } in &artifacts.files {
            plan.remove(&RealDisk, path, ChangeDetails { session: Some(id), what: kind.as_str() })?;
        }
        for path in &artifacts.folders {
            plan.remove_folder(&RealDisk, path)?;
        }
    }
    Ok(())
}

/// Finds another session that is in a file of this one or begins with it: that would go, too.
fn shares_a_file<'l>(facts: &'l SessionFacts, listing: &'l Listing) -> Option<&'l SessionFacts> {
    let is_own = |other: &SessionFacts| {
        let is_agent = other.parent.as_ref() == Some(&facts.id);
        other.source == facts.source && (is_agent || other.key() == facts.key())
    };
    let sessions = || listing.sessions.iter().map(|facts| &**facts);
    let going: BTreeSet<&str> = { sessions().filter(|other| is_own(other)) }
        .chain([facts])
        .flat_map(SessionFacts::own_files)
        .map(|file| file.path.as_str())
        .collect();
    let needs = |other: &&SessionFacts| {
        !is_own(other) && other.files.iter().any(|file| going.contains(file.path.as_str()))
    };
    sessions().find(needs)
}

/// Tells how many prompts of sessions stay where they are, if any do.
pub(super) fn prompts_stay(sessions: &[&SessionFacts], disk: &DiskSnapshot) -> Option<Notice> {
    let mut prompts = 0;
    for folder in &disk.folders {
        let is_in = |file: &FileFacts| Path::new(&file.path).starts_with(&folder.at.path);
        let here = sessions.iter().filter(|facts| facts.source == folder.source.name());
        let ids: BTreeSet<&SessionId> =
            here.filter(|facts| facts.files.iter().any(is_in)).map(|facts| &facts.id).collect();
        if !ids.is_empty() {
            let traces = folder.source.traces(&folder.at);
            prompts += traces.iter().filter(|trace| ids.contains(&trace.session)).count();
        }
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
        // Sub-agents may be in the file of the session that ran them.
        if plan.steps.iter().any(|step| step.path == Path::new(&file.path)) {
            continue;
        }
        let about = ChangeDetails { session: Some(id), what: what(file.role) };
        plan.remove(&RealDisk, file.path.as_ref(), about)?;
    }
    Ok(())
}
