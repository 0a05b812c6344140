//! The home on disk: paths of session files, and the files around them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use crate::{
    error::Error,
    json::{Json, Text, record},
    moment::Moment,
    options::{Era, TestbedAgent},
    project::{Migration, Project},
    report::{ExpectedHome, ExpectedKind, SessionTruth},
    session::{Finished, Made, Role},
};

/// How long after a session its folder was copied by a newer release.
const UNTIL_MIGRATION: i64 = 12 * 86_400_000;

/// A home that is being written.
#[derive(Debug)]
pub(crate) struct Home<'a> {
    root: &'a Path,
    made: BTreeSet<PathBuf>,
    /// By the name of the project's data folder.
    notes: BTreeMap<String, Notes>,
    /// Path and slug, in the order in which the program registered the projects.
    registry: Vec<(String, String)>,
    /// Lines of files that all sessions of an agent share, by their times.
    shared: BTreeMap<PathBuf, Vec<(Moment, String)>>,
    projects: BTreeSet<String>,
    report: ExpectedHome,
}

/// Other files of a data folder.
#[derive(Debug, Default)]
struct Notes {
    log: Vec<Json>,
    commands: Vec<Text>,
    saved: BTreeMap<Text, Json>,
    last: Option<Moment>,
}

impl<'a> Home<'a> {
    /// Opens the folder `root`, which must be empty or not exist yet.
    pub(crate) fn open(root: &'a Path) -> Result<Self, Error> {
        match fs::read_dir(root).and_then(|mut entries| entries.next().transpose()) {
            Ok(None) => {}
            Ok(Some(_)) => return Err(Error::NotEmpty { path: root.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(Error::ReadFolder { path: root.to_owned(), source }),
        }
        Ok(Self {
            root,
            made: BTreeSet::new(),
            notes: BTreeMap::new(),
            registry: Vec::new(),
            shared: BTreeMap::new(),
            projects: BTreeSet::new(),
            report: ExpectedHome::default(),
        })
    }

    /// Writes a finished session, including its sub-agents'.
    pub(crate) fn keep(&mut self, project: &Project, session: Finished) -> Result<(), Error> {
        self.projects.insert(project.path.clone());
        if session.era.agent() != TestbedAgent::Gemini {
            return self.keep_as_made(project, session);
        }
        let is_old = session.first_era == Era::Strings;
        let is_copied = is_old && project.migration == Migration::Copied;
        if !is_old || is_copied {
            self.register(project)?;
        }
        if is_old {
            self.note(&project.hash, &session);
        }
        if !is_old || is_copied {
            self.note(&project.slug, &session);
        }
        self.keep_files(project, session)
    }

    fn keep_files(&mut self, project: &Project, session: Finished) -> Result<(), Error> {
        let is_old = session.first_era == Era::Strings;
        let is_copied = is_old && project.migration == Migration::Copied;
        let (mut main, mut others, mut bytes) = (PathBuf::new(), Vec::new(), 0);
        for Made { name, bytes: text, modified, role } in &session.files {
            // Old documents are in the old folder; newer files never are.
            let in_hash_folder = is_old && name.extension().is_some_and(|end| end == "json");
            let newer = data_folder(&project.slug).join("chats").join(name);
            let older = data_folder(&project.hash).join("chats").join(name);
            let path = if in_hash_folder && !is_copied { &older } else { &newer };
            if in_hash_folder && is_copied {
                self.create(&older, text, Some(*modified))?;
                others.push(older.clone());
            }
            let modified = if in_hash_folder && is_copied {
                modified.plus(UNTIL_MIGRATION)
            } else {
                *modified
            };
            self.create(path, text, Some(modified))?;
            if *role == Role::Main {
                bytes = text.len() as u64;
                main.clone_from(path);
            } else {
                others.push(path.clone());
            }
        }
        let agents = session.subagents;
        let session = Finished { subagents: Vec::new(), ..session };
        self.report(project, &session, (main, others, bytes));
        agents.into_iter().try_for_each(|agent| self.keep_files(project, agent))
    }

    /// Writes a session of an agent other than Gemini CLI, whose files have their own paths.
    fn keep_as_made(&mut self, project: &Project, mut session: Finished) -> Result<(), Error> {
        let (mut main, mut others, mut size) = (PathBuf::new(), Vec::new(), 0);
        for Made { name, bytes, modified, role } in &session.files {
            // A sub-agent of 1.0 is in its session's file, and has no file of its own.
            if !bytes.is_empty() {
                self.create(name, bytes, Some(*modified))?;
            }
            if *role == Role::Main {
                (main, size) = (name.clone(), bytes.len() as u64);
            } else {
                others.push(name.clone());
            }
        }
        for (path, time, line) in std::mem::take(&mut session.notes) {
            self.shared.entry(path).or_default().push((time, line));
        }
        let agents = std::mem::take(&mut session.subagents);
        self.report(project, &session, (main, others, size));
        agents.into_iter().try_for_each(|agent| self.keep_as_made(project, agent))
    }

    fn report(
        &mut self,
        project: &Project,
        session: &Finished,
        (main, others, bytes): (PathBuf, Vec<PathBuf>, u64),
    ) {
        match session.kind {
            ExpectedKind::Main => self.report.sessions += 1,
            ExpectedKind::Subagent => self.report.subagents += 1,
        }
        self.report.messages += session.kept.messages;
        self.report.truth.push(SessionTruth {
            id: session.id.to_string(),
            kind: session.kind,
            parent: session.parent.as_ref().map(ToString::to_string),
            project: project.path.clone(),
            era: session.era,
            main_file: main,
            other_files: others,
            bytes,
            started: session.began.iso(),
            updated: session.updated.iso(),
            kept: session.kept,
            ever: session.ever,
        });
    }

    /// Creates the project's readable folder: registry entry and both markers.
    fn register(&mut self, project: &Project) -> Result<(), Error> {
        if self.registry.iter().any(|(path, _)| *path == project.path) {
            return Ok(());
        }
        self.registry.push((project.path.clone(), project.slug.clone()));
        for folder in [data_folder(&project.slug), Path::new(".gemini/history").join(&project.slug)]
        {
            self.create(&folder.join(".project_root"), project.path.as_bytes(), None)?;
        }
        Ok(())
    }

    fn note(&mut self, folder: &str, session: &Finished) {
        let notes = self.notes.entry(folder.to_owned()).or_default();
        for (index, (time, text)) in session.typed.iter().enumerate() {
            notes.log.push(record! {
                "sessionId": &session.id,
                "messageId": index as u64,
                "type": "user",
                "message": text,
                "timestamp": time.iso(),
            });
        }
        notes.commands.extend(session.commands.iter().cloned());
        notes.saved.extend(session.saved.iter().cloned());
        notes.last = notes.last.max(Some(session.updated));
    }

    /// Writes a file below the home.
    pub(crate) fn create(
        &mut self,
        path: &Path,
        bytes: &[u8],
        modified: Option<Moment>,
    ) -> Result<(), Error> {
        let path = self.root.join(path);
        if let Some(folder) = path.parent()
            && self.made.insert(folder.to_owned())
        {
            recount_writer::create_folders(folder)?;
        }
        recount_writer::create_new(&path, bytes, modified.map(Moment::timestamp))?;
        self.report.files += 1;
        self.report.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Returns the number of bytes written so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.report.bytes
    }

    /// Writes the expected values of the sessions so far, for benchmarks to compare with.
    pub(crate) fn create_manifest(&mut self, path: &Path) -> Result<(), Error> {
        let manifest = self.report.manifest();
        self.create(path, manifest.as_bytes(), None)
    }

    /// Writes the files around the sessions, and returns the report.
    pub(crate) fn close(mut self) -> Result<ExpectedHome, Error> {
        for (folder, notes) in std::mem::take(&mut self.notes) {
            let folder = data_folder(&folder);
            let Notes { log, commands, saved, last } = notes;
            self.create(&folder.join("logs.json"), Json::List(log).to_pretty().as_bytes(), last)?;
            if !commands.is_empty() {
                self.create(&folder.join("shell_history"), commands.join("\n").as_bytes(), last)?;
            }
            for (tag, saved) in saved {
                let name = format!("checkpoint-{}.json", percent_encoded(&tag));
                self.create(&folder.join(name), saved.to_pretty().as_bytes(), last)?;
            }
        }
        for (path, mut lines) in std::mem::take(&mut self.shared) {
            lines.sort();
            let last = lines.last().map(|(time, _)| *time);
            let text: String = lines.iter().flat_map(|(_, line)| [line.as_str(), "\n"]).collect();
            self.create(&path, text.as_bytes(), last)?;
        }
        if !self.registry.is_empty() {
            let entries = self
                .registry
                .iter()
                .map(|(path, slug)| (path.clone().into(), Json::from(slug.as_str())));
            let registry = record! { "projects": Json::Record(entries.collect()) };
            self.create(Path::new(".gemini/projects.json"), registry.to_pretty().as_bytes(), None)?;
        }
        self.report.projects = self.projects.len();
        Ok(self.report)
    }
}

fn data_folder(name: &str) -> PathBuf {
    Path::new(".gemini/tmp").join(name)
}

/// Returns a tag as a file name, like `encodeURIComponent`.
fn percent_encoded(tag: &str) -> String {
    let mut name = String::new();
    for byte in tag.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            name.push(char::from(byte));
        } else {
            name.extend([format!("%{byte:02X}")]);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_encoded_as_javascript_does() {
        assert_eq!(percent_encoded("a/b 测试"), "a%2Fb%20%E6%B5%8B%E8%AF%95");
        assert_eq!(percent_encoded("before-change_1.2"), "before-change_1.2");
    }
}
