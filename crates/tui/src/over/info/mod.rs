//! What is known about a session, and why: facts, files, evidence for the folder, problems, cost, live signals.

mod sheet;

use std::sync::Arc;

use jiff::SignedDuration;
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use recount_display::sanitize::single_line;
use recount_display::span::{Line, StyledSpan};
use recount_display::theme::Tone;
use recount_engine::ListQuery;
use recount_engine::live::LiveRow;
use recount_engine::stats::{Explained, StatsRequest};
use recount_model::{SessionFacts, SessionKey};
use recount_platform::{local_zone, quote};

use crate::draw::{Painter, columns};
use crate::effect::{Answer, Notice};
use crate::field::Field;
use crate::keys::{Action, Place};
use crate::over::{Reader, actions};
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::work::{Slot, Work};

use sheet::Sheet;

/// Facts about a session.
#[derive(Debug)]
pub(crate) struct Info {
    key: SessionKey,
    is_asked: bool,
    details: Option<Details>,
    /// The lines at a width.
    laid: Option<(usize, Vec<Line>)>,
    /// The first visible line.
    top: usize,
    height: usize,
    many: usize,
    field: Field,
    is_typing: bool,
}

/// What has to be asked for.
#[derive(Debug)]
struct Details {
    key: SessionKey,
    /// The session, with its folder and problems.
    facts: Result<Arc<SessionFacts>, String>,
    cost: Result<Explained, String>,
}

impl Details {
    fn read(work: &Work, key: SessionKey) -> Self {
        let engine = work.engine();
        let opened = engine.open_key(&key, work.progress());
        let facts = opened.map(|opened| Arc::new(opened.facts));
        let zone = local_zone();
        let gap = SignedDuration::from_mins(15);
        let asked = StatsRequest { sessions: ListQuery::default(), zone, gap };
        let cost = engine.explain(&asked, Some(key.id.as_str()), work.progress());
        Self {
            key,
            facts: facts.map_err(|error| error.full_message()),
            cost: cost.map_err(|error| error.full_message()),
        }
    }
}

impl Info {
    /// Shows a session.
    pub(crate) fn new(key: SessionKey) -> Self {
        Self {
            key,
            is_asked: false,
            details: None,
            laid: None,
            top: 0,
            height: 0,
            many: 0,
            field: Field::default(),
            is_typing: false,
        }
    }

    fn facts(&self, shared: &Shared) -> Option<Arc<SessionFacts>> {
        let read = self.details.as_ref().and_then(|details| details.facts.as_ref().ok());
        shared.session(&self.key).or(read).cloned()
    }

    fn lines(&self, shared: &Shared, width: usize) -> Vec<Line> {
        let mut page = Sheet { width, lines: Vec::new() };
        let Some(facts) = self.facts(shared) else {
            let error = self.details.as_ref().and_then(|details| details.facts.as_ref().err());
            let words = error.map_or("looking for the session…", String::as_str);
            page.text(words, if error.is_some() { Tone::Error } else { Tone::Dim });
            return page.lines;
        };
        page.facts(&facts, shared);
        let is_it = |row: &&LiveRow| {
            row.session.source == self.key.source && row.session.id.as_ref() == Some(&self.key.id)
        };
        if let Some(row) = shared.live.iter().find(is_it) {
            page.live(row, shared.now);
        }
        page.files(&facts, shared);
        let read = self.details.as_ref().and_then(|details| details.facts.as_ref().ok());
        page.folder(read.unwrap_or(&facts), shared);
        page.problems(read.unwrap_or(&facts), shared);
        page.heading("cost");
        match self.details.as_ref().map(|details| &details.cost) {
            None => page.text("  adding up…", Tone::Dim),
            Some(Err(error)) => page.text(&format!("  {error}"), Tone::Error),
            Some(Ok(cost)) => page.cost(cost),
        }
        page.lines
    }

