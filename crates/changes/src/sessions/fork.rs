//! Creates a new session that begins with the conversation of another, up to a point.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_engine::disk::{Conversation, Record, Survey};
use recount_engine::{Listing, Progress};
use recount_formats::edit::ProjectDirectory;
use recount_formats::native::HeaderOverrides;
use recount_formats::outline::MessageEntry;
use recount_formats::source::SessionFiles;
use recount_formats::{Editor, NativeFormat, Source};
use recount_model::{
    FileRole, Grammar, MessageKind, RecordedPath, SessionFacts, SessionId, SessionKind,
};
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, NewContent, Subject};

use super::edition::{Edition, grammar_of};
use super::move_files::FileMover;
use super::moving::{editor, settle};
use super::rename::write;
use crate::{Changes, Error, Operation, Proposal, Reason};

/// How a session is forked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fork<'a> {
    /// The last message: the start of its id, or the number of a prompt, with its answers.
    pub at: Option<&'a str>,
    /// Another project.
    pub to: Option<&'a str>,
    /// The title of the new session.
    pub title: Option<&'a str>,
}

/// Where a new session is stored, and its name there.
#[derive(Debug)]
pub(super) struct Home {
    source: &'static dyn Source,
    editor: &'static dyn Editor,
    pub(super) form: &'static dyn NativeFormat,
    pub(super) id: SessionId,
    pub(super) place: ProjectDirectory,
    path: Option<RecordedPath>,
    /// The data folder.
    root: PathBuf,
    pub(super) hash: Option<String>,
}

impl Changes<'_> {
    /// Plans a new session with the conversation of another up to a point.
    ///
    /// # Errors
    /// If an argument matches nothing, or several; if there is no conversation; if a file cannot be read.
    pub fn fork_plan(
        self,
        wanted: &str,
        fork: Fork<'_>,
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        let survey = self.scan_files(progress)?;
        let facts = self.chosen(&survey, wanted, Operation::Fork)?;
        let opened = Arc::new(self.engine.open(facts.id.as_str(), progress)?);
        let mut records = Conversation::of(opened.session_files()).records;
        if let Some(at) = fork.at {
            cut(opened.session_files(), &mut records, at)?;
        }
        let home = self.home_for(facts, &survey, fork.to)?;
        let usual = || facts.title.as_ref().map(|title| format!("{title} (fork)"));
        let title = fork.title.map(|title| home.editor.title(title)).or_else(usual);
        let is_recorded = home.editor.folder_at(&home.root, None).is_some();
        let cwd = home.path.as_ref().filter(|_| is_recorded).map(RecordedPath::as_str);
        let overrides = HeaderOverrides {
            id: Some(&home.id),
            project_hash: home.hash.as_deref(),
            cwd,
            title: title.as_deref(),
            started: None,
            updated: Some(self.engine.clock().now()),
            folder: home.path.as_ref().filter(|_| fork.to.is_some()).map(RecordedPath::as_str),
        };
        let edition = Edition::new(opened, home.form, records, overrides, grammar_of([facts]))?;
        let mut offer = self.offer("fork");
        let name = title.clone();
        move_in(&mut offer, &home, edition, title, (facts, &survey.listing))?;
        if let Some(name) = name
            && let Some(entry) = self.named(home.editor, &home.root, &home.id, Some(&name))?
        {
            write(&mut offer, home.id.as_str(), &entry)?;
            offer.plan.file_locks.extend(home.editor.names_lock(&home.root));
        }
        Ok(offer)
    }

    /// Determines where a new session that comes from another is stored: beside it, or in another project.
    pub(super) fn home_for(
        self,
        facts: &SessionFacts,
        survey: &Survey,
        to: Option<&str>,
    ) -> Result<Home, Error> {
        if facts.is_empty() {
            return Err(Reason::NothingSaid(facts.id.clone()).into());
        }
        let (source, editor) = editor(facts)?;
        let form = source.native_format().ok_or(Reason::NotWritable(facts.source))?;
        let main = facts.files.iter().find(|file| file.role == FileRole::Main);
        let main = main.or_else(|| facts.files.first()).map(|file| Path::new(&file.path));
        let is_its = |path: &Path| main.is_some_and(|main| main.starts_with(path));
        let folder = survey.disk.folders.iter().find(|folder| is_its(&folder.at.path));
        let folder = folder.ok_or_else(|| Error::no_session(facts.id.as_str()))?;
        let wanted = to.map(|to| self.existing_folder(survey, to)).transpose()?;
        // New releases do not use a directory of old releases once the project has another.
        let known = facts.project.path.clone().filter(|_| folder.at.hash.is_some());
        let root = self.engine.data_folders().get(folder.root).map(|root| root.path.clone());
        let root = root.unwrap_or_default();
        let by_time = editor.folder_at(&root, facts.started);
        let place = match wanted.clone().or(known) {
            _ if by_time.is_some() => ProjectDirectory {
                folder: by_time.unwrap_or_default(),
                ..ProjectDirectory::default()
            },
            Some(path) => self.place(editor, folder.root, &path)?,
            None => {
                ProjectDirectory { folder: folder.at.path.clone(), ..ProjectDirectory::default() }
            }
        };
        let hash = wanted.as_ref().and_then(|path| source.project_hash(path.as_str()));
        let hash = hash.map(|hash| hash.to_string());
        let path = wanted.or_else(|| facts.project.path.clone());
        let id = self.new_id(form, &survey.listing.sessions);
        Ok(Home { source, editor, form, id, place, path, root, hash })
    }
}

