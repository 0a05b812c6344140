//! Collects everything on this machine that names folders, as candidates.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use recount_formats::Sources;
use recount_formats::source::RootShape;
use recount_model::ClueKind;
use recount_platform::{Env, Folders, Lister, Processes, Running};

use crate::clues::{git, history, zoxide};
use crate::discover::named_folders;
use crate::presence::ask;
use crate::resolve::Candidates;

/// The maximum number of folders whose siblings are listed.
const BESIDE: usize = 200;
/// The maximum number of folders that are checked for a repository.
const REPOSITORIES: usize = 2000;
/// Programs in which people type commands.
const SHELLS: &[&str] =
    &["bash", "zsh", "fish", "sh", "dash", "ksh", "nu", "pwsh", "tmux", "tmux: server"];

/// What is needed to search the machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    /// The environment.
    pub env: &'a Env,
    /// recount's own folders.
    pub folders: &'a Folders,
    /// Homes in which agents are looked for.
    pub homes: &'a [PathBuf],
    /// The agents that are known.
    pub sources: Sources,
    /// Running processes.
    pub processes: &'a dyn Processes,
}

impl Machine<'_> {
    /// Adds candidates from running programs, other agents, shells and repositories.
    pub fn gather(&self, candidates: &mut Candidates) {
        self.running(candidates);
        self.neighbours(candidates);
        for (path, from) in zoxide::read(self.env, self.folders) {
            candidates.add_with_ancestors(&path, ClueKind::Recent, &shown(self.folders, &from));
        }
        for (path, from) in history::read(self.env, self.folders) {
            candidates.add_with_ancestors(&path, ClueKind::Shell, &shown(self.folders, &from));
        }
        around(candidates);
    }

    fn running(&self, candidates: &mut Candidates) {
        let homes = self.sources.iter().filter_map(|source| source.folders().home_variable);
        let variables: Vec<&str> = ["PWD", "OLDPWD"].into_iter().chain(homes).collect();
        for process in self.processes.running(&variables) {
            let agent = self.sources.iter().find(|source| source.is_running(&process.args));
            let is_shell = SHELLS.contains(&process.name.trim_start_matches('-'));
            if agent.is_none() && !is_shell {
                continue;
            }
            let (kind, name) = match agent {
                Some(agent) => (ClueKind::Process, agent.name().as_str()),
                None => (ClueKind::Shell, process.name.as_str()),
            };
            let detail = format!("the folder of {name}, process {}", process.pid);
            let started = ["PWD", "OLDPWD"].iter().filter_map(|name| process.variables.get(*name));
            let folder = process.folder.as_deref().and_then(Path::to_str);
            for path in folder.into_iter().chain(started.map(String::as_str)) {
                candidates.add_with_ancestors(path, kind, &detail);
            }
            if let Some(source) = agent {
                other_home(*source, &process, candidates);
            }
        }
    }

    /// Adds the projects of other agents.
    fn neighbours(&self, candidates: &mut Candidates) {
        for source in self.sources {
            let folders = source.folders();
            let named = named_folders(&folders, self.env);
            let below = self
                .homes
                .iter()
                .flat_map(|home| folders.below_home.iter().map(move |below| home.join(below)));
            let roots: BTreeSet<PathBuf> = named.into_iter().chain(below).collect();
            for (path, _) in roots.iter().flat_map(|root| source.known_folders(root)) {
                let detail = format!("a project of {}", source.display_name());
                candidates.add_with_ancestors(path.as_str(), ClueKind::Neighbour, &detail);
            }
        }
    }
}

/// Adds the projects of a running agent that has its own home.
fn other_home(
    source: &dyn recount_formats::Source,
    process: &Running,
    candidates: &mut Candidates,
) {
    let folders = source.folders();
    let home = folders.home_variable.and_then(|variable| process.variables.get(variable));
    let Some(home) = home.map(Path::new).filter(|home| home.is_absolute()) else { return };
    let mut roots: Vec<PathBuf> = folders.below_home.iter().map(|below| home.join(below)).collect();
    roots.retain(|root| root.is_dir());
    if roots.is_empty() && home.join(folders.landmark).is_dir() {
        // The data folder itself was named.
        roots.push(home.to_owned());
    }
    for root in roots {
        let located = source.locate(&root, RootShape::Whole);
        let detail = format!("the home of a running {}", source.name());
        let marked =
            located.folders.iter().flat_map(|folder| &folder.markers).map(|(path, _)| path);
        for path in located.registry.iter().map(|entry| &entry.path).chain(marked) {
            candidates.add_with_ancestors(path.as_str(), ClueKind::Registry, &detail);
        }
    }
}

/// Adds worktrees of the repositories among the candidates, and the siblings of projects.
fn around(candidates: &mut Candidates) {
    let is_folder = |kind: ClueKind| kind != ClueKind::Text;
    let known = candidates
        .paths()
        .filter(|(_, origins)| origins.iter().any(|origin| is_folder(origin.kind)));
    let known: Vec<String> =
        known.map(|(path, _)| path.as_str().to_owned()).take(REPOSITORIES).collect();
    let above: BTreeSet<PathBuf> =
        known.iter().filter_map(|path| Path::new(path).parent()).map(Path::to_owned).collect();
    let above: Vec<PathBuf> =
        above.into_iter().filter(|path| path.components().count() > 2).take(BESIDE).collect();
    let worktrees = ask(known, |path| git::worktrees(Path::new(path)));
    for path in worktrees.iter().flatten().flatten().filter_map(|path| path.to_str()) {
        candidates.add(path, ClueKind::Worktree, "a worktree of a repository");
    }
    for folder in ask(above, |folder| folders_in(folder)).into_iter().flatten().flatten() {
        candidates.add(&folder, ClueKind::Beside, "a folder beside a known one");
    }
}

/// Lists the siblings of a path, and those of its parent folder; none on a disk that does not respond.
pub fn beside(path: &Path) -> Vec<String> {
    let above = path.parent().map(Path::to_owned);
    let further = above.as_deref().and_then(Path::parent).map(Path::to_owned);
    let above: Vec<PathBuf> = above.into_iter().chain(further).collect();
    ask(above, |folder| folders_in(folder)).into_iter().flatten().flatten().collect()
}

/// Lists the folders in a folder.
pub(crate) fn folders_in(folder: &Path) -> Vec<String> {
    let mut folders = Vec::new();
    // A folder that cannot be listed is skipped.
    let _listed = Lister::default().folders(folder, &mut |entry| {
        if folders.len() < 5000 {
            folders.extend(folder.join(entry.name).to_str().map(str::to_owned));
        }
    });
    folders.sort();
    folders
}

fn shown(folders: &Folders, path: &Path) -> String {
    folders.tilde(&path.to_string_lossy())
}
