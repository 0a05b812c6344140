//! Texts of findings.

use recount_changes::{Symptom, Topic};
use recount_engine::Lost;
use recount_model::DeletionReason;

use super::{flaw, integration_problem};
use crate::number::plural_exact;

/// Returns the heading of a topic.
pub fn topic(topic: Topic) -> &'static str {
    match topic {
        Topic::Danger => "in danger",
        Topic::Sessions => "sessions",
        Topic::Permissions => "permissions",
        Topic::Sizes => "sizes",
        Topic::Projects => "projects",
        Topic::LeftOver => "left over",
        Topic::Recount => "recount itself",
        Topic::Integrations => "recount in the agents",
    }
}

/// Returns the text of a problem.
pub fn symptom(symptom: &Symptom) -> String {
    match symptom {
        Symptom::PendingDeletion { lost, why } => format!("{}: {}", doomed(*lost), reason(*why)),
        Symptom::Flaw(found) => flaw::flaw(*found),
        Symptom::BrokenLines(lines) => {
            format!("{} cannot be parsed", plural_exact(*lines, "line"))
        }
        Symptom::UnknownRecords(records) => {
            let are = if *records == 1 { "is" } else { "are" };
            format!("{records} of its records {are} of a kind that this version does not know")
        }
        Symptom::Problem(what) => what.phrase().to_owned(),
        Symptom::Large { bytes } => {
            format!("{} MB; large files are slow to load", bytes / 1_000_000)
        }
        Symptom::NotWritable => "not writable by its owner; the agent cannot resume it".to_owned(),
        Symptom::OpenToOthers => "other users of this machine can read it".to_owned(),
        Symptom::DamagedRegistry => {
            "the agent's project registry is damaged; some releases do not start with it".to_owned()
        }
        Symptom::Agent(text) => text.clone(),
        Symptom::Orphan { what } => format!("{what} of a session that is gone"),
        Symptom::LeftOver => "left over from an interrupted write or rename".to_owned(),
        Symptom::StaleLock => "a stale lock".to_owned(),
        Symptom::NoMarker => "missing marker: nothing here records the project".to_owned(),
        Symptom::FolderGone { folder, sessions } => {
            let sessions = plural_exact(*sessions, "session");
            format!("{folder} is gone; {sessions} cannot be resumed")
        }
        Symptom::Copies(files) => {
            let copies = if *files == 1 { " is a second copy" } else { "s are second copies" };
            format!("{files} session file{copies}, for older releases")
        }
        Symptom::CutShort { command, receipt } => {
            format!("a {command} ({receipt}) was interrupted; the next change completes it")
        }
        Symptom::ChangedByOthers => "changed by another program during a rollback".to_owned(),
        Symptom::DamagedJournal { why } => format!("a journal cannot be read: {why}"),
        Symptom::OlderIntegration { agent, release } => {
            format!("recount was added to {agent} by release {release}")
        }
        Symptom::BrokenIntegration { agent, why } => {
            format!("recount does not work in {agent}: {}", integration_problem(why))
        }
        Symptom::DamagedCatalog => {
            "the catalog is damaged; it is rebuilt from the sessions".to_owned()
        }
    }
}

/// Returns why the agent will delete something of a session, where it is clear that it will.
pub fn deletion(lost: Lost, why: DeletionReason) -> String {
    match lost {
        Lost::Whole => reason(why).to_owned(),
        Lost::Part => format!("a part of it: {}", reason(why)),
        Lost::Spare => format!("a redundant file of it: {}", reason(why)),
    }
}

fn doomed(lost: Lost) -> &'static str {
    match lost {
        Lost::Whole => "the agent will delete it on its next start",
        Lost::Part => "the agent will delete part of it on its next start",
        Lost::Spare => "the agent will delete a redundant file of it on its next start",
    }
}

fn reason(why: DeletionReason) -> &'static str {
    match why {
        DeletionReason::Age => "last used too long ago",
        DeletionReason::Count => "more sessions than the limit",
        DeletionReason::Unreadable => "the agent cannot load one of its files",
        DeletionReason::NoTimes => "it has no timestamps",
        DeletionReason::Stub => "a resume left a stub file next to it",
        DeletionReason::NothingSaid => "it has no messages",
        DeletionReason::Subagent => "it is marked as a sub-agent's",
        DeletionReason::SameName => "a file with a similar name is deleted",
        DeletionReason::Beside
        | DeletionReason::OutputAge
        | DeletionReason::OutputCount
        | DeletionReason::EveryStart => "it is removed at every start",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_verbs_agree() {
        let lines = |lines| symptom(&Symptom::BrokenLines(lines));
        assert_eq!([lines(1), lines(2)], ["1 line cannot be parsed", "2 lines cannot be parsed"]);
        let one = symptom(&Symptom::UnknownRecords(1));
        assert!(one.starts_with("1 of its records is of "), "{one}");
        let copies = symptom(&Symptom::Copies(2));
        assert_eq!(copies, "2 session files are second copies, for older releases");
    }
}
