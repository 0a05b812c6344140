//! A plan that takes what would drag other files along out of their way.
//!
//! Only files that say nothing of their own are taken away, into the trash; all others keep their bytes and get another name.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use recount_formats::Source;
use recount_formats::bytes::Buffer;
use recount_formats::outline::Outline;
use recount_formats::sweep::{Chats, Sweeper, Trap, TrapKind};
use recount_model::{Doom, MessageKind, SessionFacts, Why};
use recount_writer::RealDisk;
use recount_writer::change::{About, Owner, Plan};

use super::report::{Guarded, Lost};
use super::rows::guarded;
use super::scope::{Scope, is_same};
use crate::change::common::subject;
use crate::projects::passport::Effort;
use crate::snapshot::survey::Progress;
use crate::{Engine, Error};

/// What such a plan is called in journals.
pub(crate) const DEFUSED: &str = "defuse";

/// What can be done against what is foretold.
#[derive(Clone, Debug)]
pub struct Fix {
    /// The plan; it may be empty.
    pub plan: Plan,
    /// How many sessions would lose something all the same.
    pub left: usize,
}

/// A session in which an agent works, and the file of it that it uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InUse<'a> {
    pub(crate) session: &'a str,
    pub(crate) file: &'a Path,
}

impl InUse<'_> {
    /// Whether an agent at work may need a file. It knows its files by their names, so none is renamed either.
    fn spares(&self, trap: &Trap, id: Option<&str>) -> bool {
        let is_own = id.is_none_or(|id| id == self.session);
        is_same(&trap.path, self.file) || (is_own && trap.kind != TrapKind::Stub)
    }
}

impl Engine {
    /// Plans to make harmless what would take conversations along at an agent's next start.
    ///
    /// # Errors
    /// If the release is not one, the project is not known or may be several, or a file cannot be read.
    pub fn fix_plan(
        &self,
        project: Option<&str>,
        release: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Fix, Error> {
        let scope = project.map_or(Scope::All, Scope::Project);
        self.fix_plan_beside(scope, release, None, progress)
    }

    /// The same, asked by an agent that is at work.
    pub(crate) fn fix_plan_beside(
        &self,
        scope: Scope<'_>,
        release: Option<&str>,
        in_use: Option<InUse<'_>>,
        progress: &dyn Progress,
    ) -> Result<Fix, Error> {
        self.aliases()?;
        let agents = self.agents(release)?;
        let (listing, ground, passports) = self.survey_all(&Effort::List, progress);
        let sessions = &listing.sessions;
        let wanted = self.within(scope, &ground, &passports)?;
        let is_wanted = |number: &usize| wanted.as_ref().is_none_or(|all| all.contains(number));
        let ask = |sweeper: &dyn Sweeper, chats: &Chats<'_>| sweeper.traps(chats);
        let found = self.ask_sweepers(sessions, &ground, &passports, &agents, ask);
        let mut fixing = Fixing::new(self, sessions, in_use);
        for (number, _, traps) in found.into_iter().filter(|(number, ..)| is_wanted(number)) {
            let Some(folder) = ground.folders.get(number) else { continue };
            for trap in &traps {
                fixing.defuse(folder.source, trap)?;
            }
        }
        let swept = self.sweep(sessions, &ground, &passports, &agents);
        let rows = guarded(sessions, &ground, &passports, swept);
        let rows = rows.into_iter().filter(|(number, _)| is_wanted(number));
        Ok(fixing.conclude(rows.map(|(_, row)| row)))
    }
}

/// A plan in the making.
struct Fixing<'a> {
    plan: Plan,
    owners: Vec<Owner>,
    in_use: Option<InUse<'a>>,
    /// Whose each file is.
    whose: HashMap<&'a Path, &'a SessionFacts>,
    /// Sessions that somebody works in, and that were left alone therefore.
    busy: BTreeSet<String>,
    /// Files that go to the trash.
    taken: BTreeSet<PathBuf>,
    buffer: Buffer,
}

