//! A session written down once more, in its agent's own form: record by record from the files it lies in, under a new head.

use std::io::{self, Write};
use std::sync::Arc;

use recount_formats::OwnForm;
use recount_formats::bytes::Buffer;
use recount_formats::own_form::{Anew, HeadRequest};
use recount_model::FileRole;
use recount_writer::change::Make;

use crate::conversation::Record;
use crate::window::Window;
use crate::{Error, Opened};

/// What will be in the file of a session that is written anew. Records are read when they are written.
#[derive(Debug)]
pub(crate) struct Edition {
    form: &'static dyn OwnForm,
    head: Vec<Vec<u8>>,
    chapters: Vec<Chapter>,
}

/// What of a session is in it.
#[derive(Debug)]
struct Chapter {
    opened: Arc<Opened>,
    records: Vec<Record>,
}

impl Edition {
    /// Takes these records of a session, under the head that its files say it has, but for what is said `anew`.
    pub(crate) fn new(
        opened: Arc<Opened>,
        form: &'static dyn OwnForm,
        records: Vec<Record>,
        anew: Anew<'_>,
    ) -> Result<Self, Error> {
        let mut files = Vec::new();
        let mut buffer = Buffer::new();
        for member in &opened.family().members {
            if member.role == FileRole::Stub {
                continue;
            }
            let path = &member.file.at.path;
            let fields = form
                .fields(path, &mut buffer)
                .map_err(|source| Error::Unreadable { path: path.clone(), source })?;
            files.push((member.role, fields));
        }
        let facts = &opened.facts;
        let by_path = || Some(opened.source().project_hash(facts.project.path.as_ref()?.as_str()));
        let hash = facts.project.hash.clone().or_else(by_path).map(|hash| hash.to_string());
        let head = form.head(&HeadRequest {
            files: &files,
            id: &facts.id,
            project_hash: hash.as_deref(),
            started: facts.started,
            updated: facts.updated,
            anew,
        });
        Ok(Self { form, head, chapters: vec![Chapter { opened, records }] })
    }

    /// Adds records of another session behind those that there are.
    pub(crate) fn followed_by(mut self, opened: Arc<Opened>, records: Vec<Record>) -> Self {
        self.chapters.push(Chapter { opened, records });
        self
    }
}

impl Make for Edition {
    fn make(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in &self.head {
            out.write_all(line)?;
            out.write_all(b"\n")?;
        }
        self.chapters.iter().try_for_each(|chapter| chapter.write(self.form, out))
    }
}

impl Chapter {
    fn write(&self, form: &dyn OwnForm, out: &mut dyn Write) -> io::Result<()> {
        let members = &self.opened.family().members;
        let mut windows: Vec<Option<Window>> = members.iter().map(|_| None).collect();
        let gone = || io::Error::from(io::ErrorKind::UnexpectedEof);
        for record in &self.records {
            let member = members.get(record.member).ok_or_else(gone)?;
            let window = windows.get_mut(record.member).ok_or_else(gone)?;
            let window = match window {
                Some(window) => window,
                None => window.insert(Window::open(&member.file.at.path)?),
            };
            let bytes = window.read(record.span)?;
            // What the agent would not take for a message is told when the records are chosen.
            if let Some(line) = form.record(bytes, record.id.as_deref()) {
                out.write_all(&line)?;
                out.write_all(b"\n")?;
            }
        }
        Ok(())
    }
}
