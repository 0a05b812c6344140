//! The plan of a change: each file before and after, what is left out, and a question. Cancel has the focus.

mod planning;
mod view;

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use recount_changes::{Changes, Made, Plan, Proposal};
use recount_display::number::plural;
use recount_display::words;

use super::actions::{ChangeOutcome, Failed};
use crate::draw::Painter;
use crate::effect::{Answer, Effect, Notice};
use crate::field::Field;
use crate::keys::{Action, Place};
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::work::Slot;

pub(crate) use planning::{Planned, Planning};

/// Keys that come so soon after the plan were meant for what was there before.
const EARLY_MILLIS: i64 = 150;
/// From more sessions than this, their number must be typed.
const MANY: usize = 20;

/// What is known.
enum State {
    /// It is being made.
    Loading,
    /// It can be carried out.
    Ready(Arc<Planned>),
    /// It is being carried out.
    Applying,
    /// It cannot be made, or was refused.
    Failed(Failed),
}

/// Which button has the focus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Button {
    #[default]
    Cancel,
    Accept,
}

/// The plan of a change.
pub(crate) struct PlanScreen {
    planning: Planning,
    state: State,
    /// Since when it can be read.
    since: Option<Timestamp>,
    focus: Button,
    field: Field,
    /// The first line shown, how many there are and how many fit.
    top: usize,
    drawn: (usize, usize),
    /// The rows that it was made from.
    rows: usize,
    /// Whether it has become another while it was shown.
    is_changed: bool,
}

impl fmt::Debug for PlanScreen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PlanScreen({})", self.planning.title)
    }
}

impl PlanScreen {
    pub(crate) fn new(planning: Planning) -> Self {
        Self {
            planning,
            state: State::Loading,
            since: None,
            focus: Button::Cancel,
            field: Field::default(),
            top: 0,
            drawn: (0, 0),
            rows: 0,
            is_changed: false,
        }
    }

    fn ask(&self, cx: &mut Context<'_>) {
        let make = Arc::clone(&self.planning.make);
        cx.ask(Slot::Plan, move |work| {
            let mut planned = make(work).map_err(|error| Failed::new(&error))?;
            let engine = work.fresh_engine();
            planned.is_after_another = Changes::new(&engine).is_cut_short().unwrap_or_default();
            Ok::<_, Failed>(planned)
        });
    }

    /// Returns the number that must be typed.
    fn number(&self) -> Option<usize> {
        let State::Ready(planned) = &self.state else { return None };
        let many = planned.offer.plan.sessions.len();
        (many > MANY || self.planning.must_type).then_some(many.max(1))
    }

    /// Whether keys are not meant for it yet.
    fn is_early(&self, shared: &Shared) -> bool {
        let age = |since: Timestamp| shared.now.as_millisecond() - since.as_millisecond();
        self.since.is_some_and(|since| age(since) < EARLY_MILLIS)
    }

    fn cancel(&self, cx: &mut Context<'_>) {
        if matches!(self.state, State::Applying) {
            cx.say(Notice::info("it is being carried out"));
            return;
        }
        cx.then(Effect::Forget(Slot::Plan));
        cx.pop();
        if matches!(self.state, State::Ready(_)) {
            cx.say(Notice::info("nothing was changed"));
        }
    }

    /// Carries it out.
    fn accept(&mut self, cx: &mut Context<'_>) {
        let State::Ready(planned) = std::mem::replace(&mut self.state, State::Applying) else {
            return;
        };
        let plan = planned.offer.plan.clone();
        let text = (self.planning.done)(&plan);
        let back = self.planning.back;
        cx.ask(Slot::Apply, move |work| {
            let engine = work.fresh_engine();
            // It is not cancelled half-way: no progress is passed.
            let made = Changes::new(&engine).carry_out(plan, &());
            ChangeOutcome::new(made.map(|made| said(&text, back, &made)), None)
        });
    }

    fn show(&mut self, planned: Planned, cx: &mut Context<'_>) {
        if planned.offer.is_empty() {
            let notices = planned.offer.notices.iter();
            let notices = notices.map(|notice| words::notice(notice, &cx.shared.folders));
            let why: Vec<String> = planned.left_out.iter().cloned().chain(notices).collect();
            let why = if why.is_empty() { String::new() } else { format!(": {}", why.join("; ")) };
            cx.pop();
            cx.say(Notice::info(format!("nothing to change{why}")));
            return;
        }
        match &self.state {
            State::Ready(before) if fingerprint(before) == fingerprint(&planned) => return,
            State::Ready(_) => {
                (self.is_changed, self.focus) = (true, Button::Cancel);
                self.field.set("");
            }
            State::Loading => {}
            State::Applying | State::Failed(_) => return,
        }
        self.since = Some(cx.shared.now);
        self.state = State::Ready(Arc::new(planned));
    }

    fn scroll(&mut self, action: Action) -> bool {
        let (many, height) = self.drawn;
        let last = many.saturating_sub(height);
        let half = (height / 2).max(1);
        self.top = match action {
            Action::Down => self.top + 1,
            Action::Up => self.top.saturating_sub(1),
            Action::HalfDown => self.top + half,
            Action::HalfUp => self.top.saturating_sub(half),
            Action::PageDown => self.top + height,
            Action::PageUp => self.top.saturating_sub(height),
            Action::First => 0,
            Action::Last => last,
            _ => return false,
        }
        .min(last);
        true
    }
}