impl<'a> Fixing<'a> {
    fn new(engine: &Engine, sessions: &'a [SessionFacts], in_use: Option<InUse<'a>>) -> Self {
        let mut owners = engine.owners(sessions);
        owners.retain(|owner| in_use.is_none_or(|own| own.session != owner.session));
        let files = |facts: &'a SessionFacts| {
            facts.files.iter().map(move |file| (Path::new(file.path.as_str()), facts))
        };
        let roots = engine.roots.iter().map(|root| root.path.clone()).collect();
        Self {
            plan: Plan::new(DEFUSED, roots),
            owners,
            in_use,
            whose: sessions.iter().flat_map(files).collect(),
            busy: BTreeSet::new(),
            taken: BTreeSet::new(),
            buffer: Buffer::new(),
        }
    }

    fn defuse(&mut self, source: &dyn Source, trap: &Trap) -> Result<(), Error> {
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
        let about = About { session: id, what };
        let own = source.outline(&trap.path, &mut self.buffer);
        // What could not be read a moment ago is not what it seemed to be.
        let is_other = trap.kind == TrapKind::Stub && own.loadable && own.resumable;
        if own.is_unread() || (is_other && !own.head.subagent) {
            return Ok(());
        }
        let Some(is_covered) = self.is_covered(source, trap, &own) else { return Ok(()) };
        if !trap.beside.is_empty() && is_covered {
            self.plan.remove(&RealDisk, &trap.path, about)?;
            self.taken.insert(trap.path.clone());
        } else if let Some(aside) = trap.aside.as_ref().filter(|_| self.in_use.is_none()) {
            self.plan.move_file(&RealDisk, &trap.path, aside, about)?;
        } else {
            return Ok(());
        }
        if let Some(facts) = facts
            && !self.plan.sessions.iter().any(|known| known.id == facts.id.as_str())
        {
            self.plan.sessions.push(subject(facts));
        }
        Ok(())
    }

    /// Whether every message in a file stands in others of its session, too; `None` when one of these cannot be read.
    fn is_covered(&mut self, source: &dyn Source, trap: &Trap, own: &Outline) -> Option<bool> {
        let mut missing = BTreeSet::new();
        for entry in own.entries.iter().filter(|entry| entry.kind != MessageKind::Context) {
            let Some(id) = &entry.id else { return Some(false) };
            missing.insert(id.clone());
        }
        // What is not understood may be somebody's words.
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

    /// Says what the plan does not save, and what does.
    fn conclude(mut self, rows: impl Iterator<Item = Guarded>) -> Fix {
        let [mut old, mut odd, mut silent, mut dragged] = [0_usize; 4];
        for session in rows.flat_map(|row| row.sessions) {
            if session.parent.is_some() || session.lost == Lost::Spare {
                continue;
            }
            let is_left = |doom: &&Doom| !self.taken.contains(Path::new(&doom.path));
            let own = session.files.iter().filter(is_left).map(|doom| doom.why);
            match { own }.find(|why| !matches!(why, Why::Stub | Why::SameName)) {
                Some(Why::Age | Why::Count) => old += 1,
                Some(Why::NothingSaid) => silent += 1,
                Some(_) => odd += 1,
                None if self.busy.iter().any(|busy| session.id.as_str().starts_with(busy)) => {
                    dragged += 1;
                }
                None => {}
            }
        }
        let s = |count: usize| if count == 1 { "session" } else { "sessions" };
        let notes = &mut self.plan.notes;
        if old > 0 {
            notes.push(format!(
                "{old} {} would go by age or number: `recount guard --retention off` stops that, `recount guard --keep` holds a copy",
                s(old)
            ));
        }
        if odd > 0 {
            notes.push(format!(
                "{odd} {} would go because the agent does not list them: `recount repair` may mend that, `recount guard --keep` holds a copy",
                s(odd)
            ));
        }
        if silent > 0 {
            notes.push(format!(
                "{silent} {} would go with nothing in them to go on with: `recount guard --keep` holds a copy",
                s(silent)
            ));
        }
        if !self.busy.is_empty() {
            let ids: Vec<&str> = self.busy.iter().map(String::as_str).collect();
            notes.push(format!("left alone, an agent is working there: {}", ids.join(", ")));
        }
        Fix { left: old + odd + silent + dragged, plan: self.plan }
    }
}
