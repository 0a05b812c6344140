//! Fixtures and hermetic homes for tests.
//!
//! [`fixtures`] lists the cases in `fixtures/<source>/<era>/<case>/`, [`Home`] copies some of them into a temporary folder
//! and runs the program there, [`Page`] reads exported pages, and [`corpus()`] lists recorded homes for sweeps. No shipped
//! crate uses this one.
#![expect(
    clippy::disallowed_methods,
    reason = "tests write into temporary folders and run the program"
)]

mod corpus;
mod fixture;
mod home;
mod output;
mod page;

pub use corpus::{Capture, Corpus, corpus, corpus_of_other_agents, recordings, streams};
pub use fixture::{Fixture, fixture, fixtures, fixtures_of};
pub use home::{Home, NOW};
pub use output::Output;
pub use page::{Element, Page};
