//! Texts of notices about a change.

use recount_changes::{Conversion, Notice, Remnant, SharedBy, SkipReason, StillPending};
use recount_platform::{CommandLine, Folders};

use super::{flaw, remedy};
use crate::number::plural_exact;

/// Returns the text of a notice.
#[expect(clippy::too_many_lines, reason = "one arm per notice, and no logic")]
pub fn notice(notice: &Notice, folders: &Folders) -> String {
    match notice {
        Notice::InUse(session) => format!("{} is running and was skipped", session.short()),
        Notice::Skipped { sessions, why } => {
            format!("skipped {}: {}", plural_exact(*sessions, "session"), skip_reason(*why))
        }
        Notice::MovedFolder { old, new } => {
            let command = remedy::relocate(old, new);
            format!(
                "sessions of {old} are skipped, because the folder was probably moved: `{command}`"
            )
        }
        Notice::AtWork(sessions) => {
            format!("skipped, because an agent is running there: {}", sessions.join(", "))
        }
        Notice::PromptsStay { prompts, of } => format!(
            "the agent's prompt log, which other sessions share, still has {} of {}",
            plural_exact(*prompts, "prompt"),
            whose(of)
        ),
        Notice::OutputsStay { outputs, session } => {
            let (outputs, short) = (plural_exact(*outputs, "tool output file"), session.short());
            format!("{outputs} of {short} stay in place, because the text refers to them")
        }
        Notice::OutputsNamedByOldPlace => {
            "its text refers to tool output by the old paths; recount finds it under the new ones"
                .to_owned()
        }
        Notice::OldReleasesOnly(session) => format!(
            "only old releases were used in {}, and they do not find the new folder",
            session.short()
        ),
        Notice::AlreadyThere { session, project } => {
            format!("{} is in {project} already", session.short())
        }
        Notice::TakenOver { from } => format!(
            "the project is in {}, where only old releases look: it is copied, as the agent does on its next start",
            folders.tilde(&from.to_string_lossy())
        ),
        Notice::NotMoved(folder) => format!("{folder} was not moved"),
        Notice::OldFolderThere(folder) => {
            format!("{folder} still exists: an agent used there starts with no sessions")
        }
        Notice::AliasOfOldFolder(name) => {
            let alias =
                CommandLine::new("recount projects alias").argument(name).placeholder("PATH");
            format!(
                "the name '{name}' refers to the old folder; `{alias}` assigns it to the new one"
            )
        }
        Notice::Agent(text) => text.clone(),
        Notice::HasMore(path) => {
            format!(
                "{} has more content than the copy and is kept",
                folders.tilde(&path.to_string_lossy())
            )
        }
        Notice::MarkedAsUsed(session) => format!(
            "{} is so old that the agent would delete it: it is marked as used now",
            session.short()
        ),
        Notice::LongTitle { shown } => {
            format!("the agent shows only {shown} characters of a title")
        }
        Notice::OwnTitleAgain => "the agent may generate a new title".to_owned(),
        Notice::Flaw { file, flaw, fixed: true } => {
            format!("{file}: {}; {}", flaw::flaw(*flaw), flaw::fixed(*flaw))
        }
        Notice::Flaw { file, flaw, fixed: false } => {
            format!("{file}: {}; this cannot be repaired", flaw::flaw(*flaw))
        }
        Notice::HoldsPutAside { file } => {
            format!("{file} already has everything that was set aside")
        }
        Notice::UndoneToTrash { messages, session } => format!(
            "{} of {} that the agent no longer loads are removed (kept as undo data)",
            plural_exact(*messages, "message"),
            session.short()
        ),
        Notice::UndoneLeftOut(messages) => {
            let is = if *messages == 1 { " is" } else { "s are" };
            format!("{messages} undone or replaced message{is} not in the new session")
        }
        Notice::Converted { messages, effect } => {
            format!("{} {}", plural_exact(*messages, "message"), conversion(*effect))
        }
        Notice::CopiesStay => "copies in folders of older releases are not changed".to_owned(),
        Notice::TwinStays(path) => {
            format!("{} has messages that the log next to it lacks, and is kept", path.display())
        }
        Notice::Trimmed { messages, in_file } => {
            let place = if *in_file { "in the file, as undone" } else { "only in the undo data" };
            let messages = plural_exact(*messages, "message");
            format!("the agent will load {messages} fewer; they stay {place}")
        }
        Notice::WrittenFrom(origin) => origin.to_string(),
        Notice::InVault(session) => {
            let restore = CommandLine::new("recount restore").argument(session.prefix());
            format!("the vault has a copy: `{restore}` restores it completely")
        }
        Notice::LogForOldReleases(session) => {
            let convert = CommandLine::new("recount convert").argument(session.prefix());
            let convert = convert.option("--format json");
            format!("it is written as JSONL, for current releases; for older ones, run `{convert}`")
        }
        Notice::OtherId { old, new } => {
            format!("{} already has files, so the new session is {}", old.short(), new.short())
        }
        Notice::StillPending { sessions, why } => {
            format!(
                "{} will still be deleted {}",
                plural_exact(*sessions, "session"),
                still_pending(*why)
            )
        }
        Notice::NothingCleaned { because } => {
            format!("this disables the agent's clean-up: {because}")
        }
        Notice::CountHolds(count) => {
            format!("maxCount still holds: over the limit of {count} sessions")
        }
        Notice::StillCleaned(file) => format!(
            "sessions are still deleted, because of {}",
            folders.tilde(&file.to_string_lossy())
        ),
        Notice::OtherSettings { project, file } => format!(
            "other settings apply in {}: {}",
            folders.tilde(project),
            folders.tilde(&file.to_string_lossy())
        ),
        Notice::MoreProjects(count) => format!("and in {count} more projects"),
        Notice::AgentRuns { agent, process, path } => format!(
            "{agent} is running (process {process}) and may overwrite {}",
            folders.tilde(&path.to_string_lossy())
        ),
        Notice::ChangedSince(path) => format!(
            "{} was changed since recount wrote it, and stays (--force removes it)",
            folders.tilde(&path.to_string_lossy())
        ),
        Notice::SkillThere => {
            "the agents already have the skill from their integrations".to_owned()
        }
        Notice::Lost { loss, to } => super::loss(loss, to),
        Notice::LargeHandover { tokens } => format!(
            "about {tokens} tokens, which may be too many for the model: `--summary 4000` hands over a summary and the last turns"
        ),
    }
}

