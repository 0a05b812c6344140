//! What of a row takes a look at more than one session: its project, its number in the agent's own list, and for a
//! sub-agent the call that ran it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use recount_formats::Source;
use recount_formats::outline::AgentCall;
use recount_formats::source::{AgentRow, ScannedFile};
use recount_model::{
    Project, RecordedPath, SessionFacts, SessionId, SessionKind, SourceName, TitleFrom,
};

use crate::projects::resolve::ResolvedProjects;
use crate::sessions::list::Digest;
use crate::snapshot::disk_scan::DiskSnapshot;

/// Fills in what needs a look at more than one session.
pub(crate) fn finish(disk: &DiskSnapshot, digests: &mut [Digest], resolved: &ResolvedProjects) {
    let rows = agent_rows(disk, digests, &resolved.projects);
    let callers = callers(digests);
    let names = names(disk);
    let titles = titles(disk, digests);
    for digest in digests {
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
        let own = digest.files.iter().map(|file| file.folder).collect::<BTreeSet<_>>();
        let row = own.iter().find_map(|folder| rows.get(&(*folder, facts.id.clone())));
        let row = row.filter(|_| facts.kind == SessionKind::Main);
        (facts.agent_index, facts.agent_title) = match row {
            Some((index, title)) => (Some(*index), Some(title.clone())),
            None => (None, None),
        };
    }
}

/// Names that users gave to sessions, by root and session.
fn names(disk: &DiskSnapshot) -> HashMap<(usize, &SessionId), &str> {
    let all = disk.names.iter().enumerate();
    all.flat_map(|(root, names)| names.iter().map(move |(id, name)| ((root, id), name.as_str())))
        .collect()
}

/// Titles that stand in other files than the conversation they are of, by source and by where that ends. The last one counts.
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

/// Calls that ran sub-agents, by the session they stand in.
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

/// Numbers and titles of the agent's own list, per folder that the newest releases would look at.
fn agent_rows(
    disk: &DiskSnapshot,
    digests: &[Digest],
    projects: &[Arc<Project>],
) -> BTreeMap<(usize, SessionId), (u32, String)> {
    let mut by_folder: BTreeMap<usize, Vec<&ScannedFile>> = BTreeMap::new();
    for file in digests.iter().flat_map(|digest| digest.files.iter()) {
        by_folder.entry(file.folder).or_default().push(file);
    }
    let named = named_with_content(disk, projects);
    let mut rows = BTreeMap::new();
    for (number, files) in &by_folder {
        let Some(folder) = disk.folders.get(*number) else { continue };
        let path = projects.get(*number).and_then(|project| project.path.as_ref());
        // A hash folder is copied to a named one at the next start, unless that one has content already: then the
        // agent never looks at the hash folder again.
        if folder.at.hash.is_some() && path.is_some_and(|path| named.contains(&(folder.root, path)))
        {
            continue;
        }
        let listed: Vec<AgentRow> = folder.source.agent_list(files, None);
        for (at, row) in listed.into_iter().enumerate() {
            let index = u32::try_from(at + 1).unwrap_or(u32::MAX);
            rows.entry((*number, row.id)).or_insert((index, row.title));
        }
    }
    rows
}

/// Projects that have a named folder with content, by root and path.
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
