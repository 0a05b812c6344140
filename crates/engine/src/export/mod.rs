//! Exports sessions: one to any destination, or many into a folder that is kept up to date.

mod agents;
mod ahead;
mod cells;
mod folder;
mod gallery;
pub mod lake;
mod manifest;
mod native;
mod partition;
mod plan;
mod redaction;
mod rows;
mod site;
mod stock;
mod transcript;
mod work;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_formats::SOURCES;
use recount_model::{Problem, SessionFacts};

pub use recount_export::text::Bidi;
pub use recount_export::{ExportOptions, ExportTable, Format, Level, LinkPolicy, csv, json, text};

pub use self::gallery::Images;
use self::native::{NativeExport, NativeOutcome};
pub use self::redaction::{Redacted, Redaction};
use self::transcript::TranscriptStream;
use crate::{Engine, Error, Listing, Opened, View};
pub use recount_formats::NativeFormat;

/// The error for a format that cannot be written to one file: it needs a folder.
const NOT_ONE_FILE: io::ErrorKind = io::ErrorKind::Unsupported;

/// The options of an export.
#[derive(Clone, Debug)]
pub struct Export {
    /// The format.
    pub format: Format,
    /// How it is written.
    pub options: ExportOptions,
    /// A part of a session ends before a prompt once it has this number of messages.
    pub split: Option<usize>,
    /// The tables that go into a folder.
    pub tables: Vec<ExportTable>,
    /// What happens to images.
    pub images: Images,
    /// The redaction, if secrets are to be removed.
    pub redaction: Option<Arc<Redaction>>,
    /// The agent's native format, instead of one of ours.
    pub own: Option<&'static dyn NativeFormat>,
}

impl Export {
    fn view(&self) -> View {
        if self.options.strict { View::Strict } else { View::Full }
    }

    /// Returns the file extension.
    fn extension(&self) -> &'static str {
        self.own.map_or_else(|| self.format.extension(), NativeFormat::extension)
    }

    /// Returns what distinguishes its files from those of other formats.
    fn name(&self) -> &'static str {
        self.own.map_or_else(|| self.format.extension(), |own| own.source().as_str())
    }
}

/// Which sessions are exported.
#[derive(Debug)]
pub enum Selection {
    /// Sessions that were opened one by one.
    Opened(Vec<Opened>),
    /// The sessions of a list.
    Listed(Listing),
}

impl Selection {
    /// Returns the rows of the sessions.
    pub fn sessions(&self) -> Vec<&SessionFacts> {
        match self {
            Self::Opened(opened) => opened.iter().map(|opened| &opened.facts).collect(),
            Self::Listed(listing) => listing.sessions.iter().map(|facts| &**facts).collect(),
        }
    }
}

/// The result of an export.
#[derive(Clone, Debug, Default)]
pub struct Exported {
    /// Sessions, tables or partitions that were written.
    pub written: u64,
    /// Those that had not changed since the last export.
    pub unchanged: u64,
    /// Files that were written.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that were removed: of partitions without sessions.
    pub removed: u64,
    /// Problems, besides those in the sessions' rows.
    pub problems: Vec<Problem>,
    /// Images and other data that were exported without being scanned, if secrets were to be removed.
    pub unseen: u64,
}

/// Lists the agents with a supported native format.
pub fn native_formats() -> impl Iterator<Item = &'static dyn NativeFormat> {
    SOURCES.iter().filter_map(|source| source.native_format())
}

impl Exported {
    /// Counts a session that was written.
    fn add(&mut self, mut outcome: NativeOutcome) {
        self.written += 1;
        self.unseen += outcome.unseen;
        self.problems.append(&mut outcome.problems);
    }
}

impl Selection {
    /// Checks that explicitly given sessions can be written in the given format.
    ///
    /// # Errors
    /// If one is of another agent than the format.
    pub fn fits(&self, export: &Export) -> Result<(), Error> {
        let Some(form) = export.own.map(NativeFormat::source) else { return Ok(()) };
        let Self::Opened(all) = self else { return Ok(()) };
        match all.iter().find(|opened| opened.source().name() != form) {
            Some(other) => Err(Error::OtherForm {
                id: other.facts.id.clone(),
                agent: other.facts.source,
                form,
            }),
            None => Ok(()),
        }
    }
}

