//! How the search looks.

use ratatui::layout::Rect;
use recount_display::number::{bytes, plural};
use recount_display::sanitize::single_line;
use recount_display::span::StyledSpan;
use recount_display::theme::Tone;
use recount_display::transcript::part_tone;
use recount_display::when;
use recount_display::width::{truncate_to, width};
use recount_display::words;
use recount_engine::Match;
use recount_model::Fate;

use super::{Layout, Scope, Search};
use crate::draw::{Painter, columns};
use crate::shared::Shared;

/// From this width on, the preview is at the right.
const RIGHT: u16 = 100;
/// Below this width, a row is a project and a line.
const NARROW: u16 = 60;
/// From this width on, a row has the id of its session.
const WITH_ID: u16 = 80;
/// Below this height there is no preview below.
const TALL: u16 = 14;
/// Where the field begins.
const FIELD: u16 = 3;
/// The maximum number of candidates that are shown.
const CANDIDATES: usize = 8;

impl Search {
    pub(super) fn draw_all(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (wide, height) = (painter.width(), painter.height());
        self.head(&mut painter.part(0, 0, wide, 1), shared);
        let below = self.notes(&mut painter.part(0, 1, wide, height.saturating_sub(1)));
        let top = 1 + below;
        let body = height.saturating_sub(top);
        if self.hits().is_empty() {
            let mut part = painter.part(FIELD, top, wide.saturating_sub(FIELD), body);
            self.nothing(&mut part, shared);
        } else {
            self.parts(&mut painter.part(0, top, wide, body), shared);
        }
        self.candidates(&mut painter.part(0, 1, wide, height.saturating_sub(1)));
    }

    /// The field, where is searched, and what was found.
    fn head(&self, painter: &mut Painter<'_>, shared: &Shared) {
        let mut words = vec![self.scope_name(shared)];
        if let Some(shown) = self.shown.as_ref().filter(|shown| shown.results.total > 0) {
            let found = &shown.results;
            let about = if found.is_exact { "" } else { "up to " };
            let hits = plural(found.total as u64, "hit");
            let hits = format!("{about}{hits} in {}", plural(found.sessions as u64, "session"));
            words.push(match &shown.begun {
                Some(word) => format!("{word} {hits}"),
                None => hits,
            });
            words.push(format!("{} ms", shown.took.as_millis()));
        } else if self.is_waiting {
            words.push("searching…".to_owned());
        } else if self.shown.is_some() {
            words.push("nothing found".to_owned());
        }
        let taken = width(self.field.text()).clamp(16, usize::from(painter.width() / 2));
        let room = usize::from(painter.width()).saturating_sub(taken + 6);
        let mut right = words.join(" · ");
        while width(&right) > room && words.len() > 1 {
            words.pop();
            right = words.join(" · ");
        }
        let end = painter.text_right(0, &format!("{right} "), Tone::Dim);
        let tone = if self.is_typing { Tone::Strong } else { Tone::Dim };
        let mut field = painter.part(0, 0, end.saturating_sub(1), 1);
        field.text(1, 0, "/", tone);
        if self.field.is_empty() && !self.is_typing {
            field.text(FIELD, 0, "search", Tone::Dim);
        }
        self.field.draw(&mut field, FIELD, 0, self.is_typing);
    }

    fn scope_name(&self, shared: &Shared) -> String {
        match self.scope {
            Scope::Everywhere => "everywhere".to_owned(),
            Scope::Agent(source) => source.to_string(),
            Scope::Here => {
                let scope = shared.rows.scope.as_ref();
                let name = scope.map(|scope| shared.rows.names.name(&scope.project));
                name.unwrap_or("here").to_owned()
            }
        }
    }

    /// What is wrong with the query, or missing in the answer. Returns the number of lines.
    fn notes(&self, painter: &mut Painter<'_>) -> u16 {
        let mut y = 0;
        if let Some(wrong) = &self.wrong {
            // Below the field, as wide as the text before the place.
            let leading = self.field.text().len() - self.field.text().trim_start().len();
            painter.text(FIELD + columns(leading), y, &wrong.carets, Tone::Error);
            painter.text(FIELD, y + 1, &wrong.what, Tone::Error);
            y += 2;
        }
        if let Some((done, total)) = self.progress {
            let words = if total > 0 {
                let (done, total) = (bytes(done), bytes(total));
                format!("index: {done} of {total}; searching what is indexed")
            } else {
                "index: just begun; searching what is indexed".to_owned()
            };
            painter.text(FIELD, y, &words, Tone::Warning);
            y += 1;
        }
        let Some(shown) = &self.shown else { return y };
        if shown.results.relaxed && !shown.results.hits.is_empty() {
            let mut words = single_line(&words::relaxed(shown.results.relaxation.as_ref()));
            for more in self.wider_words() {
                words = format!("{words} · {more}");
            }
            painter.text(FIELD, y, &words, Tone::Warning);
            y += 1;
        }
        for note in &shown.results.notes {
            painter.text(FIELD, y, &words::search_note(note), Tone::Dim);
            y += 1;
        }
        y
    }

