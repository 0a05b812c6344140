//! Finds where the agent looks for the sessions of a project, in its own order (0.29 and later): the recorded name, unless
//! a marker contradicts it; else a directory whose marker names the path; else a new name.

use std::fs;
use std::path::{Path, PathBuf};

use recount_model::RecordedPath;

use super::register::{Register, is_same};
use crate::edit::{ProjectDirectory, RegistryEntry};
use crate::gemini::locate::NOT_PROJECTS;
use crate::gemini::{artifacts, project};
use crate::source::RootShape;

/// The file with the folder that a directory belongs to.
pub(crate) const MARKER: &str = ".project_root";

/// Everything below a data folder that names projects.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) projects: PathBuf,
    /// Only below the agent's whole data folder.
    pub(crate) history: Option<PathBuf>,
    pub(crate) register: Option<Register>,
    pub(crate) lock: Option<PathBuf>,
}

impl Names {
    pub(crate) fn read(root: &Path, shape: RootShape) -> Result<Self, String> {
        Ok(match shape {
            RootShape::Whole => Self {
                projects: root.join("tmp"),
                history: Some(root.join("history")),
                register: Some(Register::read(root)?),
                lock: Some(root.join("projects.json.lock")),
            },
            RootShape::ProjectsOnly => {
                Self { projects: root.to_owned(), history: None, register: None, lock: None }
            }
        })
    }

    /// Returns the two directories of a name: of sessions, and of the shadow history.
    pub(crate) fn both(&self, slug: &str) -> impl Iterator<Item = PathBuf> {
        let history = self.history.as_ref().map(|history| history.join(slug));
        std::iter::once(self.projects.join(slug)).chain(history)
    }

    /// Returns the name under which the agent would find a path, if there is one.
    pub(crate) fn known(&self, path: &RecordedPath) -> Option<String> {
        let registered = self.register.as_ref().and_then(|register| register.slug(path));
        if let Some(slug) = registered.filter(|slug| !self.is_of_other(slug, path)) {
            return Some(slug.to_owned());
        }
        self.marked(path).into_iter().next()
    }

    /// Returns the names of all directories whose markers name a path.
    pub(crate) fn marked(&self, path: &RecordedPath) -> Vec<String> {
        let mut marked = Vec::new();
        for folder in [Some(&self.projects), self.history.as_ref()].into_iter().flatten() {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let mut names: Vec<String> =
                entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            let names_it = |name: &String| {
                project::marker(&folder.join(name)).is_some_and(|marker| is_same(&marker, path))
            };
            for name in names.into_iter().filter(names_it) {
                if !marked.contains(&name) {
                    marked.push(name);
                }
            }
        }
        marked
    }

    /// Whether a marker assigns a name to another path.
    fn is_of_other(&self, slug: &str, path: &RecordedPath) -> bool {
        let mut markers = self.both(slug).filter_map(|folder| project::marker(&folder));
        markers.any(|marker| !is_same(&marker, path))
    }

    /// Returns a name that is not used by another project, nor by a directory without a known project.
    fn unused(&self, path: &RecordedPath) -> String {
        let base = project::slug(path);
        let is_free = |slug: &String| {
            let is_ours = |folder: PathBuf| match project::marker(&folder) {
                Some(marker) => is_same(&marker, path),
                None => fs::read_dir(&folder).map_or(true, |mut entries| entries.next().is_none()),
            };
            let is_registered =
                self.register.as_ref().is_some_and(|register| register.is_taken(slug, path));
            !is_registered && !NOT_PROJECTS.contains(&slug.as_str()) && self.both(slug).all(is_ours)
        };
        let numbered = (1_u64..).map(|number| format!("{base}-{number}"));
        std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base)
    }
}

/// Finds where the agent keeps the project at `path`, or would keep it.
pub(crate) fn place(
    root: &Path,
    shape: RootShape,
    path: &RecordedPath,
) -> Result<ProjectDirectory, String> {
    let mut names = Names::read(root, shape)?;
    let slug = names.known(path).unwrap_or_else(|| names.unused(path));
    let is_registered =
        names.register.as_ref().is_none_or(|register| register.slug(path) == Some(slug.as_str()));
    let mut writes = Vec::new();
    if let Some(register) = names.register.as_mut().filter(|_| !is_registered) {
        register.set(path, &slug);
        writes.extend(register.entry());
    }
    // The agent recreates the one in the history by itself, once it knows the name.
    let wanted = if is_registered { 1 } else { 2 };
    for folder in names.both(&slug).take(wanted) {
        if project::marker(&folder).is_none() {
            writes.push(marker(&folder, path));
        }
    }
    let folder = names.projects.join(&slug);
    let old_folder = names.projects.join(project::hash(path.as_str()).as_str());
    let inherited = inherited(&old_folder, &folder);
    let lock = names.lock.filter(|_| !writes.is_empty());
    Ok(ProjectDirectory { folder, old_folder, writes, lock, inherited })
}

