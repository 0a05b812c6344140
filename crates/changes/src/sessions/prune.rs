//! Moves sessions to the trash by rule, and orphaned files of deleted sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use recount_engine::disk::LocatedFolder;
use recount_engine::{ListQuery, Listing, Progress};
use recount_formats::Editor;
use recount_formats::source::{Artifact, Artifacts};
use recount_model::{FileRole, ProjectState, SessionFacts, SourceName};
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, Plan};

use super::delete::{Companions, SharedFiles, prompts_stay, take};
use crate::{Changes, Error, Notice, Proposal, SkipReason};

/// Which sessions to delete: those that match any of the rules.
#[derive(Clone, Debug, Default)]
pub struct Prune {
    /// Sessions last used before this time.
    pub older: Option<Timestamp>,
    /// Sessions without a conversation, and leftovers of resumes.
    pub empty: bool,
    /// Sessions of projects whose folder does not exist, and artifacts of deleted sessions.
    pub orphaned: bool,
    /// Only of this project.
    pub project: Option<String>,
    /// Pinned ones, too.
    pub pinned: bool,
}

/// The number of skipped sessions, by reason.
#[derive(Debug, Default)]
struct SkippedCounts {
    pinned: usize,
    live: usize,
    damaged: usize,
    moved: BTreeMap<String, String>,
}

impl Changes<'_> {
    /// Plans to delete sessions by rule.
    ///
    /// # Errors
    /// If the project is unknown; if a file cannot be read.
    pub fn prune_plan(self, rules: &Prune, progress: &dyn Progress) -> Result<Proposal, Error> {
        let listing =
            self.engine.list(&ListQuery { labelled: true, ..ListQuery::default() }, progress)?;
        let within = match &rules.project {
            None => listing.sessions.clone(),
            project => {
                let within = ListQuery { project: project.clone(), ..ListQuery::default() };
                self.engine.list(&within, progress)?.sessions
            }
        };
        let within: BTreeSet<_> = within.into_iter().map(|facts| facts.id.clone()).collect();
        let disk = self.engine.disk();
        let owners = self.owners(&listing.sessions);
        let mut offer = self.offer("prune");
        let mut skipped = SkippedCounts {
            moved: self.moved(rules, &listing, progress)?,
            ..SkippedCounts::default()
        };
        let in_common = SharedFiles::of(&listing);
        let companions = Companions::of(&listing, &disk);
        let mut gone = Vec::new();
        for facts in listing.sessions.iter().filter(|facts| within.contains(&facts.id)) {
            if facts.kind.is_subagent() {
                continue;
            }
            let is_live = owners.iter().any(|owner| owner.session == facts.id.as_str());
            if !is_meant(facts, rules, &mut skipped) {
                if rules.empty && !is_live {
                    remove_stubs(&mut offer.plan, facts)?;
                }
                continue;
            }
            let is_pinned = facts.labels.as_ref().is_some_and(|labels| labels.pinned);
            match (is_pinned && !rules.pinned, is_live) {
                (true, _) => skipped.pinned += 1,
                (_, true) => skipped.live += 1,
                // It is kept because another session needs one of its files.
                _ if in_common.other(facts).is_some() => {}
                _ => {
                    take(&mut offer.plan, facts, &companions)?;
                    gone.push(&**facts);
                }
            }
        }
        if rules.orphaned {
            let is_within = |folder: &&LocatedFolder| {
                let is_in = |file: &recount_model::FileFacts| {
                    Path::new(&file.path).starts_with(&folder.at.path)
                };
                rules.project.is_none()
                    || listing
                        .sessions
                        .iter()
                        .any(|facts| within.contains(&facts.id) && facts.files.iter().any(is_in))
            };
            let mut present: BTreeMap<SourceName, Present<'_>> = BTreeMap::new();
            for folder in disk.folders.iter().filter(is_within) {
                let Some(editor) = folder.source.editor() else { continue };
                let source = folder.source.name();
                let present =
                    present.entry(source).or_insert_with(|| Present::of(source, &listing));
                remove_orphans(&mut offer.plan, folder, editor, present)?;
            }
        }
        offer.notices.extend(prompts_stay(&gone, &disk));
        skipped.tell(&mut offer);
        Ok(offer)
    }

    /// Missing folders with their possible new locations: their sessions are not orphaned.
    fn moved(
        self,
        rules: &Prune,
        listing: &Listing,
        progress: &dyn Progress,
    ) -> Result<BTreeMap<String, String>, Error> {
        let is_missing = |facts: &Arc<SessionFacts>| facts.project.state == ProjectState::Missing;
        if !rules.orphaned || !listing.sessions.iter().any(is_missing) {
            return Ok(BTreeMap::new());
        }
        let (rows, _) = self.engine.projects(None, progress)?;
        let moved = |row: recount_engine::ProjectRow| {
            Some((row.path?.as_str().to_owned(), row.moved_to?.path))
        };
        Ok(rows.into_iter().filter_map(moved).collect())
    }
}