    /// Says what would find more.
    fn wider_words(&self) -> Vec<String> {
        let Some(shown) = &self.shown else { return Vec::new() };
        let mut words = Vec::new();
        if let Some(many) = shown.wider.everywhere {
            words.push(format!("{} everywhere: ctrl-r", plural(many as u64, "hit")));
        }
        if let Some((query, many)) = &shown.wider.fuzzy {
            words.push(format!("{} with a letter to spare: {query}", plural(*many as u64, "hit")));
        }
        words
    }

    fn nothing(&self, painter: &mut Painter<'_>, shared: &Shared) {
        let mut lines: Vec<(String, Tone)> = Vec::new();
        if self.wrong.is_some() {
            return;
        }
        if self.shown.is_some() {
            let query = self.asked.query.as_str();
            lines.push((format!("nothing found for '{}'", single_line(query)), Tone::Plain));
            for more in self.wider_words() {
                lines.push((more, Tone::Plain));
            }
            if self.scope != Scope::Everywhere {
                lines
                    .push(("ctrl-r searches here, in one agent, everywhere".to_owned(), Tone::Dim));
            }
        } else if self.asked.query.is_empty() {
            let many = shared.rows.sessions.len() as u64;
            let words = format!("what was said in {}, as you type", plural(many, "session"));
            lines.push((words, Tone::Plain));
            lines.push((String::new(), Tone::Plain));
            let help = [
                ("tax table", "both words"),
                ("\"tax table\"", "the words in this order"),
                ("tax OR vat", "one of them; NOT leaves out, ( ) groups"),
                ("tax*  texas~", "words that begin so; a letter to spare"),
                ("in:answer  tool:edit", "where it was said; tab completes fields and values"),
                ("project:shop  after:7d", "in which sessions, and when"),
                ("is:error  is:undone", "what failed, what was taken back"),
            ];
            lines.extend(help.map(|(example, means)| (format!("{example:<24}{means}"), Tone::Dim)));
        }
        for (y, (line, tone)) in lines.iter().enumerate() {
            painter.text(0, columns(y) + 1, line, *tone);
        }
    }

    /// Divides what is below the field between the hits and the preview.
    fn parts(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (wide, height) = (painter.width(), painter.height());
        let layout = match self.layout {
            Layout::Auto if wide >= RIGHT => Layout::Right,
            Layout::Auto | Layout::Below if height >= TALL => Layout::Below,
            Layout::Right if wide >= NARROW => Layout::Right,
            _ => Layout::Off,
        };
        let (list, preview) = match layout {
            Layout::Right => {
                let right = wide / 20 * 9;
                let list = Rect { x: 0, y: 0, width: wide - right, height };
                (list, Some(Rect { x: wide - right, y: 0, width: right, height }))
            }
            Layout::Below => {
                let strip = (height / 20 * 8).max(height / 3).max(5).min(height);
                let list = Rect { x: 0, y: 0, width: wide, height: height - strip };
                (list, Some(Rect { x: 0, y: height - strip, width: wide, height: strip }))
            }
            Layout::Auto | Layout::Off => (Rect { x: 0, y: 0, width: wide, height }, None),
        };
        self.rows(&mut painter.part(list.x, list.y, list.width, list.height), shared);
        let (Some(preview), Some(hit)) = (preview, self.hit().cloned()) else { return };
        let inner = if layout == Layout::Right {
            painter.part(preview.x, preview.y, 1, preview.height).column(0);
            Rect { x: preview.x + 2, width: preview.width.saturating_sub(2), ..preview }
        } else {
            let title = hit.session.title.as_deref().unwrap_or_default();
            let about = format!("{} · {}", hit.session.id.short(), single_line(title));
            let about = truncate_to(&about, usize::from(wide.saturating_sub(8)));
            painter.part(0, preview.y, wide, 1).rule(0, &about);
            let (width, height) = (wide.saturating_sub(2), preview.height.saturating_sub(1));
            Rect { x: 1, y: preview.y + 1, width, height }
        };
        let mut part = painter.part(inner.x, inner.y, inner.width, inner.height);
        self.pane.draw(&mut part, &hit, shared);
    }

    fn rows(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (wide, height) = (painter.width(), painter.height());
        let many = self.hits().len();
        self.cursor.fit(usize::from(height), many);
        self.list = painter.area();
        let (top, at) = (self.cursor.top, self.cursor.at);
        let shown = self.hits().iter().enumerate().skip(top).take(usize::from(height));
        for (y, (number, hit)) in shown.enumerate() {
            let mut part = painter.part(0, columns(y), wide, 1);
            row(&mut part, number, hit, shared);
            if number == at {
                part.select(0);
            }
        }
    }

