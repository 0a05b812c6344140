//! Texts of reasons for deletions.

use std::path::Path;

use recount_changes::KeepReport;
use recount_engine::{Lost, RetentionLimits, RetentionNote, SessionAtRisk};
use recount_model::{DeletionReason, PendingDeletion, SessionKind};

use crate::number::{bytes, count, plural};

/// Returns why a session is deleted.
pub fn why(session: &SessionAtRisk, kept: &RetentionLimits) -> String {
    if session.kind == SessionKind::Subagent {
        return "deleted with its main session".to_owned();
    }
    if session.lost == Lost::Spare {
        let kinds = if session.files.iter().all(|deletion| deletion.is_link) {
            "only a link; the file stays"
        } else if session.files.iter().all(|deletion| deletion.why == DeletionReason::Stub) {
            "only the stub of a resume"
        } else {
            "only redundant files"
        };
        return kinds.to_owned();
    }
    // The reason for the conversation is more informative than that for a stub.
    let main_reason = session.files.iter().find(|deletion| deletion.why != DeletionReason::Stub);
    main_reason
        .or_else(|| session.files.first())
        .map(|deletion| one(deletion, kept))
        .unwrap_or_default()
}

/// Returns why one file is deleted.
pub fn one(deletion: &PendingDeletion, kept: &RetentionLimits) -> String {
    let why = reason(deletion, kept);
    if deletion.is_link { format!("{why}; only the link, its target stays") } else { why }
}

fn reason(deletion: &PendingDeletion, kept: &RetentionLimits) -> String {
    let age = &*kept.max_age.as_deref().map(spelled).unwrap_or_default();
    let count = kept.max_count.unwrap_or_default();
    match deletion.why {
        DeletionReason::Age => format!("not used for more than {age}"),
        DeletionReason::Count => format!("over the limit of {count} sessions"),
        DeletionReason::Unreadable => "the agent cannot read it".to_owned(),
        DeletionReason::NoTimes => "it has no timestamps".to_owned(),
        DeletionReason::Stub => "the stub of a resume".to_owned(),
        DeletionReason::NothingSaid => "no messages".to_owned(),
        DeletionReason::Subagent => "a sub-agent's file among main sessions".to_owned(),
        DeletionReason::SameName => same_name(deletion, age),
        DeletionReason::Beside => "belongs to a session that is deleted".to_owned(),
        DeletionReason::OutputAge => format!("output older than {age}"),
        DeletionReason::OutputCount => format!("over the limit of {count} outputs"),
        DeletionReason::EveryStart => "removed at every start".to_owned(),
    }
}

fn same_name(deletion: &PendingDeletion, age: &str) -> String {
    match deletion.with_why {
        Some(DeletionReason::Stub) => "deleted together with the stub of a resume".to_owned(),
        Some(DeletionReason::Age) => format!("deleted together with a file older than {age}"),
        Some(DeletionReason::Count) => "deleted together with a file over the limit".to_owned(),
        Some(DeletionReason::Unreadable) => "deleted together with an unreadable file".to_owned(),
        _ => {
            let with = deletion.with.as_deref().map(Path::new).and_then(Path::file_name);
            let with = with.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            format!("deleted together with {with}")
        }
    }
}

/// Returns what an agent keeps.
pub fn kept(kept: &RetentionLimits, tilde: impl Fn(&str) -> String) -> String {
    if let Some(because) = &kept.off_because {
        return format!("sessions are never deleted: {because}");
    }
    let age = kept.max_age.as_deref().map(|age| format!(" for {}", spelled(age)));
    let age = age.unwrap_or_default();
    let limits = match kept.max_count {
        Some(count) => format!("the last {count} sessions are kept{age}"),
        None => format!("sessions are kept{age}"),
    };
    let from = match kept.from.last() {
        Some(path) => tilde(&path.to_string_lossy()),
        None => "by default".to_owned(),
    };
    format!("{limits} ({from})")
}

/// Returns the text of a note about retention settings.
pub fn note(note: &RetentionNote) -> String {
    match note {
        RetentionNote::Ignored(path) => format!(
            "{} is not looked at: the folder is not trusted, or others can write the file",
            path.display()
        ),
    }
}

/// Returns an age as people write it: `30 days` for `30d`.
fn spelled(age: &str) -> String {
    let unit = match age.chars().next_back() {
        Some('h') => "hour",
        Some('d') => "day",
        Some('w') => "week",
        Some('m') => "month",
        _ => return age.to_owned(),
    };
    let number = age.get(..age.len() - 1).and_then(|number| number.parse().ok());
    number.map_or_else(|| age.to_owned(), |number| plural(number, unit))
}

/// Whether a release has greater numbers than another.
pub fn is_newer(release: &str, known: &str) -> bool {
    let numbers = |text: &str| -> Vec<u32> {
        let text = text.trim_start_matches('v').split(['-', '+']).next().unwrap_or_default();
        text.split('.').take(2).map(|part| part.parse().unwrap_or_default()).collect()
    };
    numbers(release) > numbers(known)
}

/// Returns what was copied to the vault.
pub fn copied(report: &KeepReport) -> String {
    let KeepReport { new, grown, changed, .. } = report;
    let what = [(new, "new"), (grown, "grown"), (changed, "changed")];
    let what: Vec<String> = what
        .iter()
        .filter(|(number, _)| **number > 0)
        .map(|(number, word)| format!("{} {word}", count(**number)))
        .collect();
    let what = if what.is_empty() { "nothing new".to_owned() } else { what.join(", ") };
    format!(
        "kept: {}, {}, {} ({what}); the vault takes {}",
        plural(report.sessions, "session"),
        plural(report.files, "file"),
        bytes(report.bytes),
        bytes(report.packed)
    )
}
