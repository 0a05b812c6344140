//! The manifest of a machine in the lake: which files it has, and as of when.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::LakeError;

const SCHEMA: &str = "recount.lake-origin/1";

/// The manifest of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Manifest {
    pub(crate) schema: String,
    pub(crate) origin: String,
    /// Raised with every write.
    pub(crate) generation: u64,
    /// Random: only the machine that wrote it knows it beforehand.
    pub(crate) nonce: String,
    /// Whether a push has begun and not ended.
    pub(crate) pushing: bool,
    /// How much text is in the tables.
    pub(crate) text: String,
    /// When it was written, by the machine's own clock: for people only.
    pub(crate) pushed: String,
    /// The version of recount.
    pub(crate) recount: String,
    pub(crate) sessions: u64,
    /// Changes when any table does.
    pub(crate) stamp: Option<String>,
    /// Changes when any raw copy does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) raw: Option<String>,
    /// The tables, by their folder.
    pub(crate) files: BTreeMap<String, ManifestFile>,
}

/// A file of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct ManifestFile {
    /// Changes when the file does; `null` if that is unknown.
    pub(crate) stamp: Option<String>,
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
    pub(crate) rows: u64,
}

impl Manifest {
    pub(crate) fn new(origin: &str) -> Self {
        Self { schema: SCHEMA.to_owned(), origin: origin.to_owned(), ..Self::default() }
    }

    /// Returns the object with the manifest of an origin.
    pub(crate) fn object(origin: &str) -> String {
        format!("_origins/{origin}.json")
    }

    /// Returns the object of a table.
    pub(crate) fn table(&self, folder: &str) -> String {
        format!("{folder}/origin={}/part.parquet", self.origin)
    }

    pub(crate) fn read(bytes: &[u8], origin: &str) -> Result<Self, LakeError> {
        let path = Self::object(origin);
        let damaged = |why: String| LakeError::Damaged { path: path.clone(), why };
        let manifest: Self =
            serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        if manifest.schema != SCHEMA {
            let Self { origin, schema, .. } = manifest;
            return Err(LakeError::Version { origin, schema });
        }
        if manifest.origin != origin {
            return Err(damaged("it is that of another origin".to_owned()));
        }
        Ok(manifest)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        // Text and numbers always have a JSON form.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}