/// Returns a marker for a directory.
pub(crate) fn marker(folder: &Path, path: &RecordedPath) -> RegistryEntry {
    let bytes = path.as_str().as_bytes().to_vec();
    RegistryEntry { path: folder.join(MARKER), bytes, what: "marker" }
}

/// Lists what the agent copies from a hash directory to a named one when it starts: everything, unless there is already
/// anything but the marker.
fn inherited(old: &Path, new: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(new).into_iter().flatten().flatten();
    if entries.into_iter().any(|entry| entry.file_name() != MARKER) {
        return Vec::new();
    }
    let files = artifacts::contents(old).files.into_iter().map(|file| file.path);
    files.filter(|file| *file != old.join(MARKER)).collect()
}

#[cfg(test)]
mod tests {
    use recount_testkit::Home;

    use super::*;

    fn slug(home: &Home, path: &str) -> String {
        let place = place(home.path(), RootShape::Whole, &RecordedPath::new(path)).unwrap();
        place.folder.file_name().unwrap().to_str().unwrap().to_owned()
    }

    fn written(home: &Home, path: &str) -> Vec<String> {
        let place = place(home.path(), RootShape::Whole, &RecordedPath::new(path)).unwrap();
        let name = |entry: &RegistryEntry| {
            let below = entry.path.strip_prefix(home.path()).unwrap().to_str().unwrap();
            format!("{below}: {}", String::from_utf8_lossy(&entry.bytes).replace([' ', '\n'], ""))
        };
        assert_eq!(place.lock.is_some(), !place.writes.is_empty());
        place.writes.iter().map(name).collect()
    }

    #[test]
    fn the_register_counts_unless_a_marker_contradicts() {
        let home = Home::empty();
        home.write("projects.json", r#"{"projects":{"/a/shop":"shop","/b/shop":"shop-1"}}"#);
        home.write("tmp/shop/.project_root", "/a/shop\n");
        home.write("tmp/shop-1/.project_root", "/b/shop");
        assert_eq!(
            (slug(&home, "/a/shop"), slug(&home, "/b/shop")),
            ("shop".into(), "shop-1".into())
        );
        assert!(written(&home, "/a/shop").is_empty());
        // A marker in the history contradicts as well; then another directory that names the path is used.
        home.write("history/shop/.project_root", "/c/shop");
        home.write("tmp/other/.project_root", "/a/shop");
        assert_eq!(slug(&home, "/a/shop"), "other");
        assert_eq!(
            written(&home, "/a/shop"),
            [
                r#"projects.json: {"projects":{"/a/shop":"other","/b/shop":"shop-1"}}"#,
                "history/other/.project_root: /a/shop",
            ]
        );
    }

    #[test]
    fn a_new_name_is_nobody_elses() {
        let home = Home::empty();
        home.write("projects.json", r#"{"projects":{"/a/shop":"shop"}}"#);
        home.write("history/shop-1/.project_root", "/b/shop");
        home.write("tmp/shop-2/chats/session-x.json", "{}");
        assert_eq!(slug(&home, "/d/Shop!"), "shop-3");
        assert_eq!(slug(&home, "/d/bin"), "bin-1");
        let written = written(&home, "/d/shop");
        assert_eq!(written.len(), 3, "{written:?}");
        assert!(written.contains(&"tmp/shop-3/.project_root: /d/shop".to_owned()), "{written:?}");
        assert!(written.contains(&"history/shop-3/.project_root: /d/shop".to_owned()));
    }

    #[test]
    fn a_folder_of_projects_alone_has_only_markers() {
        let home = Home::empty();
        home.write("shop/.project_root", "/a/shop");
        let place = |path: &str| {
            place(home.path(), RootShape::ProjectsOnly, &RecordedPath::new(path)).unwrap()
        };
        assert_eq!(place("/a/shop").folder, home.path().join("shop"));
        let new = place("/b/shop");
        assert_eq!((new.writes.len(), new.lock), (1, None));
        assert_eq!(new.folder, home.path().join("shop-1"));
    }

    #[test]
    fn a_pending_copy_by_the_agent_is_reported_as_long_as_it_applies() {
        let home = Home::empty();
        let path = RecordedPath::new("/home/dev/code/shop");
        let hash = project::hash(path.as_str());
        home.write(&format!("tmp/{hash}/chats/session-x.json"), "{}");
        home.write(&format!("tmp/{hash}/logs.json"), "[]");
        let inherited = || place(home.path(), RootShape::Whole, &path).unwrap().inherited.len();
        assert_eq!(inherited(), 2);
        home.write("tmp/shop/.project_root", path.as_str());
        assert_eq!(inherited(), 2);
        home.write("tmp/shop/shell_history", "");
        assert_eq!(inherited(), 0);
    }
}
