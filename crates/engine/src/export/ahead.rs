//! Reads messages ahead on a separate thread while others are written.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;

use super::transcript::Outcome;

/// Bytes of messages per batch, so that the transfer is cheap.
const BATCH: u64 = 512 * 1024;
/// Messages per batch, at any size.
const MANY: usize = 256;

/// Messages from another thread. At most three batches are in memory: one being read, one waiting, one being written.
pub(super) struct Ahead<'a> {
    batches: Receiver<Vec<Outcome<'a>>>,
    batch: std::vec::IntoIter<Outcome<'a>>,
}

impl<'a> Ahead<'a> {
    pub(super) fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        messages: impl Iterator<Item = Outcome<'a>> + Send + 'scope,
    ) -> Self
    where
        'a: 'scope,
    {
        let (sender, batches) = sync_channel(1);
        scope.spawn(move || {
            let mut messages = messages;
            loop {
                let mut batch = Vec::new();
                let mut bytes = 0;
                while batch.len() < MANY
                    && bytes < BATCH
                    && let Some(message) = messages.next()
                {
                    bytes += message.as_ref().map_or(0, |message| message.place.bytes);
                    batch.push(message);
                }
                // The receiver is gone if they could not be written.
                if batch.is_empty() || sender.send(batch).is_err() {
                    return;
                }
            }
        });
        Self { batches, batch: Vec::new().into_iter() }
    }
}

impl<'a> Iterator for Ahead<'a> {
    type Item = Outcome<'a>;

    fn next(&mut self) -> Option<Outcome<'a>> {
        loop {
            if let Some(message) = self.batch.next() {
                return Some(message);
            }
            self.batch = self.batches.recv().ok()?.into_iter();
        }
    }
}
