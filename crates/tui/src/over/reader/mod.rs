//! The transcript of a session: blocks, folding, levels, jumps, find, cost and context in the margin.
//!
//! Only what is near the screen is read and laid out. A place in the text is a message and a row of it, so nothing before it
//! needs to be known.

mod jumps;
mod layout;
mod moves;
mod prompts;
mod raw;
mod text;
mod view;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use recount_blocks::Level;
use recount_engine::{Position, View};
use recount_model::{Fate, SessionFacts, SessionKey};
use recount_platform::quote;

use crate::draw::Painter;
use crate::effect::{Answer, Effect, Notice};
use crate::field::Field;
use crate::keys::{Action, Place};
use crate::over::{Paging, actions};
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::transcript::Look;
use crate::work::Slot;

use jumps::{Jump, Last};
use layout::{Fold, Laid, Layout};
use moves::{Landing, Spot, Target};
use prompts::Prompts;
use raw::Raw;
use text::{Found, Open, Opening, Read, Shown, Text, Wanted};

pub(crate) use view::highlighted;

/// The width of a fate at the right.
const FATE: usize = 13;
/// No prompt was chosen.
const NONE: usize = usize::MAX;

/// The transcript of a session.
pub(crate) struct Reader {
    key: SessionKey,
    /// Where to open it.
    wanted: Wanted,
    shown: Shown,
    view: View,
    text: Option<Arc<Text>>,
    error: Option<String>,
    /// The state of the session that was opened last.
    state: Option<(Option<Timestamp>, u64)>,
    /// Whether it is being opened.
    is_opening: bool,
    /// The messages that may be shown.
    messages: Vec<usize>,
    loaded: HashMap<usize, Read>,
    laid: HashMap<usize, Laid>,
    /// The size of the text, as last drawn.
    size: (usize, usize),
    top: Spot,
    cursor: Spot,
    /// Where to go once it is read.
    landing: Option<Landing>,
    /// The message that was asked for.
    awaited: Option<usize>,
    /// How blocks are shown that the user folded or opened.
    folds: HashMap<((usize, usize), usize), Fold>,
    /// How all blocks are shown, if the user said so.
    fold_all: Option<Fold>,
    is_following: bool,
    /// Messages that came while the end was not on the screen.
    unread: usize,
    field: Field,
    is_typing: bool,
    /// The text that is found, in lower case.
    found: String,
    last: Option<Last>,
    /// What is being looked for.
    seeking: Option<(Target, bool)>,
    /// The prompt that was chosen in the index.
    chosen: Arc<AtomicUsize>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (many, loaded, laid) = (self.messages.len(), self.loaded.len(), self.laid.len());
        write!(out, "Reader({many} messages, {loaded} loaded, {laid} laid out)")
    }
}

/// A page of messages.
struct Page {
    key: SessionKey,
    text: Arc<Text>,
    messages: Vec<(usize, Read)>,
}

impl Reader {
    /// Reads a session from its start; one that runs, at its end.
    pub(crate) fn new(key: SessionKey) -> Self {
        Self::opening(key, Wanted::Start)
    }

    /// Reads a session from a message on.
    pub(crate) fn at(key: SessionKey, position: Position) -> Self {
        Self::opening(key, Wanted::At(position))
    }

    fn opening(key: SessionKey, wanted: Wanted) -> Self {
        Self {
            key,
            wanted,
            shown: Shown { level: Level::Actions, with_undone: true },
            view: View::Full,
            text: None,
            error: None,
            state: None,
            is_opening: false,
            messages: Vec::new(),
            loaded: HashMap::new(),
            laid: HashMap::new(),
            size: (0, 0),
            top: Spot::default(),
            cursor: Spot::default(),
            landing: None,
            awaited: None,
            folds: HashMap::new(),
            fold_all: None,
            is_following: true,
            unread: 0,
            field: Field::default(),
            is_typing: false,
            found: String::new(),
            last: None,
            seeking: None,
            chosen: Arc::new(AtomicUsize::new(NONE)),
        }
    }

    /// Returns the facts of the session: from the list, else as they were when it was opened.
    fn facts(&self, shared: &Shared) -> Option<Arc<SessionFacts>> {
        let opened = || self.text.as_ref().map(|text| Arc::new(text.opened.facts.clone()));
        shared.session(&self.key).cloned().or_else(opened)
    }

    fn ask_open(&mut self, again: bool, wanted: Wanted, cx: &mut Context<'_>) {
        let opened = self.text.as_ref().filter(|_| !again).map(|text| Arc::clone(&text.opened));
        let (key, view, shown) = (self.key.clone(), self.view, self.shown);
        let open = Open { key, opened, view, wanted, shown };
        self.is_opening = true;
        cx.ask(Slot::Reader, move |work| open.run(work));
    }

