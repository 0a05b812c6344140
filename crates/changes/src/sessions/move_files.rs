//! Moves files to other directories without name conflicts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_formats::bytes::{self, Buffer};
use recount_formats::edit::{Amendment, Meeting, RegistryEntry};
use recount_formats::{Editor, Source};
use recount_model::{FileFacts, FileRole, SessionFacts, SessionId, SessionKind};
use recount_writer::change::{ChangeDetails, NewContent, Plan, Refusal};
use recount_writer::{Error as WriteError, RealDisk};

use crate::sessions::steps::{SUBAGENT, patched, role};
use crate::{Error, Reason};

/// The number of names to try.
const ATTEMPTS: usize = 1000;

/// How much of two files is compared at a time.
const BLOCK: u64 = 64 * 1024;

/// Moves files to other directories.
#[derive(Debug)]
pub(crate) struct FileMover<'a> {
    source: &'static dyn Source,
    editor: &'static dyn Editor,
    /// The hash of the path of the project that everything belongs to from now on.
    hash: &'a str,
    /// That path, if it changes.
    folder: Option<&'a str>,
    /// The sessions with files in each group, by folder.
    groups: BTreeMap<(PathBuf, String), BTreeSet<SessionId>>,
    /// Destinations that are in use.
    taken: BTreeSet<PathBuf>,
    /// Files that are already being moved.
    gone: BTreeSet<PathBuf>,
    buffer: Buffer,
}

impl<'a> FileMover<'a> {
    pub(crate) fn new(
        source: &'static dyn Source,
        editor: &'static dyn Editor,
        sessions: &[Arc<SessionFacts>],
        hash: &'a str,
    ) -> Self {
        let mut groups: BTreeMap<(PathBuf, String), BTreeSet<SessionId>> = BTreeMap::new();
        for (facts, file) in
            sessions.iter().flat_map(|facts| facts.own_files().map(move |file| (facts, file)))
        {
            if let Some((folder, name)) = among_sessions(editor, Path::new(&file.path)) {
                let key = (folder.to_owned(), editor.group(name).to_owned());
                groups.entry(key).or_default().insert(owner(facts).clone());
            }
        }
        let (taken, gone, buffer) = (BTreeSet::new(), BTreeSet::new(), Buffer::new());
        Self { source, editor, hash, folder: None, groups, taken, gone, buffer }
    }

    /// Sets the folder that everything belongs to from now on.
    pub(crate) fn in_folder(mut self, folder: &'a str) -> Self {
        self.folder = Some(folder);
        self
    }

    /// Writes a small file, replacing its content.
    pub(crate) fn write(&mut self, plan: &mut Plan, entry: &RegistryEntry) -> Result<(), Error> {
        let about = ChangeDetails { session: None, what: entry.what };
        let content = NewContent::of_bytes(entry.bytes.clone());
        if std::fs::symlink_metadata(&entry.path).is_ok() {
            plan.replace(&RealDisk, &entry.path, content, about)?;
        } else {
            plan.create(&RealDisk, &entry.path, content, about, None)?;
        }
        self.taken.insert(entry.path.clone());
        Ok(())
    }

    /// Copies a file that the agent would copy itself.
    pub(crate) fn copy(&mut self, plan: &mut Plan, from: &Path, to: &Path) -> Result<(), Error> {
        plan.copy_file(&RealDisk, from, to, ChangeDetails { session: None, what: "copy" })?;
        self.taken.insert(to.to_owned());
        if let (Some((old, name)), Some((new, _))) =
            (among_sessions(self.editor, from), among_sessions(self.editor, to))
        {
            let group = self.editor.group(name).to_owned();
            let theirs = self.groups.get(&(old.to_owned(), group.clone())).cloned();
            let known = self.groups.entry((new.to_owned(), group)).or_default();
            known.extend(theirs.unwrap_or_default());
        }
        Ok(())
    }

    /// Changes the project in a file of a session that is not moved.
    pub(crate) fn amend(
        &mut self,
        plan: &mut Plan,
        facts: &SessionFacts,
        file: &FileFacts,
    ) -> Result<(), Error> {
        let path = Path::new(&file.path);
        if let Some(content) = self.amended(path, file)? {
            let about = ChangeDetails { session: Some(facts.id.as_str()), what: role(file.role) };
            plan.replace(&RealDisk, path, content, about)?;
        }
        Ok(())
    }

