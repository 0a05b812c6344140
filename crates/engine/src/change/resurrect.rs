//! A session of which only traces are left, written down again from all that was kept elsewhere.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use recount_formats::mend::{Piece, Shape};
use recount_formats::own_form::{Anew, HeadRequest};
use recount_formats::relic::{Relic, Remark};
use recount_formats::source::{Belongings, FileAt, Trace};
use recount_formats::{Mender, OwnForm};
use recount_model::{Grammar, RecordedPath, SessionFacts, SessionId, SessionKind, timestamp};
use recount_writer::RealDisk;
use recount_writer::change::{About, Plan, Subject};
use serde::Serialize;

use super::revision::Revision;
use super::sight::Seen;
use crate::sessions::conversation::Conversation;
use crate::sessions::list::Query;
use crate::sessions::select::SHORTEST;
use crate::snapshot::survey::{Folder, Ground, Progress};
use crate::{Engine, Error, LostSession, Opened, View};

/// How much of a kept output is put in.
const OUTPUT: u64 = 8 * 1024;

/// How many words of the first prompt make a title.
const TITLE: usize = 12;

/// A session that can be written down again.
#[derive(Clone, Debug, Serialize)]
pub struct Resurrectable {
    /// What is known of it.
    #[serde(flatten)]
    pub lost: LostSession,
    /// From what it can be written down again.
    pub from: Vec<String>,
}

/// What a session is written down from.
struct Sources {
    folder: usize,
    traces: Vec<Trace>,
    relics: Vec<Relic>,
    belongings: Belongings,
    /// What of its own files can be read.
    files: Option<Opened>,
}

impl Engine {
    /// Lists sessions of which only traces are left, with what there is of each.
    ///
    /// # Errors
    /// If the sessions cannot be listed.
    pub fn resurrectable(&self, progress: &dyn Progress) -> Result<Vec<Resurrectable>, Error> {
        let ground = Ground::look(&self.roots);
        let lost = self.lost(&Query::default(), progress)?;
        let row = |lost: LostSession| {
            let found = sources(
                &ground,
                &lost.id,
                lost.project.path.as_ref().map(RecordedPath::as_str),
                &[],
            );
            Resurrectable { from: found.map(|found| found.told()).unwrap_or_default(), lost }
        };
        Ok(lost.into_iter().map(row).collect())
    }

    /// Plans to write a session down again from what is left of it; `from` are files that somebody named.
    ///
    /// # Errors
    /// If nothing is left of it, or more than one may be meant.
    pub fn resurrect_plan(
        &self,
        wanted: &str,
        from: &[PathBuf],
        progress: &dyn Progress,
    ) -> Result<Plan, Error> {
        let ground = Ground::look(&self.roots);
        let sessions = self.list(&Query::default(), progress)?.sessions;
        let (id, project, own) = self.meant(wanted, progress)?;
        let mut left = sources(&ground, &id, project.as_deref(), from)
            .ok_or_else(|| Error::NoSession(wanted.to_owned()))?;
        // A copy that somebody kept says more than what the agent left.
        let copy = from.iter().filter_map(|path| self.open_file(path).ok());
        left.files = copy.into_iter().find(|opened| !opened.is_saved()).or(own);
        let folder = ground.folders.get(left.folder);
        let folder = folder.ok_or_else(|| Error::NoSession(wanted.to_owned()))?;
        let form = folder.source.own_form().ok_or_else(|| Error::NoSession(wanted.to_owned()))?;
        let mender = folder.source.mender().ok_or_else(|| Error::NoSession(wanted.to_owned()))?;
        let written = Written { engine: self, form, mender, folder, sources: left };
        let mut plan = written.plan(&id, project.as_deref(), &sessions)?;
        if self.vault().is_ok_and(|(held, _)| held.iter().any(|held| held.id == id.as_str())) {
            let short = id.short();
            let note =
                format!("the vault has a copy: `recount restore {short}` brings it back whole");
            plan.notes.push(note);
        }
        Ok(plan)
    }

    /// Finds the session that is meant: one that is lost, else one whose files are there.
    fn meant(
        &self,
        wanted: &str,
        progress: &dyn Progress,
    ) -> Result<(SessionId, Option<String>, Option<Opened>), Error> {
        let lost = self.lost(&Query::default(), progress)?;
        let is_it = |lost: &&LostSession| {
            let id = lost.id.as_str();
            id == wanted || (wanted.chars().count() >= SHORTEST && id.starts_with(wanted))
        };
        let mut found = lost.iter().filter(is_it);
        if let (Some(one), None) = (found.next(), found.next()) {
            let project = one.project.path.as_ref().map(ToString::to_string);
            return Ok((one.id.clone(), project, None));
        }
        match self.open(wanted, progress) {
            Ok(opened) => {
                let project = opened.facts.project.path.as_ref().map(ToString::to_string);
                Ok((opened.facts.id.clone(), project, Some(opened)))
            }
            // Telemetry may know of a session that nothing else does.
            Err(Error::NoSession(_)) if wanted.len() == 36 => {
                Ok((SessionId::new(wanted), None, None))
            }
            Err(error) => Err(error),
        }
    }
}

