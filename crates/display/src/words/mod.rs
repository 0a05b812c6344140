//! Texts and command lines for the types of engine and changes.

mod alarm;
mod compare;
mod failure;
mod finding;
mod flaw;
pub mod guard;
mod history;
mod integration;
mod loss;
mod missing;
mod notice;
mod relaxed;
mod remedy;
mod resume;
mod search_note;

pub use alarm::alarm;
pub use compare::compare_reason;
pub use failure::{change_hint, write_hint};
pub use finding::{deletion, symptom, topic};
pub use history::{described, state, subjects};
pub use integration::{integration_problem, integration_state};
pub use loss::loss;
pub use missing::missing;
pub use notice::{notice, remnant};
pub use relaxed::relaxed;
pub use remedy::{relocate, remedy, retention_off};
pub use resume::resume_hint;
pub use search_note::{SQL_IS_BEHIND, search_note};
