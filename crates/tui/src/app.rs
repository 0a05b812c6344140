//! The app: which screen is shown, what it shares, and what each event does.

use std::collections::HashMap;

use jiff::Timestamp;
use ratatui::crossterm::event::{KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use recount_display::words;
use recount_model::{LiveState, SessionKey};

use crate::Tab;
use crate::effect::{Answer, Effect, Event, Notice};
use crate::keys::{Action, Chord, Pressed};
use crate::over::actions::{self, ChangeOutcome};
use crate::over::{Help, Palette};
use crate::screen::{Context, Screen};
use crate::screens::{Tabs, tabs};
use crate::shared::Shared;
use crate::work::{Alarmed, AtRisk, Fresh, LiveNews, ReadNews, Reading, Slot};

/// A notice is shown for this many seconds.
const NOTICE_SECONDS: i64 = 8;

/// The whole app.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) shared: Shared,
    pub(crate) tab: Tab,
    tabs: Tabs,
    over: Vec<Box<dyn Screen>>,
    /// The first key of two.
    pub(crate) prefix: Option<char>,
    pub(crate) notice: Option<Notice>,
    /// The number of the newest question of each slot.
    asked: HashMap<Slot, u64>,
    number: u64,
    /// Where the screen was drawn last.
    pub(crate) body: Rect,
    /// Where tabs and hints were drawn, and what a click on them does.
    pub(crate) targets: Vec<(Rect, Action)>,
    last_click: Option<(Timestamp, u16, u16)>,
}

impl App {
    pub(crate) fn new(shared: Shared, tab: Tab, query: Option<String>) -> (Self, Vec<Effect>) {
        let mut app = Self {
            shared,
            tab,
            tabs: tabs(query),
            over: Vec::new(),
            prefix: None,
            notice: None,
            asked: HashMap::new(),
            number: 0,
            body: Rect::default(),
            targets: Vec::new(),
            last_click: None,
        };
        let mut effects = Vec::new();
        app.refresh(&mut effects);
        let effects = app.settle(effects);
        (app, effects)
    }

    /// Returns the screen that has the keys.
    pub(crate) fn top(&self) -> &dyn Screen {
        self.over.last().map_or_else(|| self.tabs.get(self.tab), |screen| &**screen)
    }

    /// Returns the screens that are drawn, lowest first.
    pub(crate) fn drawn(&mut self) -> (&Shared, Vec<&mut dyn Screen>) {
        let full = self.over.iter().rposition(|screen| screen.is_full());
        let mut screens: Vec<&mut dyn Screen> = Vec::new();
        if full.is_none() {
            screens.push(self.tabs.get_mut(self.tab));
        }
        for screen in self.over.iter_mut().skip(full.unwrap_or(0)) {
            screens.push(&mut **screen);
        }
        (&self.shared, screens)
    }

    /// Returns whether something lies over the tab.
    pub(crate) fn is_over(&self) -> bool {
        !self.over.is_empty()
    }

    /// Whether the mouse should be taken from the terminal now.
    pub(crate) fn takes_mouse(&self) -> bool {
        !self.shared.settings.no_mouse && self.top().takes_mouse()
    }

    /// Whether something on the screen changes by the passing of time alone.
    pub(crate) fn has_clock(&self) -> bool {
        self.notice.is_some() || self.top().has_clock(&self.shared)
    }

