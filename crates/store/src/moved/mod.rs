//! Finds the likely new location of a missing folder.

mod contents;

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use jiff::Timestamp;
use recount_model::{Clue, ClueKind, RecordedPath};
use serde::Serialize;

use crate::clues::git::{GitIdentity, identity};
use contents::{Contents, is_distinctive};

/// The minimum weight of a proposal.
const ENOUGH: u32 = 25;
/// The minimum weight of a likely proposal.
const LIKELY: u32 = 50;
/// The maximum number of touched files that are looked for.
const TOUCHED: usize = 60;
/// From this number of files on, it is evidence that none of them exists.
const MANY: usize = 3;

/// A missing folder.
#[derive(Clone, Debug)]
pub struct MissingFolder<'a> {
    /// Its old location.
    pub path: &'a RecordedPath,
    /// The repository it held.
    pub repository: Option<&'a GitIdentity>,
    /// When an agent was first used there.
    pub began: Option<Timestamp>,
    /// Files that the sessions mention.
    pub spoken: &'a MentionedFiles,
}

/// Files that sessions mention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MentionedFiles {
    /// Relative to the project's folder.
    pub below: BTreeSet<String>,
    /// By name alone.
    pub names: BTreeSet<String>,
}

impl MentionedFiles {
    /// Returns the files that sessions touched and that distinguish projects, up to a limit.
    fn touched(&self) -> Vec<&str> {
        let leaf = |path: &str| RecordedPath::new(path).leaf().to_owned();
        let distinctive = self.below.iter().filter(|path| is_distinctive(&leaf(path)));
        let distinctive: Vec<&str> = distinctive.map(String::as_str).collect();
        let step = distinctive.len().div_ceil(TOUCHED).max(1);
        distinctive.into_iter().step_by(step).collect()
    }
}

/// An existing folder.
#[derive(Clone, Debug)]
pub struct FolderCandidate {
    /// The folder.
    path: String,
    /// When an agent was first used there.
    began: Option<Timestamp>,
    /// Its contents, listed on first use.
    contents: OnceCell<Contents>,
    /// Its repository, read on first use.
    repository: OnceCell<Option<GitIdentity>>,
}

impl FolderCandidate {
    /// Creates one from a folder and the time when an agent was first used there.
    pub fn new(path: impl Into<String>, began: Option<Timestamp>) -> Self {
        let (contents, repository) = (OnceCell::new(), OnceCell::new());
        Self { path: path.into(), began, contents, repository }
    }

    fn contents(&self) -> &Contents {
        self.contents.get_or_init(|| Contents::of(Path::new(&self.path)))
    }

    fn repository(&self) -> Option<&GitIdentity> {
        self.repository.get_or_init(|| identity(Path::new(&self.path))).as_ref()
    }
}

/// The likely new location of a missing folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The location.
    pub path: String,
    /// Whether it is more than a guess.
    pub likely: bool,
    /// The evidence.
    pub evidence: Vec<Clue>,
}

/// Returns the location with the highest weight, unless two are equal.
pub fn propose<'a>(
    gone: &MissingFolder<'_>,
    spots: impl IntoIterator<Item = &'a FolderCandidate>,
) -> Option<Moved> {
    let spoken = WantedFiles {
        touched: gone.spoken.touched(),
        names: gone.spoken.names.iter().map(String::as_str).collect(),
    };
    let mut judged: Vec<(u32, Moved)> = spots
        .into_iter()
        .filter(|spot| may_be(gone.path.as_str(), &spot.path))
        .map(|spot| judge(gone, &spoken, spot))
        .filter(|(weight, _)| *weight >= ENOUGH)
        .collect();
    judged
        .sort_by(|(one, first), (other, second)| other.cmp(one).then(first.path.cmp(&second.path)));
    let tied = matches!(judged.as_slice(), [(first, _), (second, _), ..] if first == second);
    if tied { None } else { judged.into_iter().next().map(|(_, moved)| moved) }
}

