//! Unambiguous names of projects: folders of the same name are shown with as much of their path as needed.

use std::collections::{BTreeMap, BTreeSet};

use recount_engine::stats::StatsRow;
use recount_model::Project;

/// The names of some projects.
#[derive(Debug, Default)]
pub struct ProjectNames {
    /// The key of each project with an ambiguous name, and its longer name.
    longer: BTreeMap<String, String>,
}

impl ProjectNames {
    /// Names projects: each is given by its name and its key.
    pub fn of_keys<'a>(projects: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut keys: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (name, key) in projects {
            keys.entry(name).or_default().insert(key);
        }
        let mut longer = BTreeMap::new();
        for same in keys.into_values().filter(|same| same.len() > 1) {
            for key in &same {
                longer.insert((*key).to_owned(), shortest(key, &same));
            }
        }
        Self { longer }
    }

    /// Names projects by the rows of statistics.
    pub fn of_rows(rows: &[StatsRow]) -> Self {
        Self::of_keys(rows.iter().filter_map(|row| Some((row.name.as_deref()?, row.key.as_str()))))
    }

    /// Gives rows of statistics their longer names.
    pub fn rename(&self, rows: &mut [StatsRow]) {
        for row in rows {
            row.name = self.by_key(&row.key).map(str::to_owned).or(row.name.take());
        }
    }

    /// Names projects, with possible duplicates.
    pub fn of<'a>(projects: impl IntoIterator<Item = &'a Project>) -> Self {
        let mut keys: BTreeMap<*const Project, (&str, String)> = BTreeMap::new();
        for project in projects {
            keys.entry(std::ptr::from_ref(project))
                .or_insert_with(|| (project.name(), project.key()));
        }
        Self::of_keys(keys.values().map(|(name, key)| (*name, key.as_str())))
    }

    /// Returns the name of a project.
    pub fn name<'a>(&'a self, project: &'a Project) -> &'a str {
        if self.longer.is_empty() {
            return project.name();
        }
        self.by_key(&project.key()).unwrap_or_else(|| project.name())
    }

    /// Returns the longer name of a project, if its own is ambiguous.
    pub fn by_key(&self, key: &str) -> Option<&str> {
        self.longer.get(key).map(String::as_str)
    }
}

/// Returns the shortest end of a path, cut between folders, that is unique.
fn shortest(path: &str, same: &BTreeSet<&str>) -> String {
    let cuts = path.rmatch_indices(['/', '\\']).skip(1);
    for (at, _) in cuts {
        let end = path.get(at + 1..).unwrap_or(path);
        let has = |other: &&&str| {
            other
                .strip_suffix(end)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '\\']))
        };
        if !end.is_empty() && same.iter().filter(has).count() == 1 {
            return end.to_owned();
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_same_name_are_distinguished() {
        let names = ProjectNames::of_keys([
            ("shop", "/home/dev/code/shop"),
            ("shop", "/home/dev/old/shop"),
            ("shop", "/srv/old/shop"),
            ("shop", "/shop"),
            ("ledger", "/home/dev/ledger"),
        ]);
        let name = |key| names.by_key(key);
        assert_eq!(name("/home/dev/code/shop"), Some("code/shop"));
        assert_eq!(name("/home/dev/old/shop"), Some("dev/old/shop"));
        assert_eq!(name("/srv/old/shop"), Some("srv/old/shop"));
        assert_eq!(name("/shop"), Some("/shop"));
        assert_eq!(name("/home/dev/ledger"), None);
    }
}
