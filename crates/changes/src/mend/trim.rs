//! Turns of a session that its agent will no longer load.

use std::path::Path;

use recount_engine::{Opened, Progress, View};
use recount_formats::Rewriter;
use recount_formats::outline::{Outline, VisibleMessage};
use recount_formats::rewrite::{Piece, Shape};
use recount_formats::source::{Detail, SessionFile};
use recount_model::{FileRole, Grammar, MessageKind};
use recount_writer::RealDisk;
use recount_writer::change::ChangeDetails;

use super::compact::{head, must_rewrite};
use super::preview::{Preview, Record};
use super::revision::Revision;
use crate::sessions::steps::{role, subject};
use crate::{Changes, Deed, Error, Notice, Proposal};

/// Which turns are dropped.
#[derive(Clone, Debug)]
pub enum Trim {
    /// All but those from one to another.
    Keep(Option<TurnAt>, Option<TurnAt>),
    /// All but this number of turns at the end.
    KeepLast(usize),
    /// Those from one to another.
    Drop(TurnAt, TurnAt),
}

/// A turn, by its number or by a message in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnAt {
    /// The n-th, from 1.
    Number(usize),
    /// The one with the message whose id begins like this.
    Message(String),
}

/// What stands between a prompt and the next, as the agent loads it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Turn {
    /// Its number, from 1.
    pub number: usize,
    /// The prompt.
    pub prompt: String,
    /// How many messages it has.
    pub messages: usize,
    /// How many bytes they take.
    pub bytes: u64,
}

impl Changes<'_> {
    /// Lists the turns of a session that its agent would load.
    ///
    /// # Errors
    /// If an argument names none, or several; if the agent cannot load the session.
    pub fn turns(self, wanted: &str, progress: &dyn Progress) -> Result<Vec<Turn>, Error> {
        let opened = self.engine.open(wanted, progress)?;
        let mut turns: Vec<Turn> = Vec::new();
        let messages = opened.messages(View::Strict).map(|m| m.in_detail(Detail::Gist));
        for message in messages.into_iter().flatten().flatten() {
            if message.kind == MessageKind::Prompt {
                let words: Vec<&str> = message.display_text.split_whitespace().take(40).collect();
                let (number, prompt) = (turns.len() + 1, words.join(" "));
                turns.push(Turn { number, prompt, messages: 0, bytes: 0 });
            }
            if let Some(turn) = turns.last_mut() {
                turn.messages += 1;
                turn.bytes += message.place.bytes;
            }
        }
        Ok(turns)
    }

    /// Plans to drop turns from what an agent will load.
    ///
    /// Where the agent knows lists that replace all before them, and `rewrite` is not wished for, such a list is appended: what is
    /// dropped stays in the file. Elsewhere the file is rewritten without it.
    ///
    /// # Errors
    /// If a turn is not there, nothing would be left, or the agent cannot load the session.
    pub fn trim_plan(
        self,
        wanted: &str,
        trim: &Trim,
        rewrite: bool,
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        let opened = self.engine.open(wanted, progress)?;
        if opened.is_saved() {
            return Err(Error::not_a_session(wanted));
        }
        let (source, rewriter) = must_rewrite(&opened.facts, Deed::Trim)?;
        let is_main = |session_file: &&SessionFile| session_file.role == FileRole::Main;
        let session_file = opened.session_files().files.iter().find(is_main);
        let session_file = session_file.ok_or_else(|| Error::not_a_session(wanted))?;
        let path = &session_file.file.at.path;
        let unread = |source| Error::unreadable(path, source);
        let grammar = session_file.file.outline.grammar;
        let before = Preview::of_file(rewriter, grammar, path).map_err(unread)?;
        if !before.loadable {
            return Err(Error::NotLoadable { path: path.clone() });
        }
        let kept = kept(&before.outline, trim)?;
        let mut offer = self.offer("trim");
        let dropped = before.strict.len() - kept.len();
        if dropped == 0 {
            return Ok(offer);
        }
        let release = self.engine.release(source);
        let appends =
            grammar == Grammar::Jsonl && !rewrite && rewriter.knows_lists(release.as_deref());
        let pieces = match (grammar, appends) {
            (Grammar::Json, _) => document(rewriter, &before, &kept),
            (Grammar::Jsonl, true) => appended(rewriter, path, &before, &kept).map_err(unread)?,
            (Grammar::Jsonl, false) => rewritten(&opened, &before, &kept),
        };
        let revision = Revision::new(rewriter, vec![path.clone()], pieces);
        let after = Preview::of(rewriter, grammar, &revision).map_err(unread)?;
        if !is_faithful(&before, &after, &kept, appends) {
            return Err(Error::NotTheSame { path: path.clone() });
        }
        let id = opened.facts.id.as_str();
        let about = ChangeDetails { session: Some(id), what: role(FileRole::Main) };
        offer.plan.replace(&RealDisk, path, revision.content(), about)?;
        offer.plan.sessions.push(subject(&opened.facts));
        offer.notice(Notice::Trimmed { messages: dropped, in_file: appends });
        Ok(offer)
    }
}

