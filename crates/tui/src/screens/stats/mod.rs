//! Statistics: totals, columns over time, and a table.

mod period;
mod view;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use recount_display::project_names::ProjectNames;
use recount_engine::stats::{Budget, By, StatsReport, StatsRequest, StatsRow, UsageFigures};
use recount_engine::{Error, ListQuery};
use recount_platform::{local_zone, quote};

use super::sessions::ShowSessions;
use crate::Tab;
use crate::draw::Painter;
use crate::effect::{Answer, Effect, Notice};
use crate::keys::{Action, Place};
use crate::list::Cursor;
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::work::{Slot, Work};

use period::Period;

/// Figures are added up again at most this often while sessions change, in seconds.
const AGAIN: i64 = 10;
/// Messages further apart have a pause between them, as in `recount stats`.
const GAP: SignedDuration = SignedDuration::from_mins(30);

/// The dimensions of the table, in the order of their key.
const DIMENSIONS: &[By] =
    &[By::Day, By::Week, By::Month, By::Project, By::Model, By::Tool, By::Source];

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    by: By,
    period: Period,
    /// The folder whose project is counted alone.
    here: Option<std::path::PathBuf>,
}

impl Default for Asked {
    fn default() -> Self {
        Self { by: By::Day, period: Period::default(), here: None }
    }
}

/// What was counted.
#[derive(Debug)]
struct Counted {
    asked: Asked,
    figures: Result<Figures, String>,
}

#[derive(Clone, Debug)]
struct Figures {
    /// The rows of the table; of periods the newest first.
    report: StatsReport,
    /// Columns over time, the oldest first.
    time: StatsReport,
    today: UsageFigures,
    all: UsageFigures,
    budget: Option<Budget>,
}

/// Statistics.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    asked: Asked,
    /// Whether the scope was chosen.
    is_scoped: bool,
    shown: Option<(Asked, Arc<Figures>)>,
    wrong: Option<String>,
    is_waiting: bool,
    counted: Option<Timestamp>,
    cursor: Cursor,
    /// Where the table was drawn.
    list: Rect,
}

impl Asked {
    fn request(&self, since: Option<Timestamp>, until: Option<Timestamp>) -> StatsRequest {
        let here = self.here.clone();
        let sessions = ListQuery { here, since, until, ..ListQuery::default() };
        StatsRequest { sessions, zone: local_zone(), gap: GAP }
    }

    /// Adds up the figures, as `recount stats` does.
    fn count(&self, work: &Work, now: Timestamp) -> Result<Figures, Error> {
        let engine = work.engine();
        let zone = local_zone();
        let (since, until) = self.period.range(self.by, now, &zone);
        let asked = self.request(since, until);
        let overview = engine.overview(&self.request(None, None), work.progress())?;
        let mut report = engine.stats(&asked, self.by, work.progress())?;
        let time = if self.by.is_time() {
            report.clone()
        } else {
            engine.stats(&asked, By::Day, work.progress())?
        };
        if self.by.is_time() {
            report.rows.reverse();
        } else {
            ProjectNames::of_rows(&report.rows).rename(&mut report.rows);
        }
        // Without limits there is nothing to say.
        let budget = engine.budget(&zone, work.progress()).ok();
        let (today, all) = (overview.today, overview.report.total);
        Ok(Figures { report, time, today, all, budget })
    }
}

impl Stats {
    fn rows(&self) -> &[StatsRow] {
        self.shown.as_ref().map_or(&[], |(_, figures)| &figures.report.rows)
    }

    /// Adds up if what is asked is another, or sessions may have changed.
    fn ask(&mut self, cx: &mut Context<'_>) {
        self.is_waiting = true;
        self.counted = Some(cx.shared.now);
        let (asked, now) = (self.asked.clone(), cx.shared.now);
        cx.ask(Slot::Stats, move |work| {
            let figures = asked.count(work, now).map_err(|error| error.full_message());
            Counted { asked, figures }
        });
    }

    fn next_dimension(&mut self, cx: &mut Context<'_>) {
        let at = DIMENSIONS.iter().position(|by| *by == self.asked.by).unwrap_or_default();
        let next = DIMENSIONS.get((at + 1) % DIMENSIONS.len());
        let by = next.copied().unwrap_or(By::Day);
        if period::is_year(by) != period::is_year(self.asked.by) {
            self.asked.period = Period::default();
        }
        self.asked.by = by;
        self.cursor = Cursor::default();
        self.ask(cx);
    }