    /// Calls the screen that has the keys.
    fn with_top<R>(
        &mut self,
        effects: &mut Vec<Effect>,
        call: impl FnOnce(&mut dyn Screen, &mut Context<'_>) -> R,
    ) -> R {
        let mut cx = Context { shared: &self.shared, effects };
        match self.over.last_mut() {
            Some(screen) => call(&mut **screen, &mut cx),
            None => call(self.tabs.get_mut(self.tab), &mut cx),
        }
    }

    fn refresh(&mut self, effects: &mut Vec<Effect>) {
        let mut cx = Context { shared: &self.shared, effects };
        self.tabs.get_mut(self.tab).refresh(&mut cx);
        for screen in &mut self.over {
            screen.refresh(&mut cx);
        }
    }

    /// Takes an event, and returns what is to be done. Pushing, leaving and switching screens is already done.
    pub(crate) fn update(&mut self, event: Event, now: Timestamp) -> Vec<Effect> {
        self.shared.now = now;
        let mut effects = Vec::new();
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                // What was said is read when the next key comes.
                self.notice = None;
                self.key(&key, &mut effects);
            }
            Event::Key(_) => {}
            Event::Paste(text) => self.with_top(&mut effects, |screen, cx| {
                if screen.is_typing() {
                    screen.pasted(&text, cx);
                }
            }),
            Event::Mouse(mouse) => self.mouse(mouse, &mut effects),
            Event::Resize(width, height) => {
                self.shared.size = (width, height);
                self.refresh(&mut effects);
            }
            Event::Answer(answer) => self.answer(answer, &mut effects),
            Event::Time => {
                self.expire();
                if self.top().has_clock(&self.shared) {
                    self.with_top(&mut effects, |screen, cx| screen.time(cx));
                }
            }
        }
        self.settle(effects)
    }

    fn expire(&mut self) {
        let since = |notice: &Notice| {
            notice.at.map_or(0, |at| self.shared.now.as_second() - at.as_second())
        };
        if self.notice.as_ref().is_some_and(|notice| since(notice) >= NOTICE_SECONDS) {
            self.notice = None;
        }
    }

    /// Does what needs no outside: the stack of screens, notices, numbers of questions.
    fn settle(&mut self, mut effects: Vec<Effect>) -> Vec<Effect> {
        let mut outside = Vec::new();
        // A screen that is pushed or told something may ask for more.
        for _ in 0..32 {
            if effects.is_empty() {
                break;
            }
            for effect in std::mem::take(&mut effects) {
                match effect {
                    Effect::Push(screen) => {
                        self.over.push(screen);
                        self.with_top(&mut effects, |screen, cx| screen.refresh(cx));
                    }
                    Effect::Pop => {
                        self.over.pop();
                        self.with_top(&mut effects, |screen, cx| screen.refresh(cx));
                    }
                    Effect::Act(action) => self.act(action, &mut effects),
                    Effect::Go(tab) => self.go(tab, &mut effects),
                    Effect::Tell(tab, what) => {
                        self.go(tab, &mut effects);
                        self.with_top(&mut effects, |screen, cx| screen.told(what, cx));
                    }
                    Effect::Rows(rows) => {
                        self.shared.rows = rows;
                        self.refresh(&mut effects);
                    }
                    Effect::Problems(many) => self.shared.problems = many,
                    Effect::Say(mut notice) => {
                        notice.at = Some(self.shared.now);
                        self.notice = Some(notice);
                    }
                    Effect::Acknowledge(key, state) => {
                        self.shared.quiet.insert(key, state);
                        self.with_top(&mut effects, |screen, cx| screen.refresh(cx));
                    }
                    Effect::Ask(slot, job, _) => {
                        self.number += 1;
                        self.asked.insert(slot, self.number);
                        outside.push(Effect::Ask(slot, job, self.number));
                    }
                    Effect::Forget(slot) => {
                        self.asked.remove(&slot);
                        outside.push(Effect::Forget(slot));
                    }
                    other => outside.push(other),
                }
            }
        }
        outside
    }

    /// Returns the number of the newest question of a slot.
    pub(crate) fn asked(&self, slot: Slot) -> u64 {
        self.asked.get(&slot).copied().unwrap_or_default()
    }

    fn go(&mut self, tab: Tab, effects: &mut Vec<Effect>) {
        self.over.clear();
        self.tab = tab;
        self.with_top(effects, |screen, cx| screen.refresh(cx));
    }

    fn key(&mut self, key: &KeyEvent, effects: &mut Vec<Effect>) {
        let Some(chord) = Chord::of(key) else { return };
        if self.prefix.is_none() && self.top().is_typing() {
            let used = self.with_top(effects, |screen, cx| screen.typed(key, cx));
            if used {
                return;
            }
            // Letters that a field does not use must not become commands.
            if chord.letter().is_some() {
                return;
            }
        }
        let chord = self.prefix.take().map_or(chord, |prefix| chord.after(prefix));
        match self.shared.settings.keymap.press(self.top().place(), chord) {
            // Left and right are other keys for the same, where they have no use of their own.
            Pressed::Does(Action::In) => self.act(Action::Open, effects),
            Pressed::Does(Action::Out) => self.act(Action::Back, effects),
            Pressed::Does(action) => self.act(action, effects),
            Pressed::Opens(prefix) => self.prefix = Some(prefix),
            Pressed::Nothing => {}
        }
    }

    /// Does what an action asks for: first the screen, then the app.
    pub(crate) fn act(&mut self, action: Action, effects: &mut Vec<Effect>) {
        if self.with_top(effects, |screen, cx| screen.act(action, cx)) {
            return;
        }
        let place = self.top().place();
        match action {
            Action::Back | Action::Close if self.is_over() => effects.push(Effect::Pop),
            Action::Close | Action::Quit => effects.push(Effect::Quit),
            Action::Suspend => effects.push(Effect::Suspend),
            Action::Redraw => effects.push(Effect::Redraw),
            Action::Help => effects.push(Effect::Push(Box::new(Help::new(place)))),
            Action::Palette => effects.push(Effect::Push(Box::new(Palette::new(place)))),
            Action::In => self.act(Action::Open, effects),
            Action::Out => self.act(Action::Back, effects),
            Action::Undo => {
                actions::undo(None, &mut Context { shared: &self.shared, effects });
            }
            Action::NextTab => effects.push(Effect::Go(self.tab.step(1))),
            Action::PreviousTab => effects.push(Effect::Go(self.tab.step(-1))),
            Action::CopyCommand => {
                let command = self.top().command(&self.shared);
                effects.push(Effect::Copy(command, "command line"));
            }
            Action::Mouse => {
                let off = !self.shared.settings.no_mouse;
                self.shared.settings.no_mouse = off;
                let state = if off { "off: the terminal has it" } else { "on" };
                effects.push(Effect::Say(Notice::info(format!("mouse {state}"))));
            }
            Action::Mute => {
                self.shared.is_muted = !self.shared.is_muted;
                let state = if self.shared.is_muted { "off" } else { "on" };
                effects.push(Effect::Say(Notice::info(format!("alarms {state}"))));
            }
            other => {
                if let Some(tab) = Tab::of(other) {
                    effects.push(Effect::Go(tab));
                }
            }
        }
    }

    fn mouse(&mut self, event: MouseEvent, effects: &mut Vec<Effect>) {
        let at = ratatui::layout::Position::new(event.column, event.row);
        if event.kind == MouseEventKind::Down(MouseButton::Left) {
            let target = self.targets.iter().find(|(area, _)| area.contains(at));
            if let Some((_, action)) = target {
                let action = *action;
                self.act(action, effects);
                return;
            }
        }
        let body = self.body;
        if !body.contains(at) {
            return;
        }
        self.with_top(effects, |screen, cx| screen.mouse(event, body, cx));
        if event.kind == MouseEventKind::Down(MouseButton::Left) {
            let again = self.last_click.replace((self.shared.now, event.column, event.row));
            let is_double = again.is_some_and(|(then, column, row)| {
                (column, row) == (event.column, event.row)
                    && self.shared.now.as_millisecond() - then.as_millisecond() < 400
            });
            if is_double {
                self.last_click = None;
                self.act(Action::Open, effects);
            }
        }
    }

    fn answer(&mut self, mut answer: Answer, effects: &mut Vec<Effect>) {
        if answer.slot == Slot::Feed {
            self.feed(&mut answer, effects);
            return;
        }
        if answer.number != self.asked(answer.slot) {
            return;
        }
        let mut cx = Context { shared: &self.shared, effects };
        for screen in self.over.iter_mut().rev() {
            screen.answered(&mut answer, &mut cx);
        }
        for screen in self.tabs.all() {
            screen.answered(&mut answer, &mut cx);
        }
        // What was done is told wherever the user is by then.
        if let Some(outcome) = answer.take::<ChangeOutcome>() {
            outcome.tell(&mut cx);
        } else if let Some(ReadNews(marks)) = answer.take() {
            self.shared.read = marks;
        }
    }

    /// Counts what is known to be wrong from the rows alone; the tab looks for the rest when it is opened.
    fn count_problems(&mut self) {
        let broken = self.shared.rows.sessions.iter().filter(|session| session.problems > 0);
        self.shared.problems = broken.count() + self.shared.at_risk.len();
    }

    fn feed(&mut self, answer: &mut Answer, effects: &mut Vec<Effect>) {
        if let Some(Reading(done, total)) = answer.take() {
            self.shared.reading = Some((done, total)).filter(|_| total > 0);
            return;
        }
        if let Some(AtRisk(at_risk)) = answer.take() {
            self.shared.at_risk = at_risk;
            self.count_problems();
        } else if let Some(LiveNews(rows)) = answer.take() {
            self.shared.states = rows
                .iter()
                .filter_map(|row| {
                    let id = row.session.id.clone()?;
                    Some((SessionKey { source: row.session.source, id }, row.state))
                })
                .collect();
            let is_same = |key: &String, state: &LiveState| {
                rows.iter().any(|row| row.key() == *key && row.state == *state)
            };
            self.shared.quiet.retain(|key, state| is_same(key, state));
            self.shared.live = rows;
        } else if let Some(Alarmed(alarm)) = answer.take() {
            let is_quiet = alarm.row.is_some_and(|key| self.shared.quiet.contains_key(&key));
            if !self.shared.is_muted && !is_quiet {
                let words = words::alarm(&alarm.reason);
                effects.push(Effect::Say(Notice::info(words.clone())));
                effects.push(Effect::Alarm(words));
            }
            return;
        } else if let Some(ReadNews(marks)) = answer.take() {
            // Rows that they belong to follow.
            self.shared.read = marks;
            return;
        } else if let Some(Fresh(rows)) = answer.take() {
            self.shared.reading = None;
            match rows {
                Ok(rows) => {
                    self.shared.rows = rows;
                    self.count_problems();
                }
                Err(error) => {
                    effects.push(Effect::Say(Notice::error(error.full_message())));
                }
            }
        }
        self.refresh(effects);
    }
}
