//! Plans to disarm files that would cause other files to be deleted.
//!
//! Only files without content of their own are removed, to the trash; all others keep their bytes and are renamed.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_engine::retention::Scope;
use recount_engine::{Guarded, Lost, Progress, Resume};
use recount_formats::Source;
use recount_formats::bytes::Buffer;
use recount_formats::outline::Outline;
use recount_formats::retention::{Chats, RetentionPolicy, Trap, TrapKind};
use recount_model::{DeletionReason, MessageKind, PendingDeletion, SessionFacts};
use recount_platform::is_same_place;
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, Owner};

use crate::sessions::steps::subject;
use crate::{Changes, Error, Made, Notice, Proposal, StillPending};

/// The command name of such a plan in journals.
pub(crate) const DISARM_COMMAND: &str = "defuse";

/// What can be done against pending deletions.
#[derive(Clone, Debug)]
pub struct Fix {
    /// The change; it may be empty.
    pub offer: Proposal,
    /// The number of sessions that would still lose something.
    pub left: usize,
}

/// A session that an agent uses, and its file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InUse<'a> {
    pub(crate) session: &'a str,
    pub(crate) file: &'a Path,
}

impl InUse<'_> {
    /// Whether a running agent may need a file. It knows its files by their names, so none is renamed either.
    fn spares(&self, trap: &Trap, id: Option<&str>) -> bool {
        let is_own = id.is_none_or(|id| id == self.session);
        is_same_place(&trap.path, self.file) || (is_own && trap.kind != TrapKind::Stub)
    }
}

impl Changes<'_> {
    /// Plans to remove or rename the files that would cause real sessions to be deleted at an agent's next start.
    ///
    /// # Errors
    /// If the release is invalid, the project is unknown or ambiguous, or a file cannot be read.
    pub fn fix_plan(
        self,
        project: Option<&str>,
        release: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Fix, Error> {
        let scope = project.map_or(Scope::All, Scope::Project);
        self.fix_plan_beside(scope, release, None, progress)
    }

    /// Plans to remove or rename the files that would make the agent delete conversations of a session's project at its
    /// next start, including leftovers of resumes. `None` if there are no such files.
    ///
    /// # Errors
    /// If that fails; then nothing was changed.
    pub fn disarm(self, resume: &Resume, progress: &dyn Progress) -> Result<Option<Made>, Error> {
        let project = resume.folder.to_string_lossy();
        let plan = self.fix_plan(Some(&project), None, progress)?.offer.plan;
        if plan.is_empty() { Ok(None) } else { self.carry_out(plan, progress).map(Some) }
    }

    /// The same, on behalf of a running agent.
    pub(crate) fn fix_plan_beside(
        self,
        scope: Scope<'_>,
        release: Option<&str>,
        in_use: Option<InUse<'_>>,
        progress: &dyn Progress,
    ) -> Result<Fix, Error> {
        self.engine.aliases()?;
        let agents = self.engine.agents(release)?;
        let survey = self.engine.scan_files(progress)?;
        let selected = self.engine.within(scope, &survey)?;
        let ask = |retention_policy: &dyn RetentionPolicy, chats: &Chats<'_>| {
            retention_policy.traps(chats)
        };
        let found = self.engine.ask_policies(&survey, &agents, ask);
        let mut fixing = Fixing::new(self, &survey.listing.sessions, in_use);
        for (number, traps) in found.into_iter().filter(|(number, _)| selected.has_folder(*number))
        {
            let Some(folder) = survey.disk.folders.get(number) else { continue };
            for trap in &traps {
                fixing.disarm(folder.source, trap)?;
            }
        }
        let rows = self.engine.forecast(&survey, scope, &agents)?;
        Ok(fixing.conclude(rows))
    }
}

/// A plan while it is built.
struct Fixing<'a> {
    offer: Proposal,
    owners: Vec<Owner>,
    in_use: Option<InUse<'a>>,
    /// The session of each file.
    whose: HashMap<&'a Path, &'a SessionFacts>,
    /// Sessions in use, which were therefore left alone.
    busy: BTreeSet<String>,
    /// Files that go to the trash.
    taken: BTreeSet<PathBuf>,
    buffer: Buffer,
}