    /// Refuses a session that was not listed: it could not be read then, and would be moved without updating its project.
    pub(crate) fn must_be_known(&mut self, path: &Path) -> Result<(), Error> {
        if !self.gone.contains(path) && self.source.outline(path, &mut self.buffer).loadable {
            return Err(changed(path));
        }
        Ok(())
    }

    /// Moves a file of a session to another directory: from one folder to the other, or to the same place below it.
    pub(crate) fn session(
        &mut self,
        plan: &mut Plan,
        facts: &SessionFacts,
        file: &FileFacts,
        (from, to): (&Path, &Path),
    ) -> Result<(), Error> {
        let path = Path::new(&file.path);
        let Ok(below) = path.strip_prefix(from) else { return Ok(()) };
        if !self.gone.insert(path.to_owned()) {
            return Ok(());
        }
        let what = if facts.kind == SessionKind::Subagent { SUBAGENT } else { role(file.role) };
        let about = ChangeDetails { session: Some(owner(facts).as_str()), what };
        let wanted = to.join(below);
        let Some(target) = self.free_place(path, &wanted, owner(facts)) else {
            // An identical file exists there.
            plan.remove(&RealDisk, path, about)?;
            return Ok(());
        };
        let content = self.amended(path, file)?.unwrap_or_else(|| NewContent::of_file(path));
        plan.move_as(&RealDisk, path, &target, content, about)?;
        Ok(())
    }

    /// Moves any other file to another directory.
    pub(crate) fn file(
        &mut self,
        plan: &mut Plan,
        path: &Path,
        (from, to): (&Path, &Path),
        about: ChangeDetails<'_>,
    ) -> Result<(), Error> {
        let Ok(below) = path.strip_prefix(from) else { return Ok(()) };
        if !self.gone.insert(path.to_owned()) {
            return Ok(());
        }
        let wanted = to.join(below);
        let is_there = std::fs::symlink_metadata(&wanted).is_ok();
        if is_there || self.taken.contains(&wanted) {
            match self.editor.meet(below, &wanted, path) {
                Meeting::Dropped => return Ok(plan.remove(&RealDisk, path, about)?),
                Meeting::United(bytes) if is_there && !self.taken.contains(&wanted) => {
                    plan.replace(&RealDisk, &wanted, NewContent::of_bytes(bytes), about)?;
                    self.taken.insert(wanted);
                    return Ok(plan.remove(&RealDisk, path, about)?);
                }
                Meeting::Apart if is_there && is_same(path, &wanted) => {
                    return Ok(plan.remove(&RealDisk, path, about)?);
                }
                Meeting::United(_) | Meeting::Apart => {}
            }
        }
        let names = (1..ATTEMPTS).map(|number| numbered(&wanted, number));
        let target = std::iter::once(wanted.clone()).chain(names).find(|path| self.is_free(path));
        let target = target.ok_or_else(|| no_name(&wanted))?;
        plan.move_file(&RealDisk, path, &target, about)?;
        self.taken.insert(target);
        Ok(())
    }

    /// Finds a place for a file of a session: its own name, unless that or its group belongs to another session. `None` if
    /// an identical file already exists there.
    fn free_place(&mut self, path: &Path, wanted: &Path, id: &SessionId) -> Option<PathBuf> {
        let Some((folder, name)) = among_sessions(self.editor, wanted) else {
            let names = (1..ATTEMPTS).map(|number| numbered(wanted, number));
            let free = std::iter::once(wanted.to_owned()).chain(names).find(|p| self.is_free(p));
            let free = free.filter(|free| free == wanted || !is_same(path, wanted))?;
            self.taken.insert(free.clone());
            return Some(free);
        };
        let is_others = |name: &String| {
            let key = (folder.to_owned(), self.editor.group(name).to_owned());
            self.groups.get(&key).is_some_and(|owners| owners.iter().any(|owner| owner != id))
        };
        let apart = (0..ATTEMPTS).map(|attempt| self.editor.names_apart(name, id, attempt));
        let name = std::iter::once(name.to_owned()).chain(apart).find(|name| !is_others(name))?;
        if is_same(path, &folder.join(&name)) {
            return None;
        }
        let beside = (0..ATTEMPTS).map(|attempt| self.editor.names_beside(&name, attempt));
        let names = std::iter::once(name.clone()).chain(beside);
        let free = { names }.map(|name| folder.join(name)).find(|path| self.is_free(path))?;
        let group = self.editor.group(&name).to_owned();
        self.groups.entry((folder.to_owned(), group)).or_default().insert(id.clone());
        self.taken.insert(free.clone());
        Some(free)
    }

