//! What a reader must find in a conversation while it is being written.

use crate::report::ExpectedCounts;

/// The messages that the program's own loader would show, as counts, and where prompts stand among them. With each prompt goes
/// what the writer must know to return to it.
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

    /// Undoes the last prompts and all that came behind them; returns what was kept with the first of these.
    pub(crate) fn cut(&mut self, prompts: usize) -> Option<T> {
        let from = self.prompts.len().checked_sub(prompts.max(1))?;
        let (at, before) = self.prompts.drain(from..).next()?;
        self.kept.truncate(at);
        Some(before)
    }

    /// Goes back to a length that was noted before.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.kept.truncate(length);
        self.prompts.retain(|(at, _)| *at < length);
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// All that was said is not shown any more.
    pub(crate) fn clear(&mut self) {
        self.kept.clear();
        self.prompts.clear();
    }

    /// No rewind goes back before here.
    pub(crate) fn settle(&mut self) {
        self.prompts.clear();
    }

    /// From here on another session is written, which begins with these messages; `change` says what of them counts in it.
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
