//! Where a rollout is stored, and in which format.

use std::path::PathBuf;

use super::{Rollout, StoragePlace};
use crate::{
    json::{Json, record},
    moment::Moment,
    options::Era,
    session::{Made, Role},
};

impl Rollout<'_> {
    /// Returns a file of the thread with its path.
    pub(super) fn made(&self, (rollout, at): (&str, Moment), text: String, role: Role) -> Made {
        let path = self.path(rollout, at);
        let made = Made { role, ..Made::at(path, text, self.now) };
        if self.shelf != StoragePlace::Compressed {
            return made;
        }
        let mut path = made.name.into_os_string();
        path.push(".zst");
        Made { name: path.into(), bytes: frame(&made.bytes), ..made }
    }

    fn path(&self, rollout: &str, at: Moment) -> PathBuf {
        if self.era == Era::CodexDocument {
            let day = at.minute().chars().take(10).collect::<String>();
            return format!(".codex/sessions/rollout-{day}-{rollout}.json").into();
        }
        let second = at.second();
        let id = if *rollout == *self.id {
            rollout.to_owned()
        } else {
            format!("{}_{rollout}", self.id)
        };
        let name = format!("rollout-{second}-{id}.jsonl");
        if self.shelf == StoragePlace::Archived {
            return PathBuf::from(".codex/archived_sessions").join(name);
        }
        let day: String = second.chars().take(10).map(|c| if c == '-' { '/' } else { c }).collect();
        PathBuf::from(".codex/sessions").join(day).join(name)
    }

    /// Returns the whole thread as one document, as the first releases wrote it.
    pub(super) fn document(&mut self) -> String {
        let items = std::mem::take(&mut self.lines).into_iter().map(|(_, item)| item);
        let session = record! {
            "timestamp": self.began.iso(), "id": &self.id, "instructions": "",
        };
        record! { "session": session, "items": Json::list(items) }.to_pretty()
    }
}

/// Returns bytes as a Zstandard frame of raw blocks: valid, and written without a compressor.
fn frame(bytes: &[u8]) -> Vec<u8> {
    const BLOCK: usize = 1 << 17;
    let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    // One segment, with its size in four bytes.
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    out.extend_from_slice(&size.to_le_bytes());
    let last = bytes.len().div_ceil(BLOCK).saturating_sub(1);
    for (at, block) in bytes.chunks(BLOCK).enumerate() {
        let header = u32::try_from(block.len() << 3).unwrap_or(0) | u32::from(at == last);
        out.extend(header.to_le_bytes().into_iter().take(3));
        out.extend_from_slice(block);
    }
    out
}
