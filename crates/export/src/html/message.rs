//! One message: who speaks, what is said, what was sent along.

use std::io;

use recount_blocks::{Block, BlockOptions, Body, CodeBlock, Gap, blocks};
use recount_model::{Fate, Media, Message, MessageKind};

use super::paper::Paper;
use super::{LINE, Page, grouped, marked, moment};
use crate::media::address;
use crate::{Level, words};

impl Page {
    /// Writes a message in its turn.
    pub(super) fn told(&mut self, message: &Message, paper: &mut Paper<'_>) -> io::Result<()> {
        if let Some(silence) = message.time.and_then(|time| Gap::between(self.last, time)) {
            paper.mark("<p class=\"gap\"><span>")?;
            paper.text(&silence.to_string())?;
            paper.mark(" later</span></p>\n")?;
        }
        paper.mark("<article")?;
        paper.attribute("class", &self.classes(message))?;
        paper.numbered("id", "m", self.number)?;
        paper.mark(">\n")?;
        self.heading(message, paper)?;
        let minimal = self.options.minimal;
        let options = BlockOptions {
            // What is above the level that is asked for is in the page too, for the reader to unfold.
            level: if minimal { Level::Talk } else { Level::Trace },
            thoughts: !minimal,
            body: if minimal { Body::Displayed } else { Body::Both },
            markdown_summaries: true,
            project: &self.project,
        };
        let mut files = 0;
        for block in blocks(message, &options) {
            match block {
                Block::File { .. } if minimal => files += 1,
                Block::Damage { .. } if minimal => {}
                block => self.block(&block, paper)?,
            }
        }
        if files > 0 {
            paper.mark("<p class=\"note\">[")?;
            paper.text(&words::plural(files, "file"))?;
            paper.mark(" sent along]</p>\n")?;
        }
        paper.mark("</article>\n")
    }

    fn block(&self, block: &Block<'_>, paper: &mut Paper<'_>) -> io::Result<()> {
        match block {
            Block::Markdown { blocks } => marked::write(blocks, paper),
            Block::Text { text } | Block::Notice { text, .. } => {
                paper.mark("<div class=\"said\" dir=\"auto\">")?;
                paper.text(text)?;
                paper.mark("</div>\n")
            }
            Block::Verbatim { text } => {
                paper.mark("<pre class=\"code\" dir=\"auto\">")?;
                paper.text(text)?;
                paper.mark("</pre>\n")
            }
            Block::Sent { text } => {
                paper.mark(
                    "<details class=\"fold trace\"><summary>As it was sent <span class=\"dim\">",
                )?;
                paper.text(&words::size(text.len() as u64))?;
                paper.mark("</span></summary>")?;
                code(text, "", paper)?;
                paper.mark("</details>\n")
            }
            Block::Thought { subject, description } => {
                paper.mark(
                    "<aside class=\"thought\" aria-label=\"Thought\"><p class=\"subject\">",
                )?;
                paper.line(subject, LINE)?;
                paper.mark("</p><div class=\"said\" dir=\"auto\">")?;
                paper.text(description.trim_end())?;
                paper.mark("</div></aside>\n")
            }
            Block::File { path, bytes, content } => file(path, *bytes, content.as_ref(), paper),
            Block::Media(media) => write_media(media, paper),
            Block::Call(call) => self.call(call, paper),
            Block::Damage { what } => {
                paper.mark("<p class=\"damage\"><b>Damaged:</b> ")?;
                paper.mark(what)?;
                paper.mark(" in this message.</p>\n")
            }
        }
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

fn file(
    path: &str,
    bytes: u64,
    content: Option<&CodeBlock<'_>>,
    paper: &mut Paper<'_>,
) -> io::Result<()> {
    let name = format!("@{path}");
    let size = words::size(bytes);
    let Some(content) = content else {
        paper.mark("<p class=\"note\"><code>")?;
        paper.line(&name, LINE)?;
        paper.mark("</code> ")?;
        paper.text(&size)?;
        return paper.mark(" sent along</p>\n");
    };
    paper.mark("<details class=\"fold file\"><summary><code>")?;
    paper.line(&name, LINE)?;
    paper.mark("</code> <span class=\"dim\">")?;
    paper.text(&size)?;
    paper.mark(" sent along</span></summary>")?;
    code(&content.text, &content.language, paper)?;
    paper.mark("</details>\n")
}

/// Writes an image, or what another binary part is.
pub(super) fn write_media(media: &Media, paper: &mut Paper<'_>) -> io::Result<()> {
    let what = words::media(media);
    let Some(address) = address(media) else {
        paper.mark("<p class=\"note\">[")?;
        paper.line(&what, LINE)?;
        return paper.mark(", not part of this file]</p>\n");
    };
    paper.mark("<figure><img loading=\"lazy\"")?;
    paper.attribute("alt", &what)?;
    paper.attribute("src", &address)?;
    paper.mark("><figcaption>")?;
    paper.line(&what, LINE)?;
    paper.mark("</figcaption></figure>\n")
}

/// Writes a block of code or output. The language is empty where it is unknown.
pub(super) fn code(text: &str, language: &str, paper: &mut Paper<'_>) -> io::Result<()> {
    paper.mark("<pre class=\"code\"")?;
    if !language.is_empty() {
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
