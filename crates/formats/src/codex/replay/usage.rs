//! What requests used.

use recount_model::{MessageKind, Span, Tokens};

use super::Replay;

impl Replay {
    /// Books what a request used: for the answer that has no figures yet, else for the one that follows.
    pub(super) fn book(&mut self, tokens: Tokens, span: Span, time: Option<i64>) {
        self.flush();
        let books = self.books();
        let open = self.answer.and_then(|answer| self.draft_mut(answer));
        match open.filter(|answer| answer.tokens.is_none()) {
            Some(answer) => {
                answer.tokens = Some(tokens).filter(|_| books);
                self.is_closed |= books;
            }
            None => self.pending = Some((tokens, span, time)),
        }
    }

    /// Adds a notice for figures without an answer.
    pub(super) fn flush(&mut self) {
        let books = self.books();
        let Some((tokens, span, time)) = self.pending.take().filter(|_| books) else { return };
        let draft = self.add(MessageKind::Notice, None, span, time);
        let model = self.model;
        if let Some(draft) = self.draft_mut(draft) {
            (draft.tokens, draft.model) = (Some(tokens), model);
        }
    }
}
