//! Rows of usage figures: names, costs and columns over time, for the command line and the app.

use jiff::ToSpan as _;
use jiff::civil::Date;
use recount_engine::stats::{By, Limit, Money, StatsRow, UsageFigures};

use crate::bar::columns;
use crate::number::{at_least, count, money};

/// Returns the heading of the first column.
pub fn heading(by: By) -> &'static str {
    match by {
        By::Day => "DAY",
        By::Week => "WEEK",
        By::Month => "MONTH",
        By::Hour => "HOUR",
        By::Project => "PROJECT",
        By::Model => "MODEL",
        By::Session => "SESSION",
        By::Source => "SOURCE",
        By::Tool => "TOOL",
        By::Agent => "AGENT",
    }
}

/// Returns the value that bars compare.
pub fn weight(is_tool: bool, figures: &UsageFigures) -> u128 {
    match figures.cost_usd {
        _ if is_tool => u128::from(figures.tool_calls),
        Some(cost) if cost > Money::default() => cost.units(),
        // Without a price, tokens are compared; a million of them counts as about a dollar.
        _ => u128::from(figures.tokens.total).saturating_mul(1_000_000),
    }
}

/// Returns the name of a row.
pub fn label(by: By, row: &StatsRow) -> String {
    let short = || row.key.get(..8).unwrap_or(&row.key);
    match (by, &row.name) {
        (By::Session | By::Agent, Some(title)) => format!("{}  {title}", short()),
        (_, Some(name)) => name.clone(),
        (By::Hour, None) if row.key.len() == 2 => format!("{}:00", row.key),
        _ => row.key.clone(),
    }
}

/// Formats a cost: with a mark if it is a lower bound, and a dash if it is unknown.
pub fn cost(figures: &UsageFigures) -> String {
    figures
        .cost_usd
        .map_or_else(|| "–".to_owned(), |cost| at_least(&money(cost), figures.cost_is_lower_bound))
}

/// Returns the total of tokens; `None` if nothing was recorded of what was used.
pub fn tokens(figures: &UsageFigures) -> Option<u64> {
    let is_unknown = figures.tokens.total == 0 && figures.cost_usd.is_none();
    (!is_unknown).then_some(figures.tokens.total)
}

/// Says that a limit is exceeded.
pub fn over_budget(span: By, limit: &Limit) -> String {
    let span = if span == By::Day { "today" } else { "this month" };
    let more = if limit.is_lower_bound { "at least " } else { "" };
    format!(
        "over budget {span}: {more}{} spent of {}",
        money(limit.spent_usd),
        money(limit.limit_usd)
    )
}

/// Columns over time, with an axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeChart {
    /// The width of the axis' labels.
    pub margin: usize,
    /// The highest value, for the top of the axis.
    pub most: String,
    /// The columns, the top line first.
    pub lines: Vec<String>,
    /// The number of columns of the terminal that they take.
    pub width: usize,
    /// What is written below: the first and the last period.
    pub ends: String,
}

/// Draws columns above a line of days; the last ones if there is not enough width for all.
pub fn time_chart(by: By, rows: &[StatsRow], width: usize, height: usize) -> TimeChart {
    let weigh = |row: &StatsRow| weight(false, &row.figures);
    let top = rows.iter().max_by_key(|row| weigh(row));
    let most = top.map(|row| match row.figures.cost_usd {
        Some(cost) if cost > Money::default() => {
            at_least(&money(cost), row.figures.cost_is_lower_bound)
        }
        _ => format!("{} tokens", count(row.figures.tokens.total)),
    });
    let most = most.unwrap_or_default();
    let margin = most.chars().count().max(2) + 1;
    let room = width.saturating_sub(margin + 1);
    let all = spaced(by, rows, room);
    // As wide as possible, with a gap if there is width for one.
    let each = (room / all.len().max(1)).clamp(1, 6);
    let shown = all.len().min(room / each.max(1));
    let rows = all.get(all.len() - shown..).unwrap_or_default();
    let weights: Vec<u128> = rows.iter().map(weigh).collect();
    let spread = |line: &str| -> String {
        let wide = |block: char| {
            let body = if each > 2 { each - 1 } else { each };
            block.to_string().repeat(body) + &" ".repeat(each - body)
        };
        line.chars().map(wide).collect()
    };
    let lines = columns(&weights, height).iter().map(|line| spread(line)).collect();
    let (first, last) = (rows.first(), rows.last());
    let name = |row: Option<&StatsRow>| row.map(|row| label(by, row)).unwrap_or_default();
    let (first, last) = (name(first), name(last));
    let gap = (shown * each).saturating_sub(first.chars().count() + last.chars().count());
    let ends =
        if gap > 0 && shown > 1 { format!("{first}{}{last}", " ".repeat(gap)) } else { last };
    TimeChart { margin, most, lines, width: shown * each, ends }
}

/// Inserts empty rows for periods without usage, so that columns are at proportional distances; at most as many as fit.
fn spaced(by: By, rows: &[StatsRow], room: usize) -> Vec<StatsRow> {
    let step = |date: Date| match by {
        By::Day => date.yesterday().ok(),
        By::Week => date.checked_sub(7.days()).ok(),
        By::Month => date.checked_sub(1.month()).ok(),
        _ => None,
    };
    let mut all: Vec<StatsRow> = Vec::with_capacity(rows.len());
    let mut next: Option<Date> = None;
    for row in rows.iter().rev() {
        let date = date(by, &row.key);
        while let (Some(wanted), Some(date)) = (next, date)
            && wanted > date
            && all.len() < room
        {
            let key = key(by, wanted);
            all.push(StatsRow { key, name: None, parent: None, figures: UsageFigures::default() });
            next = step(wanted);
        }
        all.push(row.clone());
        next = date.and_then(step);
    }
    all.reverse();
    all
}

fn date(by: By, key: &str) -> Option<Date> {
    if by == By::Month { format!("{key}-01").parse().ok() } else { key.parse().ok() }
}

fn key(by: By, date: Date) -> String {
    let text = date.to_string();
    if by == By::Month { text.get(..7).unwrap_or(&text).to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_without_use_have_a_place() {
        let row = |key: &str| StatsRow {
            key: key.to_owned(),
            name: None,
            parent: None,
            figures: UsageFigures::default(),
        };
        let keys = |by: By, keys: &[&str], room| -> Vec<String> {
            let rows: Vec<StatsRow> = keys.iter().map(|key| row(key)).collect();
            spaced(by, &rows, room).into_iter().map(|row| row.key).collect()
        };
        assert_eq!(
            keys(By::Day, &["2026-02-27", "2026-03-02"], 80),
            ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]
        );
        assert_eq!(
            keys(By::Week, &["2026-09-07", "2026-09-21"], 80),
            ["2026-09-07", "2026-09-14", "2026-09-21"]
        );
        assert_eq!(keys(By::Month, &["2025-12", "2026-02"], 80), ["2025-12", "2026-01", "2026-02"]);
        assert_eq!(keys(By::Hour, &["03", "09"], 80), ["03", "09"]);
        assert_eq!(keys(By::Day, &["1990-01-01", "2026-03-02"], 10).len(), 11);
    }
}
