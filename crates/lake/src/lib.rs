//! The team lake: sessions of many machines as tables in an object store, and raw copies of them.
//!
//! `push` builds the tables with the engine, compares them with the manifest of this machine in the store, and sends what
//! differs. `pull` writes raw copies of all machines as homes. Requests are asynchronous inside this crate only.
//!
//! ```text
//! <url>/v1/<table>/source=<agent>/month=<month>/origin=<id>/part.parquet
//! <url>/v1/_origins/<id>.json          the manifest of a machine, written last and only by its owner
//! <url>/v1/_raw/<id>/<sha256>          4 MB of a file, compressed; <url>/v1/_raw/<id>.json lists the files
//! ```

mod bucket;
mod error;
mod location;
mod manifest;
mod ownership;
mod profile;
mod pull;
mod push;
mod raw;
mod send;
mod views;

use std::sync::Arc;

use object_store::ObjectStore;
use recount_engine::Engine;
use tokio::runtime::Runtime;

pub use error::LakeError;
pub use pull::{PullReport, PulledHome};
pub use push::{PushOptions, PushReport, TableReport};
pub use views::{QueryEngine, views};

use bucket::Bucket;
use location::Location;

/// The version of the layout: the first folder below the URL.
const LAYOUT: &str = "v1";

/// What is done with a lake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LakeAccess {
    /// Nothing in it changes; a folder that does not exist is an empty lake.
    Read,
    /// A folder that does not exist is created.
    Write,
}

/// A lake.
#[derive(Debug)]
pub struct Lake {
    url: String,
    bucket: Bucket,
    runtime: Runtime,
    /// The storage account of a container.
    account: Option<String>,
    /// Files that are sent at once.
    threads: usize,
}

impl Lake {
    /// Opens the store of a URL: `file://`, `s3://`, `gs://` or `az://`. Credentials come from the environment.
    ///
    /// # Errors
    /// If the URL is invalid, or the store's settings are; if it is to be written to and is in an agent's own folder.
    pub fn open(url: &str, access: LakeAccess, engine: &Engine) -> Result<Self, LakeError> {
        let env = engine.env();
        let location = Location::parse(url, env)?;
        if let Some(folder) = location.folder().filter(|_| access == LakeAccess::Write) {
            engine.check_output_folder(folder)?;
        }
        let store = location.store(access, env)?;
        let secrets = location::secrets(env);
        let threads = if location.is_remote() { 4 } else { 2 };
        let lake =
            Self::new(location.url().to_owned(), store, location.prefix(), secrets, threads)?;
        let account = env.text("AZURE_STORAGE_ACCOUNT_NAME").map(str::to_owned);
        Ok(Self { account, ..lake })
    }

    /// Opens a store, for tests.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn over(url: &str, store: Arc<dyn ObjectStore>) -> Result<Self, LakeError> {
        let mut lake = Self::new(url.to_owned(), store, String::new(), Vec::new(), 1)?;
        lake.bucket.wait = std::time::Duration::from_millis(1);
        Ok(lake)
    }

    fn new(
        url: String,
        store: Arc<dyn ObjectStore>,
        prefix: String,
        secrets: Vec<String>,
        threads: usize,
    ) -> Result<Self, LakeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(LakeError::Runtime)?;
        let bucket = Bucket::new(store, prefix, secrets);
        Ok(Self { url, bucket, runtime, account: None, threads })
    }

    /// Returns the URL, without a slash at its end.
    pub fn url(&self) -> &str {
        &self.url
    }
}
