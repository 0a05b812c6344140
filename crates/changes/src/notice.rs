//! Notices about a change, before people agree to it. The text is up to the view.

use std::path::PathBuf;

use recount_formats::rewrite::Flaw;
use recount_model::SessionId;
use recount_writer::RealDisk;
use recount_writer::change::Plan;

use crate::rewrite::recover::Origin;
use crate::{Error, Loss};

/// A proposed change: the plan, and notices for people.
#[derive(Clone, Debug, Default)]
pub struct Proposal {
    /// The plan.
    pub plan: Plan,
    /// The notices.
    pub notices: Vec<Notice>,
}

impl Proposal {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty()
    }

    /// Returns it with the hashes of all files: removed files are read for this.
    ///
    /// # Errors
    /// If a file has changed since it was planned, or cannot be read.
    pub fn completed(&self) -> Result<Self, Error> {
        let mut whole = self.clone();
        whole.plan.complete(&RealDisk)?;
        Ok(whole)
    }

    /// Adds a notice.
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
    /// A session is skipped because it is in use.
    InUse(SessionId),
    /// Sessions that match a rule are skipped.
    Skipped {
        /// Their number.
        sessions: usize,
        /// Why.
        why: SkipReason,
    },
    /// The sessions of a folder are skipped, as the folder has likely moved.
    MovedFolder {
        /// The old folder.
        old: String,
        /// The likely new folder.
        new: String,
    },
    /// An agent uses these sessions, given by the start of their ids: they are skipped.
    AtWork(Vec<String>),
    /// Prompts stay in the agent's own log, which other sessions share.
    PromptsStay {
        /// Their number.
        prompts: usize,
        /// Their sessions.
        of: SharedBy,
    },
    /// Tool outputs stay where the text refers to them.
    OutputsStay {
        /// Their number.
        outputs: usize,
        /// Their session.
        session: SessionId,
    },
    /// The text refers to tool outputs by their old paths.
    OutputsNamedByOldPlace,
    /// Only old releases have used a session, and they do not find it in its new place.
    OldReleasesOnly(SessionId),
    /// A session is already in a project.
    AlreadyThere {
        /// The session.
        session: SessionId,
        /// The folder of the project.
        project: String,
    },
    /// A project is in a directory that only old releases use; it is copied from there, as the agent does at its next
    /// start.
    TakenOver {
        /// The directory of the old releases.
        from: PathBuf,
    },
    /// A folder has not moved.
    NotMoved(String),
    /// The old folder of a project still exists; an agent that is used in it starts a new history.
    OldFolderThere(String),
    /// An alias refers to the old folder.
    AliasOfOldFolder(String),
    /// What the agent itself does with it, as described by its source.
    Agent(String),
    /// A file has more than the copy that was to replace it, and stays.
    HasMore(PathBuf),
    /// A session was last used too long ago for its agent to keep it, and is marked as used now.
    MarkedAsUsed(SessionId),
    /// The agent itself shows only this number of characters of a title.
    LongTitle {
        /// The number.
        shown: usize,
    },
    /// The agent may generate its own title again.
    OwnTitleAgain,
    /// A flaw of a file, which is fixed or not.
    Flaw {
        /// The name of the file.
        file: String,
        /// The flaw.
        flaw: Flaw,
        /// Whether it is fixed.
        fixed: bool,
    },
    /// A file has everything from a renamed one, which is removed.
    HoldsPutAside {
        /// The name of the file.
        file: String,
    },
    /// Messages that the agent no longer loads will only be in the undo data.
    UndoneToTrash {
        /// Their number.
        messages: usize,
        /// The session.
        session: SessionId,
    },
    /// The number of undone or replaced messages that a new session does not have.
    UndoneLeftOut(u64),
    /// How messages change in another grammar.
    Converted {
        /// Their number.
        messages: u64,
        /// The change.
        effect: Conversion,
    },
    /// Copies in the folders of older releases are not changed.
    CopiesStay,
    /// A file has messages that the log beside it lacks, and stays.
    TwinStays(PathBuf),
    /// The agent will load fewer messages.
    Trimmed {
        /// How many fewer.
        messages: usize,
        /// Whether they stay in the file, rather than only in the undo data.
        in_file: bool,
    },
    /// A session is rebuilt from this.
    WrittenFrom(Origin),
    /// The vault has a copy of the session.
    InVault(SessionId),
    /// The session becomes a log, which the releases that were used there may not support.
    LogForOldReleases(SessionId),
    /// A session already has files, so the new one gets another id.
    OtherId {
        /// The existing session.
        old: SessionId,
        /// The new one.
        new: SessionId,
    },
    /// Sessions that an agent's next start would still delete.
    StillPending {
        /// Their number.
        sessions: usize,
        /// Why.
        why: StillPending,
    },
    /// With these settings nothing is deleted at all.
    NothingCleaned {
        /// The reason, as described by the source.
        because: String,
    },
    /// A limit on the number of sessions still applies.
    CountHolds(u64),
    /// Sessions are still deleted, because of this file.
    StillCleaned(PathBuf),
    /// Other settings apply in a project.
    OtherSettings {
        /// The folder of the project.
        project: String,
        /// The file with the highest precedence.
        file: PathBuf,
    },
    /// The number of projects in which other settings apply.
    MoreProjects(usize),
    /// An agent runs that would overwrite a change of its settings.
    AgentRuns {
        /// Its display name.
        agent: String,
        /// The process.
        process: u32,
        /// The file.
        path: PathBuf,
    },
    /// A file of ours was changed since it was written, and stays.
    ChangedSince(PathBuf),
    /// Every agent already has the skill, from its integration.
    SkillThere,
    /// Something that a session lacks when it is handed over to another agent.
    Lost {
        /// What it is.
        loss: Loss,
        /// The other agent.
        to: &'static str,
    },
    /// A conversation may be too long for the model of the other agent.
    LargeHandover {
        /// Its estimated number of tokens.
        tokens: u64,
    },
}

/// Why a session is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// It is pinned.
    Pinned,
    /// It is in use.
    InUse,
    /// It is damaged, not empty.
    Damaged,
}

/// The sessions that something belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SharedBy {
    /// One session.
    Session(SessionId),
    /// This number of sessions.
    Sessions(usize),
}

/// How a message changes in another grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// It had no id, and gets one.
    GetsId,
    /// It cannot be in a log, and stays only in the undo data.
    NotInLog,
    /// Its id occurs twice; a log shows the last version.
    SameId,
    /// The agent no longer loads it; a document has no place for it.
    Undone,
    /// It has an earlier, richer version, which stays only in the undo data.
    Richer,
    /// It is an unknown line, which stays only in the undo data.
    NotUnderstood,
}

/// Why an agent would still delete a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StillPending {
    /// It is too old, or exceeds the limit.
    Retention,
    /// The agent does not list it.
    Unlisted,
    /// It has no message that could be continued.
    NothingSaid,
}
