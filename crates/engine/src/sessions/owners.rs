//! Finds the processes that use a session, before it is changed.
//!
//! The list calls one session of a folder live: the most recent one. Before a change that is not enough, as an agent may
//! have resumed an older one; so here every possible one counts.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use recount_formats::SOURCES;
use recount_model::{SessionFacts, SessionId};
use recount_platform::Running;

use crate::Engine;

/// The minimum length of an id prefix on a command line.
const NAMED: usize = 8;

/// A process that may use a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionOwner {
    /// The session.
    pub session: SessionId,
    /// The process.
    pub process: u32,
}

impl Engine {
    /// Returns the processes that may use these sessions, sub-agents with their parents.
    pub fn owners(&self, sessions: &[Arc<SessionFacts>]) -> Vec<SessionOwner> {
        let mut owners = Vec::new();
        for live in self.live_owners().unwrap_or_default() {
            let Some(process) = live.process else { continue };
            let own = |facts: &&Arc<SessionFacts>| {
                facts.source == live.source
                    && (facts.id == live.session || facts.parent.as_ref() == Some(&live.session))
            };
            let ids = sessions.iter().filter(own).map(|facts| facts.id.clone());
            owners.extend(ids.map(|session| SessionOwner { session, process }));
        }
        for process in self.processes.running(&["PWD"]) {
            let running = SOURCES.iter().find(|source| source.is_running(&process.args));
            let Some(source) = running else { continue };
            let all = sessions.iter().map(|facts| &**facts);
            let own: Vec<&SessionFacts> =
                all.filter(|facts| facts.source == source.name()).collect();
            let here = |facts: &&&SessionFacts| {
                let places = [process.folder.as_deref().and_then(Path::to_str), pwd(&process)];
                let is_there = |place: &str| {
                    let project = &facts.project;
                    project.path.as_ref().is_some_and(|path| path.as_str() == place)
                        || (project.hash.is_some() && project.hash == source.project_hash(place))
                };
                !facts.kind.is_subagent() && places.into_iter().flatten().any(is_there)
            };
            let told = own.iter().filter(here).max_by_key(|facts| facts.updated);
            let written = own.iter().filter(here).max_by_key(|facts| written(facts));
            let named = own.iter().filter(|facts| is_named(&process.args, facts.id.as_str()));
            for facts in told.into_iter().chain(written).chain(named) {
                let agents = own.iter().filter(|agent| agent.parent.as_ref() == Some(&facts.id));
                let ids = agents.map(|agent| &agent.id).chain([&facts.id]);
                owners.extend(
                    ids.map(|id| SessionOwner { session: id.clone(), process: process.pid }),
                );
            }
        }
        let mut met = std::collections::HashSet::new();
        owners.retain(|owner| met.insert((owner.session.clone(), owner.process)));
        owners
    }
}

fn pwd(process: &Running) -> Option<&str> {
    process.variables.get("PWD").map(String::as_str)
}

/// Returns when a session's files were last written.
fn written(facts: &SessionFacts) -> Option<SystemTime> {
    let time = |path: &str| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    facts.files.iter().filter_map(|file| time(&file.path)).max()
}

fn is_named(args: &[String], id: &str) -> bool {
    let word = |arg: &String| {
        let value = arg.split_once('=').map_or(arg.as_str(), |(_, value)| value);
        value == id || (value.len() >= NAMED && id.starts_with(value))
    };
    args.iter().any(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_on_the_command_line_names_its_session() {
        let args = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let id = "3d2f9a10-5c1b-4d11-b127-fab536451cda";
        assert!(is_named(&args(&format!("node agent --resume {id}")), id));
        assert!(is_named(&args("node agent --resume=3d2f9a10"), id));
        assert!(!is_named(&args("node agent --resume 3"), id));
        assert!(!is_named(&args("node agent --resume latest"), id));
    }
}
