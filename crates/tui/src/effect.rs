//! What happens to the app, and what it asks for.

use std::any::Any;
use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};
use recount_model::{LiveState, SessionKey};

use crate::Tab;
use crate::rows::Rows;
use crate::screen::Screen;
use crate::work::{Slot, Work};

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The mouse was used.
    Mouse(MouseEvent),
    /// The terminal has another size.
    Resize(u16, u16),
    /// A question was answered.
    Answer(Answer),
    /// Time has passed.
    Time,
}

/// The answer to a question.
pub(crate) struct Answer {
    /// The slot of the question.
    pub(crate) slot: Slot,
    /// The number of the question.
    pub(crate) number: u64,
    value: Option<Box<dyn Any + Send>>,
}

impl Answer {
    pub(crate) fn new(slot: Slot, number: u64, value: Box<dyn Any + Send>) -> Self {
        Self { slot, number, value: Some(value) }
    }

    /// Takes the value, if it is of this type.
    pub(crate) fn take<T: 'static>(&mut self) -> Option<T> {
        match self.value.take()?.downcast() {
            Ok(value) => Some(*value),
            Err(value) => {
                self.value = Some(value);
                None
            }
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Answer({:?} {})", self.slot, self.number)
    }
}

/// What a question does on its thread.
pub(crate) type Job = Box<dyn FnOnce(&Work) -> Box<dyn Any + Send> + Send>;

/// Something to do.
pub(crate) enum Effect {
    /// Ask the engine, under a number that the app sets; a newer question of the same slot replaces it.
    Ask(Slot, Job, u64),
    /// Stop caring about the answer of a slot.
    Forget(Slot),
    /// Show a screen over this one.
    Push(Box<dyn Screen>),
    /// Leave the topmost screen.
    Pop,
    /// Do what an action asks for, at the screen below.
    Act(crate::keys::Action),
    /// Go to a tab.
    Go(Tab),
    /// Go to a tab, and tell it something.
    Tell(Tab, Box<dyn Any + Send>),
    /// Show other rows: labels have changed.
    Rows(Arc<Rows>),
    /// Show this number of problems at the tab.
    Problems(usize),
    /// Show a line at the foot.
    Say(Notice),
    /// Give the terminal to the session's agent, or jump to where it runs.
    Resume(SessionKey),
    /// Run this program with other arguments, and wait for a key.
    Run(Vec<OsString>),
    /// Show text in the pager.
    Page(String),
    /// Open a file in the editor.
    Edit(std::path::PathBuf),
    /// Copy text; the second says what it is.
    Copy(String, &'static str),
    /// Ring or show a desktop notification.
    Alarm(String),
    /// A running session in this state needs no attention until it changes.
    Acknowledge(String, LiveState),
    /// Index what is not in the index, in the background.
    Index,
    /// Go to the pane that a process runs in; said is where it is.
    Jump(Option<u32>, String),
    /// Show demo data.
    Demo,
    /// Draw everything again.
    Redraw,
    /// Stop until the shell continues us.
    Suspend,
    /// End.
    Quit,
}

impl fmt::Debug for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ask(slot, ..) => write!(out, "Ask({slot:?})"),
            Self::Forget(slot) => write!(out, "Forget({slot:?})"),
            Self::Push(screen) => write!(out, "Push({:?})", screen.place()),
            Self::Pop => out.write_str("Pop"),
            Self::Act(action) => write!(out, "Act({action:?})"),
            Self::Go(tab) => write!(out, "Go({tab:?})"),
            Self::Tell(tab, _) => write!(out, "Tell({tab:?})"),
            Self::Rows(_) => out.write_str("Rows"),
            Self::Problems(many) => write!(out, "Problems({many})"),
            Self::Say(notice) => write!(out, "Say({notice:?})"),
            Self::Resume(key) => write!(out, "Resume({key:?})"),
            Self::Run(args) => write!(out, "Run({args:?})"),
            Self::Page(_) => out.write_str("Page"),
            Self::Edit(path) => write!(out, "Edit({path:?})"),
            Self::Copy(text, what) => write!(out, "Copy({what}: {text})"),
            Self::Alarm(text) => write!(out, "Alarm({text})"),
            Self::Acknowledge(key, state) => write!(out, "Acknowledge({key} {state:?})"),
            Self::Jump(pid, place) => write!(out, "Jump({pid:?} {place})"),
            Self::Index => out.write_str("Index"),
            Self::Demo => out.write_str("Demo"),
            Self::Redraw => out.write_str("Redraw"),
            Self::Suspend => out.write_str("Suspend"),
            Self::Quit => out.write_str("Quit"),
        }
    }
}

/// A line at the foot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) kind: NoticeKind,
    /// When it was said; it goes after a while.
    pub(crate) at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoticeKind {
    Done,
    Info,
    Error,
}

impl Notice {
    pub(crate) fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: NoticeKind::Done, at: None }
    }

    pub(crate) fn info(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: NoticeKind::Info, at: None }
    }

    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: NoticeKind::Error, at: None }
    }
}
