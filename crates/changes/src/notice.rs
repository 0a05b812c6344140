//! What people should know of a change before they agree to it. The words are made by whoever shows it.

use std::path::PathBuf;

use recount_formats::rewrite::Flaw;
use recount_model::SessionId;
use recount_writer::RealDisk;
use recount_writer::change::Plan;

use crate::Error;
use crate::mend::recover::Origin;

/// A change as it is offered: what becomes of every file, and what people should know before they agree.
#[derive(Clone, Debug, Default)]
pub struct Proposal {
    /// What becomes of every file.
    pub plan: Plan,
    /// What people should know.
    pub notices: Vec<Notice>,
}

impl Proposal {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty()
    }

    /// Returns it with the hashes of all files: those that go away are read for it.
    ///
    /// # Errors
    /// If a file has changed since it was planned, or cannot be read.
    pub fn completed(&self) -> Result<Self, Error> {
        let mut whole = self.clone();
        whole.plan.complete(&RealDisk)?;
        Ok(whole)
    }

    /// Adds what people should know.
    pub(crate) fn notice(&mut self, notice: Notice) {
        self.notices.push(notice);
    }
}

impl From<Plan> for Proposal {
    fn from(plan: Plan) -> Self {
        Self { plan, notices: Vec::new() }
    }
}

/// Something that people should know before they agree to a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A session is left out, as somebody is working in it.
    InUse(SessionId),
    /// Sessions that a rule names are left out.
    Spared {
        /// How many.
        sessions: usize,
        /// Why.
        why: Spared,
    },
    /// The sessions of a folder are left out, as the folder has likely become another.
    MovedFolder {
        /// The folder that is gone.
        old: String,
        /// What it has likely become.
        new: String,
    },
    /// An agent is at work in these sessions, given by the start of their ids: they are left alone.
    AtWork(Vec<String>),
    /// Prompts stay in the agent's own log, which other sessions share.
    PromptsStay {
        /// How many.
        prompts: usize,
        /// Whose they are.
        of: SharedBy,
    },
    /// Outputs of tools stay where the text says they are.
    OutputsStay {
        /// How many.
        outputs: usize,
        /// Whose they are.
        session: SessionId,
    },
    /// The text names outputs of tools by their old places.
    OutputsNamedByOldPlace,
    /// Only old releases have used a session, and they do not find it in its new place.
    OldReleasesOnly(SessionId),
    /// A session is in a project already.
    AlreadyThere {
        /// The session.
        session: SessionId,
        /// The folder of the project.
        project: String,
    },
    /// A project lies where only old releases look; it is copied from there, as the agent does at its next start.
    TakenOver {
        /// The directory of the old releases.
        from: PathBuf,
    },
    /// A folder is where it was.
    NotMoved(String),
    /// The old folder of a project is still there; an agent that is used in it begins anew.
    OldFolderThere(String),
    /// A name that the user gave stands for the old folder.
    AliasOfOldFolder(String),
    /// What the agent itself makes of it, in the words of its source.
    Agent(String),
    /// A file has more than the copy that was to take its place, and stays.
    HasMore(PathBuf),
    /// A session was last used too long ago for its agent to keep it, and is marked as used now.
    MarkedAsUsed(SessionId),
    /// The agent itself shows only this number of characters of a title.
    LongTitle {
        /// How many.
        shown: usize,
    },
    /// The agent may make a title of its own again.
    OwnTitleAgain,
    /// A file is made loadable, or cannot be.
    Flaw {
        /// The name of the file.
        file: String,
        /// What is wrong with it.
        flaw: Flaw,
        /// Whether it is mended.
        mended: bool,
    },
    /// A file holds all that was put aside in another, which goes.
    HoldsPutAside {
        /// The name of the file.
        file: String,
    },
    /// Messages that the agent does not load any more are only in the undo data from now on.
    UndoneToTrash {
        /// How many.
        messages: usize,
        /// The session.
        session: SessionId,
    },
    /// What another grammar does to messages.
    Converted {
        /// How many.
        messages: u64,
        /// What becomes of them.
        effect: Conversion,
    },
    /// Copies in the folders of older releases stay as they are.
    CopiesStay,
    /// A file holds messages that the log beside it lacks, and stays.
    TwinStays(PathBuf),
    /// The agent will load fewer messages.
    Trimmed {
        /// How many fewer.
        messages: usize,
        /// Whether they stay in the file, rather than only in the undo data.
        in_file: bool,
    },
    /// A session is written down again from this.
    WrittenFrom(Origin),
    /// The vault has a copy of the session.
    InVault(SessionId),
    /// The session becomes a log, which the releases that were used there may not read.
    LogForOldReleases(SessionId),
    /// A session has files already, so the new one gets another id.
    OtherId {
        /// The session that has files.
        old: SessionId,
        /// The new one.
        new: SessionId,
    },
    /// Sessions that an agent's next start would delete all the same.
    StillDoomed {
        /// How many.
        sessions: usize,
        /// Why.
        why: StillDoomed,
    },
    /// With these settings nothing is cleaned up at all.
    NothingCleaned {
        /// Why, in the words of the source.
        because: String,
    },
    /// A limit of how many sessions are kept still holds.
    CountHolds(u64),
    /// Sessions are cleaned up all the same, as this file says so.
    StillCleaned(PathBuf),
    /// In a project other settings hold.
    OtherSettings {
        /// The folder of the project.
        project: String,
        /// The file that is heard last.
        file: PathBuf,
    },
    /// Number of projects in which other settings apply.
    MoreProjects(usize),
}

/// Why a session is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spared {
    /// It is pinned.
    Pinned,
    /// Somebody is working in it.
    InUse,
    /// It is damaged, not empty.
    Damaged,
}

/// Whose something is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedBy {
    /// One session's.
    Session(SessionId),
    /// Output of this number of sessions.
    Sessions(usize),
}

/// What another grammar does to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// It had no id, and gets one.
    GetsId,
    /// It cannot stand in a log, and stays only in the undo data.
    NotInLog,
    /// It stands there twice under one id; a log shows the last version.
    SameId,
    /// The agent does not load it any more; a document has no place for it.
    Undone,
    /// It has an earlier, richer version, which stays only in the undo data.
    Richer,
    /// It is a line that is not understood, which stays only in the undo data.
    NotUnderstood,
}

/// Why an agent would delete a session all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StillDoomed {
    /// It is too old, or one too many.
    Retention,
    /// The agent does not list it.
    Unlisted,
    /// There is nothing in it to go on with.
    NothingSaid,
}
