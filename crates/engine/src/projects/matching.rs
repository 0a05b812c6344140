//! Finds the project that a user means.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use recount_model::{Project, ProjectHash, RecordedPath};
use recount_platform::Folders;

use crate::Error;
use crate::sessions::scope::holds;

/// The shortest accepted hash prefix.
const SHORTEST: usize = 4;

/// Returns the numbers of the projects that match: by the most specific kind of match that finds any.
pub(crate) fn matching(
    projects: &[&Project],
    wanted: &str,
    folders: &Folders,
) -> Result<BTreeSet<usize>, Error> {
    let trimmed = wanted.trim_end_matches('/');
    let path = folders.expand(if trimmed.is_empty() { wanted } else { trimmed });
    let nearest = nearest(projects, &path, folders.home.as_slice());
    let lower = wanted.to_lowercase();
    let whole =
        |project: &Project| project.path.as_ref().map_or("", RecordedPath::as_str).to_lowercase();
    let tests: [&dyn Fn(&Project) -> bool; 9] = [
        &|project| project.alias.as_deref() == Some(wanted),
        &|project| project.path.as_ref().is_some_and(|own| path.to_str() == Some(own.as_str())),
        &|project| nearest.is_some() && project.path.as_ref() == nearest,
        &|project| project.slug.as_deref() == Some(wanted),
        &|project| names(project).any(|name| name == wanted),
        &|project| names(project).any(|name| name.to_lowercase() == lower),
        &|project| {
            let hash = project.hash.as_ref().map(ProjectHash::as_str).unwrap_or_default();
            wanted.len() >= SHORTEST && hash.starts_with(wanted)
        },
        &|project| {
            names(project).any(|name| name.to_lowercase().contains(&lower))
                || whole(project).contains(&lower)
        },
        &|project| names(project).any(|name| is_scattered(&lower, &name.to_lowercase())),
    ];
    for test in tests {
        let numbered = projects.iter().enumerate();
        let hits: Vec<(usize, &&Project)> = numbered.filter(|(_, project)| test(project)).collect();
        let keys: BTreeSet<String> = hits.iter().map(|(_, project)| project.key()).collect();
        match keys.len() {
            0 => {}
            1 => {
                let paths: Vec<_> = hits.iter().filter_map(|(_, hit)| hit.path.as_ref()).collect();
                // Other agents have other names for the same folder.
                let is_same =
                    |one: &Project| one.path.as_ref().is_some_and(|path| paths.contains(&path));
                let others = projects.iter().enumerate().filter(|(_, one)| is_same(one));
                return Ok(hits.iter().copied().chain(others).map(|(at, _)| at).collect());
            }
            _ => {
                let candidates = keys.iter().map(|key| folders.tilde(key)).collect();
                return Err(Error::AmbiguousProject { wanted: wanted.to_owned(), candidates });
            }
        }
    }
    Err(Error::NoProject(wanted.to_owned()))
}

/// Returns the folder of the project that contains another folder, if that exists.
fn nearest<'a>(
    projects: &[&'a Project],
    folder: &Path,
    homes: &[PathBuf],
) -> Option<&'a RecordedPath> {
    let above = |path: &&RecordedPath| {
        folder.is_absolute() && holds(Path::new(path.as_str()), folder, homes)
    };
    let above = projects.iter().filter_map(|project| project.path.as_ref()).filter(above);
    above.max_by_key(|path| path.as_str().len()).filter(|_| folder.is_dir())
}

/// Returns the names of a project: its alias, its folder's name, its directory's name.
fn names(project: &Project) -> impl Iterator<Item = &str> {
    let leaf = project.path.as_ref().map(RecordedPath::leaf);
    project.alias.as_deref().into_iter().chain(leaf).chain(project.slug.as_deref())
}

/// Whether the letters of `wanted` are in `name` in the same order, with the same first letter: `lgr` for `ledger`.
fn is_scattered(wanted: &str, name: &str) -> bool {
    let mut letters = name.chars();
    wanted.chars().count() >= 2
        && wanted.chars().next() == name.chars().next()
        && wanted.chars().all(|letter| letters.any(|other| other == letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(path: &str, alias: Option<&str>) -> Project {
        Project {
            path: Some(RecordedPath::new(path)),
            alias: alias.map(str::to_owned),
            ..Project::default()
        }
    }

    #[test]
    fn the_closest_way_of_meaning_a_project_counts() {
        let all = [
            project("/home/dev/code/shop", None),
            project("/home/dev/old/shop", Some("archive")),
            project("/home/dev/code/Ledger", None),
            project("/home/dev/code/workshop", None),
        ];
        let all: Vec<&Project> = all.iter().collect();
        let folders = Folders { home: Some("/home/dev".into()), ..Folders::default() };
        let find = |wanted: &str| {
            matching(&all, wanted, &folders).map(|hits| hits.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(find("~/code/shop").unwrap(), [0]);
        assert_eq!(find("archive").unwrap(), [1]);
        assert_eq!(find("ledger").unwrap(), [2]);
        assert_eq!(find("lgr").unwrap(), [2]);
        assert_eq!(find("works").unwrap(), [3]);
        assert!(
            matches!(find("shop"), Err(Error::AmbiguousProject { candidates, .. }) if candidates == ["~/code/shop", "archive"])
        );
        assert!(matches!(find("xyz"), Err(Error::NoProject(_))));
    }

    #[test]
    fn a_name_that_one_agent_gave_means_the_folder_for_all() {
        let named =
            Project { slug: Some("my-shop".to_owned()), ..project("/home/dev/code/shop", None) };
        let all =
            [project("/home/dev/code/shop", None), named, project("/home/dev/code/other", None)];
        let all: Vec<&Project> = all.iter().collect();
        for wanted in ["my-shop", "shop", "/home/dev/code/shop"] {
            let found = matching(&all, wanted, &Folders::default()).unwrap();
            assert_eq!(found.into_iter().collect::<Vec<_>>(), [0, 1], "{wanted}");
        }
    }
}
