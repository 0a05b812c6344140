//! The live board: what every running session does.

mod board;
mod columns;
mod view;

use std::collections::{HashMap, HashSet, VecDeque};

use jiff::Timestamp;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use recount_engine::live::{LiveRow, Spending};
use recount_model::SessionKey;
use recount_platform::local_zone;

use crate::draw::Painter;
use crate::effect::{Answer, Effect, Notice};
use crate::keys::{Action, Place};
use crate::list::Cursor;
use crate::over::{Reader, actions};
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::work::Slot;

use board::{Board, Filter, Line};

/// What was spent is added up at most this often, in seconds.
const SPENT: i64 = 30;
/// Rates are noted this often, in seconds.
const SAMPLE: i64 = 10;
/// The number of them that is shown.
const SAMPLES: usize = 4;

/// The unit of rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unit {
    #[default]
    Minute,
    Hour,
    Tokens,
}

/// The live board.
#[derive(Debug, Default)]
pub(crate) struct Live {
    board: Board,
    filter: Filter,
    no_subagents: bool,
    unit: Unit,
    /// The selected row; it stays selected while rows come, go and change places.
    selected: Option<String>,
    cursor: Cursor,
    spending: Option<Spending>,
    asked: Option<Timestamp>,
    /// Tokens a minute of each row, the newest last.
    samples: HashMap<String, VecDeque<u64>>,
    sampled: Option<Timestamp>,
    /// Where the rows were drawn.
    list: Rect,
}

impl Live {
    fn row<'s>(&self, shared: &'s Shared) -> Option<&'s LiveRow> {
        match self.board.lines.get(self.cursor.at)? {
            Line::Row(at) => shared.live.get(*at),
            _ => None,
        }
    }

    /// Puts the rows in their sections, and keeps the selected row selected.
    fn arrange(&mut self, shared: &Shared) {
        self.board = Board::new(shared, self.filter, !self.no_subagents);
        let is_it = |line: &Line| {
            matches!(line, Line::Row(at)
                if shared.live.get(*at).map(LiveRow::key) == self.selected)
        };
        let many = self.board.lines.len();
        let place = self.selected.as_ref().and_then(|_| self.board.lines.iter().position(is_it));
        self.cursor.go(place.unwrap_or(self.cursor.at), many);
        self.settle(1, shared);
    }

    /// Goes on to the nearest row, in a direction.
    fn settle(&mut self, by: isize, shared: &Shared) {
        let is_row = |at: usize| matches!(self.board.lines.get(at), Some(Line::Row(_)));
        let (at, many) = (self.cursor.at, self.board.lines.len());
        let on = (at..many).find(|at| is_row(*at));
        let back = (0..=at).rev().find(|at| is_row(*at));
        let (first, second) = if by < 0 { (back, on) } else { (on, back) };
        if let Some(place) = first.or(second) {
            self.cursor.go(place, many);
        }
        self.selected = self.row(shared).map(LiveRow::key);
    }

    fn step(&mut self, action: Action, shared: &Shared) -> bool {
        let before = self.cursor.at;
        if !self.cursor.act(action, self.board.lines.len()) {
            return false;
        }
        let is_back = self.cursor.at < before || action == Action::Last;
        self.settle(if is_back { -1 } else { 1 }, shared);
        if self.cursor.at == before && is_back {
            // Headings above the first row are seen again.
            self.cursor.top = 0;
        }
        true
    }

    fn sample(&mut self, shared: &Shared) {
        let is_due = |at: Timestamp| (shared.now.as_second() - at.as_second()).abs() >= SAMPLE;
        if !self.sampled.is_none_or(is_due) {
            return;
        }
        self.sampled = Some(shared.now);
        let keys: HashSet<String> = shared.live.iter().map(LiveRow::key).collect();
        self.samples.retain(|key, _| keys.contains(key));
        for row in shared.live.iter() {
            let samples = self.samples.entry(row.key()).or_default();
            samples.push_back(row.rates[0].tokens);
            while samples.len() > SAMPLES {
                samples.pop_front();
            }
        }
    }

    fn ask_spending(&mut self, cx: &mut Context<'_>) {
        let now = cx.shared.now;
        let is_due = |at: Timestamp| (now.as_second() - at.as_second()).abs() >= SPENT;
        if !cx.shared.rows.is_remembered && self.asked.is_none_or(is_due) {
            self.asked = Some(now);
            cx.ask(Slot::Spending, |work| work.engine().spending(&local_zone()).ok());
        }
    }

    fn acknowledge(&self, cx: &mut Context<'_>) {
        match self.row(cx.shared) {
            Some(row) if cx.shared.needs_you(row) => {
                cx.then(Effect::Acknowledge(row.key(), row.state));
                cx.say(Notice::info("acknowledged: quiet until it changes"));
            }
            Some(_) => cx.say(Notice::info("this session does not wait for you")),
            None => {}
        }
    }
}

