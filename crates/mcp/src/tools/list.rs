//! `list_sessions`

use std::sync::Arc;

use recount_display::number::plural;
use recount_engine::{ContentFilter, ListQuery, Listing, Visibility};
use recount_model::{SessionFacts, SourceName};

use super::{Trouble, counted, project};
use crate::arguments::{Arguments, BadArgument};
use crate::memory::Moment;
use crate::text::Quoted;

/// The most tokens of an answer.
const CAP: usize = 2000;
/// The characters of a prompt.
const PROMPT: usize = 80;
/// The characters of a title.
const TITLE: usize = 60;

pub(super) fn list(moment: &Moment<'_>, arguments: &Arguments) -> Result<Quoted, Trouble> {
    let limit = arguments.number("limit", 10, 1..=30)?;
    let start = arguments.cursor()?.unwrap_or(0);
    let agent = agent(arguments)?;
    let query = query(moment, arguments)?;
    let listing = moment.engine.list(&query, moment.progress)?;
    let visible = listing.visible(Visibility::default(), None);
    let all = visible.sessions.len();
    let others: Vec<&Arc<SessionFacts>> =
        visible.sessions.iter().filter(|facts| !moment.is_own(facts)).collect();
    let own = all - others.len();
    let rows: Vec<&Arc<SessionFacts>> = others
        .into_iter()
        .filter(|facts| agent.is_none_or(|agent| facts.source.as_str() == agent))
        .collect();
    let mut answer =
        Quoted { before: vec![headline(moment, &listing, rows.len())?], ..Quoted::default() };
    let mut left_out: Vec<String> = Vec::new();
    left_out.extend((own > 0).then(|| "your own running session left out".to_owned()));
    let subagents = usize::try_from(visible.subagents).unwrap_or(usize::MAX);
    left_out.extend(counted(subagents, "sub-agent session", "left out"));
    let empty = usize::try_from(visible.empty).unwrap_or(usize::MAX);
    left_out.extend(counted(empty, "empty session", "left out"));
    if !left_out.is_empty() {
        answer.before.push(left_out.join("; "));
    }
    let mut end = start;
    for facts in rows.iter().skip(start).take(limit) {
        let before = answer.lines.len();
        answer.lines.extend(row(moment, facts, end + 1)?);
        if answer.tokens() > CAP - 60 {
            answer.lines.truncate(before);
            break;
        }
        end += 1;
    }
    if let Some(first) = rows.get(start) {
        answer.after.push(format!("next: read_session {{\"session\":\"{}\"}}", safe_id(first)));
    } else if start > 0 {
        answer.after.push("there are no more".to_owned());
    } else if rows.is_empty() && query.project.is_none() && query.here.is_some() {
        answer.after.push("all projects: list_sessions {\"project\":\"*\"}".to_owned());
    }
    if rows.len() > end && end > start {
        answer
            .after
            .push(format!("more: {} older; the same with \"cursor\":\"{end}\"", rows.len() - end));
    }
    Ok(answer)
}

/// Returns the agent that was asked for.
fn agent(arguments: &Arguments) -> Result<Option<&'static str>, BadArgument> {
    let names: Vec<&'static str> =
        recount_engine::source_names().into_iter().map(SourceName::as_str).collect();
    arguments.choice("agent", &names)
}

fn query(moment: &Moment<'_>, arguments: &Arguments) -> Result<ListQuery, BadArgument> {
    let project = arguments.text("project")?;
    let here = moment.engine.env().current_folder().cloned().filter(|_| project.is_none());
    Ok(ListQuery {
        project: project.filter(|project| *project != "*").map(str::to_owned),
        here,
        since: arguments.time("since")?,
        until: arguments.time("until")?,
        content: ContentFilter {
            tool: None,
            touched: arguments.text("touched")?.map(str::to_owned),
        },
        ..ListQuery::default()
    })
}

fn headline(moment: &Moment<'_>, listing: &Listing, many: usize) -> Result<String, Trouble> {
    let many = plural(many as u64, "session");
    Ok(match &listing.scope {
        Some(scope) if scope.is_implied => {
            format!(
                "{many} of this folder's project, newest first ({} in all projects: project \"*\")",
                scope.of
            )
        }
        Some(scope) => {
            let name = moment.line(scope.project.name(), 30)?;
            // A name from disk is only repeated if it is one word.
            let name =
                if name.contains(char::is_whitespace) { "that project".to_owned() } else { name };
            format!("{many} of {name}, newest first")
        }
        None => format!("{many} of all projects, newest first"),
    })
}

fn row(moment: &Moment<'_>, facts: &SessionFacts, number: usize) -> Result<Vec<String>, Trouble> {
    let title = facts.title.as_deref().unwrap_or("(no title)");
    let when = facts.updated.map_or_else(|| "no date".to_owned(), recount_display::when::minute);
    let mut lines = vec![format!(
        "{number} {} · {} · {} · {when} · {} · \"{}\"",
        safe_id(facts),
        project(moment, facts)?,
        facts.source,
        plural(facts.counts.messages, "message"),
        moment.line(title, TITLE)?,
    )];
    let first =
        facts.first_prompt.as_deref().filter(|first| Some(*first) != facts.title.as_deref());
    let last =
        facts.last_prompt.as_deref().filter(|last| Some(*last) != facts.first_prompt.as_deref());
    for (word, prompt) in [("first", first), ("last", last)] {
        if let Some(prompt) = prompt {
            lines.push(format!("  you, {word}: {}", moment.line(prompt, PROMPT)?));
        }
    }
    Ok(lines)
}

/// Returns the start of an id by which a session is named, if it has no strange characters.
fn safe_id(facts: &SessionFacts) -> String {
    let id = facts.id.prefix();
    crate::text::line(id, 40)
}
