//! What a report is made of: figures that were counted elsewhere. Nothing here counts or knows a price.

use jiff::civil::{Date, DateTime};
use recount_model::Tokens;

/// A report: what was used over a time, and how that was counted.
#[derive(Clone, Debug, Default)]
pub struct UsageReport {
    /// When it was made, in its time zone.
    pub made: DateTime,
    /// The time zone in which days begin.
    pub time_zone: String,
    /// The longest pause that counts as work, in seconds.
    pub gap_seconds: u64,
    /// Only what was asked from this moment on.
    pub since: Option<DateTime>,
    /// Only what was asked up to this moment.
    pub until: Option<DateTime>,
    /// What else was asked for, each with its name.
    pub filters: Vec<(&'static str, String)>,
    /// All together.
    pub total: ReportFigures,
    /// Days on which something was done, in order.
    pub days: Vec<(Date, ReportFigures)>,
    /// Weeks, by their Mondays.
    pub weeks: Vec<(Date, ReportFigures)>,
    /// Months, by their first days.
    pub months: Vec<(Date, ReportFigures)>,
    /// What each model took of each day.
    pub shares: Vec<Share>,
    /// Hours of the day.
    pub hours: Vec<(i8, ReportFigures)>,
    /// What has no time on record, and stands in no day.
    pub untimed: Option<ReportFigures>,
    /// Projects, the dearest first.
    pub projects: Vec<ReportRow>,
    /// Models, the dearest first.
    pub models: Vec<ReportRow>,
    /// Tools, the most called first.
    pub tools: Vec<ReportRow>,
    /// Sessions with their sub-agents, the dearest first.
    pub sessions: Vec<ReportRow>,
    /// Why tools failed, the most frequent first.
    pub errors: Vec<Failure>,
    /// Files that were sent, written or named, those that took most first.
    pub files: Vec<File>,
    /// How it was counted.
    pub basis: ReportBasis,
}

/// What a count comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportFigures {
    /// Sessions.
    pub sessions: u64,
    /// Requests to models, each once.
    pub requests: u64,
    /// What humans typed.
    pub prompts: u64,
    /// What the requests used.
    pub tokens: Tokens,
    /// What they cost.
    pub cost: Cost,
    /// Tool calls.
    pub tool_calls: u64,
    /// Of these, failed.
    pub tools_failed: u64,
    /// Of these, stopped by the human.
    pub tools_cancelled: u64,
    /// Time spent at work.
    pub active_seconds: u64,
}

/// An amount of money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// In millionths of a millionth of a dollar; `None` when no price is known.
    pub units: Option<u128>,
    /// Whether it was more.
    pub is_lower_bound: bool,
}

/// What a model took of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The day.
    pub day: Date,
    /// The model: its place among the models of the report.
    pub model: usize,
    /// What it cost, in millionths of a millionth of a dollar; nothing without a price.
    pub cost: u128,
    /// Tokens.
    pub tokens: u64,
}

/// A project, model, tool or session.
#[derive(Clone, Debug, Default)]
pub struct ReportRow {
    /// What people call it.
    pub name: String,
    /// What distinguishes it from others of that name.
    pub detail: String,
    /// Its figures.
    pub figures: ReportFigures,
}

/// Why a tool failed.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    /// The tool.
    pub tool: String,
    /// How the error begins.
    pub error: String,
    /// How often.
    pub times: u64,
}

/// A file, and how it was used.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Its path, as it stands in messages.
    pub path: String,
    /// How often its text was sent to the model.
    pub sent: u64,
    /// How much text that was, in bytes.
    pub bytes: u64,
    /// How often it was written.
    pub written: u64,
    /// How often a call named it, whatever came of it.
    pub named: u64,
}

/// How it was counted.
#[derive(Clone, Debug, Default)]
pub struct ReportBasis {
    /// What was billed and is not on record: how many, and why.
    pub missing: Vec<(u64, &'static str)>,
    /// What is on record more than once and was counted once: how many, and what.
    pub duplicates: Vec<(u64, &'static str)>,
    /// Requests whose answers were undone later, and were billed all the same.
    pub undone: u64,
    /// Models without a price.
    pub unpriced: Vec<UnpricedRow>,
    /// The prices of the models that have one.
    pub prices: Vec<Price>,
    /// Records that could not be read.
    pub problems: u64,
    /// Messages that could not be read in full, when looking for files.
    pub unread: u64,
}

/// A model without a price.
#[derive(Clone, Debug, Default)]
pub struct UnpricedRow {
    /// The model; `None` when no name is on record.
    pub model: Option<String>,
    /// Requests to it.
    pub requests: u64,
    /// Tokens that they used.
    pub tokens: u64,
}

/// A price, in millionths of a millionth of a dollar per million tokens.
#[derive(Clone, Debug, Default)]
pub struct Price {
    /// The model.
    pub model: String,
    /// For prompts with more tokens than this.
    pub above: Option<u64>,
    /// Prompt tokens.
    pub input: u128,
    /// Prompt tokens from the cache.
    pub cached: u128,
    /// Tokens of answers and thoughts.
    pub output: u128,
    /// From when it holds.
    pub from: Option<Date>,
    /// When it was last seen.
    pub seen: Option<Date>,
    /// The page on which it stands; `None` when the user set it.
    pub source: Option<String>,
}
