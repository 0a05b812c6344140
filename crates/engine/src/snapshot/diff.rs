//! What is different between two snapshots.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{Project, SessionFacts};

use crate::cache::remembered::encode;
use crate::search::index::session_key;

/// What is different between two snapshots.
#[derive(Clone, Debug, Default)]
pub struct SnapshotDiff {
    /// Sessions that were not there before.
    pub added: Vec<Arc<SessionFacts>>,
    /// Sessions of which something is different.
    pub changed: Vec<SessionChange>,
    /// Sessions that are no longer there, as they were.
    pub gone: Vec<Arc<SessionFacts>>,
    /// Projects that are new, or of which something is different.
    pub projects: Vec<Arc<Project>>,
    /// Whether what could not be looked at is different.
    pub problems: bool,
}

/// A session of which something is different.
#[derive(Clone, Debug)]
pub struct SessionChange {
    /// The session as it was.
    pub before: Arc<SessionFacts>,
    /// The session as it is.
    pub after: Arc<SessionFacts>,
    /// What was appended, if that is all that happened to its files.
    pub appended: Option<Appended>,
}

/// Bytes that were appended to one file of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The file.
    pub file: String,
    /// Where they begin.
    pub from: u64,
    /// Where they end.
    pub to: u64,
    /// How many messages the session has more than before.
    pub messages: u64,
}

impl SnapshotDiff {
    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty()
            && self.changed.is_empty()
            && self.gone.is_empty()
            && self.projects.is_empty()
            && !self.problems
    }
}

/// Compares the rows of two snapshots. A row that says the same is replaced by the one before.
/// `grown` are files to which something was appended, and nothing else happened.
pub(crate) fn compare(
    before: &[Arc<SessionFacts>],
    after: &mut [Arc<SessionFacts>],
    grown: &HashSet<PathBuf>,
) -> SnapshotDiff {
    let mut diff = SnapshotDiff::default();
    let mut known: HashMap<u64, &Arc<SessionFacts>> =
        before.iter().map(|facts| (session_key(facts), facts)).collect();
    for facts in after.iter_mut() {
        let Some(old) = known.remove(&session_key(facts)) else {
            diff.added.push(Arc::clone(facts));
            continue;
        };
        if Arc::ptr_eq(old, facts) {
            continue;
        }
        if is_same(old, facts) {
            *facts = Arc::clone(old);
            continue;
        }
        let (before, after) = (Arc::clone(old), Arc::clone(facts));
        let appended = appended(&before, &after).filter(|it| grown.contains(Path::new(&it.file)));
        diff.changed.push(SessionChange { before, after, appended });
    }
    diff.gone =
        before.iter().filter(|old| known.contains_key(&session_key(old))).cloned().collect();
    diff
}

/// Whether two rows say the same.
fn is_same(one: &SessionFacts, other: &SessionFacts) -> bool {
    let content = |facts| encode(facts, Path::new("")).map(|row| row.content);
    one.project == other.project && content(one) == content(other)
}

fn appended(before: &SessionFacts, after: &SessionFacts) -> Option<Appended> {
    if before.files.len() != after.files.len() || before.counts.messages > after.counts.messages {
        return None;
    }
    let mut pairs = before.files.iter().zip(&after.files).filter(|(old, new)| old != new);
    let (old, new) = pairs.next()?;
    let grew = old.path == new.path && old.role == new.role && old.bytes < new.bytes;
    (grew && pairs.next().is_none()).then(|| Appended {
        file: new.path.clone(),
        from: old.bytes,
        to: new.bytes,
        messages: after.counts.messages - before.counts.messages,
    })
}

/// Returns the projects that are new or different.
pub(crate) fn changed_projects(
    before: &[Arc<Project>],
    after: &[Arc<Project>],
) -> Vec<Arc<Project>> {
    let mut known: HashMap<String, Vec<&Arc<Project>>> = HashMap::new();
    for project in before {
        known.entry(project.key()).or_default().push(project);
    }
    let is_new = |project: &&Arc<Project>| {
        let same = |old: &&Arc<Project>| Arc::ptr_eq(old, project) || **old == **project;
        !known.get(&project.key()).is_some_and(|alike| alike.iter().any(same))
    };
    after.iter().filter(is_new).cloned().collect()
}
