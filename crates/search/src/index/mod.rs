//! The index on disk: the index engine, ranking, and messages that are not committed yet.

mod entry;
mod evidence;
mod open;
mod orphans;
mod overlay;
mod rank;
pub(crate) mod schema;
mod search;
#[cfg(test)]
mod tests;
mod writer;

pub use open::Index;
pub use overlay::{Drafts, Overlay};
pub(crate) use schema::{FATES, KINDS};
pub use search::{Found, Hit, HitOrder, SearchOptions, Searcher};
pub use writer::Writer;
