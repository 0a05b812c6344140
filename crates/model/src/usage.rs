//! Tokens per kind, and their sums.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// What one request, or many, used. `input` includes `cached` and `cache_write`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Prompt tokens, those read from and written to the cache included.
    pub input: u64,
    /// Tokens of the answer.
    pub output: u64,
    /// The part of `input` that came from the cache.
    pub cached: u64,
    /// The part of `input` that was written to the cache.
    pub cache_write: u64,
    /// The part of `cache_write` that is kept for an hour, where the service charges by time.
    pub cache_write_1h: u64,
    /// Tokens spent thinking.
    pub thoughts: u64,
    /// Tokens of tool prompts.
    pub tool: u64,
    /// The service's own total.
    pub total: u64,
}

impl Tokens {
    /// Returns what is more than in `other`, per kind.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cached: self.cached.saturating_sub(other.cached),
            cache_write: self.cache_write.saturating_sub(other.cache_write),
            cache_write_1h: self.cache_write_1h.saturating_sub(other.cache_write_1h),
            thoughts: self.thoughts.saturating_sub(other.thoughts),
            tool: self.tool.saturating_sub(other.tool),
            total: self.total.saturating_sub(other.total),
        }
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached = self.cached.saturating_add(other.cached);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_write_1h = self.cache_write_1h.saturating_add(other.cache_write_1h);
        self.thoughts = self.thoughts.saturating_add(other.thoughts);
        self.tool = self.tool.saturating_add(other.tool);
        self.total = self.total.saturating_add(other.total);
    }
}
