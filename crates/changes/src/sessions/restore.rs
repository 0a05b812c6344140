//! Restores a session: from the trash, from the vault, or from another home.

use std::path::{Path, PathBuf};

use recount_engine::disk::{LocatedFolder, Survey};
use recount_engine::{Engine, Progress, Setup};
use recount_formats::SOURCES;
use recount_formats::retention::{RetentionPolicy, RetentionSettings};
use recount_model::{FileRole, SessionId};
use recount_store::Root;
use recount_writer::RealDisk;
use recount_writer::change::{
    ChangeDetails, FileState, Likeness, NewContent, Plan, Refusal, Subject,
};
use recount_writer::vault::{FileOwner, VaultCopy};

use crate::sessions::steps::role;
use crate::trash::pick;
use crate::vault::files_of;
use crate::{Changes, Error, Notice, Proposal};

/// Documents are changed as a whole; larger ones are not changed.
const LARGEST: u64 = 512 * 1024 * 1024;

/// A file that may be restored.
struct Back {
    /// Its old path, and the number of its data folder.
    path: PathBuf,
    root: usize,
    content: NewContent,
    like: FileState,
    whose: FileOwner,
}

impl Changes<'_> {
    /// Plans to restore a session: from the home at `from` if given, else from the trash, else from the vault.
    ///
    /// # Errors
    /// If there is no such session there, or several; if something else is in its place.
    pub fn restore_plan(
        self,
        wanted: Option<&str>,
        from: Option<&Path>,
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        let files = match (wanted, from) {
            (Some(wanted), Some(from)) => self.of_home(wanted, from, progress)?,
            (None, Some(_)) => return Err(Error::no_session("")),
            (None, None) => return Ok(self.untrash_plan(None)?.into()),
            (Some(wanted), None) => match self.untrash_plan(Some(wanted)) {
                Err(Error::NotInTrash(_)) => self.of_vault(wanted)?,
                other => return Ok(other?.into()),
            },
        };
        self.put_back(files, progress)
    }

    /// Finds the last state of each file of a session in the vault.
    fn of_vault(self, wanted: &str) -> Result<Vec<Back>, Error> {
        let index = self.vault_index()?;
        let root_of = |file: &Path| {
            self.engine.data_folders().iter().position(|root| file.starts_with(&root.path))
        };
        let is_here = |copy: &&VaultCopy| root_of(&copy.file).is_some();
        let ids = index.copies().filter(is_here).map(|copy| copy.whose.session.as_str());
        let id = pick(ids, wanted)?.ok_or_else(|| Error::NotKept(wanted.to_owned()))?;
        let data = self.data()?;
        let is_last = |copy: &&VaultCopy| index.newest(&copy.file) == Some(*copy);
        let its = index.copies().filter(|copy| copy.whose.session == id);
        let back = |copy: &VaultCopy| {
            let VaultCopy { bytes, hash, modified, mode, .. } = *copy;
            Some(Back {
                path: copy.file.clone(),
                root: root_of(&copy.file)?,
                content: copy.content(data),
                like: FileState { bytes, hash: Some(hash), modified, mode },
                whose: copy.whose.clone(),
            })
        };
        Ok(its.filter(is_last).filter_map(back).collect())
    }

    /// Finds the files of a session in another home.
    fn of_home(
        self,
        wanted: &str,
        from: &Path,
        progress: &dyn Progress,
    ) -> Result<Vec<Back>, Error> {
        let there = Engine::new(Setup {
            known_sources: self.engine.sources(),
            homes: vec![from.to_owned()],
            sources: Vec::new(),
            env: self.engine.env().clone(),
            clock: self.engine.clock(),
        })?;
        let id = there.open(wanted, progress)?.facts.id;
        let Survey { listing, disk, .. } = there.scan_files(progress)?;
        let mut files = Vec::new();
        for facts in &listing.sessions {
            if facts.id != id && facts.parent.as_ref() != Some(&id) {
                continue;
            }
            for its in files_of(facts, &listing.sessions, &disk) {
                let root =
                    there.data_folders().iter().find(|root| its.path.starts_with(&root.path));
                let Some(root) = root else { continue };
                let own = |root: &Root| root.source.name() == facts.source;
                let Some(number) = self.engine.data_folders().iter().position(own) else {
                    continue;
                };
                let Some(to) = self.engine.data_folders().get(number) else { continue };
                let Some(like) = FileState::of(&RealDisk, &its.path)? else { continue };
                let below = its.path.strip_prefix(&root.path).unwrap_or(&its.path);
                files.push(Back {
                    path: to.path.join(below),
                    root: number,
                    content: NewContent::of_file(&its.path),
                    like,
                    whose: its.whose,
                });
            }
        }
        Ok(files)
    }

    /// Plans to restore files to their current place.
    fn put_back(self, files: Vec<Back>, progress: &dyn Progress) -> Result<Proposal, Error> {
        let survey = self.engine.scan_files(progress)?;
        let mut offer = self.offer("restore");
        let agents = self.engine.agents(None)?;
        for back in files {
            let source = SOURCES.iter().find(|source| source.name().as_str() == back.whose.source);
            let Some(source) = source else { continue };
            if !offer.plan.sessions.iter().any(|known| known.id == back.whose.session) {
                let FileOwner { source, session, title, project, .. } = back.whose.clone();
                offer.plan.sessions.push(Subject { source, id: session, title, project });
            }
            let path = self.current_place(&mut offer.plan, &back, &survey)?;
            let release = agents.iter().find(|agent| agent.source == source.name());
            let kept = source.retention_policy().zip(release).map(|(retention_policy, agent)| {
                let settings = self.engine.settings_below(back.root, retention_policy);
                let place = back.whose.project.as_deref().map(Path::new);
                (retention_policy, retention_policy.retention(&settings, place, &agent.release))
            });
            self.put(&mut offer, &path, &back, kept.as_ref().map(|(s, r)| (*s, r)))?;
        }
        Ok(offer)
    }

    /// Returns the place of a file: the directory that its project has today, else its old one, with a marker of its
    /// project.
    fn current_place(
        self,
        plan: &mut Plan,
        back: &Back,
        survey: &Survey,
    ) -> Result<PathBuf, Error> {
        let here = || back.path.clone();
        let Some(project) = back.whose.project.as_deref() else { return Ok(here()) };
        let Some(root) = self.engine.data_folders().get(back.root) else { return Ok(here()) };
        let Some(old) = root.source.place_of(&root.path, root.shape, &back.path) else {
            return Ok(here());
        };
        if old.is_hashed {
            return Ok(here());
        }
        let path_of =
            |number: usize| survey.projects.get(number).and_then(|project| project.path.as_ref());
        let mut own =
            survey.disk.folders.iter().enumerate().filter(|(_, folder)| folder.root == back.root);
        let is_its = |(number, folder): &(usize, &LocatedFolder)| {
            let is_its = path_of(*number).is_some_and(|path| path.as_str() == project);
            folder.at.hash.is_none() && is_its
        };
        if let Some((_, folder)) = own.clone().find(is_its) {
            return Ok(folder.at.path.join(old.below));
        }
        let taken = own.find(|(_, folder)| folder.at.path == old.folder);
        if taken.and_then(|(number, _)| path_of(number)).is_some() {
            // It now belongs to another project.
            return Err(occupied(old.folder));
        }
        let is_marked = plan.steps.iter().any(|step| step.path == old.marker);
        if !is_marked && !old.marker.exists() {
            let about = ChangeDetails { session: None, what: "project" };
            plan.create(&RealDisk, &old.marker, NewContent::of_bytes(project), about, None)?;
        }
        Ok(here())
    }

    /// Adds one file to the plan, unless it exists.
    fn put(
        self,
        offer: &mut Proposal,
        path: &Path,
        back: &Back,
        kept: Option<(&dyn RetentionPolicy, &RetentionSettings)>,
    ) -> Result<(), Error> {
        let (session, what) = (back.whose.session.clone(), back.whose.what.clone());
        let about = ChangeDetails { session: Some(&session), what: &what };
        let likeness = back.content.compare(&RealDisk, path)?;
        match likeness {
            Likeness::Same => return Ok(()),
            Likeness::Start => {
                offer.notice(Notice::HasMore(path.to_owned()));
                return Ok(());
            }
            Likeness::Different => {
                return Err(occupied(path.to_owned()));
            }
            Likeness::Missing | Likeness::GoesOn => {}
        }
        let now = self.engine.clock().now();
        let mut like = back.like.clone();
        let mut content = back.content.clone();
        let limit = kept.filter(|(_, retention)| retention.off.is_none() && retention.starts);
        let limit = limit.and_then(|(retention_policy, retention)| {
            Some((
                retention_policy,
                now.as_millisecond().saturating_sub(retention.max_age.as_ref()?.1),
            ))
        });
        if let Some((retention_policy, limit)) = limit {
            let is_session = [FileRole::Main, FileRole::Part, FileRole::Copy, FileRole::Twin]
                .iter()
                .any(|known| role(*known) == what);
            if is_session && back.whose.used.is_some_and(|used| used < limit) {
                if let Some(renewed) = self.renewed(retention_policy, path, back)? {
                    content = renewed;
                    like.modified = None;
                    offer.notice(Notice::MarkedAsUsed(SessionId::new(session.as_str())));
                }
            } else if !is_session {
                // Tool outputs are deleted by the time of their files.
                like.modified = like.modified.filter(|nanos| nanos / 1_000_000 >= limit);
            }
        }
        match likeness {
            Likeness::GoesOn => offer.plan.replace(&RealDisk, path, content, about)?,
            _ => offer.plan.create(&RealDisk, path, content, about, Some(&like))?,
        }
        Ok(())
    }

    /// Returns a session's content as if it had been used now.
    fn renewed(
        self,
        retention_policy: &dyn RetentionPolicy,
        path: &Path,
        back: &Back,
    ) -> Result<Option<NewContent>, Error> {
        let now = self.engine.clock().now();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let ends = back.content.tail(&RealDisk, 1)?;
            let torn = if matches!(ends.first(), None | Some(b'\n')) { "" } else { "\n" };
            let line = format!("{torn}{}", retention_policy.used_line(now));
            return Ok(Some(back.content.clone().then_bytes(line)));
        }
        if back.like.bytes > LARGEST {
            return Ok(None);
        }
        let most = usize::try_from(back.like.bytes).unwrap_or(usize::MAX);
        let text = back.content.tail(&RealDisk, most)?;
        Ok(retention_policy.used_document(&text, now).map(NewContent::of_bytes))
    }
}

/// Returns the error that something else is in its place.
fn occupied(path: PathBuf) -> Error {
    recount_writer::Error::from(Refusal::Occupied { path }).into()
}
