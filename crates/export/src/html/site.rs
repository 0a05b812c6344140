//! The index of a folder of pages: every session, grouped by project, searchable, filterable and sortable.
//!
//! Without a script it is a plain table with links.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use jiff::Timestamp;
use recount_model::SessionFacts;
use serde::{Deserialize, Serialize};

use super::document::{SITE, theme};
use super::html_writer::HtmlWriter;
use super::{LINE, grouped};
use crate::text::{Bidi, shortened};
use crate::{ExportOptions, words};

/// The longest title or first prompt that is included.
const LONGEST: usize = 200;

/// A session in the index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SiteRow {
    /// The session id; empty if it is not shared.
    pub id: String,
    /// The session that started it.
    pub parent: Option<String>,
    /// Its title.
    pub title: String,
    /// The name of its project.
    pub project: String,
    /// The start of its first prompt.
    pub first: String,
    /// Models that answered.
    pub models: Vec<String>,
    /// Its first time.
    pub started: Option<Timestamp>,
    /// Its last time.
    pub updated: Option<Timestamp>,
    /// What humans typed.
    pub prompts: u64,
    /// Its tokens; 0 if they are not shared.
    pub tokens: u64,
}

impl SiteRow {
    /// Builds a row from the facts of a session.
    pub fn new(session: &SessionFacts, first: &str, options: &ExportOptions) -> Self {
        let ExportOptions { minimal, strict, .. } = *options;
        let kept = session.kept;
        let (prompts, tokens) = if strict {
            (kept.prompts, kept.tokens.total)
        } else {
            (session.counts.prompts, session.tokens.total)
        };
        let title = session.title.as_deref().unwrap_or(words::UNTITLED).trim();
        Self {
            id: if minimal { String::new() } else { session.id.to_string() },
            parent: session.parent.as_ref().filter(|_| !minimal).map(ToString::to_string),
            title: shortened(title, LONGEST).into_owned(),
            project: session.project.name().to_owned(),
            first: shortened(first.trim(), LONGEST).into_owned(),
            models: session.models.clone(),
            started: session.started,
            updated: session.updated,
            prompts,
            tokens: if minimal { 0 } else { tokens },
        }
    }
}

/// A session and its page, relative to the index: `<folder of the project>/<file>`.
#[derive(Clone, Copy, Debug)]
pub struct SiteEntry<'a> {
    /// The session.
    pub row: &'a SiteRow,
    /// Its page.
    pub file: &'a str,
}

impl SiteEntry<'_> {
    fn folder(&self) -> &str {
        self.file.split_once('/').map_or("", |(folder, _)| folder)
    }
}