/// Gathers what is left of a session. `None` when nothing is, and no directory is its own.
fn sources(
    ground: &Ground,
    id: &SessionId,
    project: Option<&str>,
    extra: &[PathBuf],
) -> Option<Sources> {
    let mut best: Option<Sources> = None;
    for (number, folder) in ground.folders.iter().enumerate() {
        let traces: Vec<Trace> =
            folder.source.traces(&folder.at).into_iter().filter(|t| t.session == *id).collect();
        let named = |path: &str| {
            folder.at.markers.iter().any(|(marker, _)| marker.as_str() == path)
                || folder.at.hash.as_ref() == Some(&folder.source.project_hash(path))
        };
        let prompts: HashSet<&str> = traces.iter().map(|trace| trace.text.trim()).collect();
        let mut relics = folder.source.relics(Some(&folder.at), project.map(Path::new), id, extra);
        // What does not say whose it is must begin with a prompt of this session.
        relics.retain(|relic| {
            let first = relic.prompts.first().map(|prompt| prompt.trim());
            relic.is_named || first.is_some_and(|first| prompts.contains(first))
        });
        let belongings = folder.source.belongings(&folder.at, id, &[]);
        let is_its = !traces.is_empty() || project.is_some_and(named);
        let files = None;
        let found = Sources { folder: number, traces, relics, belongings, files };
        let is_better = best.as_ref().is_none_or(|best| {
            // Of two that hold the same, newer releases look into the one with a readable name.
            let is_named = folder.at.hash.is_none() && found.worth() == best.worth();
            is_named || found.worth() > best.worth()
        });
        if (is_its || found.worth() > (0, 0)) && is_better {
            best = Some(found);
        }
    }
    best
}

impl Sources {
    /// How much there is of it.
    fn worth(&self) -> (usize, usize) {
        let records = self.relics.iter().map(|relic| relic.records.len()).max().unwrap_or(0);
        (records, self.traces.len() + self.belongings.files.len())
    }

    /// Says from what it can be written down.
    fn told(&self) -> Vec<String> {
        let mut told = Vec::new();
        for relic in &self.relics {
            told.push(format!("{} ({})", plural(relic.records.len(), "message"), relic.from));
        }
        if !self.traces.is_empty() {
            told.push(plural(self.traces.len(), "prompt"));
        }
        let outputs = self.outputs().count();
        if outputs > 0 {
            told.push(plural(outputs, "output"));
        }
        told
    }

    fn outputs(&self) -> impl Iterator<Item = &Path> {
        let files = self.belongings.files.iter().filter(|file| file.what == "tool output");
        files.map(|file| file.path.as_path())
    }
}

/// All that is left of a session, in order.
struct Remains {
    /// What it is made of; pieces point here.
    files: Vec<PathBuf>,
    lines: Vec<Piece>,
    /// Where it comes from.
    told: Vec<String>,
}

/// A session while it is written down.
struct Written<'a> {
    engine: &'a Engine,
    form: &'static dyn OwnForm,
    mender: &'static dyn Mender,
    folder: &'a Folder,
    sources: Sources,
}

