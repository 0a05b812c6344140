//! One message: who speaks, what is said, what was sent along.

use std::io;

use recount_model::{AttachedFile, Fate, Media, Message, MessageKind, Thought};

use super::paper::Paper;
use super::{LINE, Page, grouped, marked, moment};
use crate::media::address;
use crate::{Level, gap, words};

impl Page {
    /// Writes a message in its turn.
    pub(super) fn told(&mut self, message: &Message, paper: &mut Paper<'_>) -> io::Result<()> {
        if let Some(silence) = message.time.and_then(|time| gap::between(self.last, time)) {
            paper.mark("<p class=\"gap\"><span>")?;
            paper.text(&silence)?;
            paper.mark(" later</span></p>\n")?;
        }
        paper.mark("<article")?;
        paper.attribute("class", &self.classes(message))?;
        paper.numbered("id", "m", self.number)?;
        paper.mark(">\n")?;
        self.heading(message, paper)?;
        if !self.options.minimal {
            message.thoughts.iter().try_for_each(|thought| write_thought(thought, paper))?;
        }
        said(message, self.options.minimal, paper)?;
        media(&message.media, paper)?;
        self.files(&message.files, paper)?;
        if !self.options.minimal {
            message.tool_calls.iter().try_for_each(|call| self.call(call, paper))?;
            for problem in &message.problems {
                paper.mark("<p class=\"damage\"><b>Damaged:</b> ")?;
                paper.mark(problem.phrase())?;
                paper.mark(" in this message.</p>\n")?;
            }
        }
        paper.mark("</article>\n")
    }

    /// Returns what the style needs to know of a message: what it is, from which level on it is shown.
    fn classes(&self, message: &Message) -> String {
        let mut classes = format!("m {}", message.kind);
        if !self.options.minimal {
            let from = [Level::Talk, Level::Actions, Level::Full, Level::Trace]
                .into_iter()
                .find(|level| level.shows(message, false));
            classes.push_str(mark_of(from.unwrap_or(Level::Trace)));
            if Level::Talk.shows(message, true) && !message.thoughts.is_empty() {
                classes.push_str(" thinks");
            }
        }
        if message.fate != Fate::Kept {
            classes.push_str(" undone");
        }
        if message.level == Some(recount_model::NoticeLevel::Error) {
            classes.push_str(" error");
        }
        classes
    }

    fn heading(&mut self, message: &Message, paper: &mut Paper<'_>) -> io::Result<()> {
        let who = words::speaker(message, self.options.minimal, self.is_agent);
        let speaker = Some((who.clone(), message.fate));
        // At the lower levels, one who goes on is not announced again; who that is depends on what is shown between.
        let [at_talk, at_actions] = [(0, Level::Talk), (1, Level::Actions)].map(|(at, level)| {
            let Some(last) = self.speakers.get_mut(at) else { return false };
            let goes_on = message.kind == MessageKind::Answer && *last == speaker;
            if level.shows(message, false) {
                last.clone_from(&speaker);
            }
            goes_on
        });
        let before = self.last;
        self.last = message.time.or(self.last);
        paper.mark(match (at_talk, at_actions) {
            (true, _) if self.options.minimal => return Ok(()),
            (true, true) => "<header class=\"who full\">",
            (true, false) => "<header class=\"who actions\">",
            (false, true) => "<header class=\"who but-at-actions\">",
            (false, false) => "<header class=\"who\">",
        })?;
        if message.kind == MessageKind::Prompt && self.outer.is_empty() {
            let number = self.turns.len() as u64;
            paper.mark("<h2>")?;
            paper.line(&who, LINE)?;
            paper.mark(" <a class=\"number\"")?;
            paper.numbered("href", "#p", number)?;
            paper.numbered("aria-label", "Prompt ", number)?;
            paper.mark(">")?;
            paper.number(number)?;
            paper.mark("</a></h2>")?;
        } else {
            paper.mark("<h3>")?;
            paper.line(&who, LINE)?;
            paper.mark("</h3>")?;
        }
        if let Some(time) = message.time {
            paper.mark(" ")?;
            moment(time, before, paper)?;
        }
        if message.fate != Fate::Kept {
            paper.mark(" <em class=\"fate\">")?;
            paper.text(&message.fate.to_string())?;
            paper.mark("</em>")?;
        }
        if !self.options.minimal {
            self.details(message, paper)?;
        }
        paper.mark("</header>\n")
    }

    /// Writes what only the upper levels tell of a message.
    fn details(&self, message: &Message, paper: &mut Paper<'_>) -> io::Result<()> {
        if let Some(tokens) = message.tokens {
            paper.mark(" <span class=\"full\">")?;
            paper.text(&grouped(tokens.total))?;
            paper.mark(" tokens</span>")?;
        }
        let id = message.id.as_ref().map_or("no id", |id| id.as_str());
        let place = &message.place;
        paper.mark(" <span class=\"trace place\">message ")?;
        paper.number(self.number)?;
        paper.mark(" <code>")?;
        paper.line(id, LINE)?;
        paper.mark("</code> at <code>")?;
        paper.line(&format!("{}:{} +{}", place.file, place.line, place.bytes), LINE)?;
        paper.mark("</code></span>")
    }

