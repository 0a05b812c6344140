//! Plans to add recount to agents.

use std::path::Path;

use recount_formats::hook::Unfit;
use recount_formats::integration::{Edit, EditState, Part};
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, NewContent, Plan};

use super::ledger::{EditedFile, Ledger, OwnFile, Patch, hash};
use super::{IntegrateOptions, RELEASE, Target, existing, unfit};
use crate::guard::retention::read;
use crate::{Changes, Error, Notice, Proposal};

/// A file that belongs to the agent or the user, and what is set in it.
struct Shared<'p> {
    path: &'p Path,
    edits: &'p [Edit],
    is_rewritten: bool,
    is_optional: bool,
}

impl Changes<'_> {
    /// Plans to add recount to one agent or to all. What is there already stays as it is.
    ///
    /// # Errors
    /// If no agent is there, a file of others is in the way, or an agent's settings are not understood.
    pub fn integrate_plan(self, options: &IntegrateOptions) -> Result<Proposal, Error> {
        let mut offer = Proposal::from(Plan::new("integrate", Vec::new()));
        let targets = self.targets(options);
        if targets.is_empty() {
            return Err(Error::NoAgentHere);
        }
        for target in targets {
            self.integrate_one(target, options, &mut offer)?;
        }
        Ok(offer)
    }

    fn integrate_one(
        self,
        target: Target,
        options: &IntegrateOptions,
        offer: &mut Proposal,
    ) -> Result<(), Error> {
        let project = options.project.as_deref();
        let old = self.ledger(target.name(), project)?;
        let mut new = Ledger {
            target: target.name().to_owned(),
            project: options.project.clone(),
            release: RELEASE.to_owned(),
            command: options.command.clone(),
            is_allowed: options.is_allowed,
            variables: self.variables(),
            folders: old.as_ref().map(|old| old.folders.clone()).unwrap_or_default(),
            ..Ledger::default()
        };
        let parts = self.parts(target, options, &new.variables)?;
        if parts.is_empty() {
            offer.notice(Notice::SkillThere);
            return Ok(());
        }
        let known_folders = offer.plan.made.clone();
        for part in &parts {
            match part {
                Part::Own { path, text } => {
                    let is_ours = |now: &[u8]| {
                        let known = old.as_ref().and_then(|old| old.file(path));
                        known.is_some_and(|known| known.hash == hash(now))
                    };
                    put_own(&mut offer.plan, path, text.as_bytes(), &is_ours, options.is_forced)?;
                    new.files.push(OwnFile { path: path.clone(), hash: hash(text.as_bytes()) });
                }
                Part::Shared { path, edits, is_rewritten, is_optional } => {
                    let (is_rewritten, is_optional) = (*is_rewritten, *is_optional);
                    let shared = Shared { path, edits, is_rewritten, is_optional };
                    let ledgers = (old.as_ref(), &mut new);
                    self.put_shared(target, &shared, ledgers, options.is_forced, offer)?;
                }
            }
        }
        if let Some(old) = &old {
            self.remove_outdated(target, old, &new, options.is_forced, offer)?;
        }
        // recount's own data folder stays.
        let data = self.data()?;
        let made = offer.plan.made.iter().filter(|folder| !known_folders.contains(folder));
        let made = made.filter(|folder| !data.starts_with(&folder.path));
        new.folders.extend(made.map(|folder| folder.path.clone()));
        new.folders.sort();
        new.folders.dedup();
        self.put_ledger(&mut offer.plan, &new)
    }

    /// Sets values in a file of the agent or the user.
    fn put_shared(
        self,
        target: Target,
        shared: &Shared<'_>,
        (old, new): (Option<&Ledger>, &mut Ledger),
        is_forced: bool,
        offer: &mut Proposal,
    ) -> Result<(), Error> {
        let Shared { path, edits, .. } = *shared;
        let unfit = |why| unfit(path, why);
        let now = read(path)?;
        let earlier = old.and_then(|old| old.edited(path));
        let state = |edit: &Edit| edit.state(now.as_deref());
        let states = match edits.iter().map(state).collect::<Result<Vec<_>, _>>() {
            Ok(states) => states,
            Err(_) if shared.is_optional => return Ok(()),
            Err(why) => return Err(unfit(why)),
        };
        // What was set before, and is not wanted any more.
        let outdated = match old {
            Some(old) => outdated(&self.parts_of(target, old)?, shared, now.as_deref()),
            None => Vec::new(),
        };
        let hash_now = now.as_deref().map(hash).unwrap_or_default();
        if outdated.is_empty() && states.iter().all(|state| *state == EditState::Same) {
            let values = EditedFile::values_of(edits, now.as_deref().unwrap_or_default());
            new.edits.push(earlier.cloned().unwrap_or(EditedFile {
                path: path.to_owned(),
                is_new: false,
                // Not by us: there is no text from before.
                hash: !hash_now,
                patches: Vec::new(),
                values,
            }));
            return Ok(());
        }
        // From the text before our last change, so that removing gives it back.
        let reverted = earlier.zip(now.as_deref()).and_then(|(known, now)| known.revert(now));
        let is_new = earlier.map_or(now.is_none(), |known| known.is_new);
        let mut text = match reverted {
            Some(_) if is_new => None,
            Some(text) => Some(text),
            None => {
                let is_ours = |edit: &&Edit| {
                    earlier.zip(now.as_deref()).is_some_and(|(old, now)| old.is_ours(edit, now))
                };
                let ours = edits.iter().filter(is_ours).chain(&outdated);
                without(now.clone(), ours).map_err(unfit)?
            }
        };
        let mut patches = Vec::new();
        for edit in edits {
            let state = edit.state(text.as_deref()).map_err(unfit)?;
            if state == EditState::Other && !is_forced {
                let (path, what) = (path.to_owned(), edit.name());
                return if shared.is_optional {
                    Ok(())
                } else {
                    Err(Error::OtherEntry { path, what })
                };
            }
            let next = edit.apply(text.as_deref()).map_err(unfit)?;
            patches.extend(Patch::between(text.as_deref().unwrap_or_default(), &next));
            text = Some(next);
        }
        patches.reverse();
        let text = text.unwrap_or_default();
        if now.as_deref() != Some(&*text) && shared.is_rewritten {
            self.note_running(target, path, offer);
        }
        put(&mut offer.plan, path, now.as_deref(), &text, "settings")?;
        let (hash, values) = (hash(&text), EditedFile::values_of(edits, &text));
        new.edits.push(EditedFile { path: path.to_owned(), is_new, hash, patches, values });
        Ok(())
    }

    /// Notes that an agent runs that would write a file again as it read it.
    pub(super) fn note_running(self, target: Target, path: &Path, offer: &mut Proposal) {
        let Target::Agent(source) = target else { return };
        if let Some(process) = self.engine.running_agent(source) {
            let agent = source.display_name().to_owned();
            offer.notice(Notice::AgentRuns { agent, process, path: path.to_owned() });
        }
    }

    fn put_ledger(self, plan: &mut Plan, ledger: &Ledger) -> Result<(), Error> {
        let path = self.ledger_path(&ledger.target, ledger.project.as_deref())?;
        let mut text = serde_json::to_vec_pretty(ledger).unwrap_or_default();
        text.push(b'\n');
        let now = read(&path)?;
        put(plan, &path, now.as_deref(), &text, "ledger")
    }
}

