//! The project that an answer is limited to: the given one, or the one that contains the current folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{Project, SessionFacts};

use crate::Engine;
use crate::sessions::visibility::Visibility;

/// The project that an answer is limited to.
#[derive(Clone, Debug)]
pub struct ListScope {
    /// The project.
    pub project: Arc<Project>,
    /// Whether it is implied by the current folder; otherwise it was given.
    pub is_implied: bool,
    /// The number of its sessions that a list shows by default.
    pub sessions: usize,
    /// The number of such sessions in all projects.
    pub of: usize,
}

impl ListScope {
    pub(crate) fn new(
        project: &Arc<Project>,
        sessions: &[Arc<SessionFacts>],
        is_implied: bool,
    ) -> Self {
        let key = project.key();
        let shown = |session: &&Arc<SessionFacts>| Visibility::default().hides(session).is_none();
        let own = |session: &&Arc<SessionFacts>| session.project.key() == key;
        Self {
            project: Arc::clone(project),
            is_implied,
            sessions: sessions.iter().filter(shown).filter(own).count(),
            of: sessions.iter().filter(shown).count(),
        }
    }
}

impl Engine {
    /// Returns the project that contains a folder, if one of these sessions is in it.
    pub fn scope_of(
        &self,
        sessions: &[Arc<SessionFacts>],
        folder: Option<&Path>,
    ) -> Option<ListScope> {
        let project = nearest(sessions, folder?, &self.homes())?;
        Some(ListScope::new(project, sessions, true))
    }
}

/// Whether a folder belongs to the project of another. A session that was started in a home, or above it, does not make
/// everything below part of its project.
pub(crate) fn holds(project: &Path, folder: &Path, homes: &[PathBuf]) -> bool {
    folder == project
        || (folder.starts_with(project) && !homes.iter().any(|home| home.starts_with(project)))
}

/// Returns the project that a folder belongs to: the nearest one above it. Other folders may share its name.
pub(crate) fn nearest<'a>(
    sessions: &'a [Arc<SessionFacts>],
    folder: &Path,
    homes: &[PathBuf],
) -> Option<&'a Arc<Project>> {
    let depth = |session: &SessionFacts| {
        let path = session.project.path.as_ref()?.as_str();
        holds(Path::new(path), folder, homes).then_some(path.len())
    };
    let inside = sessions.iter().filter_map(|session| Some((depth(session)?, session)));
    inside.max_by_key(|(depth, _)| *depth).map(|(_, session)| &session.project)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_holds_itself_and_nothing_below() {
        let homes = [PathBuf::from("/home/dev")];
        let is_in =
            |project: &str, folder: &str| holds(Path::new(project), Path::new(folder), &homes);
        assert!(is_in("/home/dev", "/home/dev"));
        assert!(!is_in("/home/dev", "/home/dev/code/shop"));
        assert!(!is_in("/", "/home/dev/code/shop"));
        assert!(!is_in("/home", "/srv"));
        assert!(is_in("/home/dev/code/shop", "/home/dev/code/shop/src"));
        assert!(!is_in("/home/dev/code/shop", "/home/dev/code/shop-two"));
    }
}
