//! The possible problems and their remedies. The text is up to the view.

use std::path::PathBuf;

use recount_engine::Lost;
use recount_formats::rewrite::Flaw;
use recount_model::{DeletionReason, RecordedPath, SessionId, SourceName, What};

use crate::IntegrationProblem;

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Symptom {
    /// The agent's next start would delete files of a session.
    PendingDeletion {
        /// How much of it would be lost.
        lost: Lost,
        /// Why.
        why: DeletionReason,
    },
    /// A flaw that keeps the agent from loading a file of a session.
    Flaw(Flaw),
    /// The number of lines that cannot be parsed.
    BrokenLines(usize),
    /// Number of records of an unknown kind.
    UnknownRecords(u64),
    /// A file could not be read, or is not a regular file.
    Problem(What),
    /// A file is so large that it is slow to load.
    Large {
        /// Its size.
        bytes: u64,
    },
    /// The owner of a file may not write it, so the agent cannot continue it.
    NotWritable,
    /// Other users of this machine can read a folder.
    OpenToOthers,
    /// The agent's record of projects is damaged.
    DamagedRegistry,
    /// A project directory is unusual, as described by its source.
    Agent(String),
    /// Something belongs to a deleted session.
    Orphan {
        /// What it is.
        what: &'static str,
    },
    /// Something was left behind by an interrupted write or rename.
    LeftOver,
    /// A stale lock.
    StaleLock,
    /// Nothing records which project a directory belongs to.
    NoMarker,
    /// The folder of a project does not exist.
    FolderGone {
        /// The folder.
        folder: RecordedPath,
        /// The number of its sessions.
        sessions: u64,
    },
    /// The number of session files that a second directory has too, for older releases.
    Copies(u64),
    /// A change was interrupted by a crash.
    CutShort {
        /// The command.
        command: String,
        /// Its receipt.
        receipt: String,
    },
    /// A file was changed by others during a rollback.
    ChangedByOthers,
    /// A journal is invalid.
    DamagedJournal {
        /// The reason.
        why: String,
    },
    /// The catalog is damaged; it is rebuilt from the sessions.
    DamagedCatalog,
    /// recount was added to an agent by another release.
    OlderIntegration {
        /// The agent's display name.
        agent: &'static str,
        /// The release.
        release: String,
    },
    /// recount was added to an agent and does not work there.
    BrokenIntegration {
        /// The agent's display name.
        agent: &'static str,
        /// What is wrong.
        why: IntegrationProblem,
    },
}

/// How to fix a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Copy the sessions to the vault.
    Keep,
    /// Remove the files that would cause real sessions to be deleted.
    Fix,
    /// Repair the session.
    Repair(SessionId),
    /// Show the session's raw records.
    ShowRaw(SessionId),
    /// Compact the session.
    Compact(SessionId),
    /// Prune what belongs to deleted sessions.
    PruneOrphaned,
    /// Set the new folder of a project.
    Relocate {
        /// The old folder, if it is known.
        old: Option<RecordedPath>,
        /// The likely new folder.
        new: Option<String>,
    },
    /// Show the history of changes.
    History,
    /// Rebuild the index.
    RebuildIndex,
    /// Let the owner write a file.
    MakeWritable(PathBuf),
    /// Make a folder private.
    MakePrivate(PathBuf),
    /// Add recount to an agent again.
    Integrate(SourceName),
}
