//! Sets a title that the agent itself shows.

use std::path::{Path, PathBuf};

use recount_engine::Progress;
use recount_engine::disk::{LocatedFolder, Survey};
use recount_formats::Editor;
use recount_formats::bytes::Buffer;
use recount_formats::edit::{Amendment, RegistryEntry, Title};
use recount_model::{FileRole, SessionFacts, SessionId};
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, NewContent};

use crate::sessions::steps::{patched, role, source, subject};
use crate::{Changes, Error, Notice, Operation, Proposal, Reason};

/// The longest title that an agent shows completely, in UTF-16 units.
const LONGEST: usize = 100;

impl Changes<'_> {
    /// Plans to give a session a title, or to remove its title.
    ///
    /// Every file gets it that some release of the agent lists: the newest releases show the most recently used file of a
    /// session, older ones each of them, and those before logs only the old documents. Files that no release lists are not
    /// changed.
    ///
    /// # Errors
    /// If the argument matches no session or several; if the session cannot have a title; if a file cannot be read.
    pub fn rename_plan(
        self,
        wanted: &str,
        title: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        let survey = self.scan_files(progress)?;
        let facts = self.chosen(&survey, wanted, Operation::Rename)?;
        let source = source(facts.source)?;
        let editor = source.editor().ok_or(Reason::NoTitles(facts.source))?;
        let title = title.map(|title| editor.title(title)).filter(|title| !title.is_empty());
        let said = Amendment {
            title: Some(title.as_deref().map_or(Title::None, Title::Is)),
            ..Amendment::default()
        };
        let mut offer = self.offer("rename");
        offer.plan.sessions.push(subject(facts));
        if let Some(root) = self.root_of(&survey, facts)
            && let Some(entry) = self.named(editor, &root, &facts.id, title.as_deref())?
        {
            let known = survey.disk.names.iter().flatten().find(|(id, _)| *id == facts.id);
            if known.map(|(_, name)| name) != title.as_ref() {
                write(&mut offer, facts.id.as_str(), &entry)?;
                offer.plan.file_locks.extend(editor.names_lock(&root));
                if let Some(note) = editor.names_note(&root).filter(|_| title.is_some()) {
                    offer.notice(Notice::Agent(note.to_owned()));
                }
            }
            if title.is_none() && !offer.is_empty() {
                offer.notice(Notice::OwnTitleAgain);
            }
            return Ok(offer);
        }
        let mut buffer = Buffer::new();
        let mut able = false;
        for file in facts.own_files() {
            let (path, id) = (Path::new(&file.path), facts.id.as_str());
            if matches!(file.role, FileRole::Stub | FileRole::Unreadable) {
                continue;
            }
            let unreadable = |source| Error::unreadable(path, source);
            let patches = editor.amend(path, file.grammar, said, &mut buffer);
            let Some(patches) = patches.map_err(unreadable)? else { continue };
            able = true;
            let head = source.outline(path, &mut buffer).head;
            let has = head.name.or(head.summary);
            if patches.is_empty() || has == title {
                continue;
            }
            let about = ChangeDetails { session: Some(id), what: role(file.role) };
            offer.plan.replace(&RealDisk, path, patched(path, &patches), about)?;
            if let Some(copy) = editor.title_copy(path, title.as_deref()).map_err(unreadable)? {
                write(&mut offer, id, &copy)?;
            }
        }
        if !able {
            return Err(Reason::NoTitleShown(facts.id.clone()).into());
        }
        match &title {
            Some(title) if title.encode_utf16().count() > LONGEST => {
                offer.notice(Notice::LongTitle { shown: LONGEST });
            }
            None if !offer.is_empty() => {
                offer.notice(Notice::OwnTitleAgain);
            }
            _ => {}
        }
        Ok(offer)
    }

    /// Returns the data folder in which the files of a session are.
    pub(crate) fn root_of(self, survey: &Survey, facts: &SessionFacts) -> Option<PathBuf> {
        let main = facts.own_files().find(|file| file.role == FileRole::Main);
        let main = main.or_else(|| facts.own_files().next()).map(|file| Path::new(&file.path))?;
        let is_its = |folder: &&LocatedFolder| main.starts_with(&folder.at.path);
        let folder = survey
            .disk
            .folders
            .iter()
            .filter(is_its)
            .max_by_key(|folder| folder.at.path.as_os_str().len())?;
        self.engine.data_folders().get(folder.root).map(|root| root.path.clone())
    }

    /// Returns the entries for the name of a session, for an agent that stores names beside its sessions.
    pub(crate) fn named(
        self,
        editor: &dyn Editor,
        root: &Path,
        id: &SessionId,
        title: Option<&str>,
    ) -> Result<Option<RegistryEntry>, Error> {
        let entry = editor.name_beside(root, id, title, self.engine.clock().now());
        entry.transpose().map_err(|source| Error::unreadable(root, source))
    }
}

/// Plans a small file, replacing its content.
pub(crate) fn write(offer: &mut Proposal, id: &str, entry: &RegistryEntry) -> Result<(), Error> {
    let about = ChangeDetails { session: Some(id), what: entry.what };
    let content = NewContent::of_bytes(entry.bytes.clone());
    if std::fs::symlink_metadata(&entry.path).is_ok() {
        offer.plan.replace(&RealDisk, &entry.path, content, about)?;
    } else {
        offer.plan.create(&RealDisk, &entry.path, content, about, None)?;
    }
    Ok(())
}