    /// The session was opened, or opened again.
    fn opened(&mut self, ready: text::Ready, cx: &mut Context<'_>) {
        let before = self.text.as_ref().map(|text| (text.view, text.marks.len()));
        let was_at_end = self.is_at_end();
        let line = self.cursor.line;
        self.text = Some(Arc::clone(&ready.text));
        self.error = None;
        self.loaded = ready.page.into_iter().collect();
        self.laid.clear();
        self.awaited = None;
        self.choose();
        if before.is_none() && matches!(self.wanted, Wanted::At(_)) {
            self.raise(ready.at);
        }
        if !ready.is_found {
            cx.say(Notice::error("the message is no longer in this session"));
        }
        let target = match (&self.wanted, before) {
            (Wanted::End, _) => Target::Last,
            (Wanted::Entry(..), Some(_)) if was_at_end && self.is_following => Target::Last,
            (Wanted::Entry(..), _) => Target::Line(line),
            _ => Target::First,
        };
        if let Some((_, many)) = before.filter(|(view, _)| *view == self.view) {
            self.unread += ready.text.marks.len().saturating_sub(many);
        }
        let message = if target == Target::Last {
            self.messages.last().copied().unwrap_or_default()
        } else {
            ready.at
        };
        let keeps_top = matches!(target, Target::Line(_));
        self.landing = Some(Landing { message, target, keeps_top });
        self.settle(cx);
    }

    /// Chooses the messages that may be shown.
    fn choose(&mut self) {
        let Some(text) = &self.text else { return };
        self.messages = text.shown(self.shown.level, self.shown.with_undone);
    }

    /// Shows more, until a message that was asked for is among it.
    fn raise(&mut self, message: usize) {
        for level in [Level::Full, Level::Trace] {
            if self.messages.binary_search(&message).is_ok() {
                break;
            }
            self.shown.level = level;
            self.choose();
        }
    }

    /// Another level, or with or without what was undone: the cursor stays at its message.
    fn show(&mut self, shown: Shown, cx: &mut Context<'_>) {
        let message = self.cursor.message;
        self.shown = shown;
        self.laid.clear();
        self.folds.clear();
        self.fold_all = None;
        self.choose();
        let is_shown = self.messages.binary_search(&message).is_ok();
        let target = if is_shown { Target::Line(self.cursor.line) } else { Target::First };
        self.landing = Some(Landing { message, target, keeps_top: true });
        self.settle(cx);
    }

    fn change_level(&mut self, by: isize, cx: &mut Context<'_>) {
        const LEVELS: [Level; 4] = [Level::Talk, Level::Actions, Level::Full, Level::Trace];
        let at = LEVELS.iter().position(|level| *level == self.shown.level).unwrap_or(1);
        if let Some(level) = LEVELS.get(at.saturating_add_signed(by)).copied() {
            self.show(Shown { level, ..self.shown }, cx);
        }
    }

    fn change_view(&mut self, cx: &mut Context<'_>) {
        let entry = self.mark(self.cursor.message).map(|mark| mark.entry);
        self.view = if self.view == View::Full { View::Strict } else { View::Full };
        let is_empty = |text: &Arc<Text>| !text.opened.is_loadable();
        if self.view == View::Strict && self.text.as_ref().is_some_and(is_empty) {
            cx.say(Notice::error(
                "the agent cannot load this session: its strict view is empty; u goes back",
            ));
        }
        self.wanted = Wanted::Entry(entry.unwrap_or_default(), self.cursor.message);
        self.ask_open(false, self.wanted.clone(), cx);
    }

    /// Looks whether the session grew.
    fn look(&mut self, cx: &mut Context<'_>) {
        let Some(facts) = cx.shared.session(&self.key) else { return };
        let state = Some((facts.updated, facts.bytes()));
        // One that grows all the time must not be opened anew before it is open.
        if self.state == state || self.is_opening || cx.shared.rows.is_remembered {
            return;
        }
        self.state = state;
        let entry = self.mark(self.cursor.message).map(|mark| mark.entry);
        self.wanted = if self.is_following && self.is_at_end() {
            Wanted::End
        } else {
            Wanted::Entry(entry.unwrap_or_default(), self.cursor.message)
        };
        self.ask_open(true, self.wanted.clone(), cx);
    }

    fn follow(&mut self, cx: &mut Context<'_>) {
        let was_at_end = self.is_at_end();
        self.is_following = !(was_at_end && self.is_following);
        if self.is_following && !was_at_end {
            self.go_last(cx);
        }
        let words = if self.is_following { "follows as it grows" } else { "does not follow" };
        cx.say(Notice::info(words));
    }

