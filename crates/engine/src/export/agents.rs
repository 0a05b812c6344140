//! The sessions of sub-agents, which belong to their callers.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use recount_export::Renderer;
use recount_formats::source::SessionFiles;
use recount_model::SessionId;

use crate::cache::growth::FullRead;
use crate::sessions::facts::{facts, main};
use crate::sessions::finish::caller;
use crate::snapshot::disk_scan::{DiskSnapshot, scan_files};
use crate::{Engine, Opened};

impl Engine {
    /// Opens the sessions of the sub-agents that a session ran, recursively, in order of time. None for a format that does
    /// not support them.
    pub(super) fn agents_of(&self, opened: &Opened, renderer: &dyn Renderer) -> Vec<Opened> {
        if !renderer.nests() {
            return Vec::new();
        }
        let disk = self.look();
        let mut agents = children(&disk, opened);
        let mut at = 0;
        while let Some(agent) = agents.get(at) {
            let known = |new: &Opened| agents.iter().any(|old| old.facts.id == new.facts.id);
            let new: Vec<Opened> =
                children(&disk, agent).into_iter().filter(|new| !known(new)).collect();
            agents.extend(new);
            at += 1;
        }
        agents.sort_by_key(|agent| agent.facts.started);
        agents
    }
}

fn children(disk: &DiskSnapshot, parent: &Opened) -> Vec<Opened> {
    let id = &parent.facts.id;
    let folder = format!("{id}/");
    let mut groups = disk.groups(|source, group| {
        source.name() == parent.facts.source
            && (group.starts_with(&folder) || source.may_hold(group, id.as_str()))
    });
    // Its own files were already read, unless other sessions are in them.
    let own: HashSet<&Path> = parent.unshared_files().collect();
    groups.retain(|group| group.files.iter().any(|(_, file)| !own.contains(&*file.path)));
    let own = |source, session_files: SessionFiles| {
        (session_files.parent.as_ref() == Some(id)).then_some((source, session_files))
    };
    let found = scan_files(disk, &groups, &FullRead, &(), own);
    let calls = BTreeMap::from([(SessionId::clone(id), parent.agent_calls().into())]);
    let open = |(source, session_files): (_, SessionFiles)| {
        let folder = main(&session_files).and_then(|main| disk.folders.get(main.file.folder));
        let folder = folder.map(|folder| folder.at.path.clone());
        let mut row = facts(source, &session_files);
        row.project = parent.facts.project.clone();
        row.parent_call = caller(Some(source), &calls, &row);
        Opened::new(source, row, session_files, folder)
    };
    found.into_iter().filter_map(|(_, session_files)| session_files.map(open)).collect()
}
