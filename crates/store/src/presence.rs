//! Questions to disks, without waiting for one that does not answer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long one answer is waited for before the other questions are asked by another thread.
const PATIENCE: Duration = Duration::from_millis(150);
/// How many disks may fail to answer before we stop to ask.
const THREADS: usize = 8;

/// Says for each path whether a folder is there; `None` where the disk did not answer.
pub fn present(paths: Vec<String>) -> Vec<Option<bool>> {
    // A path that is not absolute would be looked for in the current folder.
    ask(paths, |path| Path::new(path).is_absolute() && Path::new(path).is_dir())
}

/// Puts one question about each item; `None` where no answer came.
pub(crate) fn ask<I, A>(
    items: Vec<I>,
    question: impl Fn(&I) -> A + Send + Sync + 'static,
) -> Vec<Option<A>>
where
    I: Send + Sync + 'static,
    A: Send + 'static,
{
    let mut answers: Vec<Option<A>> = items.iter().map(|_| None).collect();
    let (sender, receiver) = mpsc::channel();
    let shared = Arc::new((items, AtomicUsize::new(0), question));
    let start = || {
        let (shared, sender) = (Arc::clone(&shared), sender.clone());
        // Never joined: it may hang in a system call.
        std::thread::spawn(move || {
            let (items, next, question) = &*shared;
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(at) else { break };
                if sender.send((at, question(item))).is_err() {
                    break;
                }
            }
        });
    };
    let (mut open, mut threads) = (answers.len(), 1);
    if open > 0 {
        start();
    }
    let mut last = Instant::now();
    while open > 0 {
        match receiver.recv_timeout(PATIENCE.saturating_sub(last.elapsed())) {
            Ok((at, answer)) => {
                if let Some(slot) = answers.get_mut(at) {
                    *slot = Some(answer);
                }
                open -= 1;
                last = Instant::now();
            }
            Err(_) if threads < THREADS && shared.1.load(Ordering::Relaxed) < answers.len() => {
                threads += 1;
                last = Instant::now();
                start();
            }
            Err(_) => break,
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_never_answers_holds_up_nobody() {
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