/// Writes the index.
pub fn write(entries: &[SiteEntry<'_>], out: &mut dyn Write) -> io::Result<()> {
    let mut html = HtmlWriter::new(out, Bidi::Kept);
    let groups = groups(entries);
    SITE.open("Sessions", &mut html)?;
    html.mark(
        "<a class=\"skip\" href=\"#sessions\">Skip to the sessions</a>\n\
         <header class=\"top\">\n<h1>Sessions</h1>\n<p class=\"sum\">",
    )?;
    html.text(&sum(entries, groups.len()))?;
    html.mark("</p>\n</header>\n")?;
    tools(&groups, &mut html)?;
    html.mark(
        "<main id=\"sessions\" tabindex=\"-1\">\n<table>\n<thead><tr>\
         <th scope=\"col\" data-sort=\"title\">Session</th><th scope=\"col\" data-sort=\"project\">Project</th>\
         <th scope=\"col\" data-sort=\"models\">Models</th><th scope=\"col\" data-sort=\"started\">Began</th>\
         <th scope=\"col\" data-sort=\"updated\">Last used</th>\
         <th scope=\"col\" class=\"right\" data-sort=\"prompts\">Prompts</th>\
         <th scope=\"col\" class=\"right\" data-sort=\"tokens\">Tokens</th></tr></thead>\n",
    )?;
    for group in &groups {
        html.mark("<tbody>\n<tr class=\"group\"><th colspan=\"7\" scope=\"rowgroup\"><h2>")?;
        html.line(group.name, LINE)?;
        html.mark(" <span class=\"dim\">")?;
        html.text(&grouped(group.rows.len() as u64))?;
        html.mark("</span></h2></th></tr>\n")?;
        for (entry, is_child) in &group.rows {
            row(entry, *is_child, &mut html)?;
        }
        html.mark("</tbody>\n")?;
    }
    html.mark(
        "</table>\n<p class=\"none\" hidden>No session fits.</p>\n</main>\n\
         <footer class=\"foot\"><p>Written by recount. All times are UTC.</p></footer>\n",
    )?;
    SITE.close(&mut html)
}

/// The sessions of one project, most recent first, sub-agents below their callers.
struct Group<'a> {
    name: &'a str,
    folder: &'a str,
    last: Option<Timestamp>,
    rows: Vec<(SiteEntry<'a>, bool)>,
}

fn groups<'a>(entries: &'a [SiteEntry<'a>]) -> Vec<Group<'a>> {
    let mut by_folder: BTreeMap<&str, Vec<SiteEntry<'a>>> = BTreeMap::new();
    for entry in entries {
        by_folder.entry(entry.folder()).or_default().push(*entry);
    }
    let mut groups: Vec<Group<'a>> = by_folder.into_iter().map(group).collect();
    groups.sort_by(|one, other| other.last.cmp(&one.last).then_with(|| one.name.cmp(other.name)));
    groups
}

fn group<'a>((folder, mut entries): (&'a str, Vec<SiteEntry<'a>>)) -> Group<'a> {
    entries.sort_by(|one, other| {
        other.row.updated.cmp(&one.row.updated).then_with(|| one.file.cmp(other.file))
    });
    let name = entries.first().map_or(folder, |entry| entry.row.project.as_str());
    let last = entries.first().and_then(|entry| entry.row.updated);
    let ids: BTreeSet<&str> = entries.iter().map(|entry| entry.row.id.as_str()).collect();
    let is_child = |entry: &SiteEntry<'a>| {
        let parent = entry.row.parent.as_deref();
        parent.is_some_and(|parent| parent != entry.row.id && ids.contains(parent))
    };
    let mut children: BTreeMap<&str, Vec<SiteEntry<'a>>> = BTreeMap::new();
    let (below, mut tops): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_child);
    for entry in below {
        children.entry(entry.row.parent.as_deref().unwrap_or_default()).or_default().push(entry);
    }
    // Each session is taken once, so that a cycle of parents ends; sessions in a cycle come last.
    let mut rows = Vec::new();
    while !tops.is_empty() || !children.is_empty() {
        if tops.is_empty() {
            tops.extend(children.pop_first().into_iter().flat_map(|(_, entries)| entries));
        }
        for top in std::mem::take(&mut tops) {
            rows.push((top, false));
            let mut next = children.remove(top.row.id.as_str()).unwrap_or_default();
            next.reverse();
            while let Some(entry) = next.pop() {
                rows.push((entry, true));
                let mut below = children.remove(entry.row.id.as_str()).unwrap_or_default();
                below.reverse();
                next.append(&mut below);
            }
        }
    }
    Group { name, folder, last, rows }
}

fn many(number: u64, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{} {word}s", grouped(number)) }
}

