//! A session of a list as a row of the view `sessions`.

use std::borrow::Cow;

use jiff::Timestamp;
use recount_catalog::sql::SqlValue;
use recount_model::{Entrypoint, FileRole, SessionFacts, TitleFrom, Tokens};

use super::rows::moment;

/// Returns the cells of a session, in the order of the view's columns.
pub(crate) fn cells(session: &SessionFacts) -> Vec<SqlValue<'static>> {
    let mut cells = identity(session);
    cells.extend(project(session));
    cells.extend(figures(session));
    cells.extend(rest(session));
    cells
}

fn identity(session: &SessionFacts) -> Vec<SqlValue<'static>> {
    let title_from = match session.title_from {
        TitleFrom::Name => "name",
        TitleFrom::Summary => "summary",
        TitleFrom::Prompt => "prompt",
        TitleFrom::None => "none",
    };
    let entrypoint = session.entrypoint.map(|entrypoint| match entrypoint {
        Entrypoint::Terminal => "terminal",
        Entrypoint::Headless => "headless",
        Entrypoint::Ide => "ide",
        Entrypoint::Sdk => "sdk",
    });
    vec![
        word(session.source.as_str()),
        text(Some(session.id.as_str())),
        word(session.kind.as_str()),
        text(session.parent.as_ref().map(recount_model::SessionId::as_str)),
        text(session.parent_call.as_deref()),
        text(session.agent.as_ref().and_then(|agent| agent.kind.as_deref())),
        text(session.agent.as_ref().and_then(|agent| agent.description.as_deref())),
        text(session.title.as_deref()),
        word(title_from),
        text(session.first_prompt.as_deref()),
        text(session.last_prompt.as_deref()),
        text(session.branch.as_deref()),
        entrypoint.map_or(SqlValue::Null, word),
    ]
}

fn project(session: &SessionFacts) -> Vec<SqlValue<'static>> {
    let project = &session.project;
    vec![
        text(project.path.as_ref().map(recount_model::RecordedPath::as_str)),
        text(Some(&project.state.to_string())),
        text(project.slug.as_deref()),
        text(project.hash.as_ref().map(recount_model::ProjectHash::as_str)),
        text(Some(project.name())),
        text(project.alias.as_deref()),
        time(session.started),
        time(session.updated),
    ]
}

fn figures(session: &SessionFacts) -> Vec<SqlValue<'static>> {
    let (counts, tools, kept) = (&session.counts, &session.tool_calls, &session.kept);
    let mut cells = vec![
        number(counts.messages),
        number(session.typed_prompts()),
        number(counts.answers),
        number(counts.undone),
        number(tools.total),
        number(tools.failed),
        number(tools.cancelled),
        text(Some(session.models.join(",").as_str()).filter(|models| !models.is_empty())),
    ];
    let is_unknown = session.is_usage_unknown();
    let tokens = |used| if is_unknown { UNKNOWN } else { tokens(used) };
    cells.extend(tokens(session.tokens));
    cells.push(session.cost_usd.map_or(SqlValue::Null, SqlValue::Real));
    cells.push(flag(session.cost_is_lower_bound));
    let typed = if session.kind.is_subagent() { 0 } else { kept.prompts };
    cells.extend([kept.messages, typed, kept.answers, kept.tool_calls].map(number));
    cells.extend(tokens(kept.tokens));
    cells
}

fn rest(session: &SessionFacts) -> Vec<SqlValue<'static>> {
    let main = session.files.iter().find(|file| file.role == FileRole::Main);
    let directories = session.directories.join("\n");
    vec![
        text(Some(directories.as_str()).filter(|directories| !directories.is_empty())),
        text(session.memory.as_ref().map(recount_model::RawJson::as_str)),
        text(main.or_else(|| session.files.first()).map(|file| file.path.as_str())),
        number(session.files.len() as u64),
        number(session.bytes()),
        session.agent_index.map_or(SqlValue::Null, |index| SqlValue::Integer(i64::from(index))),
        text(session.agent_title.as_deref()),
        flag(session.live),
        flag(session.pending_deletion),
        number(session.problems),
        number(session.not_understood),
    ]
}

/// Tokens of a session of which nothing was recorded.
const UNKNOWN: [SqlValue<'static>; 7] = [const { SqlValue::Null }; 7];

fn tokens(tokens: Tokens) -> [SqlValue<'static>; 7] {
    let Tokens { input, output, cached, cache_write, thoughts, tool, total, .. } = tokens;
    [input, output, cached, cache_write, thoughts, tool, total].map(number)
}

fn word(word: &'static str) -> SqlValue<'static> {
    SqlValue::Text(Cow::Borrowed(word))
}

fn text(text: Option<&str>) -> SqlValue<'static> {
    text.map_or(SqlValue::Null, |text| SqlValue::Text(Cow::Owned(text.to_owned())))
}

fn number(number: u64) -> SqlValue<'static> {
    SqlValue::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn flag(flag: Option<bool>) -> SqlValue<'static> {
    flag.map_or(SqlValue::Null, |flag| SqlValue::Integer(i64::from(flag)))
}

fn time(time: Option<Timestamp>) -> SqlValue<'static> {
    time.map_or(SqlValue::Null, |time| SqlValue::Text(Cow::Owned(moment(time))))
}