    fn files(&self, files: &[AttachedFile], paper: &mut Paper<'_>) -> io::Result<()> {
        if self.options.minimal {
            if !files.is_empty() {
                paper.mark("<p class=\"note\">[")?;
                paper.text(&words::plural(files.len() as u64, "file"))?;
                paper.mark(" sent along]</p>\n")?;
            }
            return Ok(());
        }
        for file in files {
            let name = format!("@{}", file.path);
            let size = words::size(file.bytes);
            if file.content.is_empty() {
                paper.mark("<p class=\"note\"><code>")?;
                paper.line(&name, LINE)?;
                paper.mark("</code> ")?;
                paper.text(&size)?;
                paper.mark(" sent along</p>\n")?;
                continue;
            }
            paper.mark("<details class=\"fold file\"><summary><code>")?;
            paper.line(&name, LINE)?;
            paper.mark("</code> <span class=\"dim\">")?;
            paper.text(&size)?;
            paper.mark(" sent along</span></summary>")?;
            code(&file.content, ending(&file.path), paper)?;
            paper.mark("</details>\n")?;
        }
        Ok(())
    }
}

/// Returns the class of what is shown from a level on.
const fn mark_of(level: Level) -> &'static str {
    match level {
        Level::Talk => "",
        Level::Actions => " actions",
        Level::Full => " full",
        Level::Trace => " trace",
    }
}

fn said(message: &Message, minimal: bool, paper: &mut Paper<'_>) -> io::Result<()> {
    let (sent, shown) = (message.text.trim_end(), message.display_text.trim_end());
    if !shown.trim_start().is_empty() {
        match message.kind {
            MessageKind::Answer | MessageKind::Summary => marked::write(shown, paper)?,
            MessageKind::Prompt | MessageKind::Notice | MessageKind::Nudge => {
                paper.mark("<div class=\"said\" dir=\"auto\">")?;
                paper.text(shown)?;
                paper.mark("</div>\n")?;
            }
            MessageKind::Shell
            | MessageKind::Context
            | MessageKind::Hook
            | MessageKind::ToolResult => {
                paper.mark("<pre class=\"code\" dir=\"auto\">")?;
                paper.text(shown)?;
                paper.mark("</pre>\n")?;
            }
        }
    }
    if !minimal && sent != shown && !sent.trim_start().is_empty() {
        paper.mark("<details class=\"fold trace\"><summary>As it was sent <span class=\"dim\">")?;
        paper.text(&words::size(sent.len() as u64))?;
        paper.mark("</span></summary>")?;
        code(sent, None, paper)?;
        paper.mark("</details>\n")?;
    }
    Ok(())
}

fn write_thought(thought: &Thought, paper: &mut Paper<'_>) -> io::Result<()> {
    paper.mark("<aside class=\"thought\" aria-label=\"Thought\"><p class=\"subject\">")?;
    paper.line(&thought.subject, LINE)?;
    paper.mark("</p><div class=\"said\" dir=\"auto\">")?;
    paper.text(thought.description.trim_end())?;
    paper.mark("</div></aside>\n")
}

/// Writes images, and what other binary parts there were.
pub(super) fn media(all: &[Media], paper: &mut Paper<'_>) -> io::Result<()> {
    for media in all {
        let what = words::media(media);
        let Some(address) = address(media) else {
            paper.mark("<p class=\"note\">[")?;
            paper.line(&what, LINE)?;
            paper.mark(", not part of this file]</p>\n")?;
            continue;
        };
        paper.mark("<figure><img loading=\"lazy\"")?;
        paper.attribute("alt", &what)?;
        paper.attribute("src", &address)?;
        paper.mark("><figcaption>")?;
        paper.line(&what, LINE)?;
        paper.mark("</figcaption></figure>\n")?;
    }
    Ok(())
}

/// Writes a block of code or output; its language is known by the ending of a file's name.
pub(super) fn code(text: &str, language: Option<&str>, paper: &mut Paper<'_>) -> io::Result<()> {
    paper.mark("<pre class=\"code\"")?;
    if let Some(language) = language {
        paper.attribute("data-lang", language)?;
    }
    paper.mark(">")?;
    // The first line end in an element like this is not shown.
    if text.starts_with('\n') {
        paper.mark("\n")?;
    }
    paper.text(text)?;
    paper.mark("</pre>")
}

/// Returns how a file's name ends, if it is one.
pub(super) fn ending(path: &str) -> Option<&str> {
    let (name, ending) = path.rsplit_once('.')?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric();
    let is_ending = !ending.is_empty() && ending.len() <= 10 && ending.bytes().all(is_plain);
    (is_ending && !name.is_empty() && !name.contains(char::is_whitespace)).then_some(ending)
}