/// Returns the session of a row, once it is known.
fn session_key(row: &LiveRow) -> Option<SessionKey> {
    Some(SessionKey { source: row.session.source, id: row.session.id.clone()? })
}

/// Opens the session of a row at its end, and follows it.
fn open_row(row: &LiveRow, cx: &mut Context<'_>) {
    match session_key(row) {
        // One that runs is read at its end, and followed.
        Some(key) => cx.push(Reader::new(key)),
        None => cx.say(Notice::info("its session is not known yet: it has written nothing")),
    }
}

impl Screen for Live {
    fn place(&self) -> Place {
        Place::Live
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        self.sample(cx.shared);
        self.arrange(cx.shared);
        self.ask_spending(cx);
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        if self.step(action, cx.shared) {
            return true;
        }
        let filter = &mut self.filter;
        match action {
            Action::NeedsMe => filter.needs_me = !filter.needs_me,
            Action::FoldHeadless => filter.no_headless = !filter.no_headless,
            Action::FoldSubagents => self.no_subagents = !self.no_subagents,
            Action::Everywhere => filter.here = !filter.here,
            Action::Back if filter.is_narrowed() => *filter = Filter::default(),
            Action::Unit => {
                self.unit = match self.unit {
                    Unit::Minute => Unit::Hour,
                    Unit::Hour => Unit::Tokens,
                    Unit::Tokens => Unit::Minute,
                };
            }
            Action::Apply => self.acknowledge(cx),
            Action::Open => {
                if let Some(row) = self.row(cx.shared) {
                    open_row(row, cx);
                }
            }
            Action::Resume => match self.row(cx.shared) {
                Some(row) if !row.has_ended() => {
                    let place = recount_display::live::place(row);
                    cx.then(Effect::Jump(row.session.process, place));
                }
                Some(row) => cx.then(session_key(row).map_or_else(
                    || Effect::Say(Notice::info("its session is not known")),
                    Effect::Resume,
                )),
                None => {}
            },
            _ => {
                let key = self.row(cx.shared).and_then(session_key);
                let chosen = key.and_then(|key| cx.shared.session(&key).cloned());
                return actions::on_sessions(action, chosen.into_iter().collect(), cx);
            }
        }
        self.arrange(cx.shared);
        true
    }

    fn answered(&mut self, answer: &mut Answer, _cx: &mut Context<'_>) {
        if answer.slot == Slot::Spending
            && let Some(Some(spending)) = answer.take::<Option<Spending>>()
        {
            self.spending = Some(spending);
        }
    }

    fn has_clock(&self, shared: &Shared) -> bool {
        shared.live.iter().any(|row| !row.has_ended())
    }

    fn time(&mut self, cx: &mut Context<'_>) {
        self.sample(cx.shared);
        self.ask_spending(cx);
    }

    fn takes_mouse(&self) -> bool {
        true
    }

    fn mouse(&mut self, event: MouseEvent, _area: Rect, cx: &mut Context<'_>) -> bool {
        let many = self.board.lines.len();
        match event.kind {
            MouseEventKind::ScrollDown => return self.step(Action::Down, cx.shared),
            MouseEventKind::ScrollUp => return self.step(Action::Up, cx.shared),
            MouseEventKind::Down(MouseButton::Left) if event.row >= self.list.y => {
                let Some(line) = self.cursor.row_at(event.row - self.list.y, many) else {
                    return false;
                };
                if matches!(self.board.lines.get(line), Some(Line::Row(_))) {
                    self.cursor.go(line, many);
                    self.settle(1, cx.shared);
                }
            }
            _ => return false,
        }
        true
    }

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        self.draw_all(painter, shared);
    }

    fn hints(&self) -> &'static [Action] {
        &[
            Action::Open,
            Action::Resume,
            Action::Apply,
            Action::NeedsMe,
            Action::Unit,
            Action::Mute,
            Action::Info,
            Action::CopyId,
        ]
    }

    fn command(&self, _shared: &Shared) -> String {
        "recount watch".to_owned()
    }
}
