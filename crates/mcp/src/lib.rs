//! The MCP server: what agents may ask about earlier sessions, over standard input and output.
//!
//! ```text
//! stdin ──► lines ──► rpc ──► server: answers what needs no session at once, hands calls to workers
//!                                │
//! stdout ◄── one JSON line ◄─────┴── tools, resources ──► memory: one engine, one snapshot, refreshed before each call
//! ```
//!
//! It only reads. Answers are plain text within a token budget; what sessions say is cleaned, redacted and fenced ([`text`]), because an agent reads
//! it, and agents obey.

mod arguments;
mod declarations;
mod lines;
mod memory;
mod resources;
mod rpc;
mod server;
pub mod text;
mod tools;

use std::ffi::OsString;

use recount_engine::Engine;
use recount_model::SourceName;

pub use server::serve;

/// The setup of a server.
#[derive(Debug)]
pub struct McpSetup {
    /// Answers the questions.
    pub engine: Engine,
    /// The agent that asks, if the user said which.
    pub agent: Option<SourceName>,
    /// Whether secrets are replaced by tags.
    pub is_redacting: bool,
    /// Arguments for another run of this program on the same homes, to index in the background; `None` where that is not wanted.
    pub again: Option<Vec<OsString>>,
}
