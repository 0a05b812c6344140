//! What is on this machine now: which agents' folders there are, which folder a project is, and where it went.

mod aliases;
mod clues;
mod discover;
mod labelled;
mod learned;
mod machine;
mod moved;
mod presence;
mod resolve;
pub mod scan;
mod written;

pub use aliases::Aliases;
pub use clues::git::GitIdentity;
pub use discover::{Error, Root, ingested_home, roots};
pub use labelled::Labelled;
pub use learned::{Learned, Newer, Proven, Searched, millis};
pub use machine::{Machine, beside};
pub use moved::{Gone, Moved, Spoken, Spot, propose};
pub use presence::{inhabited, present};
pub use resolve::{CandidateOrigin, Candidates, Case};
pub use written::read_toml;
