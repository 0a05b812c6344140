//! Where a folder that is gone has likely gone to.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use recount_model::{Clue, ClueKind, RecordedPath};
use recount_platform::Lister;
use serde::Serialize;

use crate::clues::git::{GitIdentity, identity};
use crate::scan::SKIPPED;

/// The least that makes a proposal.
const ENOUGH: u32 = 25;
/// From here on it is more than a guess.
const LIKELY: u32 = 50;
/// How many files of a folder are compared, and how deep.
const FILES: usize = 2000;
const DEPTH: usize = 3;

/// A folder that is gone.
#[derive(Clone, Debug)]
pub struct Gone<'a> {
    /// Where it was.
    pub path: &'a RecordedPath,
    /// The repository it held.
    pub repository: Option<&'a GitIdentity>,
    /// When an agent was first used there.
    pub began: Option<Timestamp>,
    /// Files that the sessions speak of.
    pub spoken: &'a Spoken,
}

/// Files that sessions speak of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    /// Relative to the project's folder.
    pub below: BTreeSet<String>,
    /// By name alone.
    pub names: BTreeSet<String>,
}

/// A folder that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The folder.
    pub path: String,
    /// When an agent was first used there.
    pub began: Option<Timestamp>,
}

/// The likely new place of a folder that is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The place.
    pub path: String,
    /// Whether it is more than a guess.
    pub likely: bool,
    /// What speaks for it.
    pub evidence: Vec<Clue>,
}

/// Returns the place that most speaks for, unless another has as much.
pub fn propose(gone: &Gone<'_>, spots: &[Spot]) -> Option<Moved> {
    let mut judged: Vec<(u32, Moved)> = spots
        .iter()
        .filter(|spot| may_be(gone.path.as_str(), &spot.path))
        .map(|spot| judge(gone, spot))
        .filter(|(weight, _)| *weight >= ENOUGH)
        .collect();
    judged
        .sort_by(|(one, first), (other, second)| other.cmp(one).then(first.path.cmp(&second.path)));
    let tied = matches!(judged.as_slice(), [(first, _), (second, _), ..] if first == second);
    if tied { None } else { judged.into_iter().next().map(|(_, moved)| moved) }
}

/// Whether one is not the other, nor above or below it.
fn may_be(old: &str, new: &str) -> bool {
    let (old, new) = (Path::new(old), Path::new(new));
    !old.starts_with(new) && !new.starts_with(old)
}

fn judge(gone: &Gone<'_>, spot: &Spot) -> (u32, Moved) {
    let mut evidence = Vec::new();
    let mut add = |clue, weight: u8, detail: String| {
        evidence.push(Clue { clue, detail, proves: false, weight, names: None });
    };
    let new = RecordedPath::new(spot.path.as_str());
    if let Some(own) = gone.repository.and_then(|_| identity(Path::new(&spot.path)))
        && let Some(known) = gone.repository
    {
        if known.first.is_some() && known.first == own.first {
            add(ClueKind::Repository, 100, "the same first commit".to_owned());
        }
        if let Some(remote) = known.remotes.iter().find(|remote| own.remotes.contains(remote)) {
            add(ClueKind::Repository, 60, format!("the same remote, {remote}"));
        }
    }
    files(gone.spoken, &spot.path, &mut add);
    if new.leaf() == gone.path.leaf() {
        add(ClueKind::Name, 40, "the same name".to_owned());
    }
    if Path::new(&spot.path).parent() == Path::new(gone.path.as_str()).parent() {
        add(ClueKind::Beside, 15, "in the same folder as the old place".to_owned());
    }
    let overlaps = match (gone.began, spot.began) {
        (Some(old), Some(new)) if new >= old => {
            add(ClueKind::Use, 10, "used since the old place was".to_owned());
            false
        }
        (Some(_), Some(_)) => true,
        _ => false,
    };
    let total: u32 = evidence.iter().map(|clue| u32::from(clue.weight)).sum();
    // Both were there at once: then one is not the other.
    let weight = if overlaps { total / 2 } else { total };
    (weight, Moved { path: spot.path.clone(), likely: weight >= LIKELY, evidence })
}

/// Compares the files that sessions speak of with those that are there.
fn files(spoken: &Spoken, folder: &str, add: &mut impl FnMut(ClueKind, u8, String)) {
    let there = |file: &&String| Path::new(folder).join(file).exists();
    let below = spoken.below.iter().filter(there).count();
    let all = spoken.below.len();
    if below > 0 {
        // One file says less than three.
        let share = u8::try_from(20 * all.min(3) * below / all.max(1)).unwrap_or(60);
        add(
            ClueKind::Files,
            share.max(10),
            format!("{below} of {all} files that sessions touched are there"),
        );
        return;
    }
    let names = names_in(Path::new(folder));
    let shared: Vec<&String> = names.intersection(&spoken.names).collect();
    if !shared.is_empty() {
        let weight = u8::try_from(shared.len().saturating_mul(8).min(40)).unwrap_or(40);
        let first: Vec<&str> = shared.iter().take(3).map(|name| name.as_str()).collect();
        let more = if shared.len() > 3 { ", …" } else { "" };
        let detail = format!("sessions speak of files that are there: {}{more}", first.join(", "));
        add(ClueKind::Files, weight, detail);
    }
}

/// Lists the names of files in a folder and below.
fn names_in(folder: &Path) -> BTreeSet<String> {
    let lister = Lister::default();
    let mut names = BTreeSet::new();
    let mut folders = vec![(folder.to_owned(), DEPTH)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && names.len() < FILES {
                names.extend(entry.file_name().to_str().map(str::to_owned));
            }
        }
        if depth > 1 {
            // What cannot be listed has no files to compare.
            let _listed = lister.folders(&folder, &mut |entry| {
                if !entry.name.starts_with('.')
                    && !SKIPPED.contains(&entry.name)
                    && folders.len() < FILES
                {
                    folders.push((folder.join(entry.name), depth - 1));
                }
            });
        }
    }
    names
}