/// Whether a rule matches a session.
fn is_meant(facts: &SessionFacts, rules: &Prune, skipped: &mut SkippedCounts) -> bool {
    let is_older = rules.older.is_some_and(|older| facts.updated.is_some_and(|used| used < older));
    if is_older {
        return true;
    }
    if rules.empty && facts.is_empty() {
        // Unreadable is not the same as empty.
        if facts.problems == 0 {
            return true;
        }
        skipped.damaged += 1;
    }
    let path = facts.project.path.as_ref().map(recount_model::RecordedPath::as_str);
    rules.orphaned
        && facts.project.state == ProjectState::Missing
        && path.is_some_and(|path| !skipped.moved.contains_key(path))
}

/// Removes a header without a conversation that a resume has left beside one.
fn remove_stubs(plan: &mut Plan, facts: &SessionFacts) -> Result<(), Error> {
    for file in facts.files.iter().filter(|file| file.role == FileRole::Stub) {
        // Its session is kept, and so is not in the trash.
        let about = ChangeDetails { session: None, what: "stub" };
        plan.remove_unread(&RealDisk, file.path.as_ref(), about)?;
    }
    Ok(())
}

/// The sessions of an agent that exist: what belongs to others is orphaned.
struct Present<'a> {
    ids: BTreeSet<&'a str>,
    files: Vec<PathBuf>,
}

impl<'a> Present<'a> {
    fn of(source: SourceName, listing: &'a Listing) -> Self {
        let ours = || listing.sessions.iter().filter(|facts| facts.source == source);
        let mains = ours().filter(|facts| !facts.kind.is_subagent());
        let mains: BTreeSet<&str> = mains.map(|facts| facts.id.as_str()).collect();
        let is_led = |facts: &&Arc<SessionFacts>| {
            facts.parent.as_ref().is_none_or(|parent| mains.contains(parent.as_str()))
        };
        let ids = ours().filter(is_led).map(|facts| facts.id.as_str()).collect();
        let files = ours().flat_map(|facts| &facts.files);
        Self { ids, files: files.map(|file| PathBuf::from(&file.path)).collect() }
    }
}

fn remove_orphans(
    plan: &mut Plan,
    folder: &LocatedFolder,
    editor: &dyn Editor,
    present: &Present<'_>,
) -> Result<(), Error> {
    let Artifacts { files, folders } =
        editor.orphans(&folder.at, &|id| present.ids.contains(id), &present.files);
    for Artifact { path, kind } in &files {
        let about = ChangeDetails { session: None, what: kind.as_str() };
        plan.remove_unread(&RealDisk, path, about)?;
    }
    for path in &folders {
        plan.remove_folder(&RealDisk, path)?;
    }
    Ok(())
}

impl SkippedCounts {
    fn tell(self, offer: &mut Proposal) {
        let counts = [
            (self.pinned, SkipReason::Pinned),
            (self.live, SkipReason::InUse),
            (self.damaged, SkipReason::Damaged),
        ];
        for (sessions, why) in counts.into_iter().filter(|(sessions, _)| *sessions > 0) {
            offer.notice(Notice::Skipped { sessions, why });
        }
        for (old, new) in self.moved {
            offer.notice(Notice::MovedFolder { old, new });
        }
    }
}