/// Returns the text of what is left of a session.
pub fn remnant(remnant: &Remnant) -> String {
    match remnant {
        Remnant::Messages { count, from } => {
            format!("{} ({from})", plural_exact(*count, "message"))
        }
        Remnant::Prompts(count) => plural_exact(*count, "prompt"),
        Remnant::Outputs(count) => plural_exact(*count, "output"),
    }
}

fn skip_reason(why: SkipReason) -> &'static str {
    match why {
        SkipReason::Pinned => "pinned (--with-pinned includes them)",
        SkipReason::InUse => "running",
        SkipReason::Damaged => "damaged, not empty",
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
        Conversion::GetsId => "without an id get one, because JSONL requires it",
        Conversion::NotInLog => "cannot be stored in JSONL and are removed (kept as undo data)",
        Conversion::SameId => "share an id; JSONL keeps the last version of each",
        Conversion::Undone => {
            "that the agent no longer loads cannot be stored in JSON and are removed (kept as undo data)"
        }
        Conversion::Richer => {
            "have an earlier, richer version, which is removed (kept as undo data)"
        }
        Conversion::NotUnderstood => {
            "or lines that cannot be parsed are removed (kept as undo data)"
        }
    }
}

fn still_pending(why: StillPending) -> &'static str {
    match why {
        StillPending::Retention => {
            "by age or number: `recount guard --retention off` prevents that, `recount guard --keep` keeps copies"
        }
        StillPending::Unlisted => {
            "because the agent does not list them: `recount repair` may fix that, `recount guard --keep` keeps copies"
        }
        StillPending::NothingSaid => {
            "because they have no messages: `recount guard --keep` keeps copies"
        }
    }
}