fn sum(entries: &[SiteEntry<'_>], projects: usize) -> String {
    let total =
        |count: fn(&SiteRow) -> u64| entries.iter().map(|entry| count(entry.row)).sum::<u64>();
    let mut parts = vec![
        format!(
            "{} in {}",
            many(entries.len() as u64, "session"),
            many(projects as u64, "project")
        ),
        many(total(|row| row.prompts), "prompt"),
    ];
    let tokens = total(|row| row.tokens);
    if tokens > 0 {
        parts.push(format!("{} tokens", grouped(tokens)));
    }
    parts.join(" · ")
}

fn tools(groups: &[Group<'_>], html: &mut HtmlWriter<'_>) -> io::Result<()> {
    html.mark(
        "<div class=\"tools\" role=\"region\" aria-label=\"Find and filter\">\n<search class=\"filters\" hidden>\n\
         <label class=\"grow\"><span class=\"unseen\">Search</span><input type=\"search\" id=\"find\" \
         placeholder=\"Search titles, projects, prompts, ids ( / )\" autocomplete=\"off\" spellcheck=\"false\"></label>\n\
         <label><span class=\"unseen\">Project</span><select id=\"project\"><option value=\"\">All projects</option>",
    )?;
    for group in groups {
        html.mark("<option")?;
        html.attribute("value", group.folder)?;
        html.mark(">")?;
        html.text(&shortened(group.name, LONGEST))?;
        html.mark("</option>")?;
    }
    html.mark(
        "</select></label>\n<label><span class=\"unseen\">Model</span><select id=\"model\">\
         <option value=\"\">All models</option>",
    )?;
    let rows = groups.iter().flat_map(|group| &group.rows);
    let models: BTreeSet<&str> =
        rows.flat_map(|(entry, _)| &entry.row.models).map(String::as_str).collect();
    for model in models {
        html.mark("<option")?;
        html.attribute("value", model)?;
        html.mark(">")?;
        html.text(&shortened(model, LONGEST))?;
        html.mark("</option>")?;
    }
    html.mark(
        "</select></label>\n<label>From <input type=\"date\" id=\"since\"></label>\n\
         <label>to <input type=\"date\" id=\"until\"></label>\n\
         <output id=\"found\" aria-live=\"polite\"></output>\n</search>\n",
    )?;
    theme(html)?;
    html.mark("</div>\n")
}

fn row(entry: &SiteEntry<'_>, is_child: bool, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let row = entry.row;
    html.mark(if is_child { "<tr class=\"child\"" } else { "<tr" })?;
    html.attribute("data-project", entry.folder())?;
    if !row.id.is_empty() {
        html.attribute("data-id", &row.id)?;
    }
    html.mark("><th scope=\"row\"><a")?;
    html.attribute("href", entry.file)?;
    html.mark(">")?;
    html.line(&row.title, LONGEST)?;
    html.mark("</a>")?;
    if is_news(&row.first, &row.title) {
        html.mark("<span class=\"first\">")?;
        html.line(&row.first, LONGEST)?;
        html.mark("</span>")?;
    }
    html.mark("</th><td class=\"project\">")?;
    html.line(&row.project, LINE)?;
    html.mark("</td><td class=\"models\">")?;
    for model in &row.models {
        html.mark("<span>")?;
        html.line(model, LINE)?;
        html.mark("</span> ")?;
    }
    html.mark("</td><td class=\"started\">")?;
    time(row.started, html)?;
    html.mark("</td><td class=\"updated\">")?;
    time(row.updated, html)?;
    html.mark("</td><td class=\"prompts right\">")?;
    html.text(&grouped(row.prompts))?;
    html.mark("</td><td class=\"tokens right\">")?;
    if row.tokens > 0 {
        html.text(&grouped(row.tokens))?;
    }
    html.mark("</td></tr>\n")
}

/// Whether the first prompt adds anything to the title.
fn is_news(first: &str, title: &str) -> bool {
    let mut own = title.trim_end_matches('…').split_whitespace();
    let mut words = first.trim_end_matches('…').split_whitespace();
    // The last word of either may be truncated.
    own.by_ref()
        .zip(words.by_ref())
        .any(|(one, other)| !one.starts_with(other) && !other.starts_with(one))
}

fn time(time: Option<Timestamp>, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let Some(time) = time else { return Ok(()) };
    super::moment(time, None, html)
}
