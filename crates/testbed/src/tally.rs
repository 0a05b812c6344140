//! Counts what a reader must find in a conversation while it is being written.

use crate::report::ExpectedCounts;

/// Counts of the messages that the program's own loader would show, and the positions of prompts among them. Each prompt
/// has what the writer must know to return to it.
#[derive(Debug, Clone)]
pub(crate) struct Tally<T> {
    kept: Vec<ExpectedCounts>,
    prompts: Vec<(usize, T)>,
    /// Every message, shown or not.
    ever: u64,
}

impl<T> Default for Tally<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), prompts: Vec::new(), ever: 0 }
    }
}

impl<T> Tally<T> {
    /// A message that is neither a prompt nor an answer.
    pub(crate) fn other(&mut self) {
        self.add(ExpectedCounts::default());
    }

    pub(crate) fn prompt(&mut self, before: T) {
        self.prompts.push((self.kept.len(), before));
        self.add(ExpectedCounts { prompts: 1, ..ExpectedCounts::default() });
    }

    pub(crate) fn add(&mut self, counts: ExpectedCounts) {
        self.kept.push(ExpectedCounts { messages: 1, ..counts });
        self.ever += 1;
    }

    /// Undoes the last prompts and everything after them; returns the value of the first of these.
    pub(crate) fn cut(&mut self, prompts: usize) -> Option<T> {
        let from = self.prompts.len().checked_sub(prompts.max(1))?;
        let (at, before) = self.prompts.drain(from..).next()?;
        self.kept.truncate(at);
        Some(before)
    }

    /// Goes back to an earlier length.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.kept.truncate(length);
        self.prompts.retain(|(at, _)| *at < length);
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Hides all messages so far.
    pub(crate) fn clear(&mut self) {
        self.kept.clear();
        self.prompts.clear();
    }

    /// Prevents rewinds to before this point.
    pub(crate) fn settle(&mut self) {
        self.prompts.clear();
    }

    /// Starts another session, which begins with these messages; `change` sets what of them counts in it.
    pub(crate) fn inherit(&mut self, change: impl FnMut(&mut ExpectedCounts)) {
        self.kept.iter_mut().for_each(change);
        self.settle();
        self.ever = self.kept.len() as u64;
    }

    pub(crate) fn kept(&self) -> ExpectedCounts {
        self.kept.iter().fold(ExpectedCounts::default(), |sum, one| ExpectedCounts {
            messages: sum.messages + one.messages,
            prompts: sum.prompts + one.prompts,
            answers: sum.answers + one.answers,
            tool_calls: sum.tool_calls + one.tool_calls,
            failed: sum.failed + one.failed,
            cancelled: sum.cancelled + one.cancelled,
            tokens: sum.tokens + one.tokens,
        })
    }

    pub(crate) fn ever(&self) -> u64 {
        self.ever
    }
}
