//! Messages while they are read: how they are added and numbered, and which records belong to them.

use recount_model::{Fate, MessageKind, Span};

use super::super::excerpt::push_number;
use super::{Draft, MADE_UP, Replay, Standing};
use crate::outline::Version;

/// How long a UUID is.
const UUID: usize = 36;

impl Replay {
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    pub(super) fn context(&mut self, span: Span, time: Option<i64>, standing: Standing) -> u32 {
        let draft = self.add(MessageKind::Context, None, span, time);
        if let Some(draft) = self.draft_mut(draft) {
            draft.standing = standing;
        }
        draft
    }

    pub(super) fn notice(&mut self, span: Span, time: Option<i64>) {
        self.add(MessageKind::Notice, None, span, time);
    }

    pub(super) fn add(
        &mut self,
        kind: MessageKind,
        id: Option<String>,
        span: Span,
        time: Option<i64>,
    ) -> u32 {
        let id = id.map_or_else(|| self.made_up_id(span, letter(kind)), Into::into);
        // What a sub-agent's parent said is context to it.
        let copied = !self.own && self.meta.own_from.is_some();
        let kind = if copied { MessageKind::Context } else { kind };
        let version = self.version(span);
        let number = u32::try_from(self.drafts.len()).unwrap_or(u32::MAX);
        self.drafts.push(Draft {
            id,
            kind,
            fate: Fate::Kept,
            time,
            version,
            tokens: None,
            model: None,
            tools: Vec::new(),
            standing: Standing::Sure,
            words: 0,
        });
        self.alive.push(number);
        number
    }

    /// Makes up an id that is the same in every copy of the record, as far as that can be.
    pub(super) fn made_up_id(&mut self, span: Span, letter: char) -> Box<str> {
        let is_said = matches!(letter, 'p' | 'a');
        // The same memory for every id; each is then copied at its own length.
        let mut id = std::mem::take(&mut self.scratch);
        id.clear();
        let number = if let Some(turn) = self.turn.as_deref().filter(|_| is_said && self.has_turn())
        {
            self.in_turn += 1;
            id.push_str(turn);
            id.push(':');
            id.push(letter);
            u64::from(self.in_turn)
        } else {
            id.push_str(MADE_UP);
            if span.line > 0 { u64::from(span.line) } else { span.offset }
        };
        push_number(&mut id, number);
        let made_up = id.as_str().into();
        self.scratch = id;
        made_up
    }

    /// Whether there is a turn whose id no other has: some releases count them from zero in each thread.
    #[inline]
    pub(super) fn has_turn(&self) -> bool {
        self.turn.as_deref().is_some_and(|turn| turn.len() == UUID)
    }

    pub(super) fn link(&mut self, draft: u32, span: Span) {
        let version = self.version(span);
        self.links.push((draft, version));
    }

    pub(super) fn version(&mut self, span: Span) -> u32 {
        let version = u32::try_from(self.versions.len()).unwrap_or(u32::MAX);
        self.versions.push(Version { span, before: None, rank: 1 });
        version
    }

    pub(super) fn draft(&self, number: u32) -> Option<&Draft> {
        self.drafts.get(number as usize)
    }

    pub(super) fn draft_mut(&mut self, number: u32) -> Option<&mut Draft> {
        self.drafts.get_mut(number as usize)
    }
}

fn letter(kind: MessageKind) -> char {
    if kind == MessageKind::Answer { 'a' } else { 'x' }
}