impl<'a> Fixing<'a> {
    fn new(
        changes: Changes<'_>,
        sessions: &'a [Arc<SessionFacts>],
        in_use: Option<InUse<'a>>,
    ) -> Self {
        let mut owners = changes.owners(sessions);
        owners.retain(|owner| in_use.is_none_or(|own| own.session != owner.session));
        let files = |facts: &'a SessionFacts| {
            facts.own_files().map(move |file| (Path::new(file.path.as_str()), facts))
        };
        Self {
            offer: changes.offer(DISARM_COMMAND),
            owners,
            in_use,
            whose: sessions.iter().flat_map(|facts| files(facts)).collect(),
            busy: BTreeSet::new(),
            taken: BTreeSet::new(),
            buffer: Buffer::new(),
        }
    }

    fn disarm(&mut self, source: &dyn Source, trap: &Trap) -> Result<(), Error> {
        let facts = self.whose.get(trap.path.as_path()).copied();
        let id = facts.map(|facts| facts.id.as_str());
        if self.in_use.is_some_and(|own| own.spares(trap, id)) {
            return Ok(());
        }
        if let Some(id) = id.filter(|id| self.owners.iter().any(|owner| owner.session == *id)) {
            self.busy.insert(id.chars().take(8).collect());
            return Ok(());
        }
        let what = match trap.kind {
            TrapKind::Stub => "stub",
            TrapKind::Twin => "twin",
            TrapKind::SameName => "same end of name",
        };
        let about = ChangeDetails { session: id, what };
        let own = source.outline(&trap.path, &mut self.buffer);
        // A file that could not be read a moment ago is not what it seemed to be.
        let is_other = trap.kind == TrapKind::Stub && own.loadable && own.resumable;
        if own.is_unread() || (is_other && !own.head.subagent) {
            return Ok(());
        }
        let Some(is_covered) = self.is_covered(source, trap, &own) else { return Ok(()) };
        if !trap.beside.is_empty() && is_covered {
            self.offer.plan.remove(&RealDisk, &trap.path, about)?;
            self.taken.insert(trap.path.clone());
        } else if let Some(aside) = trap.aside.as_ref().filter(|_| self.in_use.is_none()) {
            self.offer.plan.move_file(&RealDisk, &trap.path, aside, about)?;
        } else {
            return Ok(());
        }
        if let Some(facts) = facts
            && !self.offer.plan.sessions.iter().any(|known| known.id == facts.id.as_str())
        {
            self.offer.plan.sessions.push(subject(facts));
        }
        Ok(())
    }

    /// Whether every message in a file is also in others of its session; `None` if one of these cannot be read.
    fn is_covered(&mut self, source: &dyn Source, trap: &Trap, own: &Outline) -> Option<bool> {
        let mut missing = BTreeSet::new();
        for entry in own.entries.iter().filter(|entry| entry.kind != MessageKind::Context) {
            let Some(id) = &entry.id else { return Some(false) };
            missing.insert(id.clone());
        }
        // Unknown records may be part of a conversation.
        if own.problems.total > 0 {
            return Some(false);
        }
        for path in &trap.beside {
            if missing.is_empty() {
                break;
            }
            let other = source.outline(path, &mut self.buffer);
            if other.is_unread() {
                return None;
            }
            for id in other.entries.iter().filter_map(|entry| entry.id.as_ref()) {
                missing.remove(id);
            }
        }
        Some(missing.is_empty())
    }

    /// Adds notices about what the plan does not save, and what does.
    fn conclude(mut self, rows: Vec<Guarded>) -> Fix {
        let [mut old, mut odd, mut silent, mut dragged] = [0_usize; 4];
        for session in rows.into_iter().flat_map(|row| row.sessions) {
            if session.parent.is_some() || session.lost == Lost::Spare {
                continue;
            }
            let is_left =
                |deletion: &&PendingDeletion| !self.taken.contains(Path::new(&deletion.path));
            let own = session.files.iter().filter(is_left).map(|deletion| deletion.why);
            match { own }
                .find(|why| !matches!(why, DeletionReason::Stub | DeletionReason::SameName))
            {
                Some(DeletionReason::Age | DeletionReason::Count) => old += 1,
                Some(DeletionReason::NothingSaid) => silent += 1,
                Some(_) => odd += 1,
                None if self.busy.iter().any(|busy| session.id.as_str().starts_with(busy)) => {
                    dragged += 1;
                }
                None => {}
            }
        }
        let counts = [
            (old, StillPending::Retention),
            (odd, StillPending::Unlisted),
            (silent, StillPending::NothingSaid),
        ];
        for (sessions, why) in counts.into_iter().filter(|(sessions, _)| *sessions > 0) {
            self.offer.notice(Notice::StillPending { sessions, why });
        }
        if !self.busy.is_empty() {
            self.offer.notice(Notice::AtWork(self.busy.iter().cloned().collect()));
        }
        Fix { left: old + odd + silent + dragged, offer: self.offer }
    }
}
