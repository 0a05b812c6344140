//! Finds agents' data folders on this machine, resolves projects to folders, and finds moved folders.

mod aliases;
mod clues;
mod discover;
mod labelled;
mod learned;
mod machine;
mod moved;
mod presence;
mod read_marks;
mod resolve;
pub mod scan;
mod written;

pub use aliases::Aliases;
pub use clues::git::GitIdentity;
pub use discover::{Error, Root, ingested_home, roots};
pub use labelled::Labelled;
pub use learned::{Learned, Newer, Proven, Searched, millis};
pub use machine::{Machine, beside};
pub use moved::{FolderCandidate, MentionedFiles, MissingFolder, Moved, propose};
pub use presence::{folders_with_repositories, present};
pub use read_marks::ReadMarks;
pub use resolve::{CandidateOrigin, Candidates, Case};
pub use written::read_toml;
