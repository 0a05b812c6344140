//! The part above the messages: title, facts, and the reader's controls.

use std::io;

use recount_model::{SessionFacts, SessionKind, Tokens};

use super::document::{PAGE, theme};
use super::html_writer::HtmlWriter;
use super::{LINE, Page, grouped};
use crate::text::shortened;
use crate::{Level, words};

/// The longest title in a heading.
const TITLE: usize = 200;
/// The maximum number of problems that are listed individually.
const MAX_PROBLEMS: usize = 20;

/// The levels that the reader can choose.
const LEVELS: [(Level, &str, &str); 4] = [
    (Level::Talk, "<label><input type=\"radio\" name=\"level\" id=\"talk\"", "> Talk</label>"),
    (
        Level::Actions,
        "<label><input type=\"radio\" name=\"level\" id=\"actions\"",
        "> Actions</label>",
    ),
    (Level::Full, "<label><input type=\"radio\" name=\"level\" id=\"full\"", "> Full</label>"),
    (Level::Trace, "<label><input type=\"radio\" name=\"level\" id=\"trace\"", "> Trace</label>"),
];

impl Page {
    pub(super) fn head(&self, session: &SessionFacts, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        let title = session.title.as_deref().unwrap_or(words::UNTITLED).trim();
        PAGE.open(&shortened(title, TITLE), html)?;
        html.mark(
            "<a class=\"skip\" href=\"#session\">Skip to the conversation</a>\n\
             <a class=\"skip\" href=\"#prompts\">Skip to the list of prompts</a>\n\
             <header class=\"top\">\n",
        )?;
        if let Some(site) = &self.options.site {
            html.mark("<p class=\"back\"><a")?;
            html.attribute("href", site)?;
            html.mark(">← All sessions</a></p>\n")?;
        }
        html.mark("<h1 dir=\"auto\">")?;
        html.line(title, TITLE)?;
        html.mark("</h1>\n<dl class=\"facts\">\n")?;
        self.facts(session, html)?;
        html.mark("</dl>\n")?;
        self.problems(session, html)?;
        html.mark("</header>\n")?;
        self.tools(session, html)
    }

    fn facts(&self, session: &SessionFacts, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        let strict = self.options.strict;
        if !self.options.minimal {
            html.mark("<div><dt>Project</dt><dd>")?;
            html.line(session.project.name(), LINE)?;
            if let Some(path) = &session.project.path {
                html.mark(" <code>")?;
                html.line(path.as_str(), LINE)?;
                html.mark("</code>")?;
            }
            html.mark("</dd></div>\n")?;
        }
        if let (Some(began), Some(ended)) = (session.started, session.updated) {
            let ended = words::since(ended, Some(began));
            let time = format!("{} to {ended} UTC", words::since(began, None));
            fact("Time", &time, html)?;
        }
        if !session.models.is_empty() {
            fact("Models", &session.models.join(", "), html)?;
        }
        if self.options.minimal {
            return Ok(());
        }
        fact("Said", &words::figures(session, strict), html)?;
        let Tokens { input, output, cached, thoughts, total, .. } =
            if strict { session.kept.tokens } else { session.tokens };
        let [input, output, cached, thoughts, total] =
            [input, output, cached, thoughts, total].map(grouped);
        let tokens = format!(
            "{total} (input {input}, of these cached {cached}; output {output}; thoughts {thoughts})"
        );
        fact("Tokens", &tokens, html)?;
        if let Some(cost) = words::cost(session) {
            fact("Cost", &cost, html)?;
        }
        self.identity(session, html)
    }

    fn identity(&self, session: &SessionFacts, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        html.mark("<div><dt>Session</dt><dd><code>")?;
        html.line(session.id.as_str(), LINE)?;
        html.mark("</code> ")?;
        html.line(&session.source.to_string(), LINE)?;
        html.mark("</dd></div>\n")?;
        if session.kind != SessionKind::Subagent {
            return Ok(());
        }
        html.mark("<div><dt>Sub-agent of</dt><dd>")?;
        match &session.parent {
            Some(parent) => self.link(parent.as_str(), html)?,
            None => html.mark("another session")?,
        }
        html.mark("</dd></div>\n")
    }

