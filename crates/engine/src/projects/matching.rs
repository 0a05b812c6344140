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
    // The end of a path, from a separator on.
    let is_end = |path: &str| {
        let before = trimmed.contains(['/', '\\']).then(|| path.strip_suffix(trimmed)).flatten();
        before.is_some_and(|before| before.ends_with(['/', '\\']))
    };
    let tests: [&dyn Fn(&Project) -> bool; 10] = [
        &|project| project.alias.as_deref() == Some(wanted),
        &|project| project.path.as_ref().is_some_and(|own| path.to_str() == Some(own.as_str())),
        &|project| nearest.is_some() && project.path.as_ref() == nearest,
        &|project| project.path.as_ref().is_some_and(|own| is_end(own.as_str())),
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
    let similar = similar(projects, &lower, folders);
    let wanted = wanted.to_owned();
    Err(if similar.is_empty() {
        Error::NoProject(wanted)
    } else {
        Error::SimilarProjects { wanted, similar }
    })
}

/// The maximum number of suggestions.
const SUGGESTIONS: usize = 5;
/// Longer names are not compared.
const LONGEST: usize = 64;

/// Returns the projects with a name that differs by a typing error, closest first. They are suggested, never chosen.
fn similar(projects: &[&Project], lower: &str, folders: &Folders) -> Vec<String> {
    let wanted: Vec<char> = lower.chars().take(LONGEST + 1).collect();
    let most = match wanted.len() {
        0..=2 => return Vec::new(),
        3..=5 => 1,
        6..=LONGEST => 2,
        _ => return Vec::new(),
    };
    if lower.contains(['/', '\\']) {
        return Vec::new();
    }
    let mut found = BTreeSet::new();
    for project in projects {
        let distance = |name: &str| {
            let name: Vec<char> = name.to_lowercase().chars().take(LONGEST + 1).collect();
            // A short name becomes many others by few changes.
            let most = if name.len() < 4 { 1 } else { most };
            typing_errors(&wanted, &name).filter(|errors| *errors <= most)
        };
        if let Some(errors) = names(project).filter_map(distance).min() {
            found.insert((errors, folders.tilde(&project.key())));
        }
    }
    let mut names: Vec<String> = Vec::new();
    for (_, name) in found {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(SUGGESTIONS);
    names
}

/// Counts the missing, extra, wrong and swapped letters between two words. `None` if their lengths differ by too much.
fn typing_errors(one: &[char], other: &[char]) -> Option<usize> {
    if one.len().abs_diff(other.len()) > 2 || other.len() > LONGEST {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut next = vec![at + 1];
        for (column, opposite) in other.iter().enumerate() {
            let cell = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(LONGEST);
            let wrong = cell(&row, column) + usize::from(letter != opposite);
            let mut best = wrong.min(cell(&row, column + 1) + 1).min(cell(&next, column) + 1);
            let is_swapped = at > 0
                && column > 0
                && one.get(at - 1) == Some(opposite)
                && other.get(column - 1) == Some(letter);
            if is_swapped {
                best = best.min(cell(&before, column - 1) + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied()
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
    fn the_end_of_a_path_means_the_project_whose_path_ends_with_it() {
        let all = ["/home/ada/code/shop", "/home/ada/code/shop-api", "/home/ada/old/shop"];
        let all = all.map(|path| project(path, None));
        let all: Vec<&Project> = all.iter().collect();
        for (wanted, number) in [("code/shop", 0), ("code/shop-api", 1), ("old/shop/", 2)] {
            let found = matching(&all, wanted, &Folders::default()).unwrap();
            assert_eq!(found.into_iter().collect::<Vec<_>>(), [number], "{wanted}");
        }
        // Not from a separator on.
        let found = matching(&all, "de/shop", &Folders::default());
        assert!(matches!(found, Err(Error::AmbiguousProject { .. })), "{found:?}");
    }

    #[test]
    fn a_typing_error_suggests_the_closest_names_and_chooses_none() {
        let all = [
            project("/home/dev/code/shop", None),
            project("/home/dev/code/chop", None),
            project("/home/dev/code/billing", None),
            project("/home/dev/code/a", None),
        ];
        let all: Vec<&Project> = all.iter().collect();
        let folders = Folders { home: Some("/home/dev".into()), ..Folders::default() };
        let suggested = |wanted: &str| match matching(&all, wanted, &folders) {
            Err(Error::SimilarProjects { similar, .. }) => similar,
            Err(Error::NoProject(_)) => Vec::new(),
            other => panic!("{wanted}: {other:?}"),
        };
        assert_eq!(suggested("sohp"), ["~/code/shop"]);
        assert_eq!(suggested("xhop"), ["~/code/chop", "~/code/shop"]);
        assert_eq!(suggested("Shopp"), ["~/code/shop"]);
        assert_eq!(suggested("biling1"), ["~/code/billing"]);
        assert_eq!(suggested("bilinng"), ["~/code/billing"]);
        // Not a typing error, too short, a path.
        for other in ["ledger", "zz", "~/code/sohp"] {
            assert!(suggested(other).is_empty(), "{other}");
        }
        assert!(suggested(&"x".repeat(100_000)).is_empty());
    }

    #[test]
    fn typing_errors_are_counted() {
        let count = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|word| word.chars().collect::<Vec<_>>());
            typing_errors(&one, &other)
        };
        for (one, other, errors) in [
            ("shop", "shop", Some(0)),
            ("shp", "shop", Some(1)),
            ("sohp", "shop", Some(1)),
            ("shopp", "shop", Some(1)),
            ("shap", "shop", Some(1)),
            ("hsop1", "shop", Some(2)),
            ("kitten", "sitting", Some(3)),
            ("a", "abcd", None),
        ] {
            assert_eq!(count(one, other), errors, "{one} {other}");
        }
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
