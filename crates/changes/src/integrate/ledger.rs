//! What was written for an integration: to remove exactly that later, and to tell it from what others wrote.

use std::path::{Path, PathBuf};

use recount_formats::bytes::read_small;
use recount_formats::integration::Edit;
use recount_formats::source::stable_hash;
use serde::{Deserialize, Serialize};

use crate::{Changes, Error};

/// The folder of the ledgers, in recount's data folder.
const FOLDER: &str = "integrations";

/// What was written for one agent, for all projects or in one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ledger {
    /// The agent, or what else recount was added to.
    pub(super) target: String,
    /// The project's folder.
    pub(super) project: Option<PathBuf>,
    /// The release that wrote it.
    pub(super) release: String,
    /// The program that the agent starts.
    pub(super) command: String,
    /// Whether the agent may call tools without asking.
    pub(super) is_allowed: bool,
    /// The names of the variables that were passed on.
    pub(super) variables: Vec<String>,
    /// Whole files.
    pub(super) files: Vec<OwnFile>,
    /// Changed files of others.
    pub(super) edits: Vec<EditedFile>,
    /// Folders that were created.
    pub(super) folders: Vec<PathBuf>,
}

/// A file that is recount's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OwnFile {
    pub(super) path: PathBuf,
    pub(super) hash: u64,
}

/// A file of the agent or the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EditedFile {
    pub(super) path: PathBuf,
    /// Whether there was none before.
    pub(super) is_new: bool,
    /// The hash of its whole text afterwards.
    pub(super) hash: u64,
    /// How to get the text from before, last one first.
    pub(super) patches: Vec<Patch>,
    /// The name of each value that was set, with a hash of the value.
    pub(super) values: Vec<(String, u64)>,
}

/// A stretch of a text that was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Patch {
    at: usize,
    /// What was there.
    old: String,
    /// The length of what is there now.
    new: usize,
}

impl Patch {
    /// Compares two texts. `None` if what was there is not text.
    pub(super) fn between(old: &[u8], new: &[u8]) -> Option<Self> {
        let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        // Characters are replaced whole, although different ones may begin or end with the same bytes.
        let is_inside =
            |text: &[u8], at: usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
        let start = (0..=start).rev().find(|at| !is_inside(old, *at) && !is_inside(new, *at))?;
        let (left, right) = (old.get(start..)?, new.get(start..)?);
        let end = left.iter().rev().zip(right.iter().rev());
        let end = end.take_while(|(one, other)| one == other).count();
        let end = (0..=end).rev().find(|end| !is_inside(left, left.len() - end))?;
        let old = std::str::from_utf8(left.get(..left.len() - end)?).ok()?.to_owned();
        Some(Self { at: start, old, new: right.len() - end })
    }

    /// Returns the text from before.
    pub(super) fn revert(&self, text: &[u8]) -> Option<Vec<u8>> {
        let after = text.get(self.at.checked_add(self.new)?..)?;
        Some([text.get(..self.at)?, self.old.as_bytes(), after].concat())
    }
}

impl EditedFile {
    /// Notes the values that a text has.
    pub(super) fn values_of(edits: &[Edit], text: &[u8]) -> Vec<(String, u64)> {
        let value = |edit: &Edit| Some((edit.name(), stable_hash(&edit.found(text)?)));
        edits.iter().filter_map(value).collect()
    }

    /// Whether the value that a text has is still the one that was set, whatever it would be today.
    pub(super) fn is_ours(&self, edit: &Edit, text: &[u8]) -> bool {
        let now = edit.found(text).map(|found| (edit.name(), stable_hash(&found)));
        now.is_some_and(|now| self.values.contains(&now))
    }

    /// Returns the text from before, if nobody has changed the file since.
    pub(super) fn revert(&self, text: &[u8]) -> Option<Vec<u8>> {
        if hash(text) != self.hash {
            return None;
        }
        self.patches.iter().try_fold(text.to_vec(), |text, patch| patch.revert(&text))
    }
}

pub(super) fn hash(text: &[u8]) -> u64 {
    stable_hash(text)
}

impl Ledger {
    pub(super) fn file(&self, path: &Path) -> Option<&OwnFile> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(super) fn edited(&self, path: &Path) -> Option<&EditedFile> {
        self.edits.iter().find(|file| file.path == path)
    }
}

impl Changes<'_> {
    /// Returns where the ledger of an integration is. One file each: undoing one leaves the others alone.
    pub(super) fn ledger_path(
        self,
        target: &str,
        project: Option<&Path>,
    ) -> Result<PathBuf, Error> {
        // A user may look after several homes.
        let place = (self.engine.first_home(), project);
        let name = format!("{target}-{:016x}.json", stable_hash(&place));
        Ok(self.data()?.join(FOLDER).join(name))
    }

    /// Reads a ledger. One that is damaged counts as none: its files are then somebody else's.
    pub(super) fn ledger(
        self,
        target: &str,
        project: Option<&Path>,
    ) -> Result<Option<Ledger>, Error> {
        let text = read_small(&self.ledger_path(target, project)?).ok();
        Ok(text.and_then(|text| serde_json::from_slice(&text).ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_gives_back_the_text_from_before() {
        for (old, new) in [
            ("", "abc"),
            ("abc", ""),
            ("{}\n", "{\n  \"a\": 1\n}\n"),
            ("a\nb\nc\n", "a\nx\nc\n"),
            ("aaaa", "aaaaaa"),
            ("same", "same"),
            ("ä", "ö"),
            // The same last byte.
            ("ä", "Ĥ"),
            ("/home/jürg/r", "/home/jörg/recount"),
            ("天", "大气"),
        ] {
            let patch = Patch::between(old.as_bytes(), new.as_bytes()).unwrap();
            assert_eq!(patch.revert(new.as_bytes()).unwrap(), old.as_bytes(), "{old:?} {new:?}");
        }
    }
}