/// Says what was done, how it is taken back, and its receipt.
fn said(text: &str, back: &str, made: &Made) -> String {
    let mut said = format!("{text} · {back} · receipt {}", made.receipt);
    for recovered in &made.recovered {
        let what = if recovered.finished { "finished" } else { "rolled back" };
        said =
            format!("{said} · an earlier {} was interrupted and is now {what}", recovered.command);
    }
    said
}

/// Returns what makes a plan another one.
fn fingerprint(planned: &Planned) -> String {
    let Proposal { plan, notices } = &planned.offer;
    let ids: Vec<&str> = plan.sessions.iter().map(|session| session.id.as_str()).collect();
    let steps: Vec<_> = plan
        .steps
        .iter()
        .map(|step| {
            let before = step.before.as_ref().map(|state| (state.bytes, state.modified));
            (&step.path, before, step.after.as_ref().map(|state| state.bytes))
        })
        .collect();
    format!("{ids:?} {steps:?} {notices:?} {:?}", planned.left_out)
}

impl Screen for PlanScreen {
    fn place(&self) -> Place {
        Place::Plan
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        let rows = Arc::as_ptr(&cx.shared.rows).addr();
        let is_again = match &self.state {
            State::Loading => true,
            State::Ready(_) => !self.planning.is_new_each_time,
            State::Applying | State::Failed(_) => false,
        };
        if rows != self.rows && is_again {
            self.rows = rows;
            self.ask(cx);
        }
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        let is_ready = matches!(self.state, State::Ready(_));
        match action {
            Action::Accept | Action::Open if self.is_early(cx.shared) => {}
            Action::Accept => {
                if is_ready && self.number().is_none() {
                    self.accept(cx);
                }
            }
            Action::Open if is_ready && self.focus == Button::Accept => self.accept(cx),
            Action::Back | Action::Close | Action::Open => self.cancel(cx),
            Action::NextPart | Action::PreviousPart | Action::OtherButton => {
                self.focus = match self.focus {
                    Button::Cancel if is_ready => Button::Accept,
                    _ => Button::Cancel,
                };
            }
            _ => return self.scroll(action),
        }
        true
    }

    fn is_typing(&self) -> bool {
        self.number().is_some()
    }

    fn typed(&mut self, key: &KeyEvent, cx: &mut Context<'_>) -> bool {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => self.cancel(cx),
            KeyCode::Char('c') if ctrl => return false,
            _ if self.is_early(cx.shared) => {}
            KeyCode::Enter if self.field.is_empty() => self.cancel(cx),
            KeyCode::Enter => {
                let number = self.number().map(|number| number.to_string());
                if number.as_deref() == Some(self.field.text().trim()) {
                    self.accept(cx);
                } else {
                    let number = number.unwrap_or_default();
                    cx.say(Notice::error(format!("type {number}; esc cancels")));
                }
            }
            KeyCode::Down | KeyCode::Up | KeyCode::PageDown | KeyCode::PageUp => {
                self.scroll(match key.code {
                    KeyCode::Down => Action::Down,
                    KeyCode::Up => Action::Up,
                    KeyCode::PageDown => Action::PageDown,
                    _ => Action::PageUp,
                });
            }
            KeyCode::Char(letter) if !ctrl && !letter.is_ascii_digit() => {}
            _ => return self.field.key(key),
        }
        true
    }

    fn answered(&mut self, answer: &mut Answer, cx: &mut Context<'_>) {
        if answer.slot == Slot::Apply && matches!(self.state, State::Applying) {
            let Some(outcome) = answer.take::<ChangeOutcome>() else { return };
            match outcome.failed() {
                Ok(outcome) => {
                    cx.pop();
                    outcome.tell(cx);
                }
                Err(failed) => {
                    (self.state, self.top) = (State::Failed(failed), 0);
                    self.since = Some(cx.shared.now);
                }
            }
        } else if answer.slot == Slot::Plan
            && let Some(planned) = answer.take::<Result<Planned, Failed>>()
        {
            match planned {
                Ok(planned) => self.show(planned, cx),
                Err(failed) if !matches!(self.state, State::Applying) => {
                    (self.state, self.top) = (State::Failed(failed), 0);
                }
                Err(_) => {}
            }
        }
    }

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        self.draw_all(painter, shared);
    }

    fn hints(&self) -> &'static [Action] {
        match self.state {
            State::Ready(_) if self.number().is_some() => &[Action::Back],
            State::Ready(_) => &[Action::Back, Action::Accept, Action::OtherButton],
            _ => &[Action::Back],
        }
    }

    fn command(&self, _shared: &Shared) -> String {
        self.planning.command.clone()
    }

    fn is_full(&self) -> bool {
        false
    }
}

/// Returns the words on the button: `delete 2`.
fn button(verb: &str, plan: &Plan) -> String {
    match plan.sessions.len() {
        0 => verb.to_owned(),
        many => format!("{verb} {}", plural(many as u64, "session")),
    }
}
