//! Sessions made whole again: each as a plan of what its files will be.

use recount_formats::mend::Flaw;
use recount_formats::source::Family;
use recount_model::SessionId;
use recount_writer::RealDisk;
use recount_writer::change::{About, Plan};

use super::common::{role, subject};
use super::examine::{Elsewhere, Examined, examine};
use crate::cache::growth::Anew;
use crate::snapshot::survey::{Folder, Ground, Progress, survey};
use crate::{Engine, Error};

impl Engine {
    /// Plans to mend the sessions that these arguments name, or all but those that somebody works in.
    ///
    /// # Errors
    /// If an argument names none, or several; if a file cannot be read.
    pub fn repair_plan(&self, wanted: &[String], progress: &dyn Progress) -> Result<Plan, Error> {
        let mut plan = self.blank_plan("repair");
        let ground = Ground::look(&self.roots);
        let chosen = self.all_chosen(wanted, &mut plan, progress)?;
        let examined =
            examine_all(&ground, progress, |id| chosen.iter().any(|facts| facts.id == *id));
        for (id, files) in examined {
            let Some(facts) = chosen.iter().find(|facts| facts.id == id) else { continue };
            let steps = plan.steps.len();
            for file in &files {
                mend(&mut plan, id.as_str(), file)?;
            }
            if plan.steps.len() > steps {
                plan.sessions.push(subject(facts));
            }
        }
        Ok(plan)
    }
}

/// Looks at the files of sessions for what keeps their agent from loading them.
pub(crate) fn examine_all(
    ground: &Ground,
    progress: &dyn Progress,
    wanted: impl Fn(&SessionId) -> bool + Sync,
) -> Vec<(SessionId, Vec<Examined>)> {
    let look = |source: &'static dyn recount_formats::Source, family: Family| {
        let mender = source.mender().filter(|_| wanted(&family.id))?;
        let elsewhere = elsewhere(ground, &family);
        let examined = examine(mender, &family, &elsewhere);
        (!examined.is_empty()).then_some((family.id, examined))
    };
    let found = survey(ground, ground.groups(|_, _| true), &Anew, progress, look);
    found.into_iter().filter_map(|(_, examined)| examined).collect()
}

/// What the place of a session's files, and what lies beside them, tell of it.
fn elsewhere(ground: &Ground, family: &Family) -> Elsewhere {
    let is_its = |folder: &&Folder| {
        family.members.iter().any(|member| member.file.at.path.starts_with(&folder.at.path))
    };
    let mut told = Elsewhere::default();
    for Folder { source, at, .. } in ground.folders.iter().filter(is_its) {
        let by_marker = || Some(source.project_hash(at.markers.first()?.0.as_str()));
        let hash = at.hash.clone().or_else(by_marker);
        told.project_hash = told.project_hash.or_else(|| hash.map(|hash| hash.to_string()));
        let has_head = family.members.iter().any(|m| m.file.outline.head.session_id.is_some());
        if !has_head {
            let traces = source.traces(at);
            let is_its = |id: &&SessionId| id.as_str().starts_with(family.id.as_str());
            let mut ids = traces.iter().map(|trace| &trace.session).filter(is_its);
            told.id = told.id.or_else(|| ids.next().map(ToString::to_string));
        }
    }
    told
}

fn mend(plan: &mut Plan, id: &str, file: &Examined) -> Result<(), Error> {
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let about = About { session: Some(id), what: role(file.role) };
    let aside = About { session: Some(id), what: "put aside" };
    let Some(revision) = &file.revision else {
        for flaw in &file.flaws {
            plan.notes.push(format!("{name}: {}; this cannot be mended", words(*flaw)));
        }
        if file.flaws.is_empty() {
            for path in &file.obsolete {
                plan.remove(&RealDisk, path, aside)?;
                plan.notes.push(format!("{name} holds all that was put aside"));
            }
        }
        return Ok(());
    };
    match &file.target {
        Some(target) => {
            plan.create(&RealDisk, target, revision.content(), about, None)?;
            plan.remove(&RealDisk, &file.path, aside)?;
        }
        None => plan.replace(&RealDisk, &file.path, revision.content(), about)?,
    }
    for path in &file.obsolete {
        plan.remove(&RealDisk, path, aside)?;
    }
    for flaw in &file.flaws {
        plan.notes.push(format!("{name}: {}; {}", words(*flaw), remedy(*flaw)));
    }
    Ok(())
}

fn plural(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// Says what is wrong.
pub(crate) fn words(flaw: Flaw) -> String {
    match flaw {
        Flaw::Unread => "it cannot be read".to_owned(),
        Flaw::ByteOrderMark => "a byte order mark makes the agent drop a line".to_owned(),
        Flaw::TornTail { bytes } => {
            format!("the last record was not written to its end ({bytes} bytes)")
        }
        Flaw::NoLineEnd => "the last line does not end; the agent would write into it".to_owned(),
        Flaw::WeldedLine { bytes } => {
            format!("a record stands behind a torn one ({bytes} bytes) and is not loaded")
        }
        Flaw::NoHead => "nothing in it says whose session it is".to_owned(),
        Flaw::Broken => "it is not valid, and the agent loads nothing of it".to_owned(),
        Flaw::OneLine => "it stands on one line, which releases 0.39 to 0.43 misread".to_owned(),
        Flaw::UnknownRewind => {
            "a rewind to a message that is not there hides all before it".to_owned()
        }
        Flaw::Unanswered { calls } => {
            format!(
                "{} of tools without a response; the service refuses that",
                plural(calls, "call")
            )
        }
        Flaw::Unasked { answers } => {
            let answers = plural(answers, "response");
            format!("{answers} of tools without a call; the service refuses that")
        }
        Flaw::Buried { messages } => {
            format!("the agent would show nothing of {}", plural(messages, "message"))
        }
        Flaw::PutAside { messages } => {
            let messages = plural(messages, "message");
            format!("{messages} stand only in a file that the agent put aside")
        }
    }
}

/// Says what is done about it.
fn remedy(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::Unread => "it is left alone",
        Flaw::ByteOrderMark => "the mark is taken out",
        Flaw::TornTail { .. } | Flaw::WeldedLine { .. } => "the fragment stays in the trash",
        Flaw::NoLineEnd => "a line break is added",
        Flaw::NoHead => "a first line is added",
        Flaw::Broken => "every complete message is kept",
        Flaw::OneLine => "it is indented as the agent does it",
        Flaw::UnknownRewind => "the rewind stays in the trash",
        Flaw::Unanswered { .. } => "a response says that theirs was lost",
        Flaw::Unasked { .. } => "they are no longer sent",
        Flaw::Buried { .. } => "they are shown again",
        Flaw::PutAside { .. } => "they are put into the session, and the file into the trash",
    }
}
