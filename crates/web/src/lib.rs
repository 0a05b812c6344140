//! The web app: the same questions in a browser, on this machine only.
//!
//! [`Server::bind`] listens on loopback, [`Server::run`] answers until a signal ends it. Each request is checked first
//! (`safety`); each answer is one question to the engine on a thread of its own (`app::ask`). Documents are those of
//! `--json`, written by [`recount_documents`]. What changes is told to all who listen, from one watcher (`live`).

#![warn(clippy::indexing_slicing, clippy::string_slice)]
#![cfg_attr(
    test,
    expect(clippy::indexing_slicing, clippy::string_slice, reason = "a test may fail by panic")
)]

mod api;
mod app;
mod assets;
mod failure;
mod live;
mod mask;
mod params;
mod router;
mod safety;
mod server;
mod timed;

use std::ffi::OsString;

use recount_engine::Engine;

pub use mask::Mask;
pub use server::{ServeError, Server};

/// How the server is started.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServeOptions {
    /// The port; one of a few fixed ones if `None`, any free one if 0.
    pub port: Option<u16>,
    /// Whether changes may be made from the page.
    pub changes: bool,
    /// What is hidden.
    pub mask: Mask,
}

/// What is served.
#[derive(Debug)]
pub struct Served {
    /// The sessions.
    pub engine: Engine,
    /// Arguments for another run of this program on the same homes.
    pub arguments: Vec<OsString>,
    /// Whether it is demo data.
    pub is_demo: bool,
}

#[cfg(test)]
mod tests;
