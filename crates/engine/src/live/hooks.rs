//! The log of what agents said through hooks, read as it grows.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use recount_formats::source::Stamp;
use recount_model::LiveHook;

/// So much of the end is read of a log that was not read before.
const TAIL: u64 = 256 << 10;

/// Returns where hooks write, below our data folder.
pub fn hook_log(data: &Path) -> PathBuf {
    data.join("live").join("hooks.jsonl")
}

/// Reads the log.
#[derive(Debug, Default)]
pub(crate) struct HookTail {
    path: Option<PathBuf>,
    stamp: Option<Stamp>,
    /// How far was read.
    offset: u64,
}

impl HookTail {
    pub(crate) fn new(data: Option<&Path>) -> Self {
        Self { path: data.map(hook_log), ..Self::default() }
    }

    /// Returns the directory that has the log, if it is there.
    pub(crate) fn directory(&self) -> Option<PathBuf> {
        let directory = self.path.as_deref()?.parent()?;
        directory.is_dir().then(|| directory.to_owned())
    }

    pub(crate) fn is_log(&self, path: &Path) -> bool {
        self.path.as_deref() == Some(path)
    }

    /// Reads what is new. A line that is cut short is read when it is whole; one that is none of ours is left out.
    pub(crate) fn read(&mut self) -> Vec<LiveHook> {
        let bytes = self.new_bytes().unwrap_or_default();
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        self.offset += end as u64 + 1;
        let lines = bytes.get(..end).unwrap_or_default().split(|byte| *byte == b'\n');
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    fn new_bytes(&mut self) -> io::Result<Vec<u8>> {
        let Some(path) = &self.path else { return Ok(Vec::new()) };
        let metadata = path.symlink_metadata()?;
        let stamp = Stamp::of(&metadata);
        if !metadata.is_file() || self.stamp == Some(stamp) {
            return Ok(Vec::new());
        }
        let is_same = self.stamp.is_some_and(|known| known.inode == stamp.inode);
        self.stamp = Some(stamp);
        if !is_same || self.offset > stamp.bytes {
            self.offset = stamp.bytes.saturating_sub(TAIL);
        }
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.take(4 * TAIL).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a log to be followed")]

    use super::*;

    fn line(at: i64) -> String {
        format!("{{\"at\":{at},\"source\":\"toy\",\"moment\":\"prompt\",\"session\":\"a\"}}\n")
    }

    fn times(tail: &mut HookTail) -> Vec<i64> {
        tail.read().iter().map(|hook| hook.at).collect()
    }

    #[test]
    fn only_what_is_new_and_whole_is_read() {
        let data = tempfile::tempdir().unwrap();
        let path = hook_log(data.path());
        let mut tail = HookTail::new(Some(data.path()));
        assert!(times(&mut tail).is_empty() && tail.directory().is_none());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, line(1) + "nonsense\n" + &line(2) + "{\"at\":3,").unwrap();
        assert_eq!(times(&mut tail), [1, 2]);
        std::fs::write(&path, line(1) + "nonsense\n" + &line(2) + &line(3)).unwrap();
        assert_eq!(times(&mut tail), [3]);
        assert!(times(&mut tail).is_empty());
        // Another log in its place.
        std::fs::write(path.with_extension("new"), line(4).repeat(10_000) + &line(5)).unwrap();
        std::fs::rename(path.with_extension("new"), &path).unwrap();
        let found = times(&mut tail);
        assert!(found.len() < 5000 && found.last() == Some(&5), "{}", found.len());
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        assert!(times(&mut tail).is_empty(), "links are not followed");
    }
}
