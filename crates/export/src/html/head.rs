//! What stands above the messages: title, facts, and what the reader may choose.

use std::io;

use recount_model::{SessionFacts, SessionKind, Tokens};

use super::document::{PAGE, theme};
use super::paper::Paper;
use super::{LINE, Page, grouped};
use crate::text::shortened;
use crate::{Level, words};

/// The longest title that a heading has room for.
const TITLE: usize = 200;
/// Maximum number of problems that are listed individually.
const TOLD: usize = 20;

/// The levels as the reader chooses them.
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
    pub(super) fn head(&self, session: &SessionFacts, paper: &mut Paper<'_>) -> io::Result<()> {
        let title = session.title.as_deref().unwrap_or(words::UNTITLED).trim();
        PAGE.open(&shortened(title, TITLE), paper)?;
        paper.mark(
            "<a class=\"skip\" href=\"#session\">Skip to the conversation</a>\n\
             <a class=\"skip\" href=\"#prompts\">Skip to the list of prompts</a>\n\
             <header class=\"top\">\n",
        )?;
        if let Some(site) = &self.options.site {
            paper.mark("<p class=\"back\"><a")?;
            paper.attribute("href", site)?;
            paper.mark(">← All sessions</a></p>\n")?;
        }
        paper.mark("<h1 dir=\"auto\">")?;
        paper.line(title, TITLE)?;
        paper.mark("</h1>\n<dl class=\"facts\">\n")?;
        self.facts(session, paper)?;
        paper.mark("</dl>\n")?;
        self.problems(session, paper)?;
        paper.mark("</header>\n")?;
        self.tools(session, paper)
    }

    fn facts(&self, session: &SessionFacts, paper: &mut Paper<'_>) -> io::Result<()> {
        let strict = self.options.strict;
        if !self.options.minimal {
            paper.mark("<div><dt>Project</dt><dd>")?;
            paper.line(session.project.name(), LINE)?;
            if let Some(path) = &session.project.path {
                paper.mark(" <code>")?;
                paper.line(path.as_str(), LINE)?;
                paper.mark("</code>")?;
            }
            paper.mark("</dd></div>\n")?;
        }
        if let (Some(began), Some(ended)) = (session.started, session.updated) {
            let ended = words::since(ended, Some(began));
            let time = format!("{} to {ended} UTC", words::since(began, None));
            fact("Time", &time, paper)?;
        }
        if !session.models.is_empty() {
            fact("Models", &session.models.join(", "), paper)?;
        }
        if self.options.minimal {
            return Ok(());
        }
        fact("Said", &words::figures(session, strict), paper)?;
        let Tokens { input, output, cached, thoughts, total, .. } =
            if strict { session.kept.tokens } else { session.tokens };
        let [input, output, cached, thoughts, total] =
            [input, output, cached, thoughts, total].map(grouped);
        let told = format!(
            "{total} (input {input}, of these cached {cached}; output {output}; thoughts {thoughts})"
        );
        fact("Tokens", &told, paper)?;
        if let Some(cost) = words::cost(session) {
            fact("Cost", &cost, paper)?;
        }
        self.identity(session, paper)
    }

    fn identity(&self, session: &SessionFacts, paper: &mut Paper<'_>) -> io::Result<()> {
        paper.mark("<div><dt>Session</dt><dd><code>")?;
        paper.line(session.id.as_str(), LINE)?;
        paper.mark("</code> ")?;
        paper.line(&session.source.to_string(), LINE)?;
        paper.mark("</dd></div>\n")?;
        if session.kind != SessionKind::Subagent {
            return Ok(());
        }
        paper.mark("<div><dt>Sub-agent of</dt><dd>")?;
        match &session.parent {
            Some(parent) => self.link(parent.as_str(), paper)?,
            None => paper.mark("another session")?,
        }
        paper.mark("</dd></div>\n")
    }

    /// Writes a session's id, as a link where it was exported beside.
    pub(super) fn link(&self, id: &str, paper: &mut Paper<'_>) -> io::Result<()> {
        let file = self.options.links.get(id);
        if let Some(file) = file {
            paper.mark("<a")?;
            paper.attribute("href", file)?;
            paper.mark(">")?;
        }
        paper.mark("<code>")?;
        paper.line(id, LINE)?;
        paper.mark("</code>")?;
        if file.is_some() { paper.mark("</a>") } else { Ok(()) }
    }

    fn problems(&self, session: &SessionFacts, paper: &mut Paper<'_>) -> io::Result<()> {
        let Some(words) = words::problems(session) else { return Ok(()) };
        paper.mark("<div class=\"damage\"><p><b>Damaged:</b> ")?;
        paper.text(&words)?;
        paper.mark(".</p>")?;
        if !self.options.minimal && !session.problem_list.is_empty() {
            paper.mark("<details><summary>What was met</summary><ul>")?;
            for problem in session.problem_list.iter().take(TOLD) {
                paper.mark("<li>")?;
                paper.line(&problem.to_string(), LINE)?;
                paper.mark("</li>")?;
            }
            paper.mark("</ul></details>")?;
        }
        paper.mark("</div>\n")
    }

    /// Writes what the reader may choose. What needs the script is shown by the script.
    fn tools(&self, session: &SessionFacts, paper: &mut Paper<'_>) -> io::Result<()> {
        paper.mark("<div class=\"tools\" role=\"region\" aria-label=\"What is shown\">\n")?;
        if !self.options.minimal {
            paper.mark("<fieldset class=\"choice\" id=\"level\"><legend>Show</legend>")?;
            for (level, open, close) in LEVELS {
                paper.mark(open)?;
                paper.mark(if level == self.first() { " checked" } else { "" })?;
                paper.mark(close)?;
            }
            paper.mark(
                "</fieldset>\n<label class=\"box\"><input type=\"checkbox\" id=\"thoughts\"",
            )?;
            paper.mark(if self.options.thinks() { " checked" } else { "" })?;
            paper.mark("> Thoughts</label>\n")?;
            if session.counts.undone > 0 && !self.options.strict {
                paper.mark(
                    "<label class=\"box\"><input type=\"checkbox\" id=\"undone\" checked> Undone</label>\n",
                )?;
            }
        }
        paper.mark(
            "<search class=\"find\" hidden><label class=\"unseen\" for=\"find\">Find in this page</label>\
             <input type=\"search\" id=\"find\" placeholder=\"Find ( / )\" autocomplete=\"off\" spellcheck=\"false\">\
             <output for=\"find\" id=\"found\"></output></search>\n",
        )?;
        theme(paper)?;
        paper.mark(
            "<button type=\"button\" class=\"help-key\" popovertarget=\"help\" aria-label=\"Keys\" hidden>?</button>\n\
             </div>\n\
             <button type=\"button\" class=\"to-prompts\" popovertarget=\"prompts\">Prompts</button>\n",
        )
    }
}

