//! Selects matching messages of a transcript, with context.

use std::collections::VecDeque;

use recount_engine::Finder;
use recount_model::Message;

use crate::failure::Failure;

/// Selects messages as they are read; all of them without a query.
#[derive(Debug)]
pub(crate) struct Picked {
    finder: Option<Finder>,
    context: usize,
    /// Recent messages, in case the next one matches.
    before: VecDeque<(usize, Message)>,
    /// The number of context messages still to be shown.
    behind: usize,
    found: usize,
}

impl Picked {
    pub(crate) fn new(finder: Option<Finder>, context: usize) -> Self {
        Self { finder, context, before: VecDeque::new(), behind: 0, found: 0 }
    }

    /// Returns the number of matches.
    pub(crate) fn found(&self) -> usize {
        self.found
    }

    /// Calls `show` with a matching message, and with those before and after it.
    pub(crate) fn pick(
        &mut self,
        number: usize,
        message: &Message,
        mut show: impl FnMut(usize, &Message) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Some(finder) = &self.finder else { return show(number, message) };
        if finder.finds(message) {
            self.found += 1;
            self.behind = self.context;
            for (number, message) in self.before.drain(..) {
                show(number, &message)?;
            }
            return show(number, message);
        }
        if self.behind > 0 {
            self.behind -= 1;
            return show(number, message);
        }
        if self.context > 0 {
            if self.before.len() == self.context {
                self.before.pop_front();
            }
            self.before.push_back((number, message.clone()));
        }
        Ok(())
    }
}
