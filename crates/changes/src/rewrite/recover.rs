//! Rebuilds a lost session from what is left elsewhere.

use std::collections::HashSet;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use recount_engine::disk::{Conversation, DiskSnapshot, LocatedFolder, SHORTEST};
use recount_engine::{Error as Unanswered, ListQuery, LostSession, Opened, Progress, View};
use recount_formats::native::{HeadRequest, HeaderOverrides};
use recount_formats::recovery::{RecoverySource, Remark};
use recount_formats::rewrite::{Piece, Shape};
use recount_formats::source::{Artifacts, FileAt, Trace};
use recount_formats::{NativeFormat, Rewriter};
use recount_model::{Grammar, RecordedPath, SessionFacts, SessionId, SessionKind, timestamp};
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, Subject};

use super::compact::must_rewrite;
use super::preview::Preview;
use super::revision::Revision;
use crate::{Changes, Error, Notice, Operation, Proposal, Reason};

/// How much of a stored output is inserted.
const OUTPUT: u64 = 8 * 1024;

/// The number of words of the first prompt in a title.
const TITLE: usize = 12;

/// A session that can be rebuilt.
#[derive(Clone, Debug)]
pub struct RecoverableSession {
    /// What is known about it.
    pub lost: LostSession,
    /// What it can be rebuilt from.
    pub from: Vec<Remnant>,
}

/// Something that is left of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remnant {
    /// Messages stored elsewhere.
    Messages {
        /// Their number.
        count: usize,
        /// Where, as described by the source.
        from: &'static str,
    },
    /// The number of prompts.
    Prompts(usize),
    /// The number of stored tool outputs.
    Outputs(usize),
}

/// What a session was rebuilt from. The new session records this text itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The number of messages from its own files.
    OwnFiles(usize),
    /// Messages stored elsewhere.
    Elsewhere {
        /// Their number.
        messages: usize,
        /// Where, as described by the source.
        from: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// The number of prompts from the prompt log.
    PromptLog(usize),
    /// The number of tool outputs that were stored in separate files.
    Outputs(usize),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OwnFiles(count) => write!(f, "{} from its own files", plural(*count, "message")),
            Self::Elsewhere { messages, from, path } => {
                write!(f, "{} from {from} ({})", plural(*messages, "message"), path.display())
            }
            Self::PromptLog(count) => {
                write!(f, "{} from the log of prompts", plural(*count, "prompt"))
            }
            Self::Outputs(count) => {
                write!(f, "{} from separate files, as notices", plural(*count, "output"))
            }
        }
    }
}

/// What a session is rebuilt from.
struct RecoveryInput {
    folder: usize,
    traces: Vec<Trace>,
    recovery_sources: Vec<RecoverySource>,
    artifacts: Artifacts,
    /// The readable part of its own files.
    files: Option<Opened>,
}

