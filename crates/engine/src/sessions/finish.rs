//! Fills in the parts of a row that depend on other sessions: its project, its number in the agent's own list, and for a
//! sub-agent the call that ran it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use recount_formats::Source;
use recount_formats::outline::AgentCall;
use recount_formats::source::{AgentRow, ListedFile};
use recount_model::{
    Project, RecordedPath, SessionFacts, SessionId, SessionKind, SourceName, TitleFrom,
};

use crate::projects::resolve::ResolvedProjects;
use crate::sessions::list::Digest;
use crate::snapshot::disk_scan::DiskSnapshot;

/// Fills in what depends on other sessions.
pub(crate) fn finish(disk: &DiskSnapshot, digests: &mut [Digest], resolved: &ResolvedProjects) {
    let mut rows = agent_rows(disk, digests, &resolved.projects);
    let callers = callers(digests);
    let names = names(disk);
    let titles = titles(disk, digests);
    for (number, digest) in digests.iter_mut().enumerate() {
        let facts = Arc::make_mut(&mut digest.facts);
        let root = disk.folders.get(digest.folder).map(|folder| folder.root);
        if let Some(name) = root.and_then(|root| names.get(&(root, &facts.id))) {
            (facts.title, facts.title_from) = (Some((*name).to_owned()), TitleFrom::Name);
        }
        facts.project = resolved.project_of(digest.folder, facts.cwd.as_ref());
        let source = disk.folders.get(digest.folder).map(|folder| folder.source);
        facts.parent_call = caller(source, &callers, facts);
        if !titles.is_empty() && matches!(facts.title_from, TitleFrom::Prompt | TitleFrom::None) {
            let key = |state| Some((facts.source, source?.end_key(state)?));
            let title = facts.states.iter().filter_map(key).find_map(|key| titles.get(&key));
            if let Some(title) = title {
                (facts.title, facts.title_from) = (Some(title.clone()), TitleFrom::Summary);
            }
        }
        let row = rows.get_mut(number).and_then(Option::take);
        let row = row.filter(|_| facts.kind == SessionKind::Main);
        (facts.agent_index, facts.agent_title) = row.unzip();
    }
}

/// Returns the names that users gave to sessions, by root and session.
fn names(disk: &DiskSnapshot) -> HashMap<(usize, &SessionId), &str> {
    let all = disk.names.iter().enumerate();
    all.flat_map(|(root, names)| names.iter().map(move |(id, name)| ((root, id), name.as_str())))
        .collect()
}

/// Returns the titles that are in other files than their conversations, by source and by the end of the conversation. The
/// last one counts.
fn titles(disk: &DiskSnapshot, digests: &[Digest]) -> HashMap<(SourceName, u64), String> {
    let mut titles = HashMap::new();
    for digest in digests {
        let Some(folder) = disk.folders.get(digest.folder) else { continue };
        for (key, title) in
            digest.facts.states.iter().flat_map(|s| folder.source.titles_for_others(s))
        {
            titles.insert((digest.facts.source, key), title);
        }
    }
    titles
}

/// Returns the calls that ran sub-agents, by session.
fn callers(digests: &[Digest]) -> BTreeMap<SessionId, Arc<[AgentCall]>> {
    let calling = digests.iter().filter(|digest| !digest.agent_calls.is_empty());
    calling.map(|digest| (digest.facts.id.clone(), Arc::clone(&digest.agent_calls))).collect()
}

/// Finds the call that ran a sub-agent: the one that its files name, the one that names it, else the first that ended after it did.
pub(crate) fn caller(
    source: Option<&dyn Source>,
    callers: &BTreeMap<SessionId, Arc<[AgentCall]>>,
    facts: &SessionFacts,
) -> Option<String> {
    let parent = facts.parent.as_ref()?;
    let recorded = |source: &dyn Source| facts.states.iter().find_map(|s| source.parent_call(s));
    if let Some(call) = source.and_then(recorded) {
        return Some(call);
    }
    let calls = callers.get(parent)?;
    let names = |call: &&AgentCall| call.agent.as_deref() == Some(facts.id.as_str());
    let last = facts.updated.map(Timestamp::as_millisecond);
    let after = |call: &&AgentCall| call.agent.is_none() && call.ended >= last;
    let found = calls
        .iter()
        .find(names)
        .or_else(|| calls.iter().filter(after).min_by_key(|call| call.ended));
    found.map(|call| call.call.to_string())
}

/// Returns for each session its number and title in the agent's own list, in the first of the folders that the newest releases would
/// use.
fn agent_rows(
    disk: &DiskSnapshot,
    digests: &[Digest],
    projects: &[Arc<Project>],
) -> Vec<Option<(u32, String)>> {
    let mut by_folder: BTreeMap<usize, Vec<(usize, &ListedFile)>> = BTreeMap::new();
    for (at, digest) in digests.iter().enumerate() {
        for file in digest.files.iter() {
            by_folder.entry(file.folder).or_default().push((at, file));
        }
    }
    let named = named_with_content(disk, projects);
    let mut rows = vec![None; digests.len()];
    for (number, files) in &by_folder {
        let Some(folder) = disk.folders.get(*number) else { continue };
        let path = projects.get(*number).and_then(|project| project.path.as_ref());
        // A hash folder is copied to a named one at the next start, unless that one already has content: then the agent
        // never uses the hash folder again.
        if folder.at.hash.is_some() && path.is_some_and(|path| named.contains(&(folder.root, path)))
        {
            continue;
        }
        let (sessions, files): (Vec<usize>, Vec<&ListedFile>) = files.iter().copied().unzip();
        let listed = (1..).zip(folder.source.agent_list(&files, None));
        let mut by_id: HashMap<SessionId, (u32, String)> = HashMap::new();
        for (index, AgentRow { id, title }) in listed {
            by_id.entry(id).or_insert((index, title));
        }
        for at in sessions {
            let row = digests.get(at).and_then(|digest| by_id.get(&digest.facts.id));
            if let (Some(slot @ None), Some(row)) = (rows.get_mut(at), row) {
                *slot = Some(row.clone());
            }
        }
    }
    rows
}

/// Returns the projects that have a named folder with content, by root and path.
fn named_with_content<'a>(
    disk: &DiskSnapshot,
    projects: &'a [Arc<Project>],
) -> BTreeSet<(usize, &'a RecordedPath)> {
    let named = disk
        .folders
        .iter()
        .zip(projects)
        .filter(|(folder, _)| folder.at.hash.is_none() && !folder.at.files.is_empty());
    named.filter_map(|(folder, project)| Some((folder.root, project.path.as_ref()?))).collect()
}
