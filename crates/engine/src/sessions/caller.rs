//! The session from which a question comes, when an agent asks: its answers should not be its own words.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use recount_formats::LiveSource;
use recount_model::{RecordedPath, SessionFacts, SessionKey, SourceName};
use recount_platform::ancestors;

use crate::Engine;

/// A session that was not written for so long may have been left for another one.
const QUIET: SignedDuration = SignedDuration::from_secs(60);
/// One that was written this recently is in use.
const RECENT: SignedDuration = SignedDuration::from_secs(15);
/// Clocks of files and programs differ a little.
const SLACK: SignedDuration = SignedDuration::from_secs(5);
/// How many processes above this one may be the agent.
const ANCESTORS: usize = 6;

/// Who asks.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The agent, if it is known.
    pub source: Option<SourceName>,
    /// Ids of its session that came with the question.
    pub named: Vec<String>,
    /// The folder that it works in.
    pub folder: Option<PathBuf>,
    /// When it began, or when it was first heard of.
    pub since: Timestamp,
}

impl Engine {
    /// Returns the session of an agent that asks, with everything that it started and that started it. Empty if it is not known.
    pub fn caller_sessions(
        &self,
        caller: &Caller,
        sessions: &[Arc<SessionFacts>],
    ) -> HashSet<SessionKey> {
        let known = |ids: &[String]| -> Vec<&Arc<SessionFacts>> {
            let is_it = |id: &String, facts: &SessionFacts| id == facts.id.as_str();
            let own = |facts: &&Arc<SessionFacts>| ids.iter().any(|id| is_it(id, facts));
            sessions.iter().filter(own).collect()
        };
        let mut found = known(&caller.named);
        if found.is_empty() {
            found = known(&self.told_sessions());
            let now = self.clock.now();
            if let Some(told) = found.first().copied()
                && !is_since(told, now.saturating_sub(QUIET).unwrap_or(now))
            {
                // The variable stays when the user goes on in another session.
                let since = now.saturating_sub(RECENT).unwrap_or(now);
                let folder = caller.folder.as_deref();
                found
                    .extend(newest(sessions, Some(told.source), folder, since).into_iter().take(1));
            }
        }
        if found.is_empty() {
            found.extend(self.guessed(caller, sessions));
        }
        with_relatives(&found, sessions)
    }

    /// Returns the ids that agents give to the programs that they start.
    fn told_sessions(&self) -> Vec<String> {
        let live = self.sources.iter().filter_map(|source| source.live());
        let names = live.flat_map(LiveSource::session_variables);
        names.filter_map(|name| self.env.text(name)).map(str::to_owned).collect()
    }

    /// Returns the session that was written last since the agent began, where nothing tells which it is.
    fn guessed<'a>(
        &self,
        caller: &Caller,
        sessions: &'a [Arc<SessionFacts>],
    ) -> Option<&'a Arc<SessionFacts>> {
        let since = caller.since.saturating_sub(SLACK).unwrap_or(caller.since);
        caller.folder.as_ref()?;
        let candidates = newest(sessions, caller.source, caller.folder.as_deref(), since);
        if candidates.len() < 2 {
            return candidates.first().copied();
        }
        let above = ancestors(ANCESTORS);
        let owners = self.live_owners().unwrap_or_default();
        let own = owners.iter().find(|one| one.process.is_some_and(|id| above.contains(&id)));
        let is_own = |facts: &&&Arc<SessionFacts>| own.is_some_and(|own| own.session == facts.id);
        candidates.iter().find(is_own).or(candidates.first()).copied()
    }
}

fn is_since(facts: &SessionFacts, since: Timestamp) -> bool {
    facts.updated.is_some_and(|updated| updated >= since)
}

/// Returns the sessions of an agent in a folder that were written since a time, last written first.
fn newest<'a>(
    sessions: &'a [Arc<SessionFacts>],
    source: Option<SourceName>,
    folder: Option<&Path>,
    since: Timestamp,
) -> Vec<&'a Arc<SessionFacts>> {
    let is_there = |path: Option<&RecordedPath>| {
        path.is_some_and(|path| folder == Some(Path::new(path.as_str())))
    };
    let is_it = |facts: &&Arc<SessionFacts>| {
        is_since(facts, since)
            && source.is_none_or(|source| source == facts.source)
            && !facts.kind.is_subagent()
            && (is_there(facts.cwd.as_ref()) || is_there(facts.project.path.as_ref()))
    };
    let mut found: Vec<_> = sessions.iter().filter(is_it).collect();
    found.sort_by_key(|facts| std::cmp::Reverse(facts.updated));
    found
}

/// Adds the sessions that some sessions started, and those that started them.
fn with_relatives(
    found: &[&Arc<SessionFacts>],
    sessions: &[Arc<SessionFacts>],
) -> HashSet<SessionKey> {
    let mut all: HashSet<SessionKey> = found.iter().map(|facts| facts.key()).collect();
    if all.is_empty() {
        return all;
    }
    let parent = |facts: &SessionFacts| {
        facts.parent.clone().map(|id| SessionKey { source: facts.source, id })
    };
    // Each round adds one generation, up or down.
    loop {
        let before = all.len();
        for facts in sessions {
            let Some(parent) = parent(facts) else { continue };
            let key = facts.key();
            if all.contains(&parent) {
                all.insert(key);
            } else if all.contains(&key) {
                all.insert(parent);
            }
        }
        if all.len() == before {
            return all;
        }
    }
}
