//! What was found wrong.

use recount_changes::{Symptom, Topic};
use recount_engine::Lost;
use recount_model::DeletionReason;

use super::flaw;

/// Returns the heading of a topic.
pub(crate) fn topic(topic: Topic) -> &'static str {
    match topic {
        Topic::Danger => "in danger",
        Topic::Sessions => "sessions",
        Topic::Permissions => "permissions",
        Topic::Sizes => "sizes",
        Topic::Projects => "projects",
        Topic::LeftOver => "left over",
        Topic::Recount => "recount itself",
    }
}

/// Says what is wrong.
pub(crate) fn symptom(symptom: &Symptom) -> String {
    match symptom {
        Symptom::Doomed { lost, why } => format!("{}: {}", doomed(*lost), reason(*why)),
        Symptom::Flaw(found) => flaw::flaw(*found),
        Symptom::BrokenLines(lines) => {
            let s = if *lines == 1 { " is" } else { "s are" };
            format!("{lines} line{s} not understood by anybody")
        }
        Symptom::UnknownRecords(records) => {
            format!("{records} of its records are of a kind that recount does not know")
        }
        Symptom::Problem(what) => what.phrase().to_owned(),
        Symptom::Large { bytes } => {
            format!("{} MB; large files are slow to load", bytes / 1_000_000)
        }
        Symptom::NotWritable => {
            "its owner may not write it; the agent cannot go on with it".to_owned()
        }
        Symptom::OpenToOthers => "other users of this machine can read what lies in it".to_owned(),
        Symptom::DamagedRegistry => {
            "the agent's record of projects is damaged; some releases do not start then".to_owned()
        }
        Symptom::Agent(text) => text.clone(),
        Symptom::Orphan { what } => format!("{what} of a session that is gone"),
        Symptom::LeftOver => "left behind by a write or a rename".to_owned(),
        Symptom::StaleLock => "a lock that nobody holds any more".to_owned(),
        Symptom::NoMarker => "missing: nothing here says which project it is".to_owned(),
        Symptom::FolderGone { folder, sessions } => {
            let s = if *sessions == 1 { "" } else { "s" };
            format!("{folder} is gone; {sessions} session{s} cannot be resumed")
        }
        Symptom::Copies(files) => {
            let s = if *files == 1 { " lies" } else { "s lie" };
            format!("{files} session file{s} here once more, for older releases")
        }
        Symptom::CutShort { command, receipt } => {
            format!("a {command} ({receipt}) was cut short; the next change ends it")
        }
        Symptom::ChangedByOthers => "changed by others while a change was taken back".to_owned(),
        Symptom::DamagedJournal { why } => format!("a journal is not understood: {why}"),
        Symptom::DamagedCatalog => {
            "the catalog is damaged; it is made again from the sessions".to_owned()
        }
    }
}

fn doomed(lost: Lost) -> &'static str {
    match lost {
        Lost::Whole => "the agent's next start would delete it",
        Lost::Part => "the agent's next start would delete a part of it",
        Lost::Spare => "the agent's next start would delete a spare file of it",
    }
}

fn reason(why: DeletionReason) -> &'static str {
    match why {
        DeletionReason::Age => "last used too long ago",
        DeletionReason::Count => "there are more sessions than may be kept",
        DeletionReason::Unreadable => "the agent cannot load a file of it",
        DeletionReason::NoTimes => "it does not say when it was written",
        DeletionReason::Stub => "a resume left an empty file beside it",
        DeletionReason::NothingSaid => "nothing is said in it",
        DeletionReason::Subagent => "it says it is a sub-agent's",
        DeletionReason::SameName => "a file with a name like its own goes",
        DeletionReason::Beside
        | DeletionReason::OutputAge
        | DeletionReason::OutputCount
        | DeletionReason::EveryStart => "it is cleared away",
    }
}
