//! Changes to users' data: planned here, shown to people, carried out by the change pipeline of the writer, listed from its
//! journals.
//!
//! Every change is a method of [`Changes`] that returns a [`Proposal`]: each file before and after, and notices for people.
//! Nothing happens until [`Changes::carry_out`] gets its plan; [`Changes::undo_plan`] undoes it. The engine reads from
//! disk; the writer changes bytes there.

mod apply;
mod doctor;
mod error;
mod guard;
mod handover;
mod history;
mod ingest;
mod integrate;
mod notice;
mod reason;
mod rewrite;
mod sessions;
mod trash;
mod vault;

use recount_engine::Engine;

pub use apply::Made;
pub use doctor::{Finding, Remedy, Severity, Symptom, Topic};
pub use error::Error;
pub use guard::fix::Fix;
pub use guard::hook::note_hook;
pub use handover::{Handover, HandoverRequest, Loss, LossKind};
pub use history::{Change, ChangeState};
pub use ingest::{IngestOptions, IngestOutcome, IngestedSession};
pub use integrate::{
    IntegrateOptions, IntegrationProblem, IntegrationState, IntegrationStatus, integration_targets,
};
pub use notice::{Conversion, Notice, Proposal, SharedBy, SkipReason, StillPending};
pub use reason::{Operation, Reason};
pub use recount_formats::integration::pasted as pasted_instructions;
pub use recount_formats::retention::Wanted as RetentionWanted;
pub use recount_formats::rewrite::Flaw;
pub use recount_formats::stream::Intake;
pub use recount_writer::Error as WriteError;
pub use recount_writer::change::{FileState, Plan, Recovered, Refusal, Step, Subject};
pub use rewrite::compact::Compaction;
pub use rewrite::recover::{Origin, RecoverableSession, Remnant};
pub use rewrite::trim::{Trim, Turn, TurnAt};
pub use sessions::fork::Fork;
pub use sessions::merge::Merge;
pub use sessions::prune::Prune;
pub use trash::{Emptying, KeptCopies, Trashed, UndoData, deleted_ids};
pub use vault::{Failed, HomeFile, KeepReport, Unwanted, VaultedSession};

/// Plans changes to the sessions that an engine reads.
#[derive(Clone, Copy, Debug)]
pub struct Changes<'e> {
    engine: &'e Engine,
}

impl<'e> Changes<'e> {
    /// Plans changes to the sessions that this engine reads.
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine }
    }
}
