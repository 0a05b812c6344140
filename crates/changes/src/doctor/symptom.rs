//! What can be wrong, and what mends it. The words are made by whoever shows it.

use std::path::PathBuf;

use recount_engine::Lost;
use recount_formats::rewrite::Flaw;
use recount_model::{DeletionReason, RecordedPath, SessionId, What};

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Symptom {
    /// The agent's next start would delete files of a session.
    Doomed {
        /// How much of it would be lost.
        lost: Lost,
        /// Why.
        why: DeletionReason,
    },
    /// A file of a session keeps its agent from loading it.
    Flaw(Flaw),
    /// Number of lines that nobody can parse.
    BrokenLines(usize),
    /// Number of records of an unknown kind.
    UnknownRecords(u64),
    /// A file could not be read, or is none.
    Problem(What),
    /// A file is so large that it is slow to load.
    Large {
        /// Its size.
        bytes: u64,
    },
    /// The owner of a file may not write it, so the agent cannot go on with it.
    NotWritable,
    /// Other users of this machine can read a folder.
    OpenToOthers,
    /// The agent's record of projects is damaged.
    DamagedRegistry,
    /// Something is odd about a project directory, in the words of its source.
    Agent(String),
    /// Something belongs to a session that is gone.
    Orphan {
        /// What it is.
        what: &'static str,
    },
    /// Something was left behind by a write or a rename.
    LeftOver,
    /// Nobody holds a lock any more.
    StaleLock,
    /// Nothing says which project a directory is.
    NoMarker,
    /// The folder of a project is gone.
    FolderGone {
        /// The folder.
        folder: RecordedPath,
        /// How many sessions it has.
        sessions: u64,
    },
    /// Number of session files that a second directory has too, for older releases.
    Copies(u64),
    /// A crash has cut a change short.
    CutShort {
        /// What was asked for.
        command: String,
        /// Its receipt.
        receipt: String,
    },
    /// A file was changed by others while a change was taken back.
    ChangedByOthers,
    /// A journal is not understood.
    DamagedJournal {
        /// Why not.
        why: String,
    },
    /// The catalog is damaged; it is made again from the sessions.
    DamagedCatalog,
}

/// What mends something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Keeping copies.
    Keep,
    /// Taking away what takes conversations along.
    Fix,
    /// Repairing the session.
    Repair(SessionId),
    /// Looking at the session's records as they are.
    ShowRaw(SessionId),
    /// Compacting the session.
    Compact(SessionId),
    /// Pruning what belongs to sessions that are gone.
    PruneOrphaned,
    /// Saying which folder a project has become.
    Relocate {
        /// The folder it was, if that is known.
        old: Option<RecordedPath>,
        /// The folder it has likely become.
        new: Option<String>,
    },
    /// Looking at what was changed.
    History,
    /// Making the index again.
    RebuildIndex,
    /// Letting the owner write a file.
    MakeWritable(PathBuf),
    /// Keeping others out of a folder.
    MakePrivate(PathBuf),
}