    fn find(&mut self, on: bool, cx: &mut Context<'_>) {
        let wanted = self.field.text().trim().to_lowercase();
        if wanted.is_empty() {
            return;
        }
        let lines = self.lines(cx.shared, usize::from(cx.shared.size.0).saturating_sub(4).max(20));
        let is_it = |(_, line): &(usize, &Line)| {
            let text: String = line.spans().iter().map(StyledSpan::text).collect();
            text.to_lowercase().contains(&wanted)
        };
        let all = || lines.iter().enumerate().filter(is_it).map(|(at, _)| at);
        let next =
            if on { all().find(|at| *at > self.top) } else { all().rfind(|at| *at < self.top) };
        let around = if on { all().next() } else { all().next_back() };
        match next.or(around) {
            Some(at) => self.top = at,
            None => cx.say(Notice::info(format!("'{wanted}' is not here"))),
        }
    }

    fn scroll(&mut self, action: Action) -> bool {
        let page = self.height.max(2) - 1;
        self.top = match action {
            Action::Down => self.top + 1,
            Action::Up => self.top.saturating_sub(1),
            Action::HalfDown => self.top + page / 2,
            Action::HalfUp => self.top.saturating_sub(page / 2),
            Action::PageDown | Action::PageForward => self.top + page,
            Action::PageUp | Action::PageBackward => self.top.saturating_sub(page),
            Action::First => 0,
            Action::Last => self.many,
            _ => return false,
        };
        self.top = self.top.min(self.many.saturating_sub(self.height));
        true
    }
}

impl Screen for Info {
    fn place(&self) -> Place {
        Place::Info
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        self.laid = None;
        if !std::mem::replace(&mut self.is_asked, true) {
            let key = self.key.clone();
            cx.ask(Slot::Info, move |work| Details::read(work, key));
        }
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        if self.scroll(action) {
            return true;
        }
        match action {
            Action::Filter => self.is_typing = true,
            Action::FindNext => self.find(true, cx),
            Action::FindPrevious => self.find(false, cx),
            Action::Back if !self.field.is_empty() => self.field.set(""),
            Action::Open => cx.push(Reader::new(self.key.clone())),
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
                self.find(true, cx);
            }
            KeyCode::Esc => {
                self.is_typing = false;
                self.field.set("");
            }
            _ => return self.field.key(key),
        }
        true
    }

    fn pasted(&mut self, text: &str, _cx: &mut Context<'_>) {
        self.field.insert(text);
    }

    fn answered(&mut self, answer: &mut Answer, _cx: &mut Context<'_>) {
        if answer.slot == Slot::Info
            && let Some(details) = answer.take::<Details>()
            && details.key == self.key
        {
            self.details = Some(details);
            self.laid = None;
        }
    }

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (width, height) = (painter.width(), painter.height());
        let title = self.facts(shared).map(|facts| single_line(facts.shown_title()));
        let title = title.unwrap_or_default();
        painter.part(1, 0, width.saturating_sub(2), 1).text(0, 0, &title, Tone::Heading);
        let has_field = self.is_typing || !self.field.is_empty();
        let below = height.saturating_sub(1 + u16::from(has_field));
        let room = usize::from(width).saturating_sub(4).max(20);
        let is_stale = self.laid.as_ref().is_none_or(|(laid, _)| *laid != room);
        if is_stale || self.has_clock(shared) {
            self.laid = Some((room, self.lines(shared, room)));
        }
        let Some((_, lines)) = &self.laid else { return };
        (self.many, self.height) = (lines.len(), usize::from(below));
        self.top = self.top.min(self.many.saturating_sub(self.height));
        let wanted = self.field.text().trim().to_lowercase();
        let mut body = painter.part(0, 1, width, below);
        for (y, line) in lines.iter().skip(self.top).take(self.height).enumerate() {
            body.spans(2, columns(y), &crate::over::reader::highlighted(line, &wanted));
        }
        let rest = self.many.saturating_sub(self.top + self.height);
        if has_field {
            let y = height.saturating_sub(1);
            let x = painter.text(1, y, "/ ", Tone::Dim);
            self.field.draw(painter, x, y, self.is_typing);
        } else if rest > 0 {
            let words = format!(" {rest} more lines ");
            painter.text_right(height.saturating_sub(1), &words, Tone::Dim);
        }
    }

    fn has_clock(&self, shared: &Shared) -> bool {
        shared.states.contains_key(&self.key)
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Back, Action::Open, Action::Filter, Action::Resume, Action::CopyId]
    }

    fn command(&self, _shared: &Shared) -> String {
        format!("recount stats --explain {}", quote(self.key.id.as_str()))
    }
}
