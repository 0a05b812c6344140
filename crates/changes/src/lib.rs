//! Changes to users' data: planned here, shown to people, carried out by the writer's door, told from its journals.
//!
//! Every change is a method of [`Changes`] that returns a [`Proposal`]: what each file is before and after, and what
//! people should know. Nothing happens until [`Changes::carry_out`] takes its plan, and [`Changes::undo_plan`] takes it
//! back. What is on disk is the engine's to read; how bytes change there is the writer's.

mod apply;
mod doctor;
mod error;
mod guard;
mod history;
mod ingest;
mod mend;
mod notice;
mod reason;
mod sessions;
mod trash;
mod vault;

use recount_engine::Engine;

pub use apply::Made;
pub use doctor::{Finding, Remedy, Severity, Symptom, Topic};
pub use error::Error;
pub use guard::fix::Fix;
pub use guard::hook::note_hook;
pub use history::{Change, ChangeState};
pub use ingest::{IngestOptions, IngestOutcome, IngestedSession};
pub use mend::compact::Compaction;
pub use mend::recover::{Origin, RecoverableSession, Remnant};
pub use mend::trim::{Trim, Turn, TurnAt};
pub use notice::{Conversion, Notice, Proposal, SharedBy, Spared, StillDoomed};
pub use reason::{Deed, Reason};
pub use recount_formats::retention::Wanted as RetentionWanted;
pub use recount_formats::rewrite::Flaw;
pub use recount_formats::stream::Intake;
pub use recount_writer::Error as WriteError;
pub use recount_writer::change::{FileState, Plan, Recovered, Refusal, Step, Subject};
pub use sessions::fork::Fork;
pub use sessions::merge::Merge;
pub use sessions::prune::Prune;
pub use trash::{Emptying, KeptCopies, Trashed, UndoData, deleted_ids};
pub use vault::{Failed, KeepReport, Unwanted, VaultedSession};

/// Plans changes to what an engine reads.
#[derive(Clone, Copy, Debug)]
pub struct Changes<'e> {
    engine: &'e Engine,
}

impl<'e> Changes<'e> {
    /// Plans changes to what this engine reads.
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine }
    }
}