impl Changes<'_> {
    /// Lists lost sessions of which something is left, with what is left of each.
    ///
    /// # Errors
    /// If the sessions cannot be listed.
    pub fn recoverable_sessions(
        self,
        progress: &dyn Progress,
    ) -> Result<Vec<RecoverableSession>, Error> {
        let disk = self.engine.disk();
        let lost = self.engine.lost(&ListQuery::default(), progress)?;
        let row = |lost: LostSession| {
            let found =
                sources(&disk, &lost.id, lost.project.path.as_ref().map(RecordedPath::as_str), &[]);
            RecoverableSession {
                from: found.map(|found| found.remnants()).unwrap_or_default(),
                lost,
            }
        };
        Ok(lost.into_iter().map(row).collect())
    }

    /// Plans to rebuild a session from what is left of it; `from` are files that the user named.
    ///
    /// # Errors
    /// If nothing is left of it, or it is ambiguous.
    pub fn recover_plan(
        self,
        wanted: &str,
        from: &[PathBuf],
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        let disk = self.engine.disk();
        let sessions = self.engine.list(&ListQuery::default(), progress)?.sessions;
        let (id, project, own) = self.meant(wanted, progress)?;
        if let Some(opened) = own.as_ref().filter(|opened| !opened.is_saved()) {
            must_rewrite(&opened.facts, Operation::Rebuild)?;
        }
        let mut left = sources(&disk, &id, project.as_deref(), from)
            .ok_or_else(|| Error::no_session(wanted))?;
        // A copy that the user saved has more than what the agent left.
        let copy = from.iter().filter_map(|path| self.engine.open_file(path).ok());
        left.files = copy.into_iter().find(|opened| !opened.is_saved()).or(own);
        let folder = disk.folders.get(left.folder);
        let folder = folder.ok_or_else(|| Error::no_session(wanted))?;
        let form = folder.source.native_format().ok_or_else(|| Error::no_session(wanted))?;
        let rewriter = folder.source.rewriter().ok_or_else(|| Reason::NotRewritten {
            source_name: folder.source.name(),
            done: Operation::Rebuild,
        })?;
        let written = Written { changes: self, form, rewriter, folder, sources: left };
        let mut offer = written.plan(&id, project.as_deref(), &sessions)?;
        if self.vault().is_ok_and(|(held, _)| held.iter().any(|held| held.id == id.as_str())) {
            offer.notice(Notice::InVault(id));
        }
        Ok(offer)
    }

    /// Finds the matching session: a lost one, else one whose files exist.
    fn meant(
        self,
        wanted: &str,
        progress: &dyn Progress,
    ) -> Result<(SessionId, Option<String>, Option<Opened>), Error> {
        let lost = self.engine.lost(&ListQuery::default(), progress)?;
        let is_it = |lost: &&LostSession| {
            let id = lost.id.as_str();
            id == wanted || (wanted.chars().count() >= SHORTEST && id.starts_with(wanted))
        };
        let mut found = lost.iter().filter(is_it);
        if let (Some(one), None) = (found.next(), found.next()) {
            let project = one.project.path.as_ref().map(ToString::to_string);
            return Ok((one.id.clone(), project, None));
        }
        match self.engine.open(wanted, progress) {
            Ok(opened) => {
                let project = opened.facts.project.path.as_ref().map(ToString::to_string);
                Ok((opened.facts.id.clone(), project, Some(opened)))
            }
            // Telemetry may have a session that is nowhere else.
            Err(Unanswered::NoSession(_)) if wanted.len() == 36 => {
                Ok((SessionId::new(wanted), None, None))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Collects what is left of a session. `None` if nothing is, and no directory belongs to it.
fn sources(
    disk: &DiskSnapshot,
    id: &SessionId,
    project: Option<&str>,
    extra: &[PathBuf],
) -> Option<RecoveryInput> {
    let mut best: Option<RecoveryInput> = None;
    for (number, folder) in disk.folders.iter().enumerate() {
        let traces: Vec<Trace> =
            folder.source.traces(&folder.at).into_iter().filter(|t| t.session == *id).collect();
        let named = |path: &str| {
            folder.at.markers.iter().any(|(marker, _)| marker.as_str() == path)
                || (folder.at.hash.is_some() && folder.at.hash == folder.source.project_hash(path))
        };
        let prompts: HashSet<&str> = traces.iter().map(|trace| trace.text.trim()).collect();
        let mut recovery_sources =
            folder.source.recovery_sources(Some(&folder.at), project.map(Path::new), id, extra);
        // A source without a session id must begin with a prompt of this session.
        recovery_sources.retain(|recovery_source| {
            let first = recovery_source.prompts.first().map(|prompt| prompt.trim());
            recovery_source.is_named || first.is_some_and(|first| prompts.contains(first))
        });
        let artifacts = folder.source.artifacts(&folder.at, id, &[]);
        let is_its = !traces.is_empty() || project.is_some_and(named);
        let files = None;
        let found = RecoveryInput { folder: number, traces, recovery_sources, artifacts, files };
        let is_better = best.as_ref().is_none_or(|best| {
            // If two are equal, newer releases use the directory with a readable name.
            let is_named = folder.at.hash.is_none() && found.worth() == best.worth();
            is_named || found.worth() > best.worth()
        });
        if (is_its || found.worth() > (0, 0)) && is_better {
            best = Some(found);
        }
    }
    best
}

impl RecoveryInput {
    /// Returns how much there is of it.
    fn worth(&self) -> (usize, usize) {
        let records = self
            .recovery_sources
            .iter()
            .map(|recovery_source| recovery_source.records.len())
            .max()
            .unwrap_or(0);
        (records, self.traces.len() + self.artifacts.files.len())
    }

    /// Returns what it can be rebuilt from.
    fn remnants(&self) -> Vec<Remnant> {
        let mut found = Vec::new();
        for recovery_source in &self.recovery_sources {
            found.push(Remnant::Messages {
                count: recovery_source.records.len(),
                from: recovery_source.from,
            });
        }
        if !self.traces.is_empty() {
            found.push(Remnant::Prompts(self.traces.len()));
        }
        let outputs = self.outputs().count();
        if outputs > 0 {
            found.push(Remnant::Outputs(outputs));
        }
        found
    }

    fn outputs(&self) -> impl Iterator<Item = &Path> {
        let files = self.artifacts.files.iter().filter(|file| file.is_output());
        files.map(|file| file.path.as_path())
    }
}

/// Everything that is left of a session, in order.
struct Remains {
    /// The source files; pieces refer to them by index.
    files: Vec<PathBuf>,
    lines: Vec<Piece>,
    /// The origins.
    origins: Vec<Origin>,
}

/// A session while it is rebuilt.
struct Written<'a> {
    changes: Changes<'a>,
    form: &'static dyn NativeFormat,
    rewriter: &'static dyn Rewriter,
    folder: &'a LocatedFolder,
    sources: RecoveryInput,
}

impl Written<'_> {
    fn plan(
        &self,
        old: &SessionId,
        project: Option<&str>,
        sessions: &[Arc<SessionFacts>],
    ) -> Result<Proposal, Error> {
        let now = self.changes.engine.clock().now();
        let is_taken = sessions.iter().any(|facts| facts.id.short() == old.short());
        let id = if is_taken { self.changes.new_id(self.form, sessions) } else { old.clone() };
        let Remains { files, mut lines, origins } = self.lines();
        if lines.is_empty() {
            return Err(Error::no_session(old.as_str()));
        }
        let times = self.sources.traces.iter().filter_map(|trace| timestamp(trace.time?));
        let began = times.min().or(self.sources.files.as_ref().and_then(|own| own.facts.started));
        let note = self.note(old, &origins);
        lines.insert(0, Piece::New(line(self.form, "resurrected", Some(now), &note, false)));
        let title = self.title();
        let hash = self.hash(project);
        let head = self.form.head(&HeadRequest {
            files: &[],
            id: &id,
            project_hash: Some(&hash),
            started: began.or(Some(now)),
            updated: Some(now),
            overrides: HeaderOverrides { title: Some(&title), ..HeaderOverrides::default() },
        });
        let mut pieces: Vec<Piece> =
            head.into_iter().map(|line| Piece::New([line.as_slice(), b"\n"].concat())).collect();
        pieces.extend(lines);
        let revision = Revision::new(self.rewriter, files, pieces);
        let name = format!(
            "{}.{}",
            self.form.stem(&id, SessionKind::Main, began.or(Some(now))),
            self.form.extension()
        );
        let path = self.form.sessions_folder(&self.folder.at.path).join(name);
        let unread = |source| Error::unreadable(&path, source);
        let seen = Preview::of(self.rewriter, Grammar::Jsonl, &revision).map_err(unread)?;
        if !seen.loadable || !seen.outline.resumable {
            return Err(Error::NotTheSame { path });
        }
        let mut offer = self.changes.offer("resurrect");
        let about = ChangeDetails { session: Some(id.as_str()), what: "session" };
        offer.plan.create(&RealDisk, &path, revision.content(), about, None)?;
        offer.plan.sessions.push(Subject {
            source: self.folder.source.name().to_string(),
            id: id.to_string(),
            title: Some(title),
            project: project.map(str::to_owned),
        });
        offer.notices.extend(origins.into_iter().map(Notice::WrittenFrom));
        let is_document =
            |file: &Arc<FileAt>| file.path.extension().is_some_and(|end| end == "json");
        let others = &self.folder.at.files;
        if !others.is_empty() && others.iter().all(is_document) {
            offer.notice(Notice::LogForOldReleases(id.clone()));
        }
        if id != *old {
            offer.notice(Notice::OtherId { old: old.clone(), new: id });
        }
        Ok(offer)
    }

    fn hash(&self, project: Option<&str>) -> String {
        let LocatedFolder { source, at, .. } = self.folder;
        let by_path = |path: &str| source.project_hash(path);
        let marker = || at.markers.first().and_then(|(path, _)| by_path(path.as_str()));
        let hash = at.hash.clone().or_else(|| project.and_then(by_path)).or_else(marker);
        hash.map_or_else(|| "unknown".to_owned(), |hash| hash.to_string())
    }

    fn title(&self) -> String {
        let files = self.sources.files.as_ref().and_then(|own| own.facts.title.clone());
        let recovery_source = || {
            self.sources
                .recovery_sources
                .iter()
                .find_map(|recovery_source| recovery_source.prompts.first().cloned())
        };
        let trace =
            || self.sources.traces.iter().find(|t| is_prompt(&t.text)).map(|t| t.text.clone());
        let first = files.or_else(recovery_source).or_else(trace).unwrap_or_default();
        let words: Vec<&str> = first.split_whitespace().take(TITLE).collect();
        format!("recovered: {}", words.join(" "))
    }

    fn note(&self, old: &SessionId, origins: &[Origin]) -> String {
        let what = if self.sources.recovery_sources.is_empty() && self.sources.files.is_none() {
            "Answers of the model and results of tools are missing."
        } else {
            "What was said after these were kept is missing."
        };
        format!(
            "Session {old} was lost and written down again from what was left: {}. {what}",
            origins.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        )
    }

    /// Writes everything that is left, in order of time, with its origins.
    fn lines(&self) -> Remains {
        let (mut files, mut lines, mut origins) = (Vec::new(), Vec::new(), Vec::new());
        let mut known: Vec<String> = Vec::new();
        let longest = self
            .sources
            .recovery_sources
            .iter()
            .max_by_key(|recovery_source| recovery_source.records.len());
        if let Some(opened) = &self.sources.files {
            let session_files = opened.session_files();
            let records = Conversation::of(session_files).records;
            files = session_files
                .files
                .iter()
                .map(|session_file| session_file.file.at.path.clone())
                .collect();
            origins.push(Origin::OwnFiles(records.len()));
            for record in records {
                let (file, span, shape) =
                    (record.session_file, record.span, Shape::Line(record.id));
                lines.push(Piece::Record { file, span, shape });
                lines.push(Piece::New(b"\n".to_vec()));
            }
            let messages = opened.messages(View::Full).into_iter().flatten().flatten();
            known.extend(messages.map(|message| message.display_text.trim().to_owned()));
        } else if let Some(recovery_source) = longest {
            origins.push(Origin::Elsewhere {
                messages: recovery_source.records.len(),
                from: recovery_source.from,
                path: recovery_source.path.clone(),
            });
            for record in &recovery_source.records {
                lines.push(Piece::New([record.as_slice(), b"\n"].concat()));
            }
            known.extend(recovery_source.prompts.iter().map(|prompt| prompt.trim().to_owned()));
        }
        let (before, after) = self.prompts(&known);
        if before.len() + after.len() > 0 {
            origins.push(Origin::PromptLog(before.len() + after.len()));
        }
        let outputs = self.outputs();
        if !outputs.is_empty() {
            origins.push(Origin::Outputs(outputs.len()));
        }
        lines.splice(0..0, before);
        lines.extend(after);
        lines.extend(outputs);
        Remains { files, lines, origins }
    }

    /// Returns the prompts that are nowhere else: those before the known ones, and those after them.
    fn prompts(&self, known: &[String]) -> (Vec<Piece>, Vec<Piece>) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut is_behind = false;
        let said = self.sources.traces.iter().filter(|trace| is_prompt(&trace.text));
        for (number, trace) in said.enumerate() {
            if known.iter().any(|known| known == trace.text.trim()) {
                is_behind = true;
                continue;
            }
            let time = trace.time.and_then(timestamp);
            let id = format!("prompt-{}", number + 1);
            let line = Piece::New(line(self.form, &id, time, &trace.text, true));
            if is_behind { after.push(line) } else { before.push(line) }
        }
        (before, after)
    }

    fn outputs(&self) -> Vec<Piece> {
        let mut lines = Vec::new();
        for (number, path) in self.sources.outputs().enumerate() {
            let mut bytes = Vec::new();
            let read = recount_formats::bytes::open(path)
                .and_then(|input| input.take(OUTPUT).read_to_end(&mut bytes));
            if read.is_err() {
                continue;
            }
            let text = String::from_utf8_lossy(&bytes);
            let name = path.display();
            let note = format!("An output of a tool, kept in {name}:\n{text}");
            let id = format!("output-{}", number + 1);
            lines.push(Piece::New(line(self.form, &id, None, &note, false)));
        }
        lines
    }
}

fn plural(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// Commands to the agent itself are not prompts.
fn is_prompt(text: &str) -> bool {
    !text.trim().is_empty() && !text.trim_start().starts_with(['/', '?'])
}

fn line(
    form: &dyn NativeFormat,
    id: &str,
    time: Option<Timestamp>,
    text: &str,
    is_prompt: bool,
) -> Vec<u8> {
    let mut line = form.remark(&Remark { id, time, text, is_prompt });
    line.push(b'\n');
    line
}
