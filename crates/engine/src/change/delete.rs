//! A session to the trash: all its files, by its full id, and all that belongs to it.

use std::path::PathBuf;

use recount_formats::SOURCES;
use recount_formats::source::Belonging;
use recount_model::{FileRole, SessionFacts};
use recount_writer::RealDisk;
use recount_writer::change::{About, Plan, Subject};

use crate::list::{Listing, Query};
use crate::survey::{Ground, Progress};
use crate::vault::role;
use crate::{Engine, Error};

impl Engine {
    /// Plans to delete the sessions that these arguments name, each with its sub-agents.
    ///
    /// # Errors
    /// If an argument names none, or several; if a file cannot be read.
    pub fn delete_plan(&self, wanted: &[String], progress: &dyn Progress) -> Result<Plan, Error> {
        let mut ids = Vec::new();
        for wanted in wanted {
            let opened = self.open(wanted, progress)?;
            if !ids.contains(&opened.facts.id) {
                ids.push(opened.facts.id);
            }
        }
        // Files are found by the ids in them, whatever their names say: only a list of all knows.
        let listing = self.list(&Query::default(), progress)?;
        let ground = Ground::look(&self.roots);
        let roots = self.roots.iter().map(|root| root.path.clone()).collect();
        let mut plan = Plan::new("delete", roots);
        for id in ids {
            let facts = listing.sessions.iter().find(|facts| facts.id == id);
            let facts = facts.ok_or_else(|| Error::NoSession(id.to_string()))?;
            take(&mut plan, facts, &listing, &ground)?;
        }
        Ok(plan)
    }
}

fn take(
    plan: &mut Plan,
    facts: &SessionFacts,
    listing: &Listing,
    ground: &Ground,
) -> Result<(), Error> {
    let id = facts.id.as_str();
    plan.sessions.push(Subject {
        source: facts.source.to_string(),
        id: id.to_owned(),
        title: facts.title.clone(),
        project: facts.project.path.as_ref().map(|path| path.as_str().to_owned()),
    });
    let is_agent = |other: &&SessionFacts| {
        other.source == facts.source && other.parent.as_ref() == Some(&facts.id)
    };
    remove_files(plan, id, facts, role)?;
    for agent in listing.sessions.iter().filter(is_agent) {
        remove_files(plan, id, agent, |_| "sub-agent")?;
    }
    let source = SOURCES.iter().find(|source| source.name() == facts.source);
    let Some(source) = source else { return Ok(()) };
    let own: Vec<PathBuf> = facts.files.iter().map(|file| PathBuf::from(&file.path)).collect();
    let mut prompts = 0;
    for folder in ground.folders.iter().filter(|folder| folder.source.name() == facts.source) {
        let belongings = source.belongings(&folder.at, &facts.id, &own);
        for Belonging { path, what } in &belongings.files {
            plan.remove(&RealDisk, path, About { session: Some(id), what })?;
        }
        for path in &belongings.folders {
            plan.remove_folder(&RealDisk, path)?;
        }
        if own.iter().any(|file| file.starts_with(&folder.at.path)) {
            let traces = source.traces(&folder.at);
            prompts += traces.iter().filter(|trace| trace.session == facts.id).count();
        }
    }
    if prompts > 0 {
        let s = if prompts == 1 { "" } else { "s" };
        let short = facts.id.short();
        plan.notes.push(format!(
            "{prompts} prompt{s} of {short} stay in the agent's own log of prompts, which other sessions share"
        ));
    }
    Ok(())
}

fn remove_files(
    plan: &mut Plan,
    id: &str,
    facts: &SessionFacts,
    what: impl Fn(FileRole) -> &'static str,
) -> Result<(), Error> {
    for file in &facts.files {
        let about = About { session: Some(id), what: what(file.role) };
        plan.remove(&RealDisk, file.path.as_ref(), about)?;
    }
    Ok(())
}