impl Written<'_> {
    fn plan(
        &self,
        old: &SessionId,
        project: Option<&str>,
        sessions: &[SessionFacts],
    ) -> Result<Plan, Error> {
        let now = self.engine.clock.now();
        let is_taken = sessions.iter().any(|facts| facts.id.short() == old.short());
        let id = if is_taken { self.engine.new_id(self.form, sessions) } else { old.clone() };
        let Remains { files, mut lines, told } = self.lines();
        if lines.is_empty() {
            return Err(Error::NoSession(old.to_string()));
        }
        let times = self.sources.traces.iter().filter_map(|trace| timestamp(trace.time?));
        let began = times.min().or(self.sources.files.as_ref().and_then(|own| own.facts.started));
        let note = self.note(old, &told);
        lines.insert(0, Piece::New(line(self.form, "resurrected", Some(now), &note, false)));
        let title = self.title();
        let hash = self.hash(project);
        let head = self.form.head(&HeadRequest {
            files: &[],
            id: &id,
            project_hash: Some(&hash),
            started: began.or(Some(now)),
            updated: Some(now),
            anew: Anew { title: Some(&title), ..Anew::default() },
        });
        let mut pieces: Vec<Piece> =
            head.into_iter().map(|line| Piece::New([line.as_slice(), b"\n"].concat())).collect();
        pieces.extend(lines);
        let revision = Revision::new(self.mender, files, pieces);
        let name = format!(
            "{}.{}",
            self.form.stem(&id, SessionKind::Main, began.or(Some(now))),
            self.form.extension()
        );
        let path = self.folder.at.path.join("chats").join(name);
        let unread = |source| Error::Unreadable { path: path.clone(), source };
        let seen = Seen::of(self.mender, Grammar::Jsonl, &revision).map_err(unread)?;
        if !seen.loadable || !seen.outline.resumable {
            return Err(Error::NotTheSame { path });
        }
        let mut plan = self.engine.blank_plan("resurrect");
        let about = About { session: Some(id.as_str()), what: "session" };
        plan.create(&RealDisk, &path, revision.content(), about, None)?;
        plan.sessions.push(Subject {
            source: self.folder.source.name().to_string(),
            id: id.to_string(),
            title: Some(title),
            project: project.map(str::to_owned),
        });
        plan.notes.extend(told);
        let is_document = |file: &FileAt| file.path.extension().is_some_and(|end| end == "json");
        let others = &self.folder.at.files;
        if !others.is_empty() && others.iter().all(is_document) {
            plan.notes.push(format!(
                "it is a log, as releases of today write it; for older ones: `recount convert {} --to json`",
                id.short()
            ));
        }
        if id != *old {
            plan.notes.push(format!(
                "{} has files already, so this one is {}",
                old.short(),
                id.short()
            ));
        }
        Ok(plan)
    }

    fn hash(&self, project: Option<&str>) -> String {
        let Folder { source, at, .. } = self.folder;
        let by_path = |path: &str| source.project_hash(path);
        let marker = || at.markers.first().map(|(path, _)| by_path(path.as_str()));
        let hash = at.hash.clone().or_else(|| project.map(by_path)).or_else(marker);
        hash.map_or_else(|| "unknown".to_owned(), |hash| hash.to_string())
    }

    fn title(&self) -> String {
        let files = self.sources.files.as_ref().and_then(|own| own.facts.title.clone());
        let relic = || self.sources.relics.iter().find_map(|relic| relic.prompts.first().cloned());
        let trace =
            || self.sources.traces.iter().find(|t| is_prompt(&t.text)).map(|t| t.text.clone());
        let first = files.or_else(relic).or_else(trace).unwrap_or_default();
        let words: Vec<&str> = first.split_whitespace().take(TITLE).collect();
        format!("resurrected: {}", words.join(" "))
    }

    fn note(&self, old: &SessionId, told: &[String]) -> String {
        let what = if self.sources.relics.is_empty() && self.sources.files.is_none() {
            "Answers of the model and results of tools are missing."
        } else {
            "What was said after these were kept is missing."
        };
        format!(
            "Session {old} was lost and written down again from what was left: {}. {what}",
            told.join("; ")
        )
    }

    /// Writes all that is left, in the order in which it was said, and tells where it comes from.
    fn lines(&self) -> Remains {
        let (mut files, mut lines, mut told) = (Vec::new(), Vec::new(), Vec::new());
        let mut known: Vec<String> = Vec::new();
        let longest = self.sources.relics.iter().max_by_key(|relic| relic.records.len());
        if let Some(opened) = &self.sources.files {
            let family = opened.family();
            let records = Conversation::of(family).records;
            files = family.members.iter().map(|member| member.file.at.path.clone()).collect();
            told.push(format!("{} from its own files", plural(records.len(), "message")));
            for record in records {
                let (file, span, shape) = (record.member, record.span, Shape::Line(record.id));
                lines.push(Piece::Record { file, span, shape });
                lines.push(Piece::New(b"\n".to_vec()));
            }
            let messages = opened.messages(View::Full).into_iter().flatten().flatten();
            known.extend(messages.map(|message| message.display_text.trim().to_owned()));
        } else if let Some(relic) = longest {
            told.push(format!(
                "{} from {} ({})",
                plural(relic.records.len(), "message"),
                relic.from,
                relic.path.display()
            ));
            for record in &relic.records {
                lines.push(Piece::New([record.as_slice(), b"\n"].concat()));
            }
            known.extend(relic.prompts.iter().map(|prompt| prompt.trim().to_owned()));
        }
        let (before, after) = self.prompts(&known);
        if before.len() + after.len() > 0 {
            let count = plural(before.len() + after.len(), "prompt");
            told.push(format!("{count} from the log of prompts"));
        }
        let outputs = self.outputs();
        if !outputs.is_empty() {
            told.push(format!("{}, kept beside it, as notices", plural(outputs.len(), "output")));
        }
        lines.splice(0..0, before);
        lines.extend(after);
        lines.extend(outputs);
        Remains { files, lines, told }
    }

    /// Prompts that nothing else holds: those before what is known, and those after it.
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
            let Ok(bytes) = recount_formats::bytes::read_head(path, OUTPUT) else { continue };
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

/// Commands to the agent itself are no prompts.
fn is_prompt(text: &str) -> bool {
    !text.trim().is_empty() && !text.trim_start().starts_with(['/', '?'])
}

fn line(
    form: &dyn OwnForm,
    id: &str,
    time: Option<Timestamp>,
    text: &str,
    is_prompt: bool,
) -> Vec<u8> {
    let mut line = form.remark(&Remark { id, time, text, is_prompt });
    line.push(b'\n');
    line
}
