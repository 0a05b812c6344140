//! A log without what it repeats: the agent writes a message whole at every change, and the whole list at every resume.
//!
//! What is left out: versions of a message behind which a later one stands that is at least as rich; lists that a later list
//! repeats; notes of when the session was last used, but for the last. What the agent shows, what was ever said, in which
//! order and fate stay as they are.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use super::events::{Checkpoint, Event, Version, What, read};
use super::simulate::{Views, views};
use crate::gemini::native::Object;
use crate::rewrite::{Care, Piece};

/// A list that would shrink by less is left as it is: one byte in this number.
const WORTH: u64 = 10;

/// Returns the log without what it repeats; `None` when it repeats nothing, or is none.
pub(super) fn compacted(path: &Path, care: Care) -> io::Result<Option<Vec<Piece>>> {
    let Some(events) = read(path)? else { return Ok(None) };
    let before: u64 = events.iter().map(|event| event.length).sum();
    let wanted = views(&events);
    let needed = Needed::of(&events);
    let mut events = once(events, &needed);
    if care == Care::Usual {
        for at in (0..events.len()).rev() {
            events = without_list(events, at, &needed, &wanted);
        }
        events = once(events, &needed);
    }
    let events = untouched(events);
    let pieces = pieces(&events);
    let after: u64 = pieces.iter().map(length).sum();
    Ok((after < before).then_some(pieces))
}

/// Records that must stay somewhere: of each message the richest, and those that are whole where others are cut.
#[derive(Debug)]
struct Needed {
    records: HashSet<(u32, u64)>,
}

impl Needed {
    fn of(events: &[Event]) -> Self {
        let mut best: HashMap<u32, (u64, u64)> = HashMap::new();
        let mut cut: HashSet<u32> = HashSet::new();
        for version in versions(events) {
            let richest = best.entry(version.id).or_default();
            if version.rank >= richest.0 {
                *richest = (version.rank, version.hash);
            }
            if version.cut {
                cut.insert(version.id);
            }
        }
        let is_whole = |version: &&Version| !version.cut && cut.contains(&version.id);
        let whole = versions(events).filter(is_whole).map(record);
        let records = best.into_iter().map(|(id, (_, hash))| (id, hash)).chain(whole).collect();
        Self { records }
    }

    fn has(&self, version: &Version) -> bool {
        self.records.contains(&record(version))
    }
}

/// What tells equal records of a message.
fn record(version: &Version) -> (u32, u64) {
    (version.id, version.hash)
}

fn versions(events: &[Event]) -> impl Iterator<Item = &Version> {
    events.iter().flat_map(|event| match &event.what {
        What::Message(version) => std::slice::from_ref(version),
        What::Checkpoint(checkpoint) => checkpoint.elements.as_slice(),
        What::Touch | What::Rewind(_) | What::Other { .. } => &[],
    })
}

/// Leaves out all but the last version of a message between two lines that do something else to the list. It takes the
/// place of the first, so that the order stays.
fn once(events: Vec<Event>, needed: &Needed) -> Vec<Event> {
    let mut kept: Vec<Option<Event>> = events.into_iter().map(Some).collect();
    let mut written: HashMap<u32, Vec<usize>> = HashMap::new();
    for at in 0..=kept.len() {
        match kept.get(at).and_then(Option::as_ref).map(|event| &event.what) {
            Some(What::Message(version)) => written.entry(version.id).or_default().push(at),
            Some(What::Touch) => {}
            _ => {
                for places in written.drain().map(|(_, places)| places) {
                    keep_last(&mut kept, &places, needed);
                }
            }
        }
    }
    kept.into_iter().flatten().collect()
}

