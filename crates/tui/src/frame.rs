//! The frame around every screen: tabs above, notice and hints below, the menu of a prefix.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use recount_display::number::{bytes, plural};
use recount_display::span::StyledSpan;
use recount_display::theme::Tone;
use recount_display::width::width;

use crate::Tab;
use crate::app::App;
use crate::draw::{Painter, columns};
use crate::effect::NoticeKind;
use crate::keys::{Action, Place};

/// Below this size nothing useful fits.
const LEAST: (u16, u16) = (40, 10);
/// Below this height there is no line of tabs.
const TABS_HEIGHT: u16 = 14;

/// Draws the app. Returns where the terminal's cursor stands.
pub(crate) fn draw(app: &mut App, buffer: &mut Buffer) -> Option<Position> {
    let mut cursor = None;
    let (theme, ascii) = (app.shared.settings.theme, app.shared.settings.ascii);
    app.targets.clear();
    let area = buffer.area;
    let mut painter = Painter::new(buffer, theme, ascii, &mut cursor);
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let words = format!("{}x{} is too small", area.width, area.height);
        painter.text(0, 0, &words, Tone::Warning);
        painter.text(0, 1, &format!("at least {}x{}", LEAST.0, LEAST.1), Tone::Dim);
        return None;
    }
    let top = u16::from(area.height >= TABS_HEIGHT);
    let body_height = area.height - top - 2;
    if top == 1 {
        tabs(app, &mut painter.part(0, 0, area.width, 1));
    }
    app.body = Rect { x: area.x, y: area.y + top, width: area.width, height: body_height };
    let (shared, screens) = app.drawn();
    for screen in screens {
        screen.draw(&mut painter.part(0, top, area.width, body_height), shared);
    }
    notice(app, &mut painter.part(0, area.height - 2, area.width, 1));
    hints(app, &mut painter.part(0, area.height - 1, area.width, 1));
    if let Some(prefix) = app.prefix {
        menu(app, prefix, &mut painter.part(0, top, area.width, body_height));
    }
    cursor
}

fn tabs(app: &mut App, painter: &mut Painter<'_>) {
    let is_narrow = painter.width() < 80;
    let mut x = 1;
    for (at, (tab, name, action)) in Tab::ALL.into_iter().enumerate() {
        let badge = match tab {
            Tab::Live if app.shared.waiting() > 0 => format!(" !{}", app.shared.waiting()),
            Tab::Problems if app.shared.problems > 0 => format!(" {}", app.shared.problems),
            _ => String::new(),
        };
        let is_own = tab == app.tab;
        let label = if is_narrow && !is_own {
            format!("{}{badge}", at + 1)
        } else {
            format!("{} {name}{badge}", at + 1)
        };
        let tone = if is_own { Tone::Heading } else { Tone::Dim };
        let start = x;
        x = painter.text(x, 0, &label, tone);
        if is_own {
            painter.part(start, 0, x - start, 1).modify(0, Modifier::UNDERLINED);
        }
        let area = painter.area();
        app.targets
            .push((Rect { x: area.x + start, y: area.y, width: x - start, height: 1 }, action));
        x += 2;
    }
    let many = app.shared.rows.sessions.len();
    if painter.width() >= 100 && many > 0 {
        let demo = if app.shared.is_demo { "demo data · " } else { "" };
        painter.text_right(0, &format!("{demo}{} ", plural(many as u64, "session")), Tone::Dim);
    }
}

fn notice(app: &App, painter: &mut Painter<'_>) {
    if let Some(notice) = &app.notice {
        let (mark, tone) = match notice.kind {
            NoticeKind::Done => ("✓ ", Tone::Added),
            NoticeKind::Info => ("  ", Tone::Plain),
            NoticeKind::Error => ("✗ ", Tone::Error),
        };
        let text = recount_display::sanitize::single_line(&notice.text);
        painter.spans(1, 0, &[StyledSpan::new(mark, tone), StyledSpan::new(&text, Tone::Plain)]);
    } else if let Some((done, total)) = app.shared.reading {
        let words = format!("reading {} of {}", bytes(done), bytes(total));
        painter.text(1, 0, &words, Tone::Dim);
    } else if !app.shared.at_risk.is_empty() && app.tab != Tab::Problems {
        let many = plural(app.shared.at_risk.len() as u64, "session");
        let is = if app.shared.at_risk.len() == 1 { "is" } else { "are" };
        let words = format!("{many} {is} deleted at the next start of the agent: 6 shows them");
        painter.text(1, 0, &words, Tone::Warning);
    } else if app.shared.is_demo {
        painter.text(1, 0, "No sessions found: this is demo data", Tone::Dim);
    }
}

