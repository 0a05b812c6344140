//! Why a push or a pull failed.

use std::path::PathBuf;

/// Why a push or a pull failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LakeError {
    /// The URL is invalid.
    #[error("'{url}' is not the URL of a lake: {why}")]
    Url {
        /// The URL.
        url: String,
        /// Why.
        why: &'static str,
    },
    /// A request failed, also when it was repeated. Credentials are not in the message.
    #[error("cannot {what} {path}: {why}")]
    Request {
        /// What was asked: read, write, delete or list.
        what: &'static str,
        /// The object.
        path: String,
        /// The answer of the store.
        why: String,
    },
    /// The settings of the store are invalid.
    #[error("cannot open {url}: {why}")]
    Store {
        /// The URL.
        url: String,
        /// Why.
        why: String,
    },
    /// Another push from this data folder is running.
    #[error("another push to this lake is running")]
    Running,
    /// Another data folder writes as this origin.
    #[error(
        "another machine writes to this lake as origin {origin}: this data folder is a copy, or an old backup"
    )]
    Cloned {
        /// The origin.
        origin: String,
    },
    /// The lake has a newer layout.
    #[error("the manifest of origin {origin} is of another version: {schema}")]
    Version {
        /// The origin.
        origin: String,
        /// Its schema.
        schema: String,
    },
    /// Something in the lake is not what it should be.
    #[error("{path} is damaged: {why}")]
    Damaged {
        /// The object.
        path: String,
        /// Why.
        why: String,
    },
    /// A file on this machine cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// There are neither tables nor raw copies.
    #[error("there is no lake at {url}")]
    NoLake {
        /// The URL.
        url: String,
    },
    /// No machine has pushed raw copies.
    #[error("this lake has no raw copies")]
    NoRaw,
    /// No machine with raw copies has this origin.
    #[error("no origin with raw copies begins with '{wanted}'")]
    NoOrigin {
        /// What was asked for.
        wanted: String,
        /// The origins with raw copies.
        known: Vec<String>,
    },
    /// The threads of the client cannot be started.
    #[error("cannot start the client of the object store")]
    Runtime(#[source] std::io::Error),
    /// A query failed.
    #[error(transparent)]
    Engine(#[from] recount_engine::Error),
    /// Files of sessions cannot be listed.
    #[error(transparent)]
    Changes(#[from] recount_changes::Error),
}