/// Returns what earlier options set in a file and these do not.
fn outdated(before: &[Part], shared: &Shared<'_>, text: Option<&[u8]>) -> Vec<Edit> {
    let edits = before.iter().filter_map(|part| match part {
        Part::Shared { path, edits, .. } if path == shared.path => Some(edits),
        _ => None,
    });
    let is_wanted = |name: String| shared.edits.iter().any(|edit| edit.name() == name);
    let is_there = |edit: &Edit| matches!(edit.state(text), Ok(EditState::Same));
    edits.flatten().filter(|edit| !is_wanted(edit.name()) && is_there(edit)).cloned().collect()
}

fn without<'e>(
    text: Option<Vec<u8>>,
    edits: impl Iterator<Item = &'e Edit>,
) -> Result<Option<Vec<u8>>, Unfit> {
    let Some(mut text) = text else { return Ok(None) };
    for edit in edits {
        text = edit.remove(&text)?.unwrap_or(text);
    }
    Ok(Some(text))
}

/// Writes a file that is recount's own.
fn put_own(
    plan: &mut Plan,
    path: &Path,
    text: &[u8],
    is_ours: &dyn Fn(&[u8]) -> bool,
    is_forced: bool,
) -> Result<(), Error> {
    let now = read(path)?;
    match now.as_deref() {
        Some(now) if now != text && !is_ours(now) && !is_forced => {
            Err(Error::OtherFile { path: path.to_owned() })
        }
        now => put(plan, path, now, text, "integration"),
    }
}

/// Adds a file with another text to a plan, if it is another.
pub(super) fn put(
    plan: &mut Plan,
    path: &Path,
    now: Option<&[u8]>,
    text: &[u8],
    what: &str,
) -> Result<(), Error> {
    plan.roots.extend(existing(path));
    let about = ChangeDetails { session: None, what };
    let content = NewContent::of_bytes(text);
    match now {
        Some(now) if now == text => Ok(()),
        Some(_) => Ok(plan.replace(&RealDisk, path, content, about)?),
        None => Ok(plan.create(&RealDisk, path, content, about, None)?),
    }
}