/// What to look for in a folder.
struct WantedFiles<'a> {
    touched: Vec<&'a str>,
    names: HashSet<&'a str>,
}

/// Whether the paths differ and neither contains the other.
fn may_be(old: &str, new: &str) -> bool {
    let (old, new) = (Path::new(old), Path::new(new));
    !old.starts_with(new) && !new.starts_with(old)
}

fn judge(
    gone: &MissingFolder<'_>,
    spoken: &WantedFiles<'_>,
    spot: &FolderCandidate,
) -> (u32, Moved) {
    let mut evidence = Vec::new();
    let mut add = |clue, weight: u8, detail: String| {
        evidence.push(Clue { clue, detail, proves: false, weight, names: None });
    };
    let new = RecordedPath::new(spot.path.as_str());
    let is_other_repository = repository(gone.repository, spot, &mut add);
    let is_other_content = files(spoken, spot, &mut add);
    if new.leaf() == gone.path.leaf() {
        add(ClueKind::Name, 40, "the same name".to_owned());
    }
    if Path::new(&spot.path).parent() == Path::new(gone.path.as_str()).parent() {
        add(ClueKind::Beside, 15, "in the same folder as the old place".to_owned());
    }
    // Both existed at the same time: then one is not the other.
    let overlaps = gone.began.zip(spot.began).is_some_and(|(old, new)| new < old);
    if !overlaps && gone.began.is_some() && spot.began.is_some() {
        add(ClueKind::Use, 10, "used since the old place was".to_owned());
    }
    let total: u32 = evidence.iter().map(|clue| u32::from(clue.weight)).sum();
    let against = [overlaps, is_other_repository, is_other_content];
    let weight = if against.contains(&true) { total / 2 } else { total };
    (weight, Moved { path: spot.path.clone(), likely: weight >= LIKELY, evidence })
}

/// Compares repositories, and returns whether they certainly differ.
fn repository(
    known: Option<&GitIdentity>,
    spot: &FolderCandidate,
    add: &mut impl FnMut(ClueKind, u8, String),
) -> bool {
    let Some((known, own)) = known.and_then(|known| Some((known, spot.repository()?))) else {
        return false;
    };
    if known.first.is_some() && known.first == own.first {
        add(ClueKind::Repository, 100, "the same first commit".to_owned());
    }
    if let Some(remote) = known.remotes.iter().find(|remote| own.remotes.contains(remote)) {
        add(ClueKind::Repository, 60, format!("the same remote, {remote}"));
    }
    !known.is_same(own)
}

/// Compares the files that sessions mention with the existing ones, and returns whether they certainly differ.
fn files(
    spoken: &WantedFiles<'_>,
    spot: &FolderCandidate,
    add: &mut impl FnMut(ClueKind, u8, String),
) -> bool {
    let WantedFiles { touched, names } = spoken;
    if touched.is_empty() && names.is_empty() {
        return false;
    }
    let contents = spot.contents();
    let there = touched.iter().filter(|file| contents.has(Path::new(&spot.path), file));
    let (below, all) = (there.count(), touched.len());
    if below > 0 {
        // One file is weaker evidence than three.
        let share = u8::try_from(20 * all.min(3) * below / all).unwrap_or(60);
        let detail = format!("{below} of {all} files that sessions touched are there");
        add(ClueKind::Files, share.max(10), detail);
        return false;
    }
    let shared: Vec<&String> =
        contents.names().iter().filter(|name| names.contains(name.as_str())).collect();
    if !shared.is_empty() {
        let weight = u8::try_from(shared.len().saturating_mul(8).min(40)).unwrap_or(40);
        let first: Vec<&str> = shared.iter().take(3).map(|name| name.as_str()).collect();
        let more = if shared.len() > 3 { ", …" } else { "" };
        let detail = format!("sessions speak of files that are there: {}{more}", first.join(", "));
        add(ClueKind::Files, weight, detail);
    }
    shared.is_empty() && all >= MANY
}

#[cfg(test)]
mod tests;
