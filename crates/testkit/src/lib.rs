//! Fixtures and hermetic homes for tests.
//!
//! [`fixtures`] lists the cases in `fixtures/<source>/<era>/<case>/`, [`Home`] copies some of them into a folder of
//! its own and runs the program there, [`Page`] reads exported pages, and [`corpus`] finds recorded homes for sweeps. No shipped room uses this one.
#![expect(
    clippy::disallowed_methods,
    reason = "tests write into temporary folders and run the program"
)]

mod fixture;
mod home;
mod output;
mod page;

pub use fixture::{Fixture, corpus, corpus_of_other_agents, fixture, fixtures};
pub use home::{Home, NOW};
pub use output::Output;
pub use page::{Element, Page};
