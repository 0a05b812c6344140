//! Disk queries with a timeout for disks that do not respond.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::clues::git::{GitIdentity, identity};

/// How long to wait for one answer before another thread takes over the remaining queries.
const TIMEOUT: Duration = Duration::from_millis(150);
/// How often nothing is heard in that time before the answers still missing are given up. A busy machine is slow at times.
const SILENCES: usize = 4;
/// From this number of queries on, a second thread pays off.
const MANY: usize = 64;
/// The maximum number of unresponsive disks before the queries stop.
const THREADS: usize = 8;

/// Returns for each path whether a folder exists; `None` where the disk did not respond.
pub fn present(paths: Vec<String>) -> Vec<Option<bool>> {
    ask(paths, |path| is_folder(path))
}

/// Returns for each path whether a folder exists, and its repository; `None` where the disk did not respond.
pub fn folders_with_repositories(paths: Vec<String>) -> Vec<Option<(bool, Option<GitIdentity>)>> {
    ask(paths, |path| {
        let is_there = is_folder(path);
        (is_there, is_there.then(|| identity(Path::new(path))).flatten())
    })
}

/// A relative path would be resolved in the current folder.
fn is_folder(path: &str) -> bool {
    Path::new(path).is_absolute() && Path::new(path).is_dir()
}

/// Runs one query per item; `None` where there was no answer.
pub(crate) fn ask<I, A>(
    items: Vec<I>,
    question: impl Fn(&I) -> A + Send + Sync + 'static,
) -> Vec<Option<A>>
where
    I: Send + Sync + 'static,
    A: Send + 'static,
{
    let round = Arc::new(Round {
        next: AtomicUsize::new(0),
        answers: Mutex::new((0, items.iter().map(|_| None).collect())),
        done: Condvar::new(),
        items,
        question,
    });
    if round.items.is_empty() {
        return Vec::new();
    }
    let start = || {
        let round = Arc::clone(&round);
        // Never joined: it may hang in a system call.
        std::thread::spawn(move || round.work());
    };
    let (mut threads, mut seen, mut silences) = (1, 0, 0);
    start();
    if round.items.len() > MANY {
        threads += 1;
        start();
    }
    let Ok(mut answers) = round.answers.lock() else { return Vec::new() };
    while answers.0 < round.items.len() {
        let Ok((waited, timeout)) = round.done.wait_timeout(answers, TIMEOUT) else {
            return Vec::new();
        };
        answers = waited;
        let is_silent = timeout.timed_out() && answers.0 == seen;
        silences = if is_silent { silences + 1 } else { 0 };
        seen = answers.0;
        let are_left = round.next.load(Ordering::Relaxed) < round.items.len();
        if is_silent && are_left && threads < THREADS {
            (threads, silences) = (threads + 1, 0);
            start();
        } else if silences >= SILENCES {
            break;
        }
    }
    std::mem::take(&mut answers.1)
}

/// Queries in progress.
struct Round<I, A, Q> {
    items: Vec<I>,
    question: Q,
    next: AtomicUsize,
    /// The next item, and the answers so far.
    answers: Mutex<(usize, Vec<Option<A>>)>,
    done: Condvar,
}

impl<I, A, Q: Fn(&I) -> A> Round<I, A, Q> {
    fn work(&self) {
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = self.items.get(at) else { break };
            let answer = (self.question)(item);
            let Ok(mut answers) = self.answers.lock() else { break };
            answers.0 += 1;
            if let Some(slot) = answers.1.get_mut(at) {
                *slot = Some(answer);
            }
            if answers.0 == self.items.len() {
                self.done.notify_all();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_never_responds_does_not_block_others() {
        let paths = vec!["/a", "/hangs", "/b", "/hangs too", "/c"];
        let answers = ask(paths, |path| {
            while path.starts_with("/hangs") {
                std::thread::park();
            }
            *path != "/b"
        });
        assert_eq!(answers, [Some(true), None, Some(false), None, Some(true)]);
    }

    #[test]
    fn only_absolute_paths_can_be_there() {
        let here = std::fs::canonicalize(".").unwrap().to_string_lossy().into_owned();
        let answers = present(vec![here, ".".to_owned(), "/no/such/folder".to_owned()]);
        assert_eq!(answers, [Some(true), Some(false), Some(false)]);
        assert!(present(Vec::new()).is_empty());
    }
}
