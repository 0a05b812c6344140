//! What runs printed, kept as it came: one file per run, with a line above it for what else is known.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use recount_formats::stream::{KeptRun, Run, StreamKind, record};
use recount_model::{SessionId, SourceName};
use serde::{Deserialize, Serialize};

use super::IngestOptions;
use crate::Error;

/// The folder beside the sessions.
pub(super) const FOLDER: &str = "streams";

/// How long a kept run may be; nothing longer was written.
const LONGEST: u64 = 8 * 1024 * 1024 * 1024;

/// What is known of a run besides what it printed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Known {
    stream: StreamKind,
    time: Option<Timestamp>,
    project: Option<String>,
    prompt: Option<String>,
}

/// One kept run.
#[derive(Clone, Debug)]
struct Stored {
    known: Known,
    /// Its records, one line each.
    body: String,
    is_changed: bool,
}

/// All runs of a session that were kept.
#[derive(Debug)]
pub(super) struct RunStore {
    folder: PathBuf,
    all: Vec<Stored>,
}

/// Whether a run was new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// It was kept before, or is the start of one that was.
    Nothing,
    /// It is new, or longer than before.
    Something,
}

impl RunStore {
    /// Reads what was kept of a session.
    pub(super) fn read(home: &Path, source: SourceName, id: &SessionId) -> Result<Self, Error> {
        let folder = home.join(FOLDER).join(source.as_str()).join(id.as_str());
        let mut all = Vec::new();
        loop {
            let path = file(&folder, all.len());
            let bytes = match recount_formats::bytes::read_limited(&path, LONGEST) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => break,
                Err(error) => return Err(Error::unreadable(&path, error)),
            };
            let text = String::from_utf8_lossy(&bytes);
            let (head, body) = text.split_once('\n').unwrap_or((&text, ""));
            let known = serde_json::from_str(head).unwrap_or(Known {
                stream: StreamKind::StreamJson,
                time: None,
                project: None,
                prompt: None,
            });
            all.push(Stored { known, body: body.to_owned(), is_changed: false });
        }
        Ok(Self { folder, all })
    }

    /// Adds a run, in the place of a shorter version of it.
    pub(super) fn add(&mut self, run: &Run, options: &IngestOptions) -> Added {
        let mut body = run.lines.join("\n");
        body.push('\n');
        let kind = run.key.kind;
        let same = self.all.iter_mut().find(|stored| {
            stored.known.stream == kind
                && (begins_with(&body, &stored.body) || begins_with(&stored.body, &body))
        });
        let Some(stored) = same else {
            let IngestOptions { project, prompt, time } = options.clone();
            let known = Known { stream: kind, time, project, prompt };
            self.all.push(Stored { known, body, is_changed: true });
            return Added::Something;
        };
        let mut added = Added::Nothing;
        if body.len() > stored.body.len() {
            stored.body = body;
            added = Added::Something;
        }
        for (known, given) in [
            (&mut stored.known.project, &options.project),
            (&mut stored.known.prompt, &options.prompt),
        ] {
            if given.is_some() && known != given {
                known.clone_from(given);
                added = Added::Something;
            }
        }
        stored.is_changed |= added == Added::Something;
        added
    }

    /// Returns the runs.
    pub(super) fn runs(&self) -> Vec<KeptRun> {
        let run = |stored: &Stored| KeptRun {
            kind: stored.known.stream,
            time: stored.known.time,
            project: stored.known.project.clone(),
            prompt: stored.known.prompt.clone(),
            records: stored.body.lines().filter_map(|line| record(line.as_bytes())).collect(),
        };
        self.all.iter().map(run).collect()
    }

    /// Writes what has changed.
    pub(super) fn write(&self) -> Result<(), Error> {
        for (number, stored) in self.all.iter().enumerate().filter(|(_, stored)| stored.is_changed)
        {
            recount_writer::create_private_folder(&self.folder)?;
            let head = serde_json::to_string(&stored.known).unwrap_or_default();
            let text = format!("{head}\n{}", stored.body);
            recount_writer::write_private(&file(&self.folder, number), text.as_bytes())?;
        }
        Ok(())
    }
}

fn file(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{number:04}.jsonl"))
}

/// Whether a run begins with a shorter version of it, whose last record may be cut short.
fn begins_with(long: &str, short: &str) -> bool {
    long.starts_with(short.trim_end_matches(['\n', '}']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_version_of_a_run_begins_with_the_shorter_one() {
        let whole = "{\"a\":1}\n{\"b\":{\"c\":2},\"d\":3}\n";
        for short in ["{\"a\":1}\n", "{\"a\":1}\n{\"b\":{\"c\":2}}\n", whole] {
            assert!(begins_with(whole, short), "{short}");
        }
        assert!(!begins_with(whole, "{\"a\":1}\n{\"x\":1}\n"));
    }
}
