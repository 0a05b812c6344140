//! Hands a conversation over to another agent: a new native session of it, or a document.

mod check;
mod content;
mod converter;
mod digest;
mod document;
mod loss;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use recount_engine::disk::Survey;
use recount_engine::{Opened, Progress};
use recount_formats::edit::ProjectDirectory;
use recount_formats::outline::MessageEntry;
use recount_formats::source::RootShape;
use recount_formats::{Editor, HandoverFormat, NativeFormat, Source};
use recount_model::{MessageKind, RecordedPath, SessionFacts, SessionId, SessionKind, SourceName};
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, NewContent, Subject};

use self::content::{Excerpt, NewSession};
use self::converter::Scope;
pub use self::loss::{Loss, LossKind};
use crate::sessions::move_files::FileMover;
use crate::sessions::moving::settle;
use crate::sessions::rename::write;
use crate::sessions::steps::source;
use crate::{Changes, Error, Notice, Operation, Proposal, Reason};

/// From this number of tokens on a conversation may be too long for the other agent's model.
const LARGE: usize = 120_000;

/// How a session is handed over.
#[derive(Clone, Copy, Debug)]
pub struct HandoverRequest<'a> {
    /// The agent that continues it.
    pub to: SourceName,
    /// Another project.
    pub project: Option<&'a str>,
    /// Hand over a summary of at most this number of tokens and the last turns, instead of all turns.
    pub summary: Option<usize>,
}

/// A planned hand-over.
#[derive(Debug)]
pub struct Handover {
    /// The plan.
    pub offer: Proposal,
    /// The agent that continues it.
    pub to: SourceName,
    /// The new session.
    pub session: SessionId,
    /// What is lost.
    pub losses: Vec<Loss>,
    /// The number of messages that are written.
    pub messages: u64,
    /// Their estimated number of tokens.
    pub tokens: u64,
    expected: check::Expected,
}

/// Where the new session is stored.
#[derive(Debug)]
struct Target {
    source: &'static dyn Source,
    editor: &'static dyn Editor,
    native: &'static dyn NativeFormat,
    format: &'static dyn HandoverFormat,
    root: PathBuf,
    place: ProjectDirectory,
    folder: RecordedPath,
    id: SessionId,
}

