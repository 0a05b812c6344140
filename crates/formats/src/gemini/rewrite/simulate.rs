//! Computes the views of a log from its events.
//!
//! The rules are those of [`Replay`](crate::gemini::replay), on numbers instead of records: this tries many times whether a
//! line can be dropped. The final result is read by the real one and compared.

use recount_model::{Fate, MessageKind};

use super::events::{Event, Version, What};

/// The views of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Views {
    /// The strict view: messages and the shown records.
    pub(super) strict: Vec<(u32, u64)>,
    /// Every message in order of first appearance, its fate and its richest record.
    pub(super) full: Vec<(u32, Fate, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    fate: Fate,
    kind: MessageKind,
    rank: u64,
    best: u64,
    /// The shown record.
    shown: Option<u64>,
    /// Its position in the list, while it is shown.
    place: usize,
}

#[derive(Debug, Default)]
struct State {
    /// Per number.
    entries: Vec<Option<Entry>>,
    order: Vec<u32>,
    strict: Vec<u32>,
    after_rewind: bool,
    after_resume: bool,
}

/// Applies the lines.
pub(super) fn views(events: &[Event]) -> Views {
    let mut state = State::default();
    for event in events {
        state.take(&event.what);
    }
    let entry = |id: u32| state.entries.get(id as usize).copied().flatten();
    let shown = state.strict.iter().filter_map(|&id| Some((id, entry(id)?.shown?)));
    let all = state.order.iter().filter_map(|&id| Some((id, entry(id)?)));
    Views {
        strict: shown.collect(),
        full: all.map(|(id, entry)| (id, entry.fate, entry.best)).collect(),
    }
}

impl State {
    fn take(&mut self, what: &What) {
        match what {
            What::Message(version) => {
                self.upsert(version);
                self.show(version);
                self.after_rewind = false;
                self.after_resume = false;
            }
            What::Rewind(id) => {
                let entry = id.and_then(|id| self.entry(id).copied());
                let at = entry.filter(|entry| entry.shown.is_some()).map(|entry| entry.place);
                for id in self.strict.split_off(at.unwrap_or(0)) {
                    self.remove(id, Fate::Rewound);
                }
                self.after_rewind = true;
            }
            What::Checkpoint(checkpoint) => {
                self.after_resume |= checkpoint.resumes;
                self.checkpoint(&checkpoint.elements);
            }
            What::Other { resumes, .. } => self.after_resume |= resumes,
            What::Touch => {}
        }
    }

    fn checkpoint(&mut self, elements: &[Version]) {
        let mut summary = false;
        for version in elements {
            let is_new = self.upsert(version);
            summary |= is_new && self.kind(version.id) == Some(MessageKind::Summary);
        }
        let old = std::mem::take(&mut self.strict);
        for &id in &old {
            if let Some(entry) = self.entry(id) {
                entry.shown = None;
            }
        }
        for version in elements {
            self.show(version);
        }
        let is_said =
            |kind| matches!(kind, MessageKind::Prompt | MessageKind::Nudge | MessageKind::Shell);
        let last = old.iter().rposition(|&id| self.kind(id).is_some_and(is_said));
        let taken_back = last
            .filter(|_| !self.after_rewind && !self.after_resume)
            .filter(|&at| old.get(at).is_some_and(|&id| !self.is_shown(id)));
        for (at, &id) in old.iter().enumerate() {
            if !self.is_shown(id) {
                self.remove(
                    id,
                    if summary {
                        Fate::Compressed
                    } else if taken_back.is_some_and(|from| at >= from) {
                        Fate::Cancelled
                    } else {
                        Fate::Replaced
                    },
                );
            }
        }
    }

    /// Adds a version, and returns whether the message is new.
    fn upsert(&mut self, version: &Version) -> bool {
        let at = version.id as usize;
        if self.entries.len() <= at {
            self.entries.resize(at + 1, None);
        }
        let Some(slot) = self.entries.get_mut(at) else { return false };
        let &Version { rank, kind, hash, .. } = version;
        if let Some(entry) = slot {
            if rank >= entry.rank {
                (entry.rank, entry.kind, entry.best) = (rank, kind, hash);
            }
            return false;
        }
        let fate = Fate::Replaced;
        *slot = Some(Entry { fate, kind, rank, best: hash, shown: None, place: 0 });
        self.order.push(version.id);
        true
    }

    fn show(&mut self, version: &Version) {
        let place = self.strict.len();
        let Some(entry) = self.entry(version.id) else { return };
        let is_new = entry.shown.is_none();
        entry.shown = Some(version.hash);
        entry.fate = Fate::Kept;
        if is_new {
            entry.place = place;
            self.strict.push(version.id);
        }
    }

    fn remove(&mut self, id: u32, fate: Fate) {
        if let Some(entry) = self.entry(id) {
            entry.shown = None;
            entry.fate = fate;
        }
    }

    fn entry(&mut self, id: u32) -> Option<&mut Entry> {
        self.entries.get_mut(id as usize).and_then(Option::as_mut)
    }

    fn kind(&self, id: u32) -> Option<MessageKind> {
        self.entries.get(id as usize).copied().flatten().map(|entry| entry.kind)
    }

    fn is_shown(&self, id: u32) -> bool {
        self.entries.get(id as usize).copied().flatten().is_some_and(|entry| entry.shown.is_some())
    }
}
