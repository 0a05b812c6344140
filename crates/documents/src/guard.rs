//! What agents delete on their next start.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use recount_display::words;
use recount_engine::{Agent, Forecast, Guarded, ReleaseFrom};
use recount_model::SourceName;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    doomed: bool,
    agents: Vec<AgentRow<'a>>,
    projects: &'a [Guarded],
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

/// Writes a forecast.
///
/// # Errors
/// If it cannot be written.
pub fn guard(out: &mut impl Write, forecast: &Forecast) -> io::Result<()> {
    let Forecast { agents, projects, .. } = forecast;
    let doomed = projects.iter().any(Guarded::is_in_danger);
    let agents = agents.iter().map(AgentRow::new).collect();
    crate::whole(out, &Document { schema: "recount.guard/1", doomed, agents, projects })
}