    fn toggle_scope(&mut self, cx: &mut Context<'_>) {
        self.is_scoped = true;
        if self.asked.here.take().is_none() {
            if cx.shared.rows.scope.is_none() {
                let words = "no session was started in this folder: all projects are counted";
                cx.say(Notice::info(words));
                return;
            }
            self.asked.here = cx.shared.here.clone();
        }
        self.cursor = Cursor::default();
        self.ask(cx);
    }

    /// Shows the sessions of the selected row.
    fn drill(&self, cx: &mut Context<'_>) {
        let Some((asked, _)) = &self.shown else { return };
        let Some(row) = self.rows().get(self.cursor.at) else { return };
        if row.key == "unknown" || row.key.is_empty() {
            cx.say(Notice::info("no filter finds these sessions"));
            return;
        }
        let value = |name: &str| format!("{name}:\"{}\"", row.key.replace('"', ""));
        let mut words = Vec::new();
        let mut project = asked.here.as_ref().and(cx.shared.rows.scope.as_ref());
        let scope = project.take().map(|scope| scope.project.key());
        let mut only = scope;
        match asked.by {
            By::Project => only = Some(row.key.clone()),
            By::Model => words.push(value("model")),
            By::Tool => words.push(value("tool")),
            By::Source => words.push(format!("source:{}", row.key)),
            by => words.extend(period::filter(by, &row.key)),
        }
        if !asked.by.is_time() {
            words.extend(asked.period.filter(asked.by, cx.shared.now, &local_zone()));
        }
        let show = ShowSessions { filter: words.join(" "), project: only };
        cx.then(Effect::Tell(Tab::Sessions, Box::new(show)));
    }
}

impl Screen for Stats {
    fn place(&self) -> Place {
        Place::Stats
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        if cx.shared.rows.is_remembered {
            return;
        }
        if !self.is_scoped {
            self.is_scoped = true;
            self.asked.here = cx.shared.rows.scope.as_ref().and(cx.shared.here.clone());
        }
        let is_old = |at: Timestamp| (cx.shared.now.as_second() - at.as_second()).abs() >= AGAIN;
        if self.counted.is_none_or(is_old) {
            self.ask(cx);
        }
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        if self.cursor.act(action, self.rows().len()) {
            return true;
        }
        match action {
            Action::By => self.next_dimension(cx),
            Action::Earlier | Action::Later => {
                let period = self.asked.period.step(action == Action::Earlier);
                if period != self.asked.period {
                    self.asked.period = period;
                    self.cursor = Cursor::default();
                    self.ask(cx);
                }
            }
            Action::Everywhere => self.toggle_scope(cx),
            Action::Open => self.drill(cx),
            Action::Back if self.asked.period != Period::default() => {
                self.asked.period = Period::default();
                self.ask(cx);
            }
            _ => return false,
        }
        true
    }

    fn answered(&mut self, answer: &mut Answer, _cx: &mut Context<'_>) {
        if answer.slot == Slot::Stats
            && let Some(Counted { asked, figures }) = answer.take::<Counted>()
            && asked == self.asked
        {
            self.is_waiting = false;
            match figures {
                Ok(figures) => {
                    self.wrong = None;
                    self.shown = Some((asked, Arc::new(figures)));
                    self.cursor.go(self.cursor.at, self.rows().len());
                }
                // The last good figures stay.
                Err(error) => self.wrong = Some(error),
            }
        }
    }

    fn takes_mouse(&self) -> bool {
        true
    }

    fn mouse(&mut self, event: MouseEvent, _area: Rect, _cx: &mut Context<'_>) -> bool {
        let many = self.rows().len();
        self.cursor.mouse(event, self.list, many)
    }

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        self.draw_all(painter, shared);
    }

    fn hints(&self) -> &'static [Action] {
        &[
            Action::Open,
            Action::By,
            Action::Earlier,
            Action::Later,
            Action::Everywhere,
            Action::CopyCommand,
        ]
    }

    fn command(&self, shared: &Shared) -> String {
        let by = match self.asked.by {
            By::Week => "week",
            By::Month => "month",
            By::Project => "project",
            By::Model => "model",
            By::Tool => "tool",
            By::Source => "source",
            _ => "day",
        };
        let mut words = format!("recount stats --by {by}");
        match &self.asked.here {
            None => words.push_str(" --all"),
            Some(here) => words = format!("{words} {}", quote(&here.to_string_lossy())),
        }
        if let Some((first, last)) =
            self.asked.period.days(self.asked.by, shared.now, &local_zone())
        {
            words = format!("{words} --since {first} --until {last}");
        }
        words
    }
}
