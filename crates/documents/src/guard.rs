//! What agents delete on their next start.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use recount_display::words;
use recount_engine::{Agent, Forecast, Guarded, ReleaseFrom, RetentionLimits, Safe, SessionAtRisk};
use recount_model::{PendingDeletion, Project, SourceName};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    doomed: bool,
    agents: Vec<AgentRow<'a>>,
    projects: Vec<ProjectRow<'a>>,
}

#[derive(Serialize)]
struct AgentRow<'a> {
    source: SourceName,
    program: &'static str,
    release: &'a str,
    release_from: ReleaseFrom,
    installed: Option<Cow<'a, str>>,
    newest_known: &'static str,
    remedy: String,
}

impl<'a> AgentRow<'a> {
    fn new(agent: &'a Agent) -> Self {
        Self {
            source: agent.source,
            program: agent.program,
            release: &agent.release,
            release_from: agent.release_from,
            installed: agent.installed.as_deref().map(Path::to_string_lossy),
            newest_known: agent.newest_known,
            remedy: words::retention_off([agent]),
        }
    }
}

#[derive(Serialize)]
struct ProjectRow<'a> {
    project: &'a Project,
    source: SourceName,
    #[serde(serialize_with = "recount_model::path_text::path")]
    directory: &'a Path,
    retention: Limits<'a>,
    sessions: &'a [SessionAtRisk],
    others: &'a [PendingDeletion],
    safe: Safe,
}

impl<'a> ProjectRow<'a> {
    fn new(guarded: &'a Guarded) -> Self {
        Self {
            project: &guarded.project,
            source: guarded.source,
            directory: &guarded.directory,
            retention: Limits::new(&guarded.retention),
            sessions: &guarded.sessions,
            others: &guarded.others,
            safe: guarded.safe,
        }
    }
}

/// What an agent keeps, with the words of the notes.
#[derive(Serialize)]
struct Limits<'a> {
    #[serde(flatten)]
    limits: &'a RetentionLimits,
    notes: Vec<String>,
}

impl<'a> Limits<'a> {
    fn new(limits: &'a RetentionLimits) -> Self {
        Self { limits, notes: limits.notes.iter().map(words::guard::note).collect() }
    }
}

/// Writes a forecast.
///
/// # Errors
/// If it cannot be written.
pub fn guard(out: &mut impl Write, forecast: &Forecast) -> io::Result<()> {
    let Forecast { agents, projects, .. } = forecast;
    let doomed = projects.iter().any(Guarded::is_in_danger);
    let agents = agents.iter().map(AgentRow::new).collect();
    let projects = projects.iter().map(ProjectRow::new).collect();
    crate::whole(out, &Document { schema: "recount.guard/1", doomed, agents, projects })
}

#[cfg(test)]
mod tests {
    use recount_engine::RetentionNote;

    use super::*;

    #[test]
    fn notes_are_words_after_the_limits() {
        let limits = RetentionLimits {
            on: true,
            max_age: Some("30d".to_owned()),
            notes: vec![RetentionNote::Ignored("/shop/settings.json".into())],
            ..RetentionLimits::default()
        };
        let text = "/shop/settings.json is not looked at: the folder is not trusted, or others can write the file";
        let expected = format!(
            r#"{{"on":true,"off_because":null,"max_age":"30d","max_count":null,"from":[],"notes":["{text}"]}}"#
        );
        assert_eq!(serde_json::to_string(&Limits::new(&limits)).unwrap(), expected);
    }
}
