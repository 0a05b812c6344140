//! One session in the agent's own list.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use recount_formats::bytes::Buffer;
use recount_formats::source::{FilePlacement, ListedFile, ScannedFile};
use recount_model::SessionKind;

use recount_model::{SourceState, TitleFrom};

use crate::Engine;
use crate::projects::resolve::{Effort, ProjectHints};
use crate::sessions::finish::caller;
use crate::sessions::list::ListQuery;
use crate::sessions::open::Opened;

impl Engine {
    /// Takes the title from the list if it may be in the file of another session.
    fn find_title(&self, opened: &mut Opened) {
        let is_prompt = matches!(opened.facts.title_from, TitleFrom::Prompt | TitleFrom::None);
        let source = opened.source();
        let may_be = |state: &SourceState| source.may_have_title_elsewhere(state);
        if !is_prompt || opened.is_saved() || !opened.facts.states.iter().any(may_be) {
            return;
        }
        let Ok(listing) = self.list(&ListQuery::default(), &()) else { return };
        let key = opened.facts.key();
        if let Some(row) = listing.sessions.iter().find(|row| row.key() == key) {
            (opened.facts.title, opened.facts.title_from) = (row.title.clone(), row.title_from);
        }
    }

    /// Fills in the labels, and what depends on other sessions: the number and title in the agent's own list, and the call
    /// that ran a sub-agent.
    pub fn complete(&self, opened: &mut Opened) {
        opened.facts.labels = Some(self.labels_of(opened.facts.source, &opened.facts.id));
        self.find_title(opened);
        let disk = self.look();
        if let Some(parent) = opened.facts.parent.clone() {
            let own = opened.facts.source;
            let grouped = self.group_sessions(&disk, parent.as_str(), &(), |source, group| {
                source.name() == own && source.may_hold(group, parent.as_str())
            });
            // Nobody cancels it.
            let grouped = grouped.unwrap_or_default();
            let outlines = grouped.iter().flat_map(|(_, session_files)| &session_files.files);
            let calls = outlines
                .flat_map(|session_file| session_file.file.outline.agent_calls.clone())
                .collect();
            let callers = BTreeMap::from([(parent, calls)]);
            opened.facts.parent_call = caller(Some(opened.source()), &callers, &opened.facts);
            return;
        }
        let facts = &opened.facts;
        let own: BTreeSet<usize> = (0..disk.folders.len())
            .filter(|&at| {
                let folder = disk.folders.get(at);
                let holds =
                    |path: &str| folder.is_some_and(|f| Path::new(path).starts_with(&f.at.path));
                facts.files.iter().any(|file| holds(&file.path))
            })
            .collect();
        let named =
            |at: &usize| disk.folders.get(*at).is_some_and(|folder| folder.at.hash.is_none());
        // A hash folder counts only if there is no named one with content.
        let has_named = own.iter().any(named)
            || facts.project.path.is_some() && {
                let effort = Effort::Single(usize::MAX);
                let known =
                    self.resolve_projects(&disk, &ProjectHints::default(), &effort, &()).projects;
                disk.folders.iter().zip(known).any(|(folder, project)| {
                    folder.at.hash.is_none()
                        && !folder.at.files.is_empty()
                        && project.path == facts.project.path
                })
            };
        let mut buffer = Buffer::new();
        let known = opened.outlines();
        let mut found = None;
        for at in own.iter().filter(|at| named(at) || !has_named) {
            let Some(folder) = disk.folders.get(*at) else { continue };
            let mains = folder.at.files.iter().filter(|file| file.placement == FilePlacement::Main);
            let files: Vec<ListedFile> = mains
                .map(|file| {
                    let outline = match known.get(file.path.as_path()) {
                        Some(known) => folder.source.summary(known),
                        None => {
                            folder.source.summary(&folder.source.outline(&file.path, &mut buffer))
                        }
                    };
                    let (named_folder, is_shared) = (named(at), false);
                    let file = Arc::clone(file);
                    ScannedFile { folder: *at, named_folder, is_shared, at: file, outline }
                })
                .collect();
            let rows = folder.source.agent_list(&files.iter().collect::<Vec<_>>(), None);
            if let Some(row) = rows.iter().position(|row| row.id == facts.id) {
                let title = rows.get(row).map(|row| row.title.clone());
                found = Some((u32::try_from(row + 1).ok(), title));
                break;
            }
        }
        // The agent does not look where ingested sessions are.
        if let Some((index, title)) = found.filter(|_| opened.facts.kind == SessionKind::Main) {
            (opened.facts.agent_index, opened.facts.agent_title) = (index, title);
        }
    }
}
