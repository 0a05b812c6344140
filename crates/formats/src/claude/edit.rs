//! What changes in the agent's files when a session is renamed or goes elsewhere.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use recount_model::{Grammar, RecordedPath, SessionId};

use super::artifacts;
use super::locate::projects;
use super::project::directory_names;
use super::row::string;
use crate::bytes::{self, Buffer};
use crate::edit::{
    Amendment, Editor, Meeting, Patch, ProjectDirectory, RegistryEntry, Relocation, Title,
};
use crate::json::Scanner;
use crate::source::{Artifacts, ProjectFolder, RootShape};

/// Knows which bytes change.
#[derive(Debug)]
pub(crate) struct Edits;

impl Editor for Edits {
    fn title(&self, text: &str) -> String {
        let plain: String =
            text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
        plain.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// A title is a row at the end, as the agent itself adds it. The folder is in every row.
    fn amend(
        &self,
        file: &Path,
        _grammar: Grammar,
        said: Amendment<'_>,
        _buffer: &mut Buffer,
    ) -> io::Result<Option<Vec<Patch>>> {
        let mut patches = Vec::new();
        if let Some(folder) = said.folder {
            patches.extend(moved(file, folder)?);
        }
        if let Some(title) = said.title {
            patches.push(titled(file, title)?);
        }
        Ok(Some(patches))
    }

    /// The newest releases also keep the title in the folder named after the session.
    fn title_copy(&self, file: &Path, title: Option<&str>) -> io::Result<Option<RegistryEntry>> {
        let path = file.with_extension("").join("custom-title.json");
        if !path.is_file() {
            return Ok(None);
        }
        let title = serde_json::to_string(title.unwrap_or_default())?;
        let bytes = format!("{{\"customTitle\":{title}}}").into_bytes();
        Ok(Some(RegistryEntry { path, bytes, what: "title" }))
    }

    fn place(
        &self,
        root: &Path,
        shape: RootShape,
        path: &RecordedPath,
    ) -> Result<ProjectDirectory, String> {
        let projects = projects(root, shape);
        let (name, whole) = directory_names(path.as_str());
        // Releases before the cut of long names look under the whole one.
        let (folder, old_folder) = (projects.join(name), projects.join(whole));
        let folder =
            if old_folder.is_dir() && !folder.is_dir() { old_folder.clone() } else { folder };
        Ok(ProjectDirectory { folder, old_folder, ..ProjectDirectory::default() })
    }

    fn relocation(
        &self,
        root: &Path,
        shape: RootShape,
        old: &RecordedPath,
        new: &RecordedPath,
    ) -> Result<Option<Relocation>, String> {
        let from = self.place(root, shape, old)?.folder;
        if !from.is_dir() {
            return Ok(None);
        }
        let others = folders_in(&from).into_iter().find(|folder| folder != old.as_str());
        if let Some(other) = others {
            return Err(format!(
                "{} also holds sessions of {other}, which has the same directory; move the sessions one by one with `recount move`",
                from.display()
            ));
        }
        let to = self.place(root, shape, new)?.folder;
        let goes = if from == to { Vec::new() } else { vec![(from.clone(), to)] };
        let stays = if goes.is_empty() { vec![from] } else { Vec::new() };
        Ok(Some(Relocation { stays, goes, ..Relocation::default() }))
    }

    fn contents(&self, folder: &Path) -> Artifacts {
        artifacts::contents(folder)
    }

    fn meet(&self, _name: &Path, _here: &Path, _there: &Path) -> Meeting {
        Meeting::Apart
    }

    fn is_sessions_folder(&self, folder: &Path) -> bool {
        folder.parent().is_some_and(|above| above.ends_with("projects"))
    }

    fn group<'a>(&self, name: &'a str) -> &'a str {
        name.strip_suffix(".jsonl").unwrap_or(name)
    }

    fn names_apart(&self, name: &str, _id: &SessionId, attempt: usize) -> String {
        self.names_beside(name, attempt)
    }

    fn names_beside(&self, name: &str, attempt: usize) -> String {
        let stem = self.group(name);
        format!("{stem}-{}.jsonl", attempt + 2)
    }

    fn orphans(
        &self,
        folder: &ProjectFolder,
        is_there: &dyn Fn(&str) -> bool,
        _sessions: &[PathBuf],
    ) -> Artifacts {
        artifacts::orphans(&folder.path, is_there)
    }
}

/// The row that gives a session a title; it is appended.
fn titled(file: &Path, title: Title<'_>) -> io::Result<Patch> {
    let mut input = bytes::open(file)?;
    let end = input.seek(SeekFrom::End(0))?;
    let mut last = [b'\n'];
    if end > 0 {
        input.seek(SeekFrom::Start(end - 1))?;
        input.read_exact(&mut last)?;
    }
    let id = file.file_stem().unwrap_or_default().to_string_lossy();
    let title = match title {
        Title::Is(title) => title,
        Title::None => "",
    };
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let (id, title) = (quoted(&id), quoted(title));
    let gap = if last == [b'\n'] { "" } else { "\n" };
    // The newest releases show the second one, which they write for a title of the user's, too.
    let with = format!(
        "{gap}{{\"type\":\"custom-title\",\"customTitle\":{title},\"sessionId\":{id}}}\n{{\"type\":\"agent-name\",\"agentName\":{title},\"sessionId\":{id}}}\n"
    );
    Ok(Patch { at: end, bytes: 0, with: with.into_bytes() })
}

/// Puts another folder in the place of the one that a session was started in, and of those below it.
fn moved(file: &Path, folder: &str) -> io::Result<Vec<Patch>> {
    let mut text = Vec::new();
    bytes::open(file)?.read_to_end(&mut text)?;
    let mut old: Option<String> = None;
    let mut patches = Vec::new();
    let mut start = 0_u64;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        for (at, length, cwd) in recorded(line) {
            let old = old.get_or_insert_with(|| cwd.clone());
            let Some(below) = cwd.strip_prefix(old.as_str()) else { continue };
            if !(below.is_empty() || below.starts_with(['/', '\\'])) {
                continue;
            }
            let with = serde_json::to_string(&format!("{folder}{below}")).unwrap_or_default();
            patches.push(Patch {
                at: start + at as u64,
                bytes: length as u64,
                with: with.into_bytes(),
            });
        }
        start += line.len() as u64;
    }
    Ok(patches)
}

/// Finds the folders that the rows of a line record: the location of each, with its quotes, and its text.
fn recorded(line: &[u8]) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    let mut scanner = Scanner::new(line);
    // A broken row stays as it is.
    let _read = scanner.object(|scanner, key| {
        if !(key.is("cwd") || key.is("relocatedCwd")) {
            return scanner.skip();
        }
        scanner.peek()?;
        let start = scanner.offset();
        if let Some(text) = string(scanner)? {
            found.push((start, scanner.offset() - start, text.decode().into_owned()));
        }
        Ok(())
    });
    found
}

/// Lists the folders that the sessions in a project directory were started in.
fn folders_in(directory: &Path) -> Vec<String> {
    let mut folders = Vec::new();
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    for path in files.map(|entry| entry.path()) {
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        let head = bytes::read_head(&path, 256 * 1024).unwrap_or_default();
        let first =
            head.split(|byte| *byte == b'\n').find_map(|line| recorded(line).into_iter().next());
        folders.extend(first.map(|(_, _, folder)| folder));
    }
    folders.sort();
    folders.dedup();
    folders
}
