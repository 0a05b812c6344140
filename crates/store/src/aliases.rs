//! Names that the user gave to projects: one name may refer to several folders.

use std::collections::{BTreeMap, BTreeSet};

use recount_model::{Project, ProjectHash, RecordedPath};
use serde::{Deserialize, Serialize};

use crate::written::read_toml;

/// Names that the user gave to projects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aliases {
    /// Folders by name; an unknown folder by its hash.
    #[serde(default)]
    projects: BTreeMap<String, BTreeSet<String>>,
}

impl Aliases {
    /// Reads the file.
    ///
    /// # Errors
    /// A message with the line, if the file is invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        read_toml(text)
    }

    /// Writes the file.
    pub fn to_text(&self) -> String {
        let head =
            "# Names for projects. Each stands for one or more folders, or hashes of folders.\n\n";
        format!("{head}{}", toml::to_string_pretty(self).unwrap_or_default())
    }

    /// Returns the name of a project.
    pub fn of(&self, project: &Project) -> Option<&str> {
        let path = project.path.as_ref().map(RecordedPath::as_str);
        let hash = project.hash.as_ref().map(ProjectHash::as_str);
        let has = |folders: &BTreeSet<String>| {
            [path, hash].into_iter().flatten().any(|known| folders.contains(known))
        };
        self.projects.iter().find(|(_, folders)| has(folders)).map(|(name, _)| name.as_str())
    }

    /// Gives a name to some folders. A folder has one name: it loses its previous one.
    pub fn add(&mut self, name: &str, folders: impl IntoIterator<Item = String>) {
        for folder in folders {
            for others in self.projects.values_mut() {
                others.remove(&folder);
            }
            self.projects.entry(name.to_owned()).or_default().insert(folder);
        }
        self.projects.retain(|_, folders| !folders.is_empty());
    }

    /// Removes a name, and returns whether it existed.
    pub fn remove(&mut self, name: &str) -> bool {
        self.projects.remove(name).is_some()
    }

    /// Removes a name from a folder, and returns whether the folder had it.
    pub fn remove_from(&mut self, name: &str, folder: &str) -> bool {
        let had = self.projects.get_mut(name).is_some_and(|folders| folders.remove(folder));
        self.projects.retain(|_, folders| !folders.is_empty());
        had
    }

    /// Adds the names of another file.
    pub fn absorb(&mut self, other: Self) {
        for (name, folders) in other.projects {
            self.add(&name, folders);
        }
    }

    /// Replaces each folder by the result of `whole`.
    pub fn expand(&mut self, whole: impl Fn(&str) -> String) {
        for folders in self.projects.values_mut() {
            *folders = folders.iter().map(|folder| whole(folder)).collect();
        }
    }

    /// Lists names with their folders.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.projects.iter().map(|(name, folders)| (name.as_str(), folders))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_name() {
        let mut aliases = Aliases::default();
        aliases.add("shop", ["/a".to_owned(), "/b".to_owned()]);
        aliases.add("store", ["/b".to_owned()]);
        let read = Aliases::parse(&aliases.to_text()).unwrap();
        assert_eq!(read, aliases);
        let folders: Vec<_> = read.iter().map(|(name, folders)| (name, folders.len())).collect();
        assert_eq!(folders, [("shop", 1), ("store", 1)]);
        assert!(!aliases.remove_from("store", "/a"), "it is called shop");
        assert!(aliases.remove_from("shop", "/a") && !aliases.remove_from("shop", "/a"));
        assert!(aliases.remove("store") && !aliases.remove("shop"));
    }

    #[test]
    fn an_error_names_the_line() {
        assert!(Aliases::parse("").unwrap().iter().next().is_none());
        for text in ["[projects]\nshop = 3", "[project]\nshop = []", "[projects"] {
            let error = Aliases::parse(text).unwrap_err();
            assert!(error.contains("line"), "{error}");
        }
    }
}