impl Changes<'_> {
    /// Plans a new session of another agent with the conversation of a session.
    ///
    /// # Errors
    /// If the argument matches nothing, or several; if there is no conversation; if the project has no folder, or the other agent no
    /// data folder; if a file cannot be read.
    pub fn handover_plan(
        self,
        wanted: &str,
        request: HandoverRequest<'_>,
        progress: &dyn Progress,
    ) -> Result<Handover, Error> {
        let survey = self.scan_files(progress)?;
        let facts = self.chosen(&survey, wanted, Operation::HandOver)?;
        if facts.source == request.to {
            return Err(Reason::SameAgent(facts.source).into());
        }
        let opened = self.conversation(facts, progress)?;
        let target = self.target(facts, &survey, &request)?;
        let session = self.new_session(opened, &target, request.summary)?;
        let title = session.title.clone();
        let unreadable = |source| unreadable(facts, source);
        let read = session.read().map_err(unreadable)?;
        let mut offer = self.offer("handover");
        let no_sessions = &[];
        let mut mover = FileMover::new(target.source, target.editor, no_sessions, "");
        settle(&mut offer, &mut mover, &target.place)?;
        let (native, id) = (target.native, &target.id);
        let stem = native.stem(id, SessionKind::Main, Some(session.started));
        let name = format!("{stem}.{}", native.extension());
        let path = native.sessions_folder(&target.place.folder).join(name);
        let about = ChangeDetails { session: Some(id.as_str()), what: "session" };
        let content = NewContent::of_maker(Arc::new(session));
        offer.plan.create(&RealDisk, &path, content, about, None)?;
        if let Some(title) = &title
            && let Some(entry) = self.named(target.editor, &target.root, id, Some(title))?
        {
            write(&mut offer, id.as_str(), &entry)?;
            offer.plan.file_locks.extend(target.editor.names_lock(&target.root));
        }
        let project = Some(target.folder.as_str().to_owned());
        let (source, session) = (request.to.to_string(), target.id.clone());
        offer.plan.sessions.push(Subject { source, id: session.to_string(), title, project });
        for loss in &read.losses {
            offer.notice(Notice::Lost { loss: loss.clone(), to: target.source.display_name() });
        }
        if read.tokens > LARGE {
            offer.notice(Notice::LargeHandover { tokens: read.tokens as u64 });
        }
        Ok(Handover {
            offer,
            to: request.to,
            session,
            losses: read.losses,
            messages: read.messages,
            tokens: read.tokens as u64,
            expected: read.expected,
        })
    }

    /// Writes what another agent needs to continue a session as a Markdown document: a summary of at most `budget` tokens, and the
    /// last turns.
    ///
    /// # Errors
    /// If the argument matches nothing, or several; if there is no conversation; if a file cannot be read.
    pub fn handover_document(
        self,
        wanted: &str,
        budget: usize,
        progress: &dyn Progress,
    ) -> Result<String, Error> {
        let survey = self.scan_files(progress)?;
        let facts = self.chosen(&survey, wanted, Operation::HandOver)?;
        let opened = self.conversation(facts, progress)?;
        let unreadable = |source| unreadable(facts, source);
        document::markdown(&excerpt(opened)?, budget).map_err(unreadable)
    }

    /// Reads a new session back and compares it with what was handed over.
    ///
    /// # Errors
    /// If it cannot be read, or differs.
    pub fn check_handover(self, handover: &Handover, progress: &dyn Progress) -> Result<(), Error> {
        let wanted = format!("{}:{}", handover.to, handover.session);
        let opened = Arc::new(self.engine.open(&wanted, progress)?);
        handover.expected.check(&opened).map_err(|message| Error::NotHandedOver { message })
    }

    fn conversation(
        self,
        facts: &SessionFacts,
        progress: &dyn Progress,
    ) -> Result<Arc<Opened>, Error> {
        if facts.is_empty() {
            return Err(Reason::NothingSaid(facts.id.clone()).into());
        }
        let wanted = format!("{}:{}", facts.source, facts.id);
        Ok(Arc::new(self.engine.open(&wanted, progress)?))
    }

    fn target(
        self,
        facts: &SessionFacts,
        survey: &Survey,
        request: &HandoverRequest<'_>,
    ) -> Result<Target, Error> {
        let source = source(request.to)?;
        let not_writable = || Reason::NotWritable(request.to);
        let native = source.native_format().ok_or_else(not_writable)?;
        let format = native.handover().ok_or_else(not_writable)?;
        let editor = source.editor().ok_or_else(not_writable)?;
        let own = facts.project.path.as_ref().map(RecordedPath::as_str);
        let wanted = request.project.or(own);
        let wanted =
            wanted.ok_or_else(|| Reason::UnknownFolder(facts.project.name().to_string()))?;
        let folder = self.existing_folder(survey, wanted).map_err(|error| match error {
            Error::Declined(Reason::MissingFolder(folder)) => {
                Reason::NoProjectFolder(folder).into()
            }
            error => error,
        })?;
        let roots = self.engine.data_folders();
        let is_its = |root: &&recount_store::Root| {
            let is_whole = root.shape == RootShape::Whole && !root.is_ingested;
            root.source.name() == request.to && is_whole
        };
        let root = roots.iter().find(is_its);
        let root = root.ok_or(Reason::NoAgentFolder(source.display_name()))?;
        let id = self.new_id(native, &survey.listing.sessions);
        let place = match editor.folder_at(&root.path, Some(first_time(facts, self.now()))) {
            Some(folder) => ProjectDirectory { folder, ..ProjectDirectory::default() },
            None => editor.place(&root.path, root.shape, &folder).map_err(Reason::Agent)?,
        };
        Ok(Target { source, editor, native, format, root: root.path.clone(), place, folder, id })
    }

    fn now(self) -> Timestamp {
        self.engine.clock().now()
    }

    fn new_session(
        self,
        opened: Arc<Opened>,
        target: &Target,
        summary: Option<usize>,
    ) -> Result<NewSession, Error> {
        let facts = &opened.facts;
        let agent = opened.source().display_name();
        let title = facts.title.as_deref().map(|title| format!("{title} (from {agent})"));
        let note = format!(
            "This conversation was started in {agent} (session {}) and handed over by recount. The tool calls in it were made there, and the files may have changed since. Continue it here.",
            facts.id
        );
        let hash = target.source.project_hash(target.folder.as_str());
        let started = first_time(facts, self.now());
        let title = title.map(|title| target.editor.title(&title));
        let mut session = NewSession {
            excerpt: excerpt(opened)?,
            format: target.format,
            id: target.id.clone(),
            folder: target.folder.as_str().to_owned(),
            project_hash: hash.map(|hash| hash.to_string()),
            title,
            started,
            updated: self.now(),
            note,
        };
        if let Some(budget) = summary {
            let summarized = session.summarize(budget);
            summarized.map_err(|source| unreadable(&session.excerpt.opened.facts, source))?;
        }
        Ok(session)
    }
}

fn unreadable(facts: &SessionFacts, source: std::io::Error) -> Error {
    let file = facts.files.first().map(|file| file.path.as_str()).unwrap_or_default();
    Error::unreadable(Path::new(file), source)
}

/// Returns when a session began, if that is not in the future.
fn first_time(facts: &SessionFacts, now: Timestamp) -> Timestamp {
    facts.started.filter(|started| *started <= now).unwrap_or(now)
}

/// Returns the conversation of a session, from its first message.
fn excerpt(opened: Arc<Opened>) -> Result<Excerpt, Error> {
    let from = opened.source().native_format().and_then(NativeFormat::handover);
    let from = from.ok_or(Reason::NotWritable(opened.facts.source))?;
    Ok(Excerpt { from, scope: scope(&opened), skipped: 0, opened })
}

/// Determines which messages are handed over: as few as its agent loads, but not none.
fn scope(opened: &Opened) -> Scope {
    let files = opened.session_files().files.iter();
    let entries = || files.clone().flat_map(|file| &file.file.outline.entries);
    let is_said = |entry: &&MessageEntry| {
        matches!(entry.kind, MessageKind::Prompt | MessageKind::Answer | MessageKind::Summary)
    };
    let has = |scope: Scope| entries().filter(is_said).any(|entry| scope.has(entry.fate));
    let is_known = |scope: &Scope| has(*scope);
    [Scope::Kept, Scope::NotUndone].into_iter().find(is_known).unwrap_or(Scope::All)
}
