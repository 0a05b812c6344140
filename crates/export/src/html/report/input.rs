//! The input of a report: figures that were counted elsewhere. Nothing here counts or knows a price.

use jiff::civil::{Date, DateTime};
use recount_model::Tokens;

/// A report: usage over a period, and how it was counted.
#[derive(Clone, Debug, Default)]
pub struct UsageReport {
    /// When it was made, in its time zone.
    pub made: DateTime,
    /// The time zone in which days begin.
    pub time_zone: String,
    /// The longest pause that counts as work, in seconds.
    pub gap_seconds: u64,
    /// Only what was asked since this time.
    pub since: Option<DateTime>,
    /// Only what was asked until this time.
    pub until: Option<DateTime>,
    /// Other filters, each with its name.
    pub filters: Vec<(&'static str, String)>,
    /// The totals.
    pub total: ReportFigures,
    /// Days with activity, in order.
    pub days: Vec<(Date, ReportFigures)>,
    /// Weeks, by their Mondays.
    pub weeks: Vec<(Date, ReportFigures)>,
    /// Months, by their first days.
    pub months: Vec<(Date, ReportFigures)>,
    /// The usage of each model per day.
    pub shares: Vec<ModelDayUsage>,
    /// Hours of the day.
    pub hours: Vec<(i8, ReportFigures)>,
    /// Usage without a recorded time, which is in no day.
    pub untimed: Option<ReportFigures>,
    /// Projects, most expensive first.
    pub projects: Vec<ReportRow>,
    /// Models, most expensive first.
    pub models: Vec<ReportRow>,
    /// Tools, most frequent first.
    pub tools: Vec<ReportRow>,
    /// Sessions with their sub-agents, most expensive first.
    pub sessions: Vec<ReportRow>,
    /// Causes of tool failures, most frequent first.
    pub errors: Vec<Failure>,
    /// Files that were sent, written or named, largest first.
    pub files: Vec<File>,
    /// How the figures were counted.
    pub basis: ReportBasis,
}

/// The figures of a count.
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
    /// Failed ones among them.
    pub tools_failed: u64,
    /// Those cancelled by the human.
    pub tools_cancelled: u64,
    /// Active time.
    pub active_seconds: u64,
}

/// An amount of money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// In millionths of a millionth of a dollar; `None` if no price is known.
    pub units: Option<u128>,
    /// Whether the real amount is higher.
    pub is_lower_bound: bool,
}

/// The usage of a model on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelDayUsage {
    /// The day.
    pub day: Date,
    /// The model, as an index into the models of the report.
    pub model: usize,
    /// The cost, in millionths of a millionth of a dollar; 0 without a price.
    pub cost: u128,
    /// Tokens.
    pub tokens: u64,
}

/// A project, model, tool or session.
#[derive(Clone, Debug, Default)]
pub struct ReportRow {
    /// Its display name.
    pub name: String,
    /// What distinguishes it from others of that name.
    pub detail: String,
    /// Its figures.
    pub figures: ReportFigures,
}

/// The cause of a tool failure.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    /// The tool.
    pub tool: String,
    /// The start of the error message.
    pub error: String,
    /// How often.
    pub times: u64,
}

/// A file, and how it was used.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Its path, as in the messages.
    pub path: String,
    /// How often its text was sent to the model.
    pub sent: u64,
    /// How much text that was, in bytes.
    pub bytes: u64,
    /// How often it was written.
    pub written: u64,
    /// How often a call named it, whatever the outcome.
    pub named: u64,
}

/// How the figures were counted.
#[derive(Clone, Debug, Default)]
pub struct ReportBasis {
    /// Requests that were billed but not recorded: number and reason.
    pub missing: Vec<(u64, &'static str)>,
    /// Records that exist more than once and were counted once.
    pub duplicates: ReportDuplicates,
    /// Requests whose answers were undone later, but still billed.
    pub undone: u64,
    /// Models without a price.
    pub unpriced: Vec<UnpricedRow>,
    /// The prices of the models that have one.
    pub prices: Vec<Price>,
    /// Records that could not be read.
    pub problems: u64,
    /// Messages that could not be read completely while collecting files.
    pub unread: u64,
}

/// Numbers of records and requests that exist more than once and were counted once.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportDuplicates {
    /// Records that were written again in the same file.
    pub repeated: u64,
    /// Requests in several files of their session.
    pub copied: u64,
    /// Requests in other sessions as well.
    pub elsewhere: u64,
}

/// A model without a price.
#[derive(Clone, Debug, Default)]
pub struct UnpricedRow {
    /// The model; `None` if no name is recorded.
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
    /// The first day on which it applies.
    pub from: Option<Date>,
    /// The last day on which it was checked.
    pub seen: Option<Date>,
    /// The page on which it is published; `None` if the user set it.
    pub source: Option<String>,
}
