//! Removes repetitions from a log: the agent writes a message completely at every change, and the whole list at every
//! resume.
//!
//! Removed are: versions of a message with a later one that is at least as rich; lists that a later list repeats; records
//! of the last use, except the last. The strict view, all messages, their order and fate stay the same.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use super::events::{Checkpoint, Event, Version, What, read};
use super::simulate::{Views, views};
use crate::gemini::native::Object;
use crate::rewrite::{CompactMode, Piece};

/// A list that would shrink by less than one part in this number is kept.
const WORTH: u64 = 10;

/// Returns the log without repetitions; `None` if it has none, or is not a log.
pub(super) fn compacted(path: &Path, mode: CompactMode) -> io::Result<Option<Vec<Piece>>> {
    let Some(events) = read(path)? else { return Ok(None) };
    let before: u64 = events.iter().map(|event| event.length).sum();
    let wanted = views(&events);
    let needed = Needed::of(&events);
    let mut events = once(events, &needed);
    if mode == CompactMode::Usual {
        events = without_lists(events, &needed, &wanted);
        events = once(events, &needed);
    }
    let events = untouched(events);
    let pieces = pieces(&events);
    let after: u64 = pieces.iter().map(length).sum();
    Ok((after < before).then_some(pieces))
}

/// Records that must be kept: the richest of each message, and those that are complete where others are cut.
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

/// Returns what identifies equal records of a message.
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

/// Drops all but the last version of a message between two lines that change the list otherwise. It takes the position of
/// the first, so that the order is kept.
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
    // Backwards: of equal records the last one is kept.
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

/// The maximum number of attempts to drop lists; each one reads the log.
const TRIALS: usize = 48;

/// Drops lists if later ones repeat all of them, or they change nothing; messages that appear in them first are kept, on
/// separate lines. First all lists are dropped; if that changes the result of the log, half of them are tried.
fn without_lists(events: Vec<Event>, needed: &Needed, wanted: &Views) -> Vec<Event> {
    let is_list = |event: &Event| matches!(event.what, What::Checkpoint(_));
    let lists: Vec<usize> =
        events.iter().enumerate().filter(|(_, event)| is_list(event)).map(|(at, _)| at).collect();
    let mut left_out = vec![false; events.len()];
    let mut best: Option<Vec<Event>> = None;
    // Backwards, as later lists repeat what earlier ones have.
    let mut open: Vec<&[usize]> = vec![&lists];
    for _ in 0..TRIALS {
        let Some(some) = open.pop() else { break };
        if some.is_empty() {
            continue;
        }
        set(&mut left_out, some, true);
        let tried = without(&events, &left_out, needed);
        if views(&tried) == *wanted {
            best = Some(tried);
            continue;
        }
        set(&mut left_out, some, false);
        if some.len() > 1 {
            let (early, late) = some.split_at(some.len() / 2);
            open.extend([early, late]);
        }
    }
    best.unwrap_or(events)
}

fn set(left_out: &mut [bool], lists: &[usize], is_out: bool) {
    for &at in lists {
        if let Some(slot) = left_out.get_mut(at) {
            *slot = is_out;
        }
    }
}

/// Returns the lines without some of the lists.
fn without(events: &[Event], left_out: &[bool], needed: &Needed) -> Vec<Event> {
    let mut first: HashMap<u32, usize> = HashMap::new();
    // How often each required record is written.
    let mut written: HashMap<(u32, u64), usize> = HashMap::new();
    for (at, event) in events.iter().enumerate() {
        for version in versions(std::slice::from_ref(event)) {
            first.entry(version.id).or_insert(at);
            if needed.has(version) {
                *written.entry(record(version)).or_default() += 1;
            }
        }
    }
    let mut kept: Vec<Vec<Event>> = Vec::with_capacity(events.len());
    for (at, event) in events.iter().enumerate().rev() {
        let is_out = left_out.get(at) == Some(&true);
        let (What::Checkpoint(list), true) = (&event.what, is_out) else {
            kept.push(vec![event.clone()]);
            continue;
        };
        for version in &list.elements {
            if let Some(count) = written.get_mut(&record(version)) {
                *count = count.saturating_sub(1);
            }
        }
        let is_only = |version: &Version| {
            needed.has(version) && written.get(&record(version)).is_none_or(|count| *count == 0)
        };
        let is_first = |version: &Version| first.get(&version.id).is_none_or(|&first| first >= at);
        let lines = instead(event, list, |version| is_only(version) || is_first(version));
        for version in lines.as_deref().map(versions).into_iter().flatten() {
            if let Some(count) = written.get_mut(&record(version)) {
                *count += 1;
            }
        }
        if lines.is_none() {
            for version in &list.elements {
                if let Some(count) = written.get_mut(&record(version)) {
                    *count += 1;
                }
            }
        }
        kept.push(lines.unwrap_or_else(|| vec![event.clone()]));
    }
    kept.into_iter().rev().flatten().collect()
}

/// Returns the lines that replace a list; `None` if they are not much shorter.
fn instead(
    event: &Event,
    list: &Checkpoint,
    stays: impl Fn(&Version) -> bool,
) -> Option<Vec<Event>> {
    let line = |version: &Version| Event {
        offset: version.offset,
        length: version.bytes,
        ended: false,
        instead: None,
        what: What::Message(*version),
    };
    let mut lines: Vec<Event> =
        list.elements.iter().filter(|version| stays(version)).map(line).collect();
    let &Checkpoint { resumes, touches, tells, .. } = list;
    if tells || touches {
        let mut update = Object::default();
        update.raw(b"$set", &list.rest);
        let update = update.end();
        let what = if tells { What::Other { resumes, touches } } else { What::Touch };
        let (length, instead) = (update.len() as u64, Some(update));
        lines.push(Event { offset: event.offset, length, ended: false, instead, what });
    }
    let after: u64 = lines.iter().map(|event| event.length + 1).sum();
    (after + event.length / WORTH <= event.length).then_some(lines)
}

/// Drops records of the last use that a later line repeats.
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

/// Writes the remaining lines; lines that were adjacent are one piece.
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
