//! A problem as a row shows it.

use std::collections::HashMap;
use std::path::Path;

use recount_changes::{Finding, Remedy, Severity, Symptom};
use recount_display::sanitize::single_line;
use recount_display::words;
use recount_model::{SessionFacts, SessionId, SessionKey};

use crate::shared::Shared;

/// The groups, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// The agent's next start deletes them.
    Lost,
    /// Files that cause sessions to be deleted.
    Traps,
    /// The agent cannot load them.
    Damaged,
    /// Records that this version does not know.
    Unknown,
    /// Folders of projects that are gone.
    Moved,
    /// Everything else.
    Other,
}

impl Group {
    pub(super) const ALL: [Self; 6] =
        [Self::Lost, Self::Traps, Self::Damaged, Self::Unknown, Self::Moved, Self::Other];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost at the next start",
            Self::Traps => "files that endanger sessions",
            Self::Damaged => "damaged",
            Self::Unknown => "unknown records",
            Self::Moved => "folders that moved",
            Self::Other => "other findings",
        }
    }

    fn of(finding: &Finding) -> Self {
        match (&finding.what, &finding.remedy) {
            (Symptom::PendingDeletion { .. }, Some(Remedy::Fix)) => Self::Traps,
            (Symptom::PendingDeletion { .. }, _) => Self::Lost,
            (Symptom::Flaw(_) | Symptom::BrokenLines(_) | Symptom::Problem(_), _) => Self::Damaged,
            (Symptom::UnknownRecords(_), _) => Self::Unknown,
            (Symptom::FolderGone { .. }, _) => Self::Moved,
            _ => Self::Other,
        }
    }
}

/// A problem.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) group: Group,
    pub(super) severity: Severity,
    /// What is wrong.
    pub(super) what: String,
    /// The same below the name of its group.
    pub(super) short: String,
    pub(super) session: Option<SessionKey>,
    pub(super) title: String,
    /// The session, or the end of the path.
    pub(super) place: String,
    pub(super) path: Option<String>,
    pub(super) remedy: Option<Remedy>,
    /// The command line of the remedy.
    pub(super) command: Option<String>,
}

impl Found {
    pub(super) const fn severity_word(&self) -> &'static str {
        match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }

    /// Returns what `a` does.
    pub(super) fn does(&self) -> String {
        let command = self.command.as_deref().unwrap_or_default();
        match &self.remedy {
            None => "no remedy".to_owned(),
            Some(Remedy::Keep) => format!("a copies all sessions to the vault ({command})"),
            Some(Remedy::Fix) => {
                format!("a plans to remove or rename the file that does it ({command})")
            }
            Some(Remedy::Repair(_)) => format!("a plans its repair ({command})"),
            Some(Remedy::Compact(_)) => format!("a plans to make it smaller ({command})"),
            Some(Remedy::PruneOrphaned) => format!("a plans to delete it ({command})"),
            Some(Remedy::Relocate { old: Some(_), new: Some(_) }) => {
                format!("a plans the move ({command})")
            }
            Some(Remedy::Relocate { old: Some(_), new: None }) => {
                format!("a asks for the new folder; {command} searches for it")
            }
            Some(Remedy::History) => "a goes to History".to_owned(),
            Some(_) => format!("a copies the command: {command}"),
        }
    }
}

/// Returns findings as rows: by group, the gravest first, nothing twice.
pub(super) fn founds(findings: Vec<Finding>, shared: &Shared) -> Vec<Found> {
    let mut sessions: HashMap<&SessionId, &SessionFacts> = HashMap::new();
    for facts in &shared.rows.sessions {
        sessions.entry(&facts.id).or_insert(facts);
    }
    let mut all: Vec<Found> =
        findings.into_iter().map(|finding| found(finding, &sessions, shared)).collect();
    let place = |group| Group::ALL.iter().position(|one| *one == group);
    all.sort_by(|one, other| {
        let key = |found: &Found| (place(found.group), found.severity);
        key(one).cmp(&key(other)).then_with(|| {
            (&one.place, &one.what, &one.path).cmp(&(&other.place, &other.what, &other.path))
        })
    });
    all.dedup_by(|one, other| {
        (&one.place, &one.what, &one.path, one.group)
            == (&other.place, &other.what, &other.path, other.group)
    });
    all
}

fn found(
    finding: Finding,
    sessions: &HashMap<&SessionId, &SessionFacts>,
    shared: &Shared,
) -> Found {
    let group = Group::of(&finding);
    let Finding { severity, what, session, path, remedy, .. } = finding;
    let home = shared.folders.home.as_deref();
    let command = remedy.as_ref().map(|remedy| words::remedy(remedy).below_home(home));
    let facts = session.as_ref().and_then(|id| sessions.get(id));
    let place = match (&what, &session, &path) {
        (Symptom::FolderGone { folder, .. }, ..) => folder.leaf().to_owned(),
        (_, Some(id), _) => id.short().to_owned(),
        (_, None, Some(path)) => tail(path),
        (_, None, None) => String::new(),
    };
    let short = match &what {
        Symptom::PendingDeletion { lost, why } => words::deletion(*lost, *why),
        what => words::symptom(what),
    };
    Found {
        group,
        severity,
        short: single_line(&short),
        what: single_line(&words::symptom(&what)),
        session: facts.map(|facts| facts.key()),
        title: facts.and_then(|facts| facts.title.clone()).unwrap_or_default(),
        place,
        path: path.map(|path| path.to_string_lossy().into_owned()),
        remedy,
        command,
    }
}

/// Returns the end of a path.
fn tail(path: &Path) -> String {
    let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
    let names = names.get(names.len().saturating_sub(2)..).unwrap_or_default();
    names.join("/")
}