impl Engine {
    /// Writes sessions one after the other. Only tables can have more than one.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn export_to(
        &self,
        selection: &Selection,
        export: &Export,
        out: &mut dyn Write,
    ) -> io::Result<Exported> {
        let mut renderer = export.format.renderer(&export.options).ok_or(NOT_ONE_FILE)?;
        let mut exported = Exported::default();
        let mut stock = self.stock(selection, false);
        if export.format == Format::Csv && export.options.table == ExportTable::Requests {
            let copied = self.copied_requests(&()).map_err(io::Error::other)?;
            stock = stock.without(copied);
        }
        let is_told = |item: &stock::Item<'_>| item.is_told(export.options.table);
        for item in selection.items().into_iter().filter(is_told) {
            let Some(opened) = stock.open(&item) else {
                exported.problems.push(item.lost());
                continue;
            };
            if let Some(form) = export.own {
                exported.add(NativeExport::new(&opened, export, form).write(out)?);
                continue;
            }
            let agents = self.agents_of(&opened, &*renderer);
            let copied = stock.copied(&opened.facts);
            let transcript = TranscriptStream::new(&opened, export, &mut *renderer, None, copied);
            std::thread::scope(|scope| {
                let transcript = transcript.with_agents(&agents).with_prices(stock.prices());
                let mut transcript = transcript.ahead(scope);
                transcript.part(&|_| String::new(), out)?;
                exported.problems.append(&mut transcript.problems);
                io::Result::Ok(())
            })?;
            exported.written += 1;
        }
        Ok(exported)
    }

    /// Writes one session to a file, and to others beside it if it is split.
    ///
    /// # Errors
    /// If the file is in an agent's folder or cannot be written.
    pub fn export_file(
        &self,
        selection: &Selection,
        export: &Export,
        path: &Path,
    ) -> Result<Exported, Error> {
        self.keep_out_of_agents_folders(path)?;
        let stock = self.stock(selection, false);
        let mut exported = Exported::default();
        if export.format == Format::Csv {
            let mut problems = Vec::new();
            let bytes = recount_writer::write_with(path, |out| {
                problems = self.export_to(selection, export, out)?.problems;
                Ok(())
            })?;
            return Ok(Exported { written: 1, files: 1, bytes, problems, ..exported });
        }
        let Some(item) = selection.items().into_iter().next() else { return Ok(exported) };
        let Some(opened) = stock.open(&item) else {
            exported.problems.push(item.lost());
            return Ok(exported);
        };
        if let Some(form) = export.own {
            let own = NativeExport::new(&opened, export, form);
            let mut outcome = NativeOutcome::default();
            exported.bytes = recount_writer::write_with(path, |out| {
                outcome = own.write(out)?;
                Ok(())
            })?;
            exported.files = 1;
            exported.add(outcome);
            return Ok(exported);
        }
        let renderer = export.format.renderer(&export.options);
        let mut renderer = renderer.ok_or_else(|| Error::Output(NOT_ONE_FILE.into()))?;
        let agents = self.agents_of(&opened, &*renderer);
        let transcript = TranscriptStream::new(&opened, export, &mut *renderer, export.split, None);
        let written = std::thread::scope(|scope| {
            let mut transcript = transcript.with_agents(&agents).ahead(scope);
            let written = transcript.write(&|number| part_of(path, number))?;
            exported.problems = transcript.problems;
            Ok::<_, Error>(written)
        })?;
        exported.written = 1;
        exported.files = written.len() as u64;
        exported.bytes = written.iter().map(|(_, bytes)| bytes).sum();
        Ok(exported)
    }

    /// Exports are never written among agents' own files.
    pub(crate) fn keep_out_of_agents_folders(&self, target: &Path) -> Result<(), Error> {
        let target = std::path::absolute(target).unwrap_or_else(|_| target.to_owned());
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let place = target.ancestors().find(|above| above.exists()).map(real);
        let inside = |root: &PathBuf| {
            target.starts_with(root) || place.as_ref().is_some_and(|at| at.starts_with(real(root)))
        };
        match self.roots().find(|root| inside(root)) {
            Some(root) => Err(Error::AgentsFolder(root.clone())),
            None => Ok(()),
        }
    }
}

/// Returns the file of a part, beside the given one.
fn part_of(path: &Path, number: usize) -> PathBuf {
    if number <= 1 {
        return path.to_owned();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
    path.with_file_name(format!("{stem}.part{number}{}", ending.unwrap_or_default()))
}
