//! What people should know before they agree to a change.

use recount_changes::{Conversion, Notice, Remnant, SharedBy, Spared, StillDoomed};
use recount_platform::{CommandLine, Folders};

use super::{ending, flaw, plural, remedy};

/// Says what people should know.
#[expect(clippy::too_many_lines, reason = "one arm per notice, and no logic")]
pub(crate) fn notice(notice: &Notice, folders: &Folders) -> String {
    match notice {
        Notice::InUse(session) => format!("{} is in use and left out", session.short()),
        Notice::Spared { sessions, why } => {
            format!("{} left alone: {}", plural(*sessions, "session"), spared(*why))
        }
        Notice::MovedFolder { old, new } => {
            let command = remedy::relocate(old, new);
            format!("the sessions of {old} are left alone, as it has likely moved: `{command}`")
        }
        Notice::AtWork(sessions) => {
            format!("left alone, an agent is working there: {}", sessions.join(", "))
        }
        Notice::PromptsStay { prompts, of } => format!(
            "{} of {} stay in the agent's own log of prompts, which other sessions share",
            plural(*prompts, "prompt"),
            whose(of)
        ),
        Notice::OutputsStay { outputs, session } => {
            let (outputs, short) = (plural(*outputs, "kept output"), session.short());
            format!("{outputs} of {short} stay where the text says they are")
        }
        Notice::OutputsNamedByOldPlace => {
            "its text names kept outputs of tools by their old places; recount finds them in the new ones".to_owned()
        }
        Notice::OldReleasesOnly(session) => format!(
            "only old releases have used {}, and they do not find it in its new place",
            session.short()
        ),
        Notice::AlreadyThere { session, project } => {
            format!("{} is in {project} already", session.short())
        }
        Notice::TakenOver { from } => format!(
            "the project lies in {}, where only old releases look: it is copied, as the agent does at its next start",
            folders.tilde(&from.to_string_lossy())
        ),
        Notice::NotMoved(folder) => format!("{folder} is where it was"),
        Notice::OldFolderThere(folder) => {
            format!("{folder} is still there: an agent that is used in it begins anew")
        }
        Notice::AliasOfOldFolder(name) => {
            let alias =
                CommandLine::new("recount projects alias").argument(name).placeholder("PATH");
            format!("the name '{name}' stands for the old folder: `{alias}` gives it to the new one")
        }
        Notice::Agent(text) => text.clone(),
        Notice::HasMore(path) => {
            format!("{} has more than the copy, and stays", folders.tilde(&path.to_string_lossy()))
        }
        Notice::MarkedAsUsed(session) => format!(
            "{} was last used too long ago for the agent to keep it: it is marked as used now",
            session.short()
        ),
        Notice::LongTitle { shown } => {
            format!("the agent itself shows {shown} characters of a title")
        }
        Notice::OwnTitleAgain => "the agent may make a title of its own again".to_owned(),
        Notice::Flaw { file, flaw, mended: true } => {
            format!("{file}: {}; {}", flaw::flaw(*flaw), flaw::mended(*flaw))
        }
        Notice::Flaw { file, flaw, mended: false } => {
            format!("{file}: {}; this cannot be mended", flaw::flaw(*flaw))
        }
        Notice::HoldsPutAside { file } => format!("{file} holds all that was put aside"),
        Notice::UndoneToTrash { messages, session } => format!(
            "{} of {} that the agent no longer loads stay only in the undo data",
            plural(*messages, "message"),
            session.short()
        ),
        Notice::Converted { messages, effect } => {
            let s = ending(usize::try_from(*messages).unwrap_or(usize::MAX));
            format!("{messages} message{s} {}", conversion(*effect))
        }
        Notice::CopiesStay => "copies in folders of older releases stay as they are".to_owned(),
        Notice::TwinStays(path) => {
            format!("{} holds messages that the log beside it lacks, and stays", path.display())
        }
        Notice::Trimmed { messages, in_file } => {
            let place = if *in_file { "in the file, as undone" } else { "only in the undo data" };
            let messages = plural(*messages, "message");
            format!("the agent will load {messages} less; they stay {place}")
        }
        Notice::WrittenFrom(origin) => origin.to_string(),
        Notice::InVault(session) => {
            let restore = CommandLine::new("recount restore").argument(session.short());
            format!("the vault has a copy: `{restore}` brings it back whole")
        }
        Notice::LogForOldReleases(session) => {
            let convert = CommandLine::new("recount convert").argument(session.short());
            let convert = convert.option("--to json");
            format!("it is a log, as releases of today write it; for older ones: `{convert}`")
        }
        Notice::OtherId { old, new } => {
            format!("{} has files already, so this one is {}", old.short(), new.short())
        }
        Notice::StillDoomed { sessions, why } => {
            format!("{} would go {}", plural(*sessions, "session"), still_doomed(*why))
        }
        Notice::NothingCleaned { because } => {
            format!("with that nothing is cleaned up at all: {because}")
        }
        Notice::CountHolds(count) => {
            format!("maxCount still holds: only the last {count} are kept")
        }
        Notice::StillCleaned(file) => format!(
            "sessions are cleaned up all the same: {} says so",
            folders.tilde(&file.to_string_lossy())
        ),
        Notice::OtherSettings { project, file } => format!(
            "in {} other settings hold: {}",
            folders.tilde(project),
            folders.tilde(&file.to_string_lossy())
        ),
        Notice::MoreProjects(count) => format!("and in {count} more projects"),
    }
}

/// Says what is left of a session.
pub(crate) fn remnant(remnant: &Remnant) -> String {
    match remnant {
        Remnant::Messages { count, from } => format!("{} ({from})", plural(*count, "message")),
        Remnant::Prompts(count) => plural(*count, "prompt"),
        Remnant::Outputs(count) => plural(*count, "output"),
    }
}

fn spared(why: Spared) -> &'static str {
    match why {
        Spared::Pinned => "pinned (--with-pinned takes them, too)",
        Spared::InUse => "in use",
        Spared::Damaged => "damaged, not empty",
    }
}

fn whose(of: &SharedBy) -> String {
    match of {
        SharedBy::Session(session) => session.short().to_owned(),
        SharedBy::Sessions(count) => format!("{count} sessions"),
    }
}

fn conversion(effect: Conversion) -> &'static str {
    match effect {
        Conversion::GetsId => "had no id and get one: a log has none without",
        Conversion::NotInLog => "cannot stand in a log and stay only in the undo data",
        Conversion::SameId => {
            "stand there twice under one id; a log shows the last version of each"
        }
        Conversion::Undone => {
            "that the agent no longer loads cannot stand in a document and stay only in the undo data"
        }
        Conversion::Richer => "have an earlier, richer version, which stays only in the undo data",
        Conversion::NotUnderstood => "or lines that are not understood stay only in the undo data",
    }
}

fn still_doomed(why: StillDoomed) -> &'static str {
    match why {
        StillDoomed::Retention => {
            "by age or number: `recount guard --retention off` stops that, `recount guard --keep` holds a copy"
        }
        StillDoomed::Unlisted => {
            "because the agent does not list them: `recount repair` may mend that, `recount guard --keep` holds a copy"
        }
        StillDoomed::NothingSaid => {
            "with nothing in them to go on with: `recount guard --keep` holds a copy"
        }
    }
}
