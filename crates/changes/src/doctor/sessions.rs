//! Problems of session files.

use std::path::{Path, PathBuf};

use recount_engine::disk::DiskSnapshot;
use recount_engine::{Listing, Lost, Noted, Progress};
use recount_formats::rewrite::Flaw;
use recount_formats::source::SessionFiles;
use recount_formats::{SOURCES, Source};
use recount_model::{DeletionReason, Problem, SessionFacts, SessionId, What};
use serde::{Deserialize, Serialize};

use super::{Finding, Remedy, Severity, Symptom, Topic};
use crate::rewrite::examine::Examined;
use crate::rewrite::repair::{examine_session, has_head};
use crate::{Changes, Error};

/// Larger files are slow to load, or cannot be loaded at all.
const LARGE: u64 = 50 * 1000 * 1000;

impl Changes<'_> {
    /// Reports what the agent's next start would delete.
    pub(super) fn check_danger(
        self,
        progress: &dyn Progress,
        findings: &mut Vec<Finding>,
    ) -> Result<(), Error> {
        for row in self.engine.guard(None, None, progress)?.projects {
            for session in row.sessions {
                let Some(deletion) =
                    session.files.iter().find(|deletion| !deletion.why.is_routine())
                else {
                    continue;
                };
                let why = deletion.with_why.unwrap_or(deletion.why);
                let is_old = matches!(why, DeletionReason::Age | DeletionReason::Count);
                findings.push(Finding {
                    topic: Topic::Danger,
                    severity: if session.lost == Lost::Whole && !is_old {
                        Severity::Error
                    } else {
                        Severity::Warning
                    },
                    what: Symptom::PendingDeletion { lost: session.lost, why },
                    session: Some(session.id),
                    path: Some(deletion.path.clone().into()),
                    remedy: Some(if is_old { Remedy::Keep } else { Remedy::Fix }),
                });
            }
        }
        Ok(())
    }
}

/// The problems of the files of a session.
#[derive(Debug, Serialize, Deserialize)]
struct Flawed {
    id: SessionId,
    files: Vec<FlawedFile>,
}

/// The problems of one of them.
#[derive(Debug, Serialize, Deserialize)]
struct FlawedFile {
    path: PathBuf,
    flaws: Vec<Flaw>,
    can_be_mended: bool,
}

impl Changes<'_> {
    /// Reports problems of session files. Unchanged files are not read again.
    pub(super) fn check_sessions(
        self,
        disk: &DiskSnapshot,
        listing: &Listing,
        progress: &dyn Progress,
        findings: &mut Vec<Finding>,
    ) -> Result<(), Error> {
        let look = |source: &'static dyn Source, files: SessionFiles| look(source, &files, disk);
        for Flawed { id, files } in self.engine.noted("flaws", disk, progress, look)? {
            for file in files {
                // An unreadable file is reported below, with the others.
                let is_reported =
                    |flaw: &Flaw| *flaw == Flaw::Unread && is_unread(listing, &file.path);
                for flaw in file.flaws.into_iter().filter(|flaw| !is_reported(flaw)) {
                    findings.push(Finding {
                        topic: Topic::Sessions,
                        severity: severity(flaw),
                        what: Symptom::Flaw(flaw),
                        session: Some(id.clone()),
                        path: Some(file.path.clone()),
                        remedy: file.can_be_mended.then(|| Remedy::Repair(id.clone())),
                    });
                }
            }
        }
        for facts in &listing.sessions {
            problems(facts, findings);
            sizes(facts, findings);
            access(facts, findings);
        }
        for problem in &disk.problems {
            findings.extend(unread(problem, None));
        }
        Ok(())
    }
}

fn look(source: &'static dyn Source, files: &SessionFiles, disk: &DiskSnapshot) -> Noted<Flawed> {
    let examined = examine_session(source, files, disk);
    // An unreadable file may be readable next time. The id of a session without one is taken from other files, which may
    // change.
    let is_read = examined.iter().all(|file| !file.flaws.contains(&Flaw::Unread));
    let lasts = is_read && (source.rewriter().is_none() || has_head(files));
    let file = |file: Examined| FlawedFile {
        path: file.path,
        flaws: file.flaws,
        can_be_mended: file.revision.is_some(),
    };
    let files = Flawed { id: files.id.clone(), files: examined.into_iter().map(file).collect() };
    Noted { value: files, lasts }
}

/// Whether a file could not be read when all were listed.
fn is_unread(listing: &Listing, path: &Path) -> bool {
    let problems = listing.sessions.iter().flat_map(|facts| &facts.problem_list);
    { problems }
        .any(|problem| problem.what == What::Unreadable && Path::new(&*problem.file) == path)
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

/// Reports problems that cannot be fixed, but that people should know about.
fn problems(facts: &SessionFacts, findings: &mut Vec<Finding>) {
    findings.extend(facts.problem_list.iter().filter_map(|problem| unread(problem, Some(facts))));
    let broken = facts.problem_list.iter().filter(|problem| problem.what == What::BrokenLine);
    let broken = broken.filter(|problem| problem.done.starts_with("skipped")).count();
    // Sources whose files can be repaired report it as a flaw.
    let source = SOURCES.iter().find(|source| source.name() == facts.source);
    let is_repairable = source.is_some_and(|source| source.rewriter().is_some());
    let torn = facts.problem_list.iter().filter(|problem| problem.what == What::TornTail);
    for problem in torn.filter(|_| !is_repairable) {
        findings.push(Finding {
            topic: Topic::Sessions,
            severity: Severity::Warning,
            what: Symptom::Problem(problem.what),
            session: Some(facts.id.clone()),
            path: Some(Path::new(&*problem.file).to_owned()),
            remedy: Some(Remedy::ShowRaw(facts.id.clone())),
        });
    }
    let mut report = |what: Symptom| {
        findings.push(Finding {
            topic: Topic::Sessions,
            severity: Severity::Note,
            what,
            session: Some(facts.id.clone()),
            path: None,
            remedy: Some(Remedy::ShowRaw(facts.id.clone())),
        });
    };
    if broken > 0 {
        report(Symptom::BrokenLines(broken));
    }
    if facts.not_understood > 0 {
        report(Symptom::UnknownRecords(facts.not_understood));
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
        what: Symptom::Problem(problem.what),
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
            what: Symptom::Large { bytes: file.bytes },
            session: Some(facts.id.clone()),
            path: Some(Path::new(&file.path).to_owned()),
            remedy: Some(Remedy::Compact(facts.id.clone())),
        });
    }
}

/// Reports files that their owner cannot write: the agent would stop recording.
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
                what: Symptom::NotWritable,
                session: Some(facts.id.clone()),
                path: Some(path.to_owned()),
                remedy: Some(Remedy::MakeWritable(path.to_owned())),
            });
        }
    }
}

#[cfg(not(unix))]
fn access(_facts: &SessionFacts, _findings: &mut Vec<Finding>) {}