fn fact(name: &'static str, value: &str, paper: &mut Paper<'_>) -> io::Result<()> {
    paper.mark("<div><dt>")?;
    paper.mark(name)?;
    paper.mark("</dt><dd>")?;
    paper.line(value, LINE)?;
    paper.mark("</dd></div>\n")
}

/// Writes which keys there are.
pub(super) fn help(minimal: bool, paper: &mut Paper<'_>) -> io::Result<()> {
    paper.mark(
        "<div id=\"help\" class=\"help\" popover role=\"dialog\" aria-label=\"Keys\"><h2>Keys</h2><dl>\
         <div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next, previous prompt</dd></div>\
         <div><dt><kbd>/</kbd></dt><dd>find in this page</dd></div>\
         <div><dt><kbd>Enter</kbd> <kbd>⇧ Enter</kbd></dt><dd>next, previous hit</dd></div>",
    )?;
    if !minimal {
        paper.mark(
            "<div><dt><kbd>1</kbd> to <kbd>4</kbd></dt><dd>talk, actions, full, trace</dd></div>\
         <div><dt><kbd>t</kbd> <kbd>u</kbd></dt><dd>thoughts, undone</dd></div>",
        )?;
    }
    paper.mark(
        "<div><dt><kbd>Esc</kbd></dt><dd>end finding, close this</dd></div>\
         </dl></div>\n",
    )
}