    /// Folds or opens the block under the cursor.
    fn fold(&mut self, cx: &mut Context<'_>) {
        let spot = self.cursor;
        let Some((unit, fold)) = self.unit_at(spot) else { return };
        let fold = match fold {
            Fold::Shut => Fold::Open,
            Fold::Brief if self.is_cut(spot.message, unit) => Fold::Open,
            Fold::Brief | Fold::Open => Fold::Shut,
        };
        self.set_fold(spot.message, unit, fold);
        // The first row of the block stays.
        let first = self.rows(spot.message).iter().position(|row| row.unit == unit);
        self.cursor.line = first.unwrap_or_default();
        self.settle(cx);
    }

    fn set_fold(&mut self, message: usize, unit: usize, fold: Fold) {
        let Some(entry) = self.mark(message).map(|mark| mark.entry) else { return };
        self.folds.insert((entry, unit), fold);
        self.laid.remove(&message);
    }

    fn toggle_all(&mut self, cx: &mut Context<'_>) {
        self.fold_all = match self.fold_all {
            None | Some(Fold::Shut | Fold::Brief) => Some(Fold::Open),
            Some(Fold::Open) => Some(Fold::Shut),
        };
        self.folds.clear();
        self.laid.clear();
        self.cursor.line = 0;
        self.settle(cx);
    }

    fn copy(&self, action: Action, cx: &mut Context<'_>) {
        let Some(Ok(message)) = self.loaded.get(&self.cursor.message) else { return };
        if action == Action::CopyMessage {
            let is_whole = self.shown.level >= Level::Trace || message.display_text.is_empty();
            let text = if is_whole { &message.text } else { &message.display_text };
            if !text.trim().is_empty() {
                cx.then(Effect::Copy(text.trim_end().to_owned(), "message"));
                return;
            }
        }
        let project = self.project();
        let texts = Layout::texts(message, self.cursor.message, self.look_of(&project));
        let unit = self.laid_unit(self.cursor);
        let text = if action == Action::CopyMessage {
            Some(texts.join("\n\n"))
        } else {
            unit.and_then(|unit| texts.into_iter().nth(unit))
        };
        match text.filter(|text| !text.trim().is_empty()) {
            Some(text) => {
                let what = if action == Action::CopyMessage { "message" } else { "block" };
                cx.then(Effect::Copy(text, what));
            }
            None => cx.say(Notice::error("there is no text to copy here")),
        }
    }

    fn project(&self) -> String {
        let project = self.text.as_ref().and_then(|text| text.opened.facts.project.path.as_ref());
        project.map(ToString::to_string).unwrap_or_default()
    }

    fn look_of<'a>(&self, project: &'a str) -> Look<'a> {
        Look { level: self.shown.level, width: self.body_width(), project }
    }

    /// Returns the look of a message: one that was undone has its fate at the right.
    fn look_at<'a>(&self, message: usize, project: &'a str) -> Look<'a> {
        let look = self.look_of(project);
        let is_undone = self.mark(message).is_some_and(|mark| mark.fate != Fate::Kept);
        let fate = if is_undone { FATE } else { 0 };
        Look { width: look.width.saturating_sub(fate).max(8), ..look }
    }

    fn raw(&self, cx: &mut Context<'_>) {
        if let (Some(text), Some(Ok(message))) = (&self.text, self.loaded.get(&self.cursor.message))
        {
            cx.push(Raw::new(Arc::clone(&text.opened), message.place.clone()));
        }
    }

    fn prompts(&self, cx: &mut Context<'_>) {
        if let Some(text) = &self.text {
            let chosen = Arc::clone(&self.chosen);
            let shown = &self.messages;
            cx.push(Prompts::new(Arc::clone(text), shown, self.cursor.message, chosen));
        }
    }

    /// Returns the number of undone messages.
    fn undone(&self) -> usize {
        let marks = self.text.as_ref().map(|text| text.marks.iter());
        marks.into_iter().flatten().filter(|mark| mark.fate != Fate::Kept).count()
    }

    /// Does what an action asks of the text. Returns whether it was one of those.
    fn on_text(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        match action {
            Action::Less => self.change_level(-1, cx),
            Action::More => self.change_level(1, cx),
            Action::View => self.change_view(cx),
            Action::FoldUndone => {
                let with_undone = !self.shown.with_undone;
                self.show(Shown { with_undone, ..self.shown }, cx);
            }
            Action::Fold | Action::Open => self.fold(cx),
            Action::FoldAll => self.toggle_all(cx),
            Action::Follow => self.follow(cx),
            Action::Raw => self.raw(cx),
            Action::Prompts => self.prompts(cx),
            Action::CopyMessage | Action::CopyBlock => self.copy(action, cx),
            Action::Filter => {
                // What was found before is recalled with `up`.
                self.field.set("");
                self.is_typing = true;
            }
            Action::FindNext => self.again(true, cx),
            Action::FindPrevious => self.again(false, cx),
            _ => match Jump::of(action) {
                Some((jump, on)) => self.jump(jump, on, cx),
                None => return false,
            },
        }
        true
    }
}

