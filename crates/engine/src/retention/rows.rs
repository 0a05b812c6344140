//! Assigns deleted files to their sessions and projects.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use recount_formats::retention::RetentionSettings;
use recount_model::{FileRole, PendingDeletion, Project, SessionFacts, SessionId};

use super::report::{Guarded, Lost, RetentionLimits, Safe, SessionAtRisk};
use super::roles;
use super::scope::{Selected, folder_of};
use crate::snapshot::disk_scan::DiskSnapshot;

/// What would be deleted in one directory.
pub(super) struct FolderDeletions {
    /// Its number.
    pub(super) number: usize,
    pub(super) retention: RetentionSettings,
    pub(super) deletions: Vec<PendingDeletion>,
}

/// Assigns each deleted file to its session, and counts the rest.
pub(super) fn guarded(
    sessions: &[Arc<SessionFacts>],
    disk: &DiskSnapshot,
    projects: &[Arc<Project>],
    by_folder: Vec<FolderDeletions>,
    selected: &Selected,
) -> Vec<Guarded> {
    let mut deletions: HashMap<String, (usize, PendingDeletion)> = HashMap::new();
    let mut rows: BTreeMap<usize, Guarded> = BTreeMap::new();
    for FolderDeletions { number, retention, deletions: found } in by_folder {
        let Some(folder) = disk.folders.get(number) else { continue };
        deletions
            .extend(found.into_iter().map(|deletion| (deletion.path.clone(), (number, deletion))));
        let row = Guarded {
            project: projects.get(number).cloned().unwrap_or_default(),
            source: folder.source.name(),
            directory: folder.at.path.clone(),
            retention: kept(retention),
            sessions: Vec::new(),
            others: Vec::new(),
            safe: Safe::default(),
        };
        rows.insert(number, row);
    }
    let numbers: HashMap<&Path, usize> = rows
        .keys()
        .filter_map(|number| Some((&*disk.folders.get(*number)?.at.path, *number)))
        .collect();
    let mut owners: HashMap<&SessionId, (usize, usize)> = HashMap::new();
    for session in sessions {
        let how =
            lost(roles(session), |path| deletions.get(path).map(|(_, deletion)| deletion.is_link));
        let taken: Vec<(usize, PendingDeletion)> =
            session.files.iter().filter_map(|file| deletions.remove(&file.path)).collect();
        let place =
            taken.first().map(|(number, _)| *number).or_else(|| folder_of(session, &numbers));
        let Some((number, row)) = place.and_then(|at| Some((at, rows.get_mut(&at)?))) else {
            continue;
        };
        if !selected.has_session(session) {
            continue;
        }
        // A directory whose name does not tell its project has that of its sessions, the newest first.
        if row.project.path.is_none() && row.project.hash.is_none() {
            row.project = Arc::clone(&session.project);
        }
        if let Some(lost) = how {
            if !session.kind.is_subagent() {
                owners.insert(&session.id, (number, row.sessions.len()));
            }
            row.sessions.push(at_risk(session, lost, taken));
        } else {
            row.safe.sessions += u64::from(!session.kind.is_subagent());
            row.safe.bytes += session.bytes();
        }
    }
    let mut left: Vec<(usize, PendingDeletion)> = deletions.into_values().collect();
    left.sort_by(|(_, one), (_, next)| one.path.cmp(&next.path));
    for (number, deletion) in left {
        let owner = deletion.session.as_ref().and_then(|id| owners.get(id));
        let (at, row) = owner.map_or((None, number), |(number, at)| (Some(*at), *number));
        let Some(row) = rows.get_mut(&row) else { continue };
        match at.and_then(|at| row.sessions.get_mut(at)) {
            Some(session) => {
                session.bytes += deletion.bytes;
                session.beside.push(deletion);
            }
            None => row.others.push(deletion),
        }
    }
    let is_worth_a_row = |row: &Guarded| row.safe.sessions > 0 || row.deletions().next().is_some();
    let rows = rows.into_iter().filter(|(number, _)| selected.has_folder(*number));
    rows.map(|(_, row)| row).filter(is_worth_a_row).collect()
}

fn kept(retention: RetentionSettings) -> RetentionLimits {
    RetentionLimits {
        on: retention.off.is_none(),
        off_because: retention.off,
        max_age: retention.max_age.map(|(text, _)| text),
        max_count: retention.max_count,
        from: retention.from,
        notes: retention.notes,
    }
}

fn at_risk(
    session: &SessionFacts,
    lost: Lost,
    taken: Vec<(usize, PendingDeletion)>,
) -> SessionAtRisk {
    let files: Vec<PendingDeletion> = taken.into_iter().map(|(_, deletion)| deletion).collect();
    SessionAtRisk {
        id: session.id.clone(),
        kind: session.kind,
        parent: session.parent.clone(),
        title: session.title.clone(),
        title_from: session.title_from,
        updated: session.updated,
        prompts: session.counts.prompts,
        lost,
        bytes: files.iter().map(|deletion| deletion.bytes).sum(),
        files,
        beside: Vec::new(),
    }
}

/// Returns how much of a session is lost with the deleted files, which `is_link` knows; `None` if nothing is. The target of a link is kept.
pub(super) fn lost<'f>(
    files: impl Iterator<Item = (&'f str, FileRole)>,
    is_link: impl Fn(&str) -> Option<bool>,
) -> Option<Lost> {
    let speaks = |role: FileRole| role != FileRole::Stub;
    let is_spare =
        |role: FileRole| matches!(role, FileRole::Stub | FileRole::Twin | FileRole::Copy);
    let (mut has_gone, mut has_link) = (false, false);
    let (mut is_said_elsewhere, mut has_lost_part) = (false, false);
    for (path, role) in files {
        match is_link(path) {
            Some(false) => {
                has_gone = true;
                has_lost_part |= !is_spare(role);
            }
            link => {
                has_link |= link.is_some();
                is_said_elsewhere |= speaks(role);
            }
        }
    }
    match (has_gone, is_said_elsewhere) {
        (false, _) => has_link.then_some(Lost::Spare),
        (true, false) => Some(Lost::Whole),
        (true, true) => Some(if has_lost_part { Lost::Part } else { Lost::Spare }),
    }
}
