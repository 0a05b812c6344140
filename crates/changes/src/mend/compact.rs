//! Logs without what they repeat.

use std::path::Path;

use recount_engine::Progress;
use recount_formats::native::{HeadRequest, HeaderOverrides};
use recount_formats::rewrite::{Care, Piece, Shape};
use recount_formats::{Rewriter, Source};
use recount_model::{Fate, FileRole, Grammar, SessionFacts};
use recount_writer::RealDisk;
use recount_writer::change::ChangeDetails;

use super::preview::Preview;
use super::revision::Revision;
use crate::sessions::steps::{role, subject};
use crate::{Changes, Deed, Error, Notice, Proposal, Reason};

/// What is to be compacted.
#[derive(Clone, Debug, Default)]
pub struct Compaction {
    /// The sessions; all when there are none.
    pub sessions: Vec<String>,
    /// By how many percent a file must shrink.
    pub min_saving: u64,
    /// Whether what was undone is left out, too.
    pub strict_only: bool,
}

impl Changes<'_> {
    /// Plans to write logs down once more, without what they repeat.
    ///
    /// # Errors
    /// If an argument names none, or several; if a file cannot be read.
    pub fn compact_plan(
        self,
        wanted: &Compaction,
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        let mut offer = self.offer("compact");
        let chosen = self.all_chosen(&wanted.sessions, &mut offer, progress)?;
        let total: u64 = chosen.iter().map(|facts| facts.bytes()).sum();
        let mut done = 0;
        for facts in chosen.iter().filter(|_| !wanted.sessions.is_empty()) {
            must_rewrite(facts, Deed::Compact)?;
        }
        for facts in &chosen {
            compact(&mut offer, facts, wanted)?;
            done += facts.bytes();
            progress.advance(done, total);
        }
        Ok(offer)
    }
}

fn compact(offer: &mut Proposal, facts: &SessionFacts, wanted: &Compaction) -> Result<(), Error> {
    let Some((source, rewriter)) = rewriter(facts) else { return Ok(()) };
    let mut is_told = false;
    for file in facts.own_files().filter(|file| file.grammar == Grammar::Jsonl) {
        if !matches!(file.role, FileRole::Main | FileRole::Part | FileRole::Copy) {
            continue;
        }
        let path: &Path = file.path.as_ref();
        let unread = |source| Error::unreadable(path, source);
        let seen = Preview::of_file(rewriter, Grammar::Jsonl, path).map_err(unread)?;
        if !seen.loadable {
            continue;
        }
        let smaller = if wanted.strict_only {
            Some(strict_only(source, rewriter, facts, path, &seen)?)
        } else {
            smaller(rewriter, path, &seen).map_err(unread)?
        };
        let Some(revision) = smaller else { continue };
        let about = ChangeDetails { session: Some(facts.id.as_str()), what: role(file.role) };
        offer.plan.replace(&RealDisk, path, revision.content(), about)?;
        let saves = offer.plan.steps.last().is_some_and(|step| {
            let bytes = |state: &Option<recount_writer::change::FileState>| {
                state.as_ref().map_or(0, |state| state.bytes)
            };
            let (before, after) = (bytes(&step.before), bytes(&step.after));
            after < before && (before - after) * 100 >= before * wanted.min_saving
        });
        if !saves {
            offer.plan.steps.pop();
            continue;
        }
        let undone = seen.full.iter().filter(|said| said.fate != Fate::Kept).count();
        if wanted.strict_only && undone > 0 {
            let session = facts.id.clone();
            offer.notice(Notice::UndoneToTrash { messages: undone, session });
        }
        is_told = true;
    }
    if is_told {
        offer.plan.sessions.push(subject(facts));
    }
    Ok(())
}

/// Returns who writes the session's files anew.
pub(crate) fn rewriter(
    facts: &SessionFacts,
) -> Option<(&'static dyn Source, &'static dyn Rewriter)> {
    let source = recount_formats::SOURCES.iter().find(|source| source.name() == facts.source)?;
    Some((*source, source.rewriter()?))
}

/// Returns who writes the session's files anew.
///
/// # Errors
/// If nobody does.
pub(crate) fn must_rewrite(
    facts: &SessionFacts,
    done: Deed,
) -> Result<(&'static dyn Source, &'static dyn Rewriter), Reason> {
    rewriter(facts).ok_or(Reason::NotRewritten { source_name: facts.source, done })
}

/// Returns the log without what it repeats, if everybody would see the same in it.
fn smaller(
    rewriter: &'static dyn Rewriter,
    path: &Path,
    before: &Preview,
) -> std::io::Result<Option<Revision>> {
    for care in [Care::Usual, Care::Greater] {
        let Some(pieces) = rewriter.compacted(path, care)? else { return Ok(None) };
        let revision = Revision::new(rewriter, vec![path.to_owned()], pieces);
        if Preview::of(rewriter, Grammar::Jsonl, &revision)?.is_same(before) {
            return Ok(Some(revision));
        }
    }
    Ok(None)
}

/// Returns the log with what the agent loads, and nothing else.
fn strict_only(
    source: &dyn Source,
    rewriter: &'static dyn Rewriter,
    facts: &SessionFacts,
    path: &Path,
    seen: &Preview,
) -> Result<Revision, Error> {
    let outline = &seen.outline;
    let mut pieces = vec![Piece::New(head(source, facts, seen))];
    for shown in &outline.strict {
        let Some(version) = outline.versions.get(shown.version as usize) else { continue };
        pieces.push(Piece::Record { file: 0, span: version.span, shape: Shape::Line(None) });
        pieces.push(Piece::New(b"\n".to_vec()));
    }
    let revision = Revision::new(rewriter, vec![path.to_owned()], pieces);
    let unread = |source| Error::unreadable(path, source);
    let after = Preview::of(rewriter, Grammar::Jsonl, &revision).map_err(unread)?;
    if after.strict != seen.strict || !after.loadable {
        return Err(Error::NotTheSame { path: path.to_owned() });
    }
    Ok(revision)
}

/// Writes the head of a log from what a file says of the session as a whole.
pub(crate) fn head(source: &dyn Source, facts: &SessionFacts, seen: &Preview) -> Vec<u8> {
    let Some(form) = source.native_format() else { return Vec::new() };
    let fields = seen.outline.head.fields.clone().unwrap_or_default();
    let hash = facts.project.hash.as_ref().map(ToString::to_string);
    let by_path = || Some(source.project_hash(facts.project.path.as_ref()?.as_str())?.to_string());
    let lines = form.head(&HeadRequest {
        files: &[(FileRole::Main, fields)],
        id: &facts.id,
        project_hash: hash.or_else(by_path).as_deref(),
        started: facts.started,
        updated: facts.updated,
        overrides: HeaderOverrides::default(),
    });
    lines.into_iter().flat_map(|line| line.into_iter().chain(*b"\n")).collect()
}
