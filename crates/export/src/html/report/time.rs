//! The periods that are shown side by side: days, or if there are many, weeks or months.

use std::collections::BTreeMap;

use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime};

use super::input::{ModelDayUsage, ReportFigures, UsageReport};

/// More days than this are drawn as weeks, more weeks as months.
const BARS: i64 = 100;
/// More months than this are drawn without empty ones, and only the last of them.
const MONTHS: usize = 240;

/// The length of the period of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    Day,
    Week,
    Month,
}

/// The period of one bar.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// Its first day.
    pub(super) first: Date,
    pub(super) figures: ReportFigures,
    /// The usage of the models in it: by index, money and tokens.
    pub(super) models: BTreeMap<usize, (u128, u64)>,
}

/// All bars.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    pub(super) grain: Grain,
    pub(super) slots: Vec<Slot>,
    /// The number of months before the first that are not shown.
    pub(super) left_out: usize,
}

impl Grain {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    /// Returns the full name of a period.
    pub(super) fn name(self, first: Date) -> String {
        match self {
            Self::Day => first.strftime("%a %Y-%m-%d").to_string(),
            Self::Week => format!("Week from {first}"),
            Self::Month => first.strftime("%B %Y").to_string(),
        }
    }

    /// Returns the short label of a period.
    pub(super) fn mark(self, first: Date) -> String {
        let form = match self {
            Self::Day | Self::Week => "%b %-d",
            Self::Month => "%b %Y",
        };
        first.strftime(form).to_string()
    }

    /// Returns the first day of the period that contains a day.
    fn start(self, day: Date) -> Date {
        let back = i64::from(day.weekday().to_monday_zero_offset());
        match self {
            Self::Day => day,
            Self::Week => day.checked_sub(back.days()).unwrap_or(day),
            Self::Month => day.first_of_month(),
        }
    }

    fn next(self, first: Date) -> Option<Date> {
        let span = match self {
            Self::Day => 1.day(),
            Self::Week => 7.days(),
            Self::Month => 1.month(),
        };
        first.checked_add(span).ok()
    }

    /// Returns the number of periods from one day to another.
    fn between(self, from: Date, to: Date) -> i64 {
        let days = i64::from((to - from).get_days());
        match self {
            Self::Day => days,
            Self::Week => days / 7,
            Self::Month => days / 30,
        }
    }
}

impl Timeline {
    /// Divides the time of a report into periods. `None` if nothing in it has a time.
    pub(super) fn new(report: &UsageReport) -> Option<Self> {
        let (from, to) = (report.days.first()?.0, report.days.last()?.0);
        let (from, to) = asked(report, from, to);
        let grains = [Grain::Day, Grain::Week];
        let fits = |grain: &Grain| grain.between(from, to) < BARS;
        let grain = grains.into_iter().find(fits).unwrap_or(Grain::Month);
        let known = match grain {
            Grain::Day => &report.days,
            Grain::Week => &report.weeks,
            Grain::Month => &report.months,
        };
        let mut slots: BTreeMap<Date, Slot> = BTreeMap::new();
        for (first, figures) in known {
            slots.insert(*first, Slot::new(*first, figures.clone()));
        }
        if usize::try_from(grain.between(from, to)).is_ok_and(|length| length < MONTHS) {
            let stretches = std::iter::successors(Some(grain.start(from)), |day| grain.next(*day));
            for first in stretches.take_while(|day| *day <= to) {
                slots.entry(first).or_insert_with(|| Slot::new(first, ReportFigures::default()));
            }
        }
        for ModelDayUsage { day, model, cost, tokens } in &report.shares {
            if let Some(slot) = slots.get_mut(&grain.start(*day)) {
                let sum = slot.models.entry(*model).or_default();
                *sum = (sum.0.saturating_add(*cost), sum.1.saturating_add(*tokens));
            }
        }
        let left_out = slots.len().saturating_sub(MONTHS);
        let slots = slots.into_values().skip(left_out).collect();
        Some(Self { grain, slots, left_out })
    }
}

impl Slot {
    fn new(first: Date, figures: ReportFigures) -> Self {
        Self { first, figures, models: BTreeMap::new() }
    }
}

/// A short requested period is drawn completely, including days without activity.
fn asked(report: &UsageReport, from: Date, to: Date) -> (Date, Date) {
    let start = report.since.map_or(from, DateTime::date).min(from);
    let today = report.made.date();
    let end = report.until.map_or(to, |until| until.date().min(today)).max(to);
    if Grain::Day.between(start, end) < BARS { (start, end) } else { (from, to) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    fn of(first: &str, last: &str) -> UsageReport {
        let both = |grain: Grain| {
            let firsts = [grain.start(day(first)), grain.start(day(last))];
            firsts
                .map(|first| (first, ReportFigures { requests: 1, ..ReportFigures::default() }))
                .to_vec()
        };
        let share = |text: &str| ModelDayUsage { day: day(text), model: 0, cost: 7, tokens: 3 };
        UsageReport {
            made: day("2027-01-01").at(0, 0, 0, 0),
            days: both(Grain::Day),
            weeks: both(Grain::Week),
            months: both(Grain::Month),
            shares: vec![share(first), share(last)],
            ..UsageReport::default()
        }
    }

    #[test]
    fn the_longer_the_time_the_longer_the_bars() {
        for (first, last, grain, bars) in [
            ("2026-09-01", "2026-09-30", Grain::Day, 30),
            ("2026-09-01", "2026-12-09", Grain::Day, 100),
            ("2026-09-01", "2026-12-10", Grain::Week, 15),
            ("2024-01-31", "2026-12-31", Grain::Month, 36),
            ("1970-01-01", "9999-12-31", Grain::Month, 2),
        ] {
            let timeline = Timeline::new(&of(first, last)).unwrap();
            assert_eq!((timeline.grain, timeline.slots.len()), (grain, bars), "{first} to {last}");
            let sum: u128 = timeline
                .slots
                .iter()
                .flat_map(|slot| slot.models.values())
                .map(|(cost, _)| cost)
                .sum();
            assert_eq!(sum, 14, "nothing is lost");
        }
        assert!(Timeline::new(&UsageReport::default()).is_none());
    }

    #[test]
    fn the_requested_period_is_drawn_up_to_today() {
        let mut report = of("2026-12-10", "2026-12-20");
        report.since = Some(day("2026-12-01").at(0, 0, 0, 0));
        report.until = Some(day("2027-06-01").at(0, 0, 0, 0));
        let timeline = Timeline::new(&report).unwrap();
        let ends = timeline.slots.first().zip(timeline.slots.last());
        let ends = ends.map(|(first, last)| (first.first, last.first)).unwrap();
        assert_eq!(ends, (day("2026-12-01"), day("2027-01-01")));
        report.since = Some(day("2001-01-01").at(0, 0, 0, 0));
        assert_eq!(Timeline::new(&report).unwrap().slots.len(), 11);
    }
}