    fn is_free(&self, path: &Path) -> bool {
        !self.taken.contains(path) && std::fs::symlink_metadata(path).is_err()
    }

    /// Returns the content of a file with its new project; `None` if it does not change.
    fn amended(&mut self, path: &Path, file: &FileFacts) -> Result<Option<NewContent>, Error> {
        let outline = self.source.outline(path, &mut self.buffer);
        if file.role == FileRole::Unreadable {
            // A file that could not be read when all were listed, and now can, is not what the plan assumes.
            let is_put_aside = path.extension().is_none_or(|end| end != "json" && end != "jsonl");
            if outline.loadable && !is_put_aside {
                return Err(changed(path));
            }
            return Ok(None);
        }
        // The same applies to one that was read incorrectly.
        if outline.grammar != file.grammar {
            return Err(changed(path));
        }
        let known = outline.head.project_hash;
        if known.as_deref() == Some(self.hash) {
            return Ok(None);
        }
        let said = Amendment {
            project_hash: Some(self.hash),
            folder: self.folder,
            ..Amendment::default()
        };
        let patches = self.editor.amend(path, file.grammar, said, &mut self.buffer);
        let unreadable = |source| Error::unreadable(path, source);
        let patches = patches.map_err(unreadable)?;
        Ok(patches.filter(|patches| !patches.is_empty()).map(|patches| patched(path, &patches)))
    }
}

fn changed(path: &Path) -> Error {
    WriteError::from(Refusal::Changed { path: path.to_owned() }).into()
}

/// Returns the session of a file. Old releases recorded sub-agents under their parent's id.
fn owner(facts: &SessionFacts) -> &SessionId {
    facts.parent.as_ref().unwrap_or(&facts.id)
}

/// Returns folder and name of a file that is where the agent looks for sessions.
fn among_sessions<'p>(editor: &dyn Editor, path: &'p Path) -> Option<(&'p Path, &'p str)> {
    let folder = path.parent().filter(|folder| editor.is_sessions_folder(folder))?;
    Some((folder, path.file_name()?.to_str()?))
}

/// Returns a path with a number before its extension.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => format!("{stem}-{number}.{ending}"),
        _ => format!("{name}-{number}"),
    };
    path.with_file_name(name)
}

fn no_name(path: &Path) -> Error {
    Reason::NoFreeName(path.to_owned()).into()
}

/// Whether two files have the same content.
fn is_same(one: &Path, other: &Path) -> bool {
    let compare = || -> io::Result<bool> {
        let (mut one, mut other) = (bytes::open(one)?, bytes::open(other)?);
        if one.metadata()?.len() != other.metadata()?.len() {
            return Ok(false);
        }
        let (mut block, mut other_block) = (Vec::new(), Vec::new());
        loop {
            next_block(&mut one, &mut block)?;
            next_block(&mut other, &mut other_block)?;
            if block != other_block {
                return Ok(false);
            }
            if block.is_empty() {
                return Ok(true);
            }
        }
    };
    compare().unwrap_or(false)
}

fn next_block(file: &mut File, block: &mut Vec<u8>) -> io::Result<usize> {
    block.clear();
    file.take(BLOCK).read_to_end(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_before_the_extension() {
        let numbered = |path: &str| numbered(Path::new(path), 1).to_string_lossy().into_owned();
        assert_eq!(numbered("/a/checkpoint-x.json"), "/a/checkpoint-x-1.json");
        assert_eq!(numbered("/a/shell_history"), "/a/shell_history-1");
        assert_eq!(numbered("/a/.extraction"), "/a/.extraction-1");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "test setup")]
    fn files_are_the_same_when_every_block_is() {
        let home = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = home.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let length = usize::try_from(BLOCK).unwrap();
        let long = vec![b'a'; 2 * length + 1];
        let mut other = long.clone();
        other[2 * length] = b'b';
        let (one, same) = (file("one", &long), file("same", &long));
        assert!(is_same(&one, &same) && is_same(&file("none", b""), &file("empty", b"")));
        assert!(!is_same(&one, &file("other", &other)));
        assert!(!is_same(&one, &file("short", &long[1..])));
        assert!(!is_same(&one, &home.path().join("missing")));
    }
}
