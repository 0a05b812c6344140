//! The sessions of a selection, opened when their turn comes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use recount_formats::OwnForm;
use recount_formats::bytes::Buffer;
use recount_formats::source::{FileAt, Stamp};
use recount_model::{Problem, SessionFacts, What};

use super::{Selection, own};
use crate::growth::Anew;
use crate::refresh::{hash, is_racy, version};
use crate::survey::{Ground, Group};
use crate::{Engine, Opened};

/// Raised with every change to what renderers write.
const RENDERERS: u32 = 2;

/// Where the files of sessions lie.
pub(super) struct Stock {
    ground: Ground,
    files: HashMap<String, (usize, FileAt)>,
}

/// A session of a selection.
#[derive(Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) facts: &'a SessionFacts,
    opened: Option<&'a Opened>,
}

impl Engine {
    /// Looks where the files of a selection lie.
    pub(super) fn stock(&self, selection: &Selection) -> Stock {
        let ground = match selection {
            Selection::Opened(_) => Ground::default(),
            Selection::Listed(_) => self.look(),
        };
        let mut files = HashMap::new();
        for (number, folder) in ground.folders.iter().enumerate() {
            for file in &folder.at.files {
                files.insert(file.path.to_string_lossy().into_owned(), (number, file.clone()));
            }
        }
        Stock { ground, files }
    }
}

impl Stock {
    /// Opens a session; `None` when its files are gone by now.
    pub(super) fn open<'a>(&self, item: &Item<'a>) -> Option<Cow<'a, Opened>> {
        if let Some(opened) = item.opened {
            return Some(Cow::Borrowed(opened));
        }
        let group = self.group(item)?;
        let source = group.source;
        let family = group.family(&item.facts.id, &self.ground, &Anew, &mut Buffer::new())?;
        let main = crate::facts::main(&family).or_else(|| family.members.first());
        let folder = main.and_then(|member| self.ground.folders.get(member.file.folder));
        let folder = folder.map(|folder| folder.at.path.clone());
        Some(Cow::Owned(Opened::new(source, item.facts.clone(), family, folder)))
    }

    fn group(&self, item: &Item<'_>) -> Option<Group> {
        if let Some(opened) = item.opened {
            return Some(opened.group());
        }
        let known = |path: &String| self.files.get(path).cloned();
        let files: Vec<_> = item.facts.files.iter().filter_map(|file| known(&file.path)).collect();
        let source = files.first().and_then(|(folder, _)| self.ground.folders.get(*folder))?.source;
        Some(Group { source, files })
    }

    /// Returns what changes when what is written of a session does; `None` when that cannot be told.
    pub(super) fn stamp(&self, item: &Item<'_>) -> Option<String> {
        let mut group = self.group(item)?;
        let unknown = |(_, file): &(usize, FileAt)| file.stamp == Stamp::default();
        if is_racy(&group) || group.files.iter().any(unknown) {
            return None;
        }
        group.files.sort_by(|(_, one), (_, other)| one.path.cmp(&other.path));
        let files: Vec<_> = group.files.iter().map(|(_, file)| (&file.path, file.stamp)).collect();
        let project = &item.facts.project;
        let told = (&item.facts.title, project.key(), project.name());
        Some(format!("{:016x}", hash(&(RENDERERS, version(), files, told))))
    }
}

impl Selection {
    /// Returns its sessions.
    pub(super) fn items(&self) -> Vec<Item<'_>> {
        match self {
            Self::Opened(all) => all
                .iter()
                .map(|opened| Item { facts: &opened.facts, opened: Some(opened) })
                .collect(),
            Self::Listed(listing) => {
                let item = |facts| Item { facts, opened: None };
                listing.sessions.iter().map(item).collect()
            }
        }
    }
}

impl Item<'_> {
    /// Returns the name that the agent itself would give to the session's file.
    pub(super) fn own_stem(&self, form: &dyn OwnForm) -> String {
        let SessionFacts { id, kind, started, .. } = self.facts;
        match self.opened.filter(|opened| opened.is_saved()) {
            Some(saved) => {
                let began = started.or_else(|| own::time_of_saved(saved));
                form.stem(&own::id_of_saved(saved, form), *kind, began)
            }
            None => form.stem(id, *kind, *started),
        }
    }

    /// Says that a session is of another agent than the form that it was to be written in.
    pub(super) fn other_form(&self) -> Problem {
        let done = "the session was not exported: it is another agent's";
        Problem { done: done.into(), what: What::OtherAgent, ..self.lost() }
    }

    /// Says that a session is gone.
    pub(super) fn lost(&self) -> Problem {
        let file = self.facts.files.first().map_or("", |file| file.path.as_str());
        Problem {
            file: Arc::from(file),
            span: None,
            what: What::Unreadable,
            done: "the session was not exported: its files changed meanwhile".into(),
        }
    }
}
