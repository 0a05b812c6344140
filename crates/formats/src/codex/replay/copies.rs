//! What a thread copied of another one, in releases whose turns have no ids (to 0.98).
//!
//! A fork, or a step back in a conversation, writes the records of the other thread again, all at one moment and with the time of
//! that moment. Two things follow from that:
//!
//! * The own part begins with the turn in which the writing first paused. Such a pause may also come from a slow disk: then too
//!   much is taken for the thread's own, never too little.
//! * A message is the same in every copy if all that was said before it is the same, from the first thread on. That is its id, so
//!   it is counted once, whatever was taken for the thread's own.

use recount_model::MessageKind;

use super::super::record::{Record, Tag, word};
use super::{MADE_UP, Replay};
use crate::source::{id_hash, stable_hash};

/// A pause between records that copying does not make, in milliseconds. Even a scripted client and model take longer for a turn.
const PAUSE: i64 = 10;

/// How much of a text is hashed.
const HASHED: usize = 4096;

impl Replay {
    /// Whether what was used is booked: in a copy without turns it is only known later whether it counts.
    #[inline]
    pub(super) fn books(&self) -> bool {
        self.own || (!self.has_turn_ids && self.meta.own_from.is_none())
    }

    /// Looks for the end of what was copied.
    pub(super) fn watch_copies(&mut self, record: &Record<'_>) {
        if self.has_turn_ids || self.meta.own_from.is_some() {
            return;
        }
        let before = std::mem::replace(&mut self.copied_at, record.time);
        let pause = before
            .zip(record.time)
            .is_some_and(|(before, now)| now.saturating_sub(before) >= PAUSE);
        if pause && record.tag != Tag::Meta {
            let prompt = self.candidate.or(self.asked);
            let from = if begins_turn(record) { self.candidate } else { prompt };
            self.begin_own_part(from.unwrap_or_else(|| self.next_draft()));
        }
    }

    /// Begins the thread's own part, with a message.
    pub(super) fn begin_own_part(&mut self, first: u32) {
        (self.own, self.copied) = (true, first);
    }

    pub(super) fn next_draft(&self) -> u32 {
        u32::try_from(self.drafts.len()).unwrap_or(u32::MAX)
    }

    /// Returns the hash of what is said, where it is needed: outside of turns with ids.
    pub(super) fn hash_of(&mut self, said: &[u8]) -> u64 {
        if self.has_turn() {
            return 0;
        }
        self.is_without_turns = true;
        id_hash(said.get(..HASHED).unwrap_or(said)) ^ said.len() as u64
    }

    /// Notes the first words of an answer.
    pub(super) fn hear(&mut self, answer: u32, said: Option<&[u8]>) {
        if self.has_turn() || self.draft(answer).is_none_or(|answer| answer.words != 0) {
            return;
        }
        let hash = self.hash_of(said.unwrap_or_default());
        if let Some(answer) = self.draft_mut(answer) {
            answer.words = hash;
        }
    }

    /// Leaves what copied requests used to the thread that made them.
    pub(in super::super) fn strip_copies(&mut self) {
        let copied = if self.own { self.copied as usize } else { self.drafts.len() };
        if self.meta.own_from.is_none() {
            for draft in self.drafts.iter_mut().take(copied) {
                draft.tokens = None;
            }
        }
    }

    /// Gives messages outside of turns with ids one that is the same in every copy.
    pub(in super::super) fn name_by_words(&mut self) {
        if !self.is_without_turns {
            return;
        }
        let root = self.meta.root.as_deref().or(self.meta.id.as_deref()).filter(|_| !self.is_bare);
        // A copy of the first releases does not name the thread that it was copied from: an answer with an id of its own does.
        let mut is_anchored = root.is_some();
        let mut turn = stable_hash(&root);
        let mut number = 0_u32;
        for at in 0..self.drafts.len() {
            let answer = self.answer_to(at);
            let Some(draft) = self.drafts.get_mut(at) else { break };
            let is_made_up = draft.id.starts_with(MADE_UP);
            is_anchored |= draft.kind == MessageKind::Answer && !is_made_up;
            let letter = match draft.kind {
                MessageKind::Prompt => {
                    (turn, number) = (stable_hash(&(turn, draft.words, answer)), 0);
                    'p'
                }
                MessageKind::Answer => 'a',
                MessageKind::Summary => 's',
                MessageKind::Context
                | MessageKind::Hook
                | MessageKind::ToolResult
                | MessageKind::Shell
                | MessageKind::Notice
                | MessageKind::Nudge => {
                    if draft.tokens.is_none() {
                        continue;
                    }
                    'x'
                }
            };
            number += 1;
            if is_made_up && is_anchored {
                draft.id = format!("{turn:016x}:{letter}{number}").into();
            }
        }
    }

    /// Returns a hash of the answer to a prompt. Who asks the same again in another fork gets another answer.
    fn answer_to(&self, prompt: usize) -> u64 {
        let said = |kind| matches!(kind, MessageKind::Prompt | MessageKind::Answer);
        let mut drafts = self.drafts.iter().skip(prompt);
        if drafts.next().is_none_or(|draft| draft.kind != MessageKind::Prompt) {
            return 0;
        }
        let next = drafts.find(|draft| said(draft.kind));
        let answer = next.filter(|next| next.kind == MessageKind::Answer);
        answer.map_or(0, |answer| answer.words)
    }
}

/// Whether a record may be the first one of a turn: what a user says, or what comes with it.
fn begins_turn(record: &Record<'_>) -> bool {
    let fields = &record.fields;
    match record.tag {
        Tag::Item => {
            let is_answer = fields.role.and_then(word) == Some(b"assistant");
            fields.kind() == b"message" && !is_answer
        }
        Tag::Event => matches!(fields.kind(), b"user_message" | b"task_started" | b"turn_started"),
        Tag::Meta
        | Tag::Header
        | Tag::TurnContext
        | Tag::Compacted
        | Tag::Usage
        | Tag::Skipped
        | Tag::Unknown => false,
    }
}
