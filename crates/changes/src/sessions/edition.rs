//! Rewrites a session in its agent's native format: record by record from its files, under a new header.

use std::io::{self, Write};
use std::sync::Arc;

use recount_engine::Opened;
use recount_engine::disk::{Record, Window};
use recount_formats::bytes::Buffer;
use recount_formats::native::{HeadRequest, HeaderOverrides};
use recount_formats::rewrite::{Frame, Shape};
use recount_formats::{NativeFormat, Rewriter};
use recount_model::{FileRole, Grammar, SessionFacts};
use recount_writer::change::Make;

use crate::Error;

/// The content of the file of a rewritten session. Records are read when they are written.
#[derive(Debug)]
pub(crate) struct Edition {
    output: OutputGrammar,
    sources: Vec<SessionRecords>,
}

/// The grammar to write.
#[derive(Debug)]
enum OutputGrammar {
    Log { form: &'static dyn NativeFormat, head: Vec<Vec<u8>> },
    Document { rewriter: &'static dyn Rewriter, frame: Frame },
}

/// Returns the grammar for a session that is made of others. A document, which every release reads, if they are documents:
/// their user may have a release that supports nothing else.
pub(crate) fn grammar_of<'a>(sessions: impl IntoIterator<Item = &'a SessionFacts>) -> Grammar {
    let mut files = sessions.into_iter().flat_map(|facts| &facts.files);
    if files.all(|file| file.grammar == Grammar::Json) { Grammar::Json } else { Grammar::Jsonl }
}

/// The records of one session.
#[derive(Debug)]
struct SessionRecords {
    opened: Arc<Opened>,
    records: Vec<Record>,
}

impl Edition {
    /// Takes these records of a session, under the header of its files with `overrides`.
    pub(crate) fn new(
        opened: Arc<Opened>,
        form: &'static dyn NativeFormat,
        records: Vec<Record>,
        overrides: HeaderOverrides<'_>,
        grammar: Grammar,
    ) -> Result<Self, Error> {
        let mut files = Vec::new();
        let mut buffer = Buffer::new();
        for session_file in &opened.session_files().files {
            if session_file.role == FileRole::Stub {
                continue;
            }
            let path = &session_file.file.at.path;
            let fields =
                form.fields(path, &mut buffer).map_err(|source| Error::unreadable(path, source))?;
            files.push((session_file.role, fields));
        }
        let facts = &opened.facts;
        let by_path = || opened.source().project_hash(facts.project.path.as_ref()?.as_str());
        let hash = facts.project.hash.clone().or_else(by_path).map(|hash| hash.to_string());
        let head = HeadRequest {
            files: &files,
            id: &facts.id,
            project_hash: hash.as_deref(),
            started: facts.started,
            updated: facts.updated,
            overrides,
        };
        let output = match opened.source().rewriter().filter(|_| grammar == Grammar::Json) {
            Some(rewriter) => {
                OutputGrammar::Document { rewriter, frame: rewriter.document(&form.united(&head)) }
            }
            None => OutputGrammar::Log { form, head: form.head(&head) },
        };
        Ok(Self { output, sources: vec![SessionRecords { opened, records }] })
    }

    /// Returns the grammar.
    pub(crate) fn grammar(&self) -> Grammar {
        match self.output {
            OutputGrammar::Log { .. } => Grammar::Jsonl,
            OutputGrammar::Document { .. } => Grammar::Json,
        }
    }

    /// Adds records of another session after the existing ones.
    pub(crate) fn followed_by(mut self, opened: Arc<Opened>, records: Vec<Record>) -> Self {
        self.sources.push(SessionRecords { opened, records });
        self
    }
}

impl Make for Edition {
    fn make(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.output {
            OutputGrammar::Log { form, head } => {
                let mut line = |line: &[u8]| {
                    out.write_all(line)?;
                    out.write_all(b"\n")
                };
                head.iter().try_for_each(|head| line(head))?;
                let mut before: Option<Vec<u8>> = None;
                self.records(&mut |bytes, id| {
                    // Records that the agent would not read as messages were already reported when the records were chosen.
                    let Some(record) = form.record(bytes, id).filter(|record| !record.is_empty())
                    else {
                        return Ok(());
                    };
                    let record = form.behind(record, before.as_deref());
                    line(&record)?;
                    before = Some(record);
                    Ok(())
                })
            }
            OutputGrammar::Document { rewriter, frame } => {
                let mut is_empty = true;
                self.records(&mut |bytes, id| {
                    let shape = Shape::Element(id.map(str::to_owned));
                    let Some(element) = rewriter.shape(bytes, &shape) else { return Ok(()) };
                    out.write_all(if is_empty { &frame.open } else { &frame.between })?;
                    is_empty = false;
                    out.write_all(&element)
                })?;
                out.write_all(if is_empty { &frame.empty } else { &frame.close })
            }
        }
    }
}

/// Takes a record and its new id.
type Take<'a> = dyn FnMut(&[u8], Option<&str>) -> io::Result<()> + 'a;

impl Edition {
    fn records(&self, take: &mut Take<'_>) -> io::Result<()> {
        self.sources.iter().try_for_each(|chapter| chapter.records(take))
    }
}

impl SessionRecords {
    fn records(&self, take: &mut Take<'_>) -> io::Result<()> {
        let members = &self.opened.session_files().files;
        let mut windows: Vec<Option<Window>> = members.iter().map(|_| None).collect();
        let gone = || io::Error::from(io::ErrorKind::UnexpectedEof);
        for record in &self.records {
            let session_file = members.get(record.session_file).ok_or_else(gone)?;
            let window = windows.get_mut(record.session_file).ok_or_else(gone)?;
            let window = match window {
                Some(window) => window,
                None => window.insert(Window::open(&session_file.file.at.path)?),
            };
            take(window.read(record.span)?, record.id.as_deref())?;
            for piece in &record.pieces {
                take(window.read(*piece)?, None)?;
            }
        }
        Ok(())
    }
}
