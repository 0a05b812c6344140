//! Predicts what the next start of the program would delete. FORMAT.md has the rules; `rules` has those of each release.

mod beside;
mod deletions;
mod disarm;
mod installed;
mod linked;
mod renew;
mod rules;
pub(super) mod settings;
mod trust;
mod wanted;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foldhash::fast::RandomState;
use jiff::Timestamp;
use recount_model::{PendingDeletion, SessionId, SourceState};

use self::beside::Beside;
use self::deletions::{Candidate, deletions};
pub(crate) use self::rules::Release;
use self::rules::{NEWEST, Rules};
use crate::folder::path_text;
use crate::gemini::state::{GeminiState, RetentionFacts};
use crate::retention::{
    Chats, InstallFolders, Installed, RetentionPolicy, RetentionSettings, Settings, Trap, Unfit,
    Variables, Wanted,
};
use crate::source::{FileAt, FilePlacement, Linked, RootShape};

/// Gemini CLI's cleanup at start.
#[derive(Debug)]
pub(crate) struct CleanUp;

impl RetentionPolicy for CleanUp {
    fn program(&self) -> &'static str {
        installed::PROGRAM
    }

    fn newest(&self) -> &'static str {
        NEWEST
    }

    fn is_release(&self, text: &str) -> bool {
        Release::parse(text).is_some()
    }

    fn installed(&self, places: &InstallFolders<'_>) -> Option<Installed> {
        installed::installed(places)
    }

    fn settings(&self, root: &Path, shape: RootShape, variables: &dyn Variables) -> Settings {
        settings::settings(root, shape, variables)
    }

    fn retention(
        &self,
        settings: &Settings,
        folder: Option<&Path>,
        release: &str,
    ) -> RetentionSettings {
        let mut retention = settings::retention(settings, folder, &Rules::of(release));
        if !settings.is_own {
            retention.starts = false;
            retention.off = Some("the program does not look at this folder".to_owned());
        }
        retention
    }

    fn pending_deletions(&self, chats: &Chats<'_>) -> Vec<PendingDeletion> {
        pending_deletions(chats, &Rules::of(chats.release))
    }

    fn deleted_files(&self, chats: &Chats<'_>) -> Vec<bool> {
        let rules = Rules::of(chats.release);
        deleted_files(chats, &rules).unwrap_or_else(|| {
            let pending = pending_deletions(chats, &rules);
            let is_pending = |path: &str| {
                pending.binary_search_by(|deletion| deletion.path.as_str().cmp(path)).is_ok()
            };
            chats.folder.files.iter().map(|file| is_pending(&path_text(&file.path))).collect()
        })
    }

    fn traps(&self, chats: &Chats<'_>) -> Vec<Trap> {
        let rules = Rules::of(chats.release);
        if !is_cleaned(chats, &rules) || chats.retention.off.is_some() {
            return Vec::new();
        }
        let facts = retention_facts(chats);
        // Link targets must not be changed.
        let (files, seen): (Vec<&FileAt>, Vec<Candidate<'_>>) =
            candidates(chats, &facts, &[]).into_iter().unzip();
        let paths: Vec<&Path> = files.iter().map(|file| file.path.as_path()).collect();
        disarm::traps(&paths, &seen, chats.retention, &rules, chats.now)
    }

    fn used_line(&self, time: Timestamp) -> String {
        renew::line(time)
    }

    fn used_document(&self, text: &[u8], time: Timestamp) -> Option<Vec<u8>> {
        renew::document(text, time)
    }

    fn settings_file(&self, root: &Path, shape: RootShape) -> Option<PathBuf> {
        (shape == RootShape::Whole).then(|| settings::user_file(root))
    }

    fn with_retention(&self, text: Option<&[u8]>, wanted: Wanted) -> Result<Vec<u8>, Unfit> {
        wanted::with_retention(text, wanted)
    }

    fn once_edited(&self, settings: Settings, text: &[u8]) -> Settings {
        settings::once_edited(settings, text)
    }

    fn last_used(&self, state: &SourceState) -> Option<i64> {
        GeminiState::decode(state)?.retention.updated.millis()
    }

    fn remedy(&self) -> &'static str {
        "\"general\": {\"sessionRetention\": {\"enabled\": false}} in ~/.gemini/settings.json"
    }
}