fn keep_last(kept: &mut [Option<Event>], places: &[usize], needed: &Needed) {
    let Some((&last, earlier)) = places.split_last() else { return };
    let Some(&first) = earlier.first() else { return };
    // From behind: of equal records the last one stays.
    let mut later: HashSet<(u32, u64)> = HashSet::new();
    for &at in places.iter().rev() {
        let Some(slot) = kept.get_mut(at) else { continue };
        let Some(Event { what: What::Message(version), .. }) = slot else { continue };
        let is_new = later.insert(record(version));
        if at != last && !(is_new && needed.has(version)) {
            *slot = None;
        }
    }
    if kept.get(first).is_some_and(Option::is_none) {
        let next = places.iter().copied().find(|&at| kept.get(at).is_some_and(Option::is_some));
        kept.swap(first, next.unwrap_or(last));
    }
}

/// Leaves out the list at `at` where a later one brings all of it, or it changes nothing; messages that appear in it first stay,
/// on lines of their own.
fn without_list(events: Vec<Event>, at: usize, needed: &Needed, wanted: &Views) -> Vec<Event> {
    let Some(Event { what: What::Checkpoint(checkpoint), length, offset, .. }) = events.get(at)
    else {
        return events;
    };
    let before = events.get(..at).unwrap_or_default();
    let behind = events.get(at + 1..).unwrap_or_default();
    let known: HashSet<u32> = versions(before).map(|version| version.id).collect();
    let others: HashSet<(u32, u64)> =
        versions(before).chain(versions(behind)).map(record).collect();
    let is_only = |version: &Version| needed.has(version) && !others.contains(&record(version));
    let stays = |version: &&Version| is_only(version) || !known.contains(&version.id);
    let line = |version: &Version| Event {
        offset: version.offset,
        length: version.bytes,
        ended: false,
        instead: None,
        what: What::Message(*version),
    };
    let mut lines: Vec<Event> = checkpoint.elements.iter().filter(stays).map(line).collect();
    let &Checkpoint { resumes, touches, tells, .. } = checkpoint;
    if tells || touches {
        let mut update = Object::default();
        update.raw(b"$set", &checkpoint.rest);
        let update = update.end();
        let what = if tells { What::Other { resumes, touches } } else { What::Touch };
        let (length, instead) = (update.len() as u64, Some(update));
        lines.push(Event { offset: *offset, length, ended: false, instead, what });
    }
    let after: u64 = lines.iter().map(|event| event.length + 1).sum();
    if after + length / WORTH > *length {
        return events;
    }
    let mut tried = before.to_vec();
    tried.extend(lines);
    tried.extend(behind.iter().cloned());
    if views(&tried) == *wanted { tried } else { events }
}

/// Drops records of when the session was last used, if a later line repeats them.
fn untouched(events: Vec<Event>) -> Vec<Event> {
    let touches = |event: &Event| match &event.what {
        What::Touch => true,
        What::Other { touches, .. } => *touches,
        What::Checkpoint(checkpoint) => checkpoint.touches,
        What::Message(_) | What::Rewind(_) => false,
    };
    let last = events.iter().rposition(touches);
    let stays = |(at, event): (usize, Event)| {
        (!matches!(event.what, What::Touch) || Some(at) == last).then_some(event)
    };
    events.into_iter().enumerate().filter_map(stays).collect()
}

fn length(piece: &Piece) -> u64 {
    match piece {
        Piece::Kept { bytes, .. } => *bytes,
        Piece::New(bytes) => bytes.len() as u64,
        Piece::Record { span, .. } => span.bytes,
    }
}

/// Writes the lines that are left; neighbours that were neighbours are one piece.
fn pieces(events: &[Event]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for event in events {
        if let Some(text) = &event.instead {
            pieces.push(Piece::New([text.as_slice(), b"\n"].concat()));
            continue;
        }
        let joined = match pieces.last_mut() {
            Some(Piece::Kept { offset, bytes, .. }) if *offset + *bytes == event.offset => {
                *bytes += event.length;
                true
            }
            _ => false,
        };
        if !joined {
            pieces.push(Piece::kept(event.offset, event.length));
        }
        if !event.ended {
            pieces.push(Piece::New(b"\n".to_vec()));
        }
    }
    pieces
}
