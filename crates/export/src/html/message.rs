//! One message: speaker, text and attachments.

use std::io;

use recount_blocks::{Block, BlockOptions, Body, CodeBlock, Gap, blocks};
use recount_model::{Fate, Media, Message, MessageKind};

use super::html_writer::HtmlWriter;
use super::{LINE, Page, grouped, marked, moment};
use crate::media::address;
use crate::{Level, words};

impl Page {
    /// Writes a message in its turn.
    pub(super) fn write_message(
        &mut self,
        message: &Message,
        html: &mut HtmlWriter<'_>,
    ) -> io::Result<()> {
        if let Some(silence) = message.time.and_then(|time| Gap::between(self.last, time)) {
            html.mark("<p class=\"gap\"><span>")?;
            html.text(&silence.to_string())?;
            html.mark(" later</span></p>\n")?;
        }
        html.mark("<article")?;
        html.attribute("class", &self.classes(message))?;
        html.numbered("id", "m", self.number)?;
        html.mark(">\n")?;
        self.heading(message, html)?;
        let minimal = self.options.minimal;
        let options = BlockOptions {
            // Content above the chosen level is in the page too, for the reader to unfold.
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
                block => self.block(&block, html)?,
            }
        }
        if files > 0 {
            html.mark("<p class=\"note\">[")?;
            html.text(&words::plural(files, "file"))?;
            html.mark(" sent along]</p>\n")?;
        }
        html.mark("</article>\n")
    }

    fn block(&self, block: &Block<'_>, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        match block {
            Block::Markdown { blocks } => marked::write(blocks, html),
            Block::Text { text } | Block::Notice { text, .. } => {
                html.mark("<div class=\"said\" dir=\"auto\">")?;
                html.text(text)?;
                html.mark("</div>\n")
            }
            Block::Verbatim { text } => {
                html.mark("<pre class=\"code\" dir=\"auto\">")?;
                html.text(text)?;
                html.mark("</pre>\n")
            }
            Block::Sent { text } => {
                html.mark(
                    "<details class=\"fold trace\"><summary>As it was sent <span class=\"dim\">",
                )?;
                html.text(&words::size(text.len() as u64))?;
                html.mark("</span></summary>")?;
                code(text, "", html)?;
                html.mark("</details>\n")
            }
            Block::Thought { subject, description } => {
                html.mark("<aside class=\"thought\" aria-label=\"Thought\"><p class=\"subject\">")?;
                html.line(subject, LINE)?;
                html.mark("</p><div class=\"said\" dir=\"auto\">")?;
                html.text(description.trim_end())?;
                html.mark("</div></aside>\n")
            }
            Block::File { path, bytes, content } => file(path, *bytes, content.as_ref(), html),
            Block::Media(media) => write_media(media, html),
            Block::Call(call) => self.call(call, html),
            Block::Damage { what } => {
                html.mark("<p class=\"damage\"><b>Damaged:</b> ")?;
                html.mark(what)?;
                html.mark(" in this message.</p>\n")
            }
        }
    }

    /// Returns the CSS classes of a message: its kind, and the level from which on it is shown.
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

    fn heading(&mut self, message: &Message, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        let who = words::speaker(message, self.options.minimal, self.is_agent);
        let speaker = Some((who.clone(), message.fate));
        // At the lower levels, the same speaker is not announced again; who that is depends on what is shown in between.
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
        html.mark(match (at_talk, at_actions) {
            (true, _) if self.options.minimal => return Ok(()),
            (true, true) => "<header class=\"who full\">",
            (true, false) => "<header class=\"who actions\">",
            (false, true) => "<header class=\"who but-at-actions\">",
            (false, false) => "<header class=\"who\">",
        })?;
        if message.kind == MessageKind::Prompt && self.outer.is_empty() {
            let number = self.turns.len() as u64;
            html.mark("<h2>")?;
            html.line(&who, LINE)?;
            html.mark(" <a class=\"number\"")?;
            html.numbered("href", "#p", number)?;
            html.numbered("aria-label", "Prompt ", number)?;
            html.mark(">")?;
            html.number(number)?;
            html.mark("</a></h2>")?;
        } else {
            html.mark("<h3>")?;
            html.line(&who, LINE)?;
            html.mark("</h3>")?;
        }
        if let Some(time) = message.time {
            html.mark(" ")?;
            moment(time, before, html)?;
        }
        if message.fate != Fate::Kept {
            html.mark(" <em class=\"fate\">")?;
            html.text(&message.fate.to_string())?;
            html.mark("</em>")?;
        }
        if !self.options.minimal {
            self.details(message, html)?;
        }
        html.mark("</header>\n")
    }

    /// Writes the details of a message that only the upper levels show.
    fn details(&self, message: &Message, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        if let Some(tokens) = message.tokens {
            html.mark(" <span class=\"full\">")?;
            html.text(&grouped(tokens.total))?;
            html.mark(" tokens</span>")?;
        }
        let id = message.id.as_ref().map_or("no id", |id| id.as_str());
        let place = &message.place;
        html.mark(" <span class=\"trace place\">message ")?;
        html.number(self.number)?;
        html.mark(" <code>")?;
        html.line(id, LINE)?;
        html.mark("</code> at <code>")?;
        html.line(&format!("{}:{} +{}", place.file, place.line, place.bytes), LINE)?;
        html.mark("</code></span>")
    }
}

/// Returns the class of content that is shown from a level on.
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
    html: &mut HtmlWriter<'_>,
) -> io::Result<()> {
    let name = format!("@{path}");
    let size = words::size(bytes);
    let Some(content) = content else {
        html.mark("<p class=\"note\"><code>")?;
        html.line(&name, LINE)?;
        html.mark("</code> ")?;
        html.text(&size)?;
        return html.mark(" sent along</p>\n");
    };
    html.mark("<details class=\"fold file\"><summary><code>")?;
    html.line(&name, LINE)?;
    html.mark("</code> <span class=\"dim\">")?;
    html.text(&size)?;
    html.mark(" sent along</span></summary>")?;
    code(&content.text, &content.language, html)?;
    html.mark("</details>\n")
}

/// Writes an image, or a description of another binary part.
pub(super) fn write_media(media: &Media, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let what = words::media(media);
    let Some(address) = address(media) else {
        html.mark("<p class=\"note\">[")?;
        html.line(&what, LINE)?;
        return html.mark(", not part of this file]</p>\n");
    };
    html.mark("<figure><img loading=\"lazy\"")?;
    html.attribute("alt", &what)?;
    html.attribute("src", &address)?;
    html.mark("><figcaption>")?;
    html.line(&what, LINE)?;
    html.mark("</figcaption></figure>\n")
}

/// Writes a block of code or output. The language is empty if it is unknown.
pub(super) fn code(text: &str, language: &str, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    html.mark("<pre class=\"code\"")?;
    if !language.is_empty() {
        html.attribute("data-lang", language)?;
    }
    html.mark(">")?;
    // The first line break in such an element is not shown.
    if text.starts_with('\n') {
        html.mark("\n")?;
    }
    html.text(text)?;
    html.mark("</pre>")
}
