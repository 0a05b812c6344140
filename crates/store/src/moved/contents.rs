//! The contents of a folder that may be the new location of a missing one.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use crate::scan::SKIPPED;

/// Limits: how many files are compared, how deep, and in how many folders.
const FILES: usize = 2000;
const DEPTH: usize = 3;
const FOLDERS: usize = 100;

/// Files that most projects have, so they do not distinguish them.
const EVERYWHERE: &[&str] = &[
    "readme.md",
    "readme.txt",
    "changelog.md",
    "contributing.md",
    "license.md",
    "license.txt",
    "settings.json",
    "config.json",
    "config.toml",
    "package.json",
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "tsconfig.json",
    "vite.config.ts",
    "vite.config.js",
    "index.html",
    "index.css",
    "index.js",
    "index.ts",
    "index.tsx",
    "app.js",
    "app.ts",
    "app.tsx",
    "app.css",
    "app.py",
    "style.css",
    "styles.css",
    "main.js",
    "main.ts",
    "main.tsx",
    "main.py",
    "main.go",
    "main.rs",
    "main.c",
    "main.cpp",
    "lib.rs",
    "mod.rs",
    "build.rs",
    "cargo.toml",
    "cargo.lock",
    "go.mod",
    "go.sum",
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "setup.cfg",
    "__init__.py",
    "conftest.py",
    "utils.py",
    "utils.js",
    "utils.ts",
    "types.ts",
    "test.js",
    "test.py",
    "cmakelists.txt",
    "pom.xml",
    "build.gradle",
    "docker-compose.yml",
];

/// Whether a file of this name distinguishes projects.
pub(super) fn is_distinctive(name: &str) -> bool {
    // Files that agents and people should read first are in capitals.
    let is_loud = name.strip_suffix(".md").is_some_and(|stem| stem.to_uppercase() == stem);
    !is_loud && !EVERYWHERE.contains(&name.to_lowercase().as_str())
}

/// The contents of a folder, as far as needed for comparison.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    /// The names of all entries of the folder itself.
    top: BTreeSet<String>,
    /// The distinguishing file names in the folder and below.
    names: BTreeSet<String>,
    /// Hashes of the paths of files in the folder and below: thousands of folders are in memory at once.
    files: HashSet<u64>,
    /// Whether the listing is incomplete.
    is_cut: bool,
}

impl Contents {
    /// Lists a folder, upper levels first.
    pub(super) fn of(folder: &Path) -> Self {
        let mut contents = Self::default();
        let mut folders = VecDeque::from([(folder.to_owned(), String::new(), DEPTH)]);
        let mut left = FOLDERS;
        while let Some((folder, below, depth)) = folders.pop_front() {
            // A folder that cannot be listed has no files to compare.
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else { continue };
                if depth == DEPTH {
                    contents.top.insert(name.to_owned());
                }
                if kind.is_dir() && depth > 1 && is_entered(name) {
                    contents.is_cut |= left == 0;
                    if left > 0 {
                        left -= 1;
                        folders.push_back((entry.path(), format!("{below}{name}/"), depth - 1));
                    }
                } else if !kind.is_dir() {
                    contents.add(&below, name);
                }
            }
        }
        contents
    }

    fn add(&mut self, below: &str, name: &str) {
        if self.files.len() >= FILES {
            self.is_cut = true;
            return;
        }
        self.files.insert(number(&format!("{below}{name}")));
        if is_distinctive(name) {
            self.names.insert(name.to_owned());
        }
    }

    /// Whether `file`, relative to the folder, exists. `folder` is the folder that was listed.
    pub(super) fn has(&self, folder: &Path, file: &str) -> bool {
        let file = file.replace('\\', "/");
        let mut parts: Vec<&str> = file.split('/').collect();
        if !parts.first().is_some_and(|first| self.top.contains(*first)) {
            return false;
        }
        if self.files.contains(&number(&file)) {
            return true;
        }
        parts.pop();
        let is_listed =
            !self.is_cut && parts.len() < DEPTH && parts.iter().all(|part| is_entered(part));
        // Usually the disk need not be accessed.
        !is_listed && folder.join(file).exists()
    }

    /// Returns the distinguishing file names.
    pub(super) fn names(&self) -> &BTreeSet<String> {
        &self.names
    }
}

/// Whether a folder of this name may contain the project's own files.
fn is_entered(name: &str) -> bool {
    !name.starts_with('.') && !SKIPPED.contains(&name)
}

fn number(path: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}
