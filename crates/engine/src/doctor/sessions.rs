//! What is wrong with session files.

use std::path::Path;

use recount_formats::mend::Flaw;
use recount_model::{Problem, SessionFacts, What, Why};

use super::{Finding, Severity, Topic};
use crate::change::{examine_all, words};
use crate::sessions::list::Listing;
use crate::snapshot::survey::{Ground, Progress};
use crate::{Engine, Error, Lost};

/// Files beyond this size are slow to load, and may not be at all.
const LARGE: u64 = 50 * 1000 * 1000;

impl Engine {
    /// What the agent's next start would delete.
    pub(super) fn check_danger(
        &self,
        progress: &dyn Progress,
        findings: &mut Vec<Finding>,
    ) -> Result<(), Error> {
        for row in self.guard(None, None, progress)?.projects {
            for session in row.sessions {
                let Some(doom) = session.files.iter().find(|doom| !doom.why.is_routine()) else {
                    continue;
                };
                let why = doom.with_why.unwrap_or(doom.why);
                let what = match session.lost {
                    Lost::Whole => "the agent's next start would delete it",
                    Lost::Part => "the agent's next start would delete a part of it",
                    Lost::Spare => "the agent's next start would delete a spare file of it",
                };
                let is_old = matches!(why, Why::Age | Why::Count);
                findings.push(Finding {
                    topic: Topic::Danger,
                    severity: if session.lost == Lost::Whole && !is_old {
                        Severity::Error
                    } else {
                        Severity::Warning
                    },
                    what: format!("{what}: {}", reason(why)),
                    session: Some(session.id),
                    path: Some(doom.path.clone().into()),
                    remedy: Some(
                        if is_old { "recount guard --keep" } else { "recount guard --fix" }
                            .to_owned(),
                    ),
                });
            }
        }
        Ok(())
    }
}

pub(super) fn check_sessions(
    ground: &Ground,
    listing: &Listing,
    progress: &dyn Progress,
    findings: &mut Vec<Finding>,
) {
    for (id, files) in examine_all(ground, progress, |_| true) {
        for file in files {
            let command = format!("recount repair {}", id.short());
            // What could not be read is told below, with the others.
            let is_told = |flaw: &Flaw| *flaw == Flaw::Unread && is_unread(listing, &file.path);
            for flaw in file.flaws.into_iter().filter(|flaw| !is_told(flaw)) {
                findings.push(Finding {
                    topic: Topic::Sessions,
                    severity: severity(flaw),
                    what: words(flaw),
                    session: Some(id.clone()),
                    path: Some(file.path.clone()),
                    remedy: file.revision.is_some().then(|| command.clone()),
                });
            }
        }
    }
    for facts in &listing.sessions {
        problems(facts, findings);
        sizes(facts, findings);
        access(facts, findings);
    }
    for problem in &ground.problems {
        findings.extend(unread(problem, None));
    }
}

/// Whether a file could not be read when all were listed.
fn is_unread(listing: &Listing, path: &Path) -> bool {
    let problems = listing.sessions.iter().flat_map(|facts| &facts.problem_list);
    { problems }
        .any(|problem| problem.what == What::Unreadable && Path::new(&*problem.file) == path)
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::Age => "last used too long ago",
        Why::Count => "there are more sessions than may be kept",
        Why::Unreadable => "the agent cannot load a file of it",
        Why::NoTimes => "it does not say when it was written",
        Why::Stub => "a resume left an empty file beside it",
        Why::NothingSaid => "nothing is said in it",
        Why::Subagent => "it says it is a sub-agent's",
        Why::SameName => "a file with a name like its own goes",
        Why::Beside | Why::OutputAge | Why::OutputCount | Why::EveryStart => "it is cleared away",
    }
}

fn severity(flaw: Flaw) -> Severity {
    match flaw {
        Flaw::Unread
        | Flaw::ByteOrderMark
        | Flaw::NoHead
        | Flaw::Broken
        | Flaw::UnknownRewind
        | Flaw::Unanswered { .. }
        | Flaw::Unasked { .. }
        | Flaw::Buried { .. } => Severity::Error,
        Flaw::TornTail { .. }
        | Flaw::NoLineEnd
        | Flaw::WeldedLine { .. }
        | Flaw::PutAside { .. } => Severity::Warning,
        Flaw::OneLine => Severity::Note,
    }
}

/// Problems that nothing mends, but that people should know of.
fn problems(facts: &SessionFacts, findings: &mut Vec<Finding>) {
    findings.extend(facts.problem_list.iter().filter_map(|problem| unread(problem, Some(facts))));
    let broken = facts.problem_list.iter().filter(|problem| problem.what == What::BrokenLine);
    let broken = broken.filter(|problem| problem.done.starts_with("skipped")).count();
    let short = facts.id.short();
    let mut tell = |what: String| {
        findings.push(Finding {
            topic: Topic::Sessions,
            severity: Severity::Note,
            what,
            session: Some(facts.id.clone()),
            path: None,
            remedy: Some(format!("recount show {short} --raw")),
        });
    };
    if broken > 0 {
        let s = if broken == 1 { " is" } else { "s are" };
        tell(format!("{broken} line{s} not understood by anybody"));
    }
    if facts.not_understood > 0 {
        tell(format!(
            "{} of its records are of a kind that recount does not know",
            facts.not_understood
        ));
    }
}

fn unread(problem: &Problem, facts: Option<&SessionFacts>) -> Option<Finding> {
    let severity = match problem.what {
        What::Unreadable => Severity::Error,
        What::NotAFile | What::LinkNotFollowed => Severity::Warning,
        What::Empty => Severity::Note,
        _ => return None,
    };
    let topic = if problem.what == What::Unreadable { Topic::Permissions } else { Topic::Sessions };
    Some(Finding {
        topic,
        severity,
        what: problem.what.phrase().to_owned(),
        session: facts.map(|facts| facts.id.clone()),
        path: Some(Path::new(&*problem.file).to_owned()),
        remedy: None,
    })
}

fn sizes(facts: &SessionFacts, findings: &mut Vec<Finding>) {
    for file in facts.files.iter().filter(|file| file.bytes > LARGE) {
        findings.push(Finding {
            topic: Topic::Sizes,
            severity: Severity::Warning,
            what: format!("{} MB; large files are slow to load", file.bytes / 1_000_000),
            session: Some(facts.id.clone()),
            path: Some(Path::new(&file.path).to_owned()),
            remedy: Some(format!("recount compact {}", facts.id.short())),
        });
    }
}

/// Files that their owner cannot write: the agent would stop to record.
#[cfg(unix)]
fn access(facts: &SessionFacts, findings: &mut Vec<Finding>) {
    use std::os::unix::fs::PermissionsExt as _;
    for file in &facts.files {
        let path = Path::new(&file.path);
        let Ok(metadata) = std::fs::metadata(path) else { continue };
        if metadata.permissions().mode() & 0o200 == 0 {
            findings.push(Finding {
                topic: Topic::Permissions,
                severity: Severity::Warning,
                what: "its owner may not write it; the agent cannot go on with it".to_owned(),
                session: Some(facts.id.clone()),
                path: Some(path.to_owned()),
                remedy: Some(format!("chmod u+w {}", path.display())),
            });
        }
    }
}

#[cfg(not(unix))]
fn access(_facts: &SessionFacts, _findings: &mut Vec<Finding>) {}