impl Screen for Reader {
    fn place(&self) -> Place {
        Place::Reader
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        self.fit(cx.shared);
        if self.text.is_none() && self.error.is_none() && self.state.is_none() {
            if self.wanted == Wanted::Start && cx.shared.states.contains_key(&self.key) {
                self.wanted = Wanted::End;
            }
            let facts = cx.shared.session(&self.key);
            self.state = Some(facts.map_or((None, 0), |facts| (facts.updated, facts.bytes())));
            self.ask_open(true, self.wanted.clone(), cx);
            return;
        }
        self.look(cx);
        let chosen = self.chosen.swap(NONE, Ordering::Relaxed);
        if chosen != NONE {
            self.landing =
                Some(Landing { message: chosen, target: Target::First, keeps_top: false });
        }
        self.settle(cx);
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        if matches!(action, Action::Back | Action::Close) {
            self.seeking = None;
            cx.then(Effect::Forget(Slot::Find));
        }
        if action == Action::Back && !self.found.is_empty() {
            self.found.clear();
            return true;
        }
        if self.text.is_some() && (self.scroll(action, cx) || self.on_text(action, cx)) {
            return true;
        }
        match action {
            Action::Open => {}
            Action::Pager => {
                let (level, view) = (self.shown.level, self.view);
                cx.push(Paging::new(self.key.clone(), level, view));
            }
            _ => {
                let chosen = self.facts(cx.shared).into_iter().collect();
                return actions::on_sessions(action, chosen, cx);
            }
        }
        true
    }

    fn is_typing(&self) -> bool {
        self.is_typing
    }

    fn typed(&mut self, key: &KeyEvent, cx: &mut Context<'_>) -> bool {
        match key.code {
            KeyCode::Enter => {
                self.is_typing = false;
                self.field.accept();
                self.find(cx);
            }
            KeyCode::Esc => {
                self.is_typing = false;
                self.found.clear();
                self.field.set("");
            }
            _ => {
                let used = self.field.key(key);
                self.found = self.field.text().trim().to_lowercase();
                return used;
            }
        }
        true
    }

    fn pasted(&mut self, text: &str, _cx: &mut Context<'_>) {
        self.field.insert(text);
        self.found = self.field.text().trim().to_lowercase();
    }

    fn answered(&mut self, answer: &mut Answer, cx: &mut Context<'_>) {
        match answer.slot {
            Slot::Reader => {
                let Some(Opening { key, result }) = answer.take() else { return };
                if key != self.key {
                    return;
                }
                self.is_opening = false;
                match result {
                    Ok(ready) => self.opened(ready, cx),
                    Err(error) if self.text.is_some() => cx.say(Notice::error(error)),
                    Err(error) => self.error = Some(error),
                }
                self.look(cx);
            }
            Slot::Page => {
                let Some(Page { key, text, messages }) = answer.take() else { return };
                let is_same = self.text.as_ref().is_some_and(|own| Arc::ptr_eq(own, &text));
                if key == self.key && is_same {
                    self.awaited = None;
                    for (at, read) in messages {
                        self.laid.remove(&at);
                        self.loaded.insert(at, read);
                    }
                    self.settle(cx);
                }
            }
            Slot::Find => {
                let Some(Found { key, at }) = answer.take() else { return };
                if key == self.key {
                    self.found(at, cx);
                }
            }
            _ => {}
        }
    }

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        self.draw_all(painter, shared);
    }

    fn has_clock(&self, shared: &Shared) -> bool {
        shared.states.contains_key(&self.key)
    }

    fn hints(&self) -> &'static [Action] {
        &[
            Action::Back,
            Action::Filter,
            Action::NextPrompt,
            Action::Fold,
            Action::More,
            Action::Less,
            Action::Prompts,
            Action::View,
            Action::Follow,
            Action::Resume,
            Action::Raw,
            Action::CopyId,
            Action::Info,
        ]
    }

    fn command(&self, _shared: &Shared) -> String {
        let mut words = format!("recount show {}", quote(self.key.id.as_str()));
        let level = match self.shown.level {
            Level::Talk => " --level talk",
            Level::Actions => "",
            Level::Full => " --level details",
            Level::Trace => " --level trace",
        };
        words.push_str(level);
        if self.view == View::Strict || !self.shown.with_undone {
            words.push_str(" --view strict");
        }
        words
    }
}