    /// Writes a session's id, as a link if it was exported as well.
    pub(super) fn link(&self, id: &str, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        let file = self.options.links.get(id);
        if let Some(file) = file {
            html.mark("<a")?;
            html.attribute("href", file)?;
            html.mark(">")?;
        }
        html.mark("<code>")?;
        html.line(id, LINE)?;
        html.mark("</code>")?;
        if file.is_some() { html.mark("</a>") } else { Ok(()) }
    }

    fn problems(&self, session: &SessionFacts, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        let Some(words) = words::problems(session) else { return Ok(()) };
        html.mark("<div class=\"damage\"><p><b>Damaged:</b> ")?;
        html.text(&words)?;
        html.mark(".</p>")?;
        if !self.options.minimal && !session.problem_list.is_empty() {
            html.mark("<details><summary>What was met</summary><ul>")?;
            for problem in session.problem_list.iter().take(MAX_PROBLEMS) {
                html.mark("<li>")?;
                html.line(&problem.to_string(), LINE)?;
                html.mark("</li>")?;
            }
            html.mark("</ul></details>")?;
        }
        html.mark("</div>\n")
    }

    /// Writes the controls. Those that need the script are shown by the script.
    fn tools(&self, session: &SessionFacts, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        html.mark("<div class=\"tools\" role=\"region\" aria-label=\"What is shown\">\n")?;
        if !self.options.minimal {
            html.mark("<fieldset class=\"choice\" id=\"level\"><legend>Show</legend>")?;
            for (level, open, close) in LEVELS {
                html.mark(open)?;
                html.mark(if level == self.first() { " checked" } else { "" })?;
                html.mark(close)?;
            }
            html.mark(
                "</fieldset>\n<label class=\"box\"><input type=\"checkbox\" id=\"thoughts\"",
            )?;
            html.mark(if self.options.thinks() { " checked" } else { "" })?;
            html.mark("> Thoughts</label>\n")?;
            if session.counts.undone > 0 && !self.options.strict {
                html.mark(
                    "<label class=\"box\"><input type=\"checkbox\" id=\"undone\" checked> Undone</label>\n",
                )?;
            }
        }
        html.mark(
            "<search class=\"find\" hidden><label class=\"unseen\" for=\"find\">Find in this page</label>\
             <input type=\"search\" id=\"find\" placeholder=\"Find ( / )\" autocomplete=\"off\" spellcheck=\"false\">\
             <output for=\"find\" id=\"found\"></output></search>\n",
        )?;
        theme(html)?;
        html.mark(
            "<button type=\"button\" class=\"help-key\" popovertarget=\"help\" aria-label=\"Keys\" hidden>?</button>\n\
             </div>\n\
             <button type=\"button\" class=\"to-prompts\" popovertarget=\"prompts\">Prompts</button>\n",
        )
    }
}

fn fact(name: &'static str, value: &str, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    html.mark("<div><dt>")?;
    html.mark(name)?;
    html.mark("</dt><dd>")?;
    html.line(value, LINE)?;
    html.mark("</dd></div>\n")
}

/// Writes the keyboard help.
pub(super) fn help(minimal: bool, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    html.mark(
        "<div id=\"help\" class=\"help\" popover role=\"dialog\" aria-label=\"Keys\"><h2>Keys</h2><dl>\
         <div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next, previous prompt</dd></div>\
         <div><dt><kbd>/</kbd></dt><dd>find in this page</dd></div>\
         <div><dt><kbd>Enter</kbd> <kbd>⇧ Enter</kbd></dt><dd>next, previous hit</dd></div>",
    )?;
    if !minimal {
        html.mark(
            "<div><dt><kbd>1</kbd> to <kbd>4</kbd></dt><dd>talk, actions, full, trace</dd></div>\
         <div><dt><kbd>t</kbd> <kbd>u</kbd></dt><dd>thoughts, undone</dd></div>",
        )?;
    }
    html.mark(
        "<div><dt><kbd>Esc</kbd></dt><dd>end finding, close this</dd></div>\
         </dl></div>\n",
    )
}
