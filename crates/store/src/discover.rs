//! Finds data folders.

use std::path::{Path, PathBuf};

use recount_formats::source::{DataFolders, RootShape, stable_hash};
use recount_formats::{Source, Sources};
use recount_platform::{Env, Folders};

/// A data folder of one source.
#[derive(Clone, Debug)]
pub struct Root {
    /// The source.
    pub source: &'static dyn Source,
    /// The folder.
    pub path: PathBuf,
    /// Which part of an agent's data it has.
    pub shape: RootShape,
    /// Whether it is recount's own: sessions made from headless output, in the agent's layout. The agent never reads it.
    pub is_ingested: bool,
}

/// Why data folders could not be found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A home that the user named does not exist.
    #[error("no such home: {0}")]
    NoHome(PathBuf),
    /// A home that the user named cannot be read.
    #[error("cannot read the home {path}")]
    UnreadableHome {
        /// The home.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

/// The folder for sessions made from headless output, in recount's data folder.
const INGESTED: &str = "ingested";

/// Returns the folder with the ingested sessions of a home; it is laid out like a home itself.
pub fn ingested_home(data: &Path, home: &Path) -> PathBuf {
    let real = home.canonicalize().or_else(|_| std::path::absolute(home));
    let real = real.unwrap_or_else(|_| home.to_owned());
    data.join(INGESTED).join(format!("{:016x}", stable_hash(&real)))
}

/// Lists the data folders of `sources` below `homes`, or those of the user if none is given. Ingested sessions of these
/// homes come last.
///
/// # Errors
/// If a home that was given is missing or unreadable.
pub fn roots(sources: Sources, homes: &[PathBuf], env: &Env) -> Result<Vec<Root>, Error> {
    let sources = || sources.iter().copied().filter(|source| source.reads_sessions());
    let mut roots = Vec::new();
    for home in homes {
        if !home.exists() {
            return Err(Error::NoHome(home.clone()));
        }
        if let Err(source) = std::fs::read_dir(home) {
            return Err(Error::UnreadableHome { path: home.clone(), source });
        }
        // A folder that contains the folder of an agent is a home, whatever else it contains.
        let is_home = sources().any(|source| {
            source.folders().below_home.iter().any(|below| home.join(below).is_dir())
        });
        for source in sources() {
            below(source, home, !is_home, &mut roots);
        }
    }
    if homes.is_empty() {
        let home = Folders::find(env).home;
        for source in sources() {
            let folders = source.folders();
            let named = named_folders(&folders, env);
            if !named.is_empty() {
                for path in named {
                    add(source, path, RootShape::Whole, &mut roots);
                }
                continue;
            }
            let own = folders.home_variable.and_then(|variable| env.path(variable));
            let is_named = own.is_some();
            if let Some(home) = own.or_else(|| home.clone()) {
                below(source, &home, is_named, &mut roots);
            }
            if let Some(extra) = folders.extra_variable.and_then(|variable| env.path(variable)) {
                add(source, extra, RootShape::ProjectsOnly, &mut roots);
            }
        }
    }
    add_ingested(sources(), homes, env, &mut roots);
    Ok(roots)
}

fn add_ingested(
    sources: impl Iterator<Item = &'static dyn Source>,
    homes: &[PathBuf],
    env: &Env,
    roots: &mut Vec<Root>,
) {
    let folders = Folders::find(env);
    let Some(data) = folders.data.filter(|data| data.join(INGESTED).is_dir()) else { return };
    let homes = if homes.is_empty() { folders.home.as_slice() } else { homes };
    let homes: Vec<PathBuf> = homes.iter().map(|home| ingested_home(&data, home)).collect();
    for source in sources {
        for home in &homes {
            let Some(below) = source.folders().below_home.first() else { continue };
            let count = roots.len();
            add(source, home.join(below), RootShape::Whole, roots);
            for root in roots.iter_mut().skip(count) {
                root.is_ingested = true;
            }
        }
    }
}

/// Returns the data folders that a variable names, separated by commas.
pub(crate) fn named_folders(folders: &DataFolders, env: &Env) -> Vec<PathBuf> {
    let named = folders.folder_variable.and_then(|variable| env.path(variable));
    let Some(named) = named else { return Vec::new() };
    let Some(list) = named.to_str().filter(|list| list.contains(',')) else { return vec![named] };
    list.split(',').map(str::trim).filter(|path| !path.is_empty()).map(PathBuf::from).collect()
}

/// Adds the data folders of a source below a home; with `may_be_data`, or the folder itself if it is one. The user's own
/// home is never a data folder: many have a `projects` or a `tmp` in it.
fn below(source: &'static dyn Source, home: &Path, may_be_data: bool, roots: &mut Vec<Root>) {
    let folders = source.folders();
    let count = roots.len();
    for path in folders.below_home {
        add(source, home.join(path), RootShape::Whole, roots);
    }
    if may_be_data && roots.len() == count && home.join(folders.landmark).is_dir() {
        // The user named the data folder itself.
        add(source, home.to_owned(), RootShape::Whole, roots);
    }
}

fn add(source: &'static dyn Source, path: PathBuf, shape: RootShape, roots: &mut Vec<Root>) {
    let same = |root: &Root| {
        root.source.name() == source.name()
            && std::fs::canonicalize(&root.path).ok() == std::fs::canonicalize(&path).ok()
    };
    if path.is_dir() && !roots.iter().any(same) {
        roots.push(Root { source, path, shape, is_ingested: false });
    }
}