/// How an action is called in a hint.
fn short(action: Action) -> &'static str {
    match action {
        Action::Open => "open",
        Action::Back => "back",
        Action::Resume => "resume",
        Action::Filter => "filter",
        Action::Delete => "delete",
        Action::Move => "move",
        Action::Rename => "rename",
        Action::Tag => "tag",
        Action::Pin => "pin",
        Action::Fork => "fork",
        Action::Export => "export",
        Action::CopyId | Action::CopyCommand => "copy",
        Action::Mute => "mute",
        Action::Undo => "undo",
        Action::Everywhere => "everywhere",
        Action::Mark => "mark",
        Action::Layout => "layout",
        Action::Info => "info",
        Action::Palette => "commands",
        Action::Help => "help",
        Action::Apply => "fix",
        Action::Follow => "follow",
        Action::View => "view",
        Action::More => "more",
        Action::Less => "less",
        Action::Fold => "fold",
        Action::Prompts => "prompts",
        Action::NextPrompt => "next prompt",
        Action::By => "by",
        Action::Earlier => "earlier",
        Action::Later => "later",
        Action::Unit => "unit",
        Action::NeedsMe => "needs me",
        Action::Scope => "scope",
        Action::Complete => "complete",
        Action::Accept => "accept",
        Action::NextPart => "next",
        Action::OtherButton => "other button",
        Action::SortUsed => "sort",
        Action::Raw => "raw",
        Action::FindNext => "next match",
        Action::Demo => "demo data",
        Action::Close => "quit",
        _ => "",
    }
}

fn hints(app: &mut App, painter: &mut Painter<'_>) {
    let always = [Action::Palette, Action::Help];
    let own = app.top().hints();
    let is_typing = app.top().is_typing();
    let mut x = 1;
    let area = painter.area();
    for action in own.iter().chain(always.iter().filter(|action| !own.contains(action))) {
        let Some(key) = app.shared.settings.keymap.first(*action) else { continue };
        // In a field, letters are typed.
        if is_typing && key.chars().count() == 1 {
            continue;
        }
        // A prefix is pressed alone; its menu has the rest.
        let key = key.split(' ').next().unwrap_or_default();
        let key = if key == "enter" {
            "↵"
        } else if key == "space" {
            "␣"
        } else {
            key
        };
        let word = match (*action, app.top().place()) {
            (Action::Filter, Place::Reader | Place::Info) => "find",
            (Action::Apply, Place::Live) => "acknowledge",
            (Action::Resume, Place::Live) => "go to",
            (action, _) => short(action),
        };
        let needed = columns(width(key) + 1 + width(word));
        if x + needed > painter.width() {
            break;
        }
        let start = x;
        x = painter.text(x, 0, key, Tone::Strong);
        x = painter.text(x + 1, 0, word, Tone::Dim);
        app.targets
            .push((Rect { x: area.x + start, y: area.y, width: x - start, height: 1 }, *action));
        x += 2;
    }
}

/// Draws the second keys of a prefix.
fn menu(app: &App, prefix: char, painter: &mut Painter<'_>) {
    let place: Place = app.top().place();
    let rows = app.shared.settings.keymap.menu(place, prefix);
    let widest = rows.iter().map(|(_, binding)| width(binding.help)).max().unwrap_or_default();
    let height = columns(rows.len()) + 2;
    let y = painter.height().saturating_sub(height);
    let wide = columns(widest) + 9;
    let mut part = painter.part(0, y, wide, height);
    let title = format!("{prefix} …");
    let mut inner = part.boxed(wide, height, &title);
    for (at, (letter, binding)) in rows.iter().enumerate() {
        let y = columns(at);
        inner.text(0, y, &letter.to_string(), Tone::Strong);
        inner.text(3, y, binding.help, Tone::Plain);
    }
}
