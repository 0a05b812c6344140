//! The outline of a thread, when its records are read.

use recount_model::{Fate, Grammar, MessageKind, Tokens};

use crate::outline::{CallEnd, MessageEntry, Outline, PieceRange, VisibleMessage};

use super::replay::{Draft, MADE_UP, Replay, Standing};
use super::state::CodexState;

/// Makes an outline of all that was read.
pub(super) fn outline(mut replay: Replay, grammar: Grammar) -> Outline {
    replay.finish();
    settle(&mut replay);
    replay.name_by_words();
    replay.strip_copies();
    let places = places(&replay);
    let (pieces, ranges) = pieces(&replay);
    let mut entries: Vec<MessageEntry> = Vec::with_capacity(replay.drafts.len());
    for ((draft, place), pieces) in replay.drafts.iter_mut().zip(&places).zip(ranges) {
        if place.is_some() {
            entries.push(entry(draft, pieces));
        }
    }
    let shown = |draft: &u32| {
        let entry = places.get(*draft as usize).copied().flatten()?;
        let version = entries.get(entry as usize)?.best;
        Some(VisibleMessage { entry, version })
    };
    let strict: Vec<VisibleMessage> = replay.alive.iter().filter_map(shown).collect();
    let is_said =
        |entry: &MessageEntry| matches!(entry.kind, MessageKind::Prompt | MessageKind::Answer);
    let has_conversation = entries.iter().any(is_said);
    let resumable = entries.iter().any(|entry| is_said(entry) && entry.fate == Fate::Kept);
    let first_prompt = replay.first_prompt.or(replay.goal);
    Outline {
        grammar,
        head: replay.meta.head(replay.updated),
        loadable: replay.meta.loadable,
        entries,
        versions: replay.versions,
        pieces,
        strict,
        models: replay.models,
        tools: replay.tools,
        agent_calls: replay.agent_calls,
        first_prompt,
        last_prompt: replay.last_prompt,
        has_conversation,
        resumable,
        state: CodexState::of(&replay.meta).encode(),
        problems: replay.problems,
        others: Vec::new(),
    }
}

/// Decides what is only known at the end: which texts were typed, in files without events.
fn settle(replay: &mut Replay) {
    let without_events = !replay.has_prompts;
    let last = replay.drafts.len().saturating_sub(1);
    let mut next: Option<usize> = None;
    for at in (0..replay.drafts.len()).rev() {
        let Some((upper, later)) = replay.drafts.split_at_mut_checked(at + 1) else { continue };
        let Some(draft) = upper.last_mut() else { continue };
        let is_prompt = match draft.standing {
            Standing::Told => true,
            // The event was not written any more.
            Standing::Perhaps => without_events || at == last,
            Standing::Sure | Standing::Shadow => false,
        };
        if is_prompt {
            draft.kind = MessageKind::Prompt;
        }
        let is_made_up = draft.id.starts_with(MADE_UP);
        if draft.kind == MessageKind::Answer {
            next = (!is_made_up).then_some(at);
        } else if draft.kind == MessageKind::Prompt
            && is_made_up
            && let Some(answer) = next.take().and_then(|next| later.get(next - at - 1))
        {
            // Prompts have no ids before 0.8x, and are copied with their answers.
            draft.id = format!("{}:p", answer.id).into();
        }
    }
    if without_events {
        replay.first_prompt = replay.first_prompt.take().or_else(|| replay.first_candidate.take());
        replay.last_prompt = replay.last_candidate.take().or_else(|| replay.last_prompt.take());
    }
}

/// Numbers the messages that stay: answers of events only stay in files without items.
fn places(replay: &Replay) -> Vec<Option<u32>> {
    let mut next = 0;
    let stays = |draft: &Draft| draft.standing != Standing::Shadow || !replay.has_answers;
    let number = |draft: &Draft| {
        stays(draft).then(|| {
            next += 1;
            next - 1
        })
    };
    replay.drafts.iter().map(number).collect()
}

/// Sorts the pieces by the message they belong to.
fn pieces(replay: &Replay) -> (Vec<u32>, Vec<PieceRange>) {
    let mut ranges = vec![PieceRange::default(); replay.drafts.len()];
    for (draft, _) in &replay.links {
        if let Some(range) = ranges.get_mut(*draft as usize) {
            range.count += 1;
        }
    }
    let mut start = 0;
    for range in &mut ranges {
        range.start = start;
        start += range.count;
    }
    let mut pieces = vec![0; replay.links.len()];
    let mut filled: Vec<u32> = ranges.iter().map(|range| range.start).collect();
    for (draft, version) in &replay.links {
        if let Some(at) = filled.get_mut(*draft as usize) {
            if let Some(slot) = pieces.get_mut(*at as usize) {
                *slot = *version;
            }
            *at += 1;
        }
    }
    (pieces, ranges)
}

fn entry(draft: &mut Draft, pieces: PieceRange) -> MessageEntry {
    let ended = |end| draft.tools.iter().filter(|tool| tool.end == end).count();
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let calls =
        [count(draft.tools.len()), count(ended(CallEnd::Failed)), count(ended(CallEnd::Cancelled))];
    MessageEntry {
        id: Some(std::mem::take(&mut draft.id)),
        kind: draft.kind,
        fate: draft.fate,
        time: draft.time,
        best: draft.version,
        last: draft.version,
        pieces,
        tokens: draft.tokens.filter(|tokens| *tokens != Tokens::default()),
        model: draft.model,
        calls,
        rounds: 0,
        tools: std::mem::take(&mut draft.tools).into(),
    }
}
