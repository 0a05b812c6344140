//! Details of the steps of plans: the session, the file, and its content.

use std::path::Path;

use recount_formats::edit::Patch;
use recount_formats::source::ArtifactKind;
use recount_formats::{SOURCES, Source};
use recount_model::{FileRole, SessionFacts, SourceName};
use recount_writer::change::{NewContent, Plan, Subject};

use crate::{Changes, Error, Proposal, Reason};

impl Changes<'_> {
    /// Returns a proposal without steps that may change files below the agents' folders.
    pub(crate) fn offer(self, command: &str) -> Proposal {
        let roots = self.engine.data_folders().iter();
        Plan::new(command, roots.map(|root| root.path.clone()).collect()).into()
    }
}

/// The name of a file of a sub-agent in plans and journals.
pub(crate) const SUBAGENT: &str = ArtifactKind::Subagent.as_str();

/// Returns the agent of this name.
pub(crate) fn source(name: SourceName) -> Result<&'static dyn Source, Error> {
    let source = SOURCES.iter().find(|source| source.name() == name);
    source.copied().ok_or_else(|| Reason::UnknownAgent(name).into())
}

/// Returns the content of a file with some bytes replaced; the others are copied.
pub(crate) fn patched(file: &Path, patches: &[Patch]) -> NewContent {
    let mut content = NewContent::default();
    let mut at = 0;
    for Patch { at: place, bytes, with } in patches {
        content = content.then_stretch(file, at, place - at).then_bytes(with.clone());
        at = place + bytes;
    }
    content.then_stretch(file, at, u64::MAX)
}

/// Returns a session as the subject of a plan.
pub(crate) fn subject(facts: &SessionFacts) -> Subject {
    Subject {
        source: facts.source.to_string(),
        id: facts.id.as_str().to_owned(),
        title: facts.title.clone(),
        project: facts.project.path.as_ref().map(|path| path.as_str().to_owned()),
    }
}

/// Fails if a file of a session is only known by a path that is not its own: one that is not Unicode.
pub(crate) fn check_paths(facts: &SessionFacts) -> Result<(), Error> {
    let mut paths = facts.own_files().map(|file| Path::new(&file.path));
    match paths.find(|path| is_lossy(path)) {
        Some(path) => Err(Reason::NotText(path.to_owned()).into()),
        None => Ok(()),
    }
}

/// Whether a path has a character that stands for bytes that are not Unicode, and so names no file.
pub(crate) fn is_lossy(path: &Path) -> bool {
    path.to_string_lossy().contains('\u{FFFD}') && path.symlink_metadata().is_err()
}

/// Returns the role of a file in its session.
pub(crate) fn role(role: FileRole) -> &'static str {
    match role {
        FileRole::Main => "session",
        other => other.as_str(),
    }
}