    /// The candidates of a completion, in a box below the field.
    fn candidates(&self, painter: &mut Painter<'_>) {
        let Some(completion) = &self.completion else { return };
        let wanted = |(text, about): &(String, String)| width(text) + width(about) + 2;
        let widest = completion.candidates.iter().map(wanted).max().unwrap_or_default();
        let many = completion.candidates.len().min(CANDIDATES);
        let at = completion.at.unwrap_or_default();
        let first = (at + 1).saturating_sub(many);
        let x = columns(completion.from).min(painter.width() / 2) + 1;
        let (wide, height) = (columns(widest + 4), columns(many + 2));
        let mut part = painter.part(x, 0, wide, height);
        let mut inner = part.boxed(wide, height, "");
        let shown = completion.candidates.iter().enumerate().skip(first).take(many);
        for (y, (number, (text, about))) in shown.enumerate() {
            let mut line = inner.part(0, columns(y), inner.width(), 1);
            line.text(0, 0, text, Tone::Plain);
            line.text_right(0, about, Tone::Dim);
            if completion.at == Some(number) {
                line.modify(0, ratatui::style::Modifier::REVERSED);
            }
        }
    }
}

/// Draws a hit: its number, project, age, id, part of the message, and best line.
fn row(painter: &mut Painter<'_>, number: usize, hit: &Match, shared: &Shared) {
    let wide = painter.width();
    let session = &hit.session;
    if number < 9 {
        painter.text(1, 0, &(number + 1).to_string(), Tone::Dim);
    }
    let mut x = FIELD;
    let mut cell = |painter: &mut Painter<'_>, text: &str, room: u16, tone: Tone| {
        let cut = truncate_to(text, usize::from(room));
        painter.part(x, 0, room, 1).text(0, 0, &cut, tone);
        x += room + 2;
    };
    let is_narrow = wide < NARROW;
    let room = if is_narrow { 10 } else { 14 };
    cell(painter, shared.rows.names.name(&session.project), room, Tone::Strong);
    if !is_narrow {
        let time = hit.message.time.or(session.updated);
        let age = time.map(|time| when::age(time, shared.now)).unwrap_or_default();
        let age = age.trim_end_matches(" ago");
        // Of a date, year and month.
        cell(painter, age.get(..7).unwrap_or(age), 7, Tone::Dim);
        // Beside a preview the line needs the room.
        if wide >= WITH_ID {
            let id = session.id.short();
            cell(painter, id.get(..4).unwrap_or(id), 4, Tone::Name);
        }
        let part = hit.snippet.as_ref().map(|snippet| snippet.field.name().to_owned());
        let part = part.unwrap_or_else(|| hit.message.kind.to_string());
        cell(painter, &part, 7, part_tone(hit.snippet.as_ref().map(|snippet| snippet.field)));
    }
    let mut fate = match hit.message.fate {
        Fate::Kept => String::new(),
        fate => format!(" [{fate}]"),
    };
    if hit.is_gone {
        fate.push_str(" [gone]");
    }
    let fate = StyledSpan::new(&fate, Tone::Warning);
    let end = wide.saturating_sub(columns(fate.width()) + 1);
    let room = end.saturating_sub(x);
    painter.part(x, 0, room, 1).spans(0, 0, &snippet(hit, usize::from(room)));
    painter.spans(end, 0, &[fate]);
}

/// Returns the best line, with its matches marked, cut so that the first of them is in view.
fn snippet(hit: &Match, room: usize) -> Vec<StyledSpan> {
    let Some(snippet) = &hit.snippet else {
        return vec![StyledSpan::new("(its text is not there any more)", Tone::Dim)];
    };
    let text = snippet.text.as_str();
    let first = snippet.highlights.first().map_or(0, |range| range.start);
    let mut start = 0;
    // A third of the width is for what comes before the match.
    if width(text.get(..first).unwrap_or_default()) > room / 2 {
        let before = text.get(..first).unwrap_or_default();
        let mut kept = 0;
        for (at, letter) in before.char_indices().rev() {
            kept += width(letter.encode_utf8(&mut [0; 4]));
            if kept > room / 3 {
                break;
            }
            start = at;
        }
    }
    let shown = text.get(start..).unwrap_or_default();
    let room = room.saturating_sub(usize::from(start > 0));
    let cut = truncate_to(shown, room);
    let is_cut = cut != shown;
    let end = start + if is_cut { cut.trim_end_matches('…').len() } else { shown.len() };
    let part = |from: usize, to: usize| text.get(from.min(end)..to.min(end)).unwrap_or_default();
    let mut spans = Vec::new();
    let mut from = start;
    if start > 0 {
        spans.push(StyledSpan::new("…", Tone::Dim));
    }
    for range in &snippet.highlights {
        spans.push(StyledSpan::new(part(from, range.start), Tone::Plain));
        spans.push(StyledSpan::new(part(range.start, range.end), Tone::Match));
        from = range.end;
    }
    spans.push(StyledSpan::new(part(from, end), Tone::Plain));
    if is_cut {
        spans.push(StyledSpan::new("…", Tone::Dim));
    }
    spans
}
