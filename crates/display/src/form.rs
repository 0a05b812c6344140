//! Figures in the form that their reader needs: short for people, exact for programs.

use jiff::Timestamp;
use recount_engine::stats::Money;
use recount_model::SessionId;

use super::number::{bytes, count, duration, money};
use crate::when;

/// The reader of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A person: numbers are rounded, times are ages, ids are short.
    Short,
    /// A program: every figure is exact.
    Exact,
}

impl Form {
    /// Formats a count.
    pub fn count(self, number: u64) -> String {
        match self {
            Self::Short => count(number),
            Self::Exact => number.to_string(),
        }
    }

    /// Formats a number of tokens; unknown is a dash, or empty.
    pub fn tokens(self, number: Option<u64>) -> String {
        match (self, number) {
            (_, Some(number)) => self.count(number),
            (Self::Short, None) => "–".to_owned(),
            (Self::Exact, None) => String::new(),
        }
    }

    /// Formats a size.
    pub fn bytes(self, number: u64) -> String {
        match self {
            Self::Short => bytes(number),
            Self::Exact => number.to_string(),
        }
    }

    /// Formats a duration.
    pub fn duration(self, seconds: u64) -> String {
        match self {
            Self::Short => duration(seconds),
            Self::Exact => seconds.to_string(),
        }
    }

    /// Formats an amount of money; unknown is a dash, or empty.
    pub fn money(self, amount: Option<Money>) -> String {
        match (self, amount) {
            (Self::Short, Some(amount)) => money(amount),
            (Self::Short, None) => "–".to_owned(),
            (Self::Exact, Some(amount)) => amount.dollars().to_string(),
            (Self::Exact, None) => String::new(),
        }
    }

    /// Formats a time.
    pub fn time(self, then: Option<Timestamp>, now: Timestamp) -> String {
        match (self, then) {
            (_, None) => String::new(),
            (Self::Short, Some(then)) => when::age(then, now),
            (Self::Exact, Some(then)) => then.to_string(),
        }
    }

    /// Formats the id of a session.
    pub fn session(self, id: &SessionId) -> &str {
        match self {
            Self::Short => id.prefix(),
            Self::Exact => id.as_str(),
        }
    }

    /// Formats an id of which people need only the start.
    pub fn start(self, id: &str) -> String {
        match self {
            Self::Short => recount_model::id_prefix(id).to_owned(),
            Self::Exact => id.to_owned(),
        }
    }
}