/// Numbers the messages that the agent loads by turn; what stands before the first prompt is turn 0.
fn numbered(outline: &Outline) -> Vec<usize> {
    let mut turn = 0;
    let number = |shown: &VisibleMessage| {
        let entry = outline.entries.get(shown.entry as usize);
        turn += usize::from(entry.is_some_and(|entry| entry.kind == MessageKind::Prompt));
        turn
    };
    outline.strict.iter().map(number).collect()
}

/// Returns the places in the agent's view that stay.
fn kept(outline: &Outline, trim: &Trim) -> Result<Vec<usize>, Error> {
    let turns = numbered(outline);
    let last = turns.last().copied().unwrap_or(0);
    let find = |at: &TurnAt| match at {
        TurnAt::Number(number) if (1..=last).contains(number) => Ok(*number),
        TurnAt::Number(number) => Err(Error::NoTurn { wanted: number.to_string(), turns: last }),
        TurnAt::Message(start) => {
            let is_it = |shown: &VisibleMessage| {
                let entry = outline.entries.get(shown.entry as usize);
                entry.and_then(|e| e.id.as_deref()).is_some_and(|id| id.starts_with(&**start))
            };
            let place = outline.strict.iter().position(is_it);
            let turn = place.and_then(|place| turns.get(place)).copied().filter(|turn| *turn > 0);
            turn.ok_or_else(|| Error::NoTurn { wanted: start.clone(), turns: last })
        }
    };
    let (stays_from, stays_to, is_drop) = match trim {
        Trim::Keep(from, to) => {
            (from.as_ref().map_or(Ok(1), find)?, to.as_ref().map_or(Ok(last), find)?, false)
        }
        Trim::KeepLast(many) => ((last + 1).saturating_sub(*many).max(1), last, false),
        Trim::Drop(from, to) => (find(from)?, find(to)?, true),
    };
    let stays = |turn: usize| turn == 0 || (stays_from..=stays_to).contains(&turn) != is_drop;
    if !turns.iter().any(|&turn| turn > 0 && stays(turn)) {
        return Err(Error::NothingLeft);
    }
    let places = turns.iter().enumerate().filter(|&(_, &turn)| stays(turn));
    Ok(places.map(|(place, _)| place).collect())
}

/// The messages that stay, each in a shape.
fn records<'a>(
    seen: &'a Preview,
    kept: &'a [usize],
    shape: &'a Shape,
) -> impl Iterator<Item = Piece> + 'a {
    let outline = &seen.outline;
    kept.iter().filter_map(move |&place| {
        let shown = outline.strict.get(place)?;
        let span = outline.versions.get(shown.version as usize)?.span;
        Some(Piece::Record { file: 0, span, shape: shape.clone() })
    })
}

fn document(rewriter: &dyn Rewriter, seen: &Preview, kept: &[usize]) -> Vec<Piece> {
    let frame = rewriter.document(&seen.outline.head.fields.clone().unwrap_or_default());
    frame.around(records(seen, kept, &Shape::Element(None)))
}

fn rewritten(opened: &Opened, seen: &Preview, kept: &[usize]) -> Vec<Piece> {
    let mut pieces = vec![Piece::New(head(opened.source(), &opened.facts, seen))];
    for record in records(seen, kept, &Shape::Line(None)) {
        pieces.extend([record, Piece::New(b"\n".to_vec())]);
    }
    pieces
}

/// The file as it is, and behind it a list that replaces all before it.
fn appended(
    rewriter: &dyn Rewriter,
    path: &Path,
    seen: &Preview,
    kept: &[usize],
) -> std::io::Result<Vec<Piece>> {
    let mut pieces = vec![Piece::kept(0, std::fs::metadata(path)?.len())];
    if !ends_line(path)? {
        pieces.push(Piece::New(b"\n".to_vec()));
    }
    pieces.extend(rewriter.list().around(records(seen, kept, &Shape::Line(None))));
    Ok(pieces)
}

/// Whether a file ends with a line break.
fn ends_line(path: &Path) -> std::io::Result<bool> {
    let tail = recount_formats::bytes::read_tail(path, 1)?;
    Ok(tail.last().is_none_or(|byte| *byte == b'\n'))
}

/// Whether the agent would load just what stays, under the same head, and nothing of the rest was lost by a list.
fn is_faithful(before: &Preview, after: &Preview, kept: &[usize], appended: bool) -> bool {
    let wanted: Vec<&Record> = kept.iter().filter_map(|&at| before.strict.get(at)).collect();
    let strict: Vec<&Record> = after.strict.iter().collect();
    let id = |seen: &Preview| -> Vec<Option<Box<str>>> {
        seen.full.iter().map(|said| said.richest.0.clone()).collect()
    };
    after.loadable
        && wanted == strict
        && (!appended || (id(before) == id(after) && before.fields == after.fields))
}
