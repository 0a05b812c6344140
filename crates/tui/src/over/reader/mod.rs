//! The transcript of a session: blocks, folding, levels, jumps, find, cost and context in the margin.
//!
//! Only what is near the screen is read and laid out. A place in the text is a message and a row of it, so nothing before it
//! needs to be known.

mod calls;
mod folding;
mod highlight;
mod jumps;
mod layout;
mod moves;
mod opening;
mod pages;
mod prompts;
mod raw;
mod reading;
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
use layout::{Fold, Laid};
use moves::{Landing, Spot, Target};
use prompts::Prompts;
use raw::Raw;
use text::{Found, Opening, Read, Shown, Text, Wanted};

pub(crate) use highlight::highlighted;

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
    /// The first message that came after the end was shown last, and how many came.
    new: Option<(usize, usize)>,
    /// What the session was marked as read with last, and when.
    marked: Option<(u64, Timestamp)>,
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
            new: None,
            marked: None,
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
            self.mark_now(cx);
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
