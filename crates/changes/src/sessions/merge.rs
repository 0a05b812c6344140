//! Merges several sessions into a new one, in order of their start times.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use recount_engine::disk::{Conversation, DiskSnapshot, Record, Survey};
use recount_engine::{Listing, Opened, Progress};
use recount_formats::native::HeaderOverrides;
use recount_formats::source::SessionFiles;
use recount_model::{MessageKind, SessionFacts};
use recount_writer::RealDisk;
use recount_writer::change::ChangeDetails;

use super::delete::remove_files;
use super::edition::{Edition, grammar_of};
use super::fork::{Home, entry, move_in};
use super::moving::{editor, session_files};
use crate::sessions::steps::{SUBAGENT, role, subject};
use crate::{Changes, Error, Notice, Operation, Proposal, Reason};

/// How sessions are merged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Merge<'a> {
    /// A project other than that of the first session.
    pub to: Option<&'a str>,
    /// The title of the new session.
    pub title: Option<&'a str>,
    /// Whether the original sessions are kept.
    pub keep: bool,
}

/// What distinguishes a message from others with the same id.
type Seen = HashMap<String, (Option<i64>, MessageKind)>;

impl Changes<'_> {
    /// Plans one new session with the conversations of several.
    ///
    /// # Errors
    /// If an argument matches nothing, or several; if there are not two; if a file cannot be read.
    pub fn merge_plan(
        self,
        wanted: &[String],
        merge: Merge<'_>,
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        let mut all: Vec<SessionFacts> = Vec::new();
        let survey = self.scan_files(progress)?;
        for wanted in wanted {
            let facts = self.chosen(&survey, wanted, Operation::Merge)?;
            if !all.iter().any(|known| known.id == facts.id) {
                all.push(facts.clone());
            }
        }
        let Survey { listing, disk, .. } = &survey;
        let Some(named_first) = all.first().cloned().filter(|_| all.len() > 1) else {
            return Err(Reason::OneSession.into());
        };
        if let Some(other) = all.iter().find(|facts| facts.source != named_first.source) {
            let (one, other) = (named_first.id, other.id.clone());
            return Err(Reason::DifferentAgents(one, other).into());
        }
        all.sort_by_key(|facts| (facts.started, facts.id.clone()));
        let home = self.home_for(&named_first, &survey, merge.to)?;
        let (source, editor) = editor(&named_first)?;
        let usual =
            || all.iter().find_map(|facts| Some(format!("{} (merged)", facts.title.as_ref()?)));
        let title = merge.title.map(|title| editor.title(title)).or_else(usual);
        let own = named_first.project.path.as_ref();
        let hash = own.and_then(|path| source.project_hash(path.as_str()));
        let hash = hash.map(|hash| hash.to_string());
        let overrides = HeaderOverrides {
            folder: None,
            id: Some(&home.id),
            project_hash: home.hash.as_deref().or(hash.as_deref()),
            cwd: None,
            title: title.as_deref(),
            started: None,
            updated: Some(self.engine.clock().now()),
        };
        let mut seen = Seen::new();
        let mut edition: Option<Edition> = None;
        for facts in &all {
            let opened = Arc::new(self.engine.open(facts.id.as_str(), progress)?);
            let records = once(&opened, &mut seen);
            edition = Some(match edition {
                None => {
                    Edition::new(opened, home.form, records, overrides, grammar_of(all.iter()))?
                }
                Some(edition) => edition.followed_by(opened, records),
            });
        }
        let edition = edition.ok_or(recount_engine::Error::NoSessions)?;
        let mut offer = self.offer("merge");
        let first = all.first().unwrap_or(&named_first);
        move_in(&mut offer, &home, edition, title, (first, listing))?;
        let undone = all.iter().map(|facts| facts.counts.undone).sum();
        if undone > 0 {
            offer.notice(Notice::UndoneLeftOut(undone));
        }
        if !merge.keep {
            for facts in &all {
                trash_merged(&mut offer, facts, listing, disk, &home)?;
            }
        }
        Ok(offer)
    }
}

/// Returns the kept messages of a session that were not in an earlier one; a different message with the same id gets a new
/// id.
fn once(opened: &Opened, seen: &mut Seen) -> Vec<Record> {
    let session_files: &SessionFiles = opened.session_files();
    let mut records = Vec::new();
    for mut record in Conversation::of(session_files).records {
        let Some(known) = entry(session_files, &record) else { continue };
        let own = record.id.clone().or_else(|| known.id.as_deref().map(str::to_owned));
        let own = own.unwrap_or_else(|| "message".to_owned());
        let sign = (known.time, known.kind);
        match seen.get(&own) {
            // Every start records its context again under the same id.
            Some(_) if known.kind == MessageKind::Context => continue,
            Some(other) if *other == sign && known.time.is_some() => continue,
            Some(_) => {
                let mut names = (2_u64..).map(|number| format!("{own}-{number}"));
                record.id = names.find(|name| !seen.contains_key(name));
                seen.extend(record.id.clone().map(|id| (id, sign)));
            }
            None => drop(seen.insert(own, sign)),
        }
        records.push(record);
    }
    records
}

/// Moves a session to the trash whose conversation is in the new one. Its sub-agents go with the conversation, and tool
/// outputs stay where its text refers to them.
fn trash_merged(
    offer: &mut Proposal,
    facts: &SessionFacts,
    listing: &Listing,
    disk: &DiskSnapshot,
    home: &Home,
) -> Result<(), Error> {
    let id = facts.id.as_str();
    offer.plan.sessions.push(subject(facts));
    remove_files(&mut offer.plan, id, facts, role)?;
    let own: Vec<_> = facts.own_files().map(|file| Path::new(&file.path).to_owned()).collect();
    let agents = home.form.sessions_folder(&home.place.folder).join(home.id.as_str());
    for agent in session_files(facts, listing).into_iter().skip(1) {
        for file in agent.own_files() {
            let path = Path::new(&file.path);
            let name = path.file_name().unwrap_or_default();
            let is_in_folder = path.parent().is_some_and(|folder| folder.ends_with(id));
            let to = agents.join(name);
            let is_taken = offer.plan.steps.iter().any(|step| step.path == to);
            if is_in_folder && !is_taken {
                let about = ChangeDetails { session: Some(home.id.as_str()), what: SUBAGENT };
                offer.plan.move_file(&RealDisk, path, &to, about)?;
            } else {
                offer.plan.remove(
                    &RealDisk,
                    path,
                    ChangeDetails { session: Some(id), what: SUBAGENT },
                )?;
            }
        }
    }
    let mut outputs = 0;
    for folder in disk.folders.iter().filter(|folder| folder.source.name() == facts.source) {
        let artifacts = folder.source.artifacts(&folder.at, &facts.id, &own);
        for file in &artifacts.files {
            if file.is_output() {
                outputs += 1;
            } else {
                offer.plan.remove(
                    &RealDisk,
                    &file.path,
                    ChangeDetails { session: Some(id), what: file.kind.as_str() },
                )?;
            }
        }
        for folder in &artifacts.folders {
            offer.plan.remove_folder(&RealDisk, folder)?;
        }
    }
    if outputs > 0 {
        offer.notice(Notice::OutputsStay { outputs, session: facts.id.clone() });
    }
    Ok(())
}