fn pending_deletions(chats: &Chats<'_>, rules: &Rules) -> Vec<PendingDeletion> {
    let Chats { folder, retention, now, .. } = *chats;
    if !is_cleaned(chats, rules) {
        return Vec::new();
    }
    let mut beside = Beside::new(&folder.path, rules);
    let mut pending = Vec::new();
    if retention.off.is_none() {
        let facts = retention_facts(chats);
        let linked = linked::files(folder);
        let (files, seen): (Vec<&FileAt>, Vec<Candidate<'_>>) =
            candidates(chats, &facts, &linked).into_iter().unzip();
        let path = |file: &FileAt| path_text(&file.path).into_owned();
        for victim in deletions(&seen, retention, rules, now) {
            let Some(file) = files.get(victim.at) else { continue };
            if let Some(id) = &victim.takes {
                beside.session(id, &path(file), victim.why);
            }
            let with = victim.with.and_then(|(with, why)| Some((files.get(with)?, why)));
            pending.push(PendingDeletion {
                path: path(file),
                bytes: file.bytes,
                is_link: file.is_link,
                why: victim.why,
                with: with.map(|(file, _)| path(file)),
                with_why: with.map(|(_, why)| why),
                session: None,
            });
        }
    }
    beside.outputs(retention, now);
    beside.restore_points();
    let found = beside.into_found();
    if !found.is_empty() {
        let known: BTreeSet<String> =
            pending.iter().map(|deletion| deletion.path.clone()).collect();
        pending.extend(found.into_iter().filter(|deletion| !known.contains(&deletion.path)));
    }
    pending.sort_by(|one, next| one.path.cmp(&next.path));
    pending
}

/// Returns the same for the session files alone, without listing any folder: sub-agents are in a folder with the name of their session.
/// `None` if links or unusual names decide what is deleted.
fn deleted_files(chats: &Chats<'_>, rules: &Rules) -> Option<Vec<bool>> {
    let Chats { folder, retention, now, .. } = *chats;
    if !is_cleaned(chats, rules) || retention.off.is_some() {
        return Some(vec![false; folder.files.len()]);
    }
    if folder.linked != Linked::Nothing {
        return None;
    }
    let facts = retention_facts(chats);
    let (files, seen): (Vec<&FileAt>, Vec<Candidate<'_>>) =
        candidates(chats, &facts, &[]).into_iter().unzip();
    let mut deleted: HashSet<*const FileAt, RandomState> = HashSet::default();
    let mut sessions: HashSet<SessionId, RandomState> = HashSet::default();
    for victim in deletions(&seen, retention, rules, now) {
        deleted.extend(files.get(victim.at).map(|file| std::ptr::from_ref::<FileAt>(file)));
        if let Some(id) = victim.takes {
            if !beside::is_plain(id.as_str()) {
                return None;
            }
            sessions.insert(id);
        }
    }
    let is_deleted = |file: &Arc<FileAt>| match &file.placement {
        FilePlacement::SubagentOf(id) => rules.takes_agents && sessions.contains(id),
        FilePlacement::Main | FilePlacement::Leftover => deleted.contains(&Arc::as_ptr(file)),
    };
    Some(folder.files.iter().map(is_deleted).collect())
}

/// Up to 0.28 a project's directory is named by a hash, later it is not: the other kind is never used. A newer release
/// first copies what it finds under a hash, and only copies are deleted.
fn is_cleaned(chats: &Chats<'_>, rules: &Rules) -> bool {
    chats.retention.starts && chats.folder.hash.is_none() == rules.named_folders
}

/// Decodes the state of every file, in the order of the files.
fn retention_facts(chats: &Chats<'_>) -> Vec<Option<RetentionFacts>> {
    let states = chats.states.iter().copied().chain(std::iter::repeat(None));
    let decode = |state: Option<&[u8]>| RetentionFacts::decode(state?);
    states.take(chats.folder.files.len()).map(decode).collect()
}

/// Returns main sessions in the order of the program: by name, in UTF-16 units. `linked` are those reached through links.
fn candidates<'a>(
    chats: &Chats<'a>,
    facts: &'a [Option<RetentionFacts>],
    linked: &'a [(FileAt, Option<RetentionFacts>)],
) -> Vec<(&'a FileAt, Candidate<'a>)> {
    let files = chats.folder.files.iter().map(|file| &**file).zip(facts.iter().map(Option::as_ref));
    let linked = linked.iter().map(|(file, facts)| (file, facts.as_ref()));
    let mut all: Vec<(&FileAt, Candidate<'_>)> = files
        .chain(linked)
        .filter(|(file, _)| file.placement == FilePlacement::Main)
        .filter_map(|(file, facts)| {
            let name = file.path.file_name()?.to_str()?;
            Some((file, Candidate { name, modified: file.modified, facts }))
        })
        .collect();
    if all.iter().all(|(_, file)| file.name.is_ascii()) {
        all.sort_by_key(|(_, file)| file.name);
    } else {
        all.sort_by_cached_key(|(_, file)| file.name.encode_utf16().collect::<Vec<_>>());
    }
    all
}