/// Plans the file of a new session. Its name has the time of the first session, which it continues.
pub(super) fn move_in(
    offer: &mut Proposal,
    home: &Home,
    edition: Edition,
    title: Option<String>,
    (facts, listing): (&SessionFacts, &Listing),
) -> Result<PathBuf, Error> {
    let mut mover = FileMover::new(home.source, home.editor, &listing.sessions, "");
    settle(offer, &mut mover, &home.place)?;
    let stem = home.form.stem(&home.id, SessionKind::Main, facts.started);
    let extension = match edition.grammar() {
        Grammar::Json => "json",
        Grammar::Jsonl => home.form.extension(),
    };
    let name = format!("{stem}.{extension}");
    let path = home.form.sessions_folder(&home.place.folder).join(name);
    let about = ChangeDetails { session: Some(home.id.as_str()), what: "session" };
    offer.plan.create(&RealDisk, &path, NewContent::of_maker(Arc::new(edition)), about, None)?;
    let project = home.path.as_ref().map(|path| path.as_str().to_owned());
    let (source, id) = (facts.source.to_string(), home.id.to_string());
    offer.plan.sessions.insert(0, Subject { source, id, title, project });
    Ok(path)
}

/// Returns the message entry of a record.
pub(super) fn entry<'a>(
    session_files: &'a SessionFiles,
    record: &Record,
) -> Option<&'a MessageEntry> {
    session_files.files.get(record.session_file)?.file.outline.entries.get(record.entry)
}

/// Drops everything after a message: after a prompt by its number, with all its answers, or after any message by its id,
/// with the results of the tools that it called.
fn cut(session_files: &SessionFiles, records: &mut Vec<Record>, at: &str) -> Result<(), Error> {
    let missing = || Error::NoMessage(at.to_owned());
    let kind = |record: &Record| entry(session_files, record).map(|entry| entry.kind);
    let is_prompt = |record: &Record| kind(record) == Some(MessageKind::Prompt);
    let end = if let Ok(number) = at.parse::<usize>() {
        let mut prompts = records.iter().enumerate().filter(|(_, record)| is_prompt(record));
        let begin = number.checked_sub(1).and_then(|before| prompts.nth(before));
        begin.ok_or_else(missing)?;
        prompts.next().map_or(records.len(), |(next, _)| next)
    } else {
        let is_it = |record: &Record| {
            let id = entry(session_files, record).and_then(|entry| entry.id.as_deref());
            record.id.as_deref().or(id).is_some_and(|id| id.starts_with(at))
        };
        let mut found = records.iter().enumerate().filter(|(_, record)| is_it(record));
        let (place, _) = found.next().ok_or_else(missing)?;
        if found.next().is_some() {
            return Err(Reason::ManyMessages(at.to_owned()).into());
        }
        let results = records.iter().skip(place + 1);
        let results = results.take_while(|record| kind(record) == Some(MessageKind::ToolResult));
        place + 1 + results.count()
    };
    records.truncate(end);
    Ok(())
}
