//! Where other programs are installed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Env, Folders};

/// Folders of packages below the home; `*` matches each folder there.
const BELOW_HOME: &[&str] = &[
    ".npm-global/lib/node_modules",
    ".npm-packages/lib/node_modules",
    ".local/lib/node_modules",
    ".bun/install/global/node_modules",
    ".nvm/versions/node/*/lib/node_modules",
    ".local/share/fnm/node-versions/*/installation/lib/node_modules",
    ".local/share/mise/installs/node/*/lib/node_modules",
    ".asdf/installs/nodejs/*/lib/node_modules",
    ".volta/tools/image/packages/*/*/lib/node_modules",
    ".local/share/pnpm/global/*/node_modules",
    "Library/pnpm/global/*/node_modules",
];

/// Where programs and packages are on this machine.
#[derive(Clone, Debug, Default)]
pub struct Installations {
    /// Folders with programs, in the order in which the shell looks.
    pub programs: Vec<PathBuf>,
    /// Folders with Node packages that are installed for all projects of the user.
    pub packages: Vec<PathBuf>,
}

impl Installations {
    /// Finds them. System-wide ones are found through `PATH`.
    pub fn find(env: &Env, folders: &Folders) -> Self {
        let programs = env.path("PATH").map(|path| std::env::split_paths(&path).collect());
        let mut packages = Vec::new();
        for pattern in BELOW_HOME.iter().filter(|_| folders.home.is_some()) {
            let home = folders.home.clone().unwrap_or_default();
            packages.extend(matching(home, pattern));
        }
        packages.extend(env.path("APPDATA").map(|data| data.join("npm/node_modules")));
        Self { programs: programs.unwrap_or_default(), packages }
    }
}

fn matching(base: PathBuf, pattern: &str) -> Vec<PathBuf> {
    let mut places = vec![base];
    for part in pattern.split('/') {
        places = places.iter().flat_map(|place| step(place, part)).collect();
    }
    places
}

fn step(place: &Path, part: &str) -> Vec<PathBuf> {
    if part != "*" {
        return Some(place.join(part)).filter(|next| next.is_dir()).into_iter().collect();
    }
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let mut inner: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    inner.sort();
    inner
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "test setup")]
    fn packages_of_every_version_of_node_are_found() {
        let home = tempfile::tempdir().unwrap();
        for version in ["v20.1.0", "v22.3.0"] {
            let packages = format!(".nvm/versions/node/{version}/lib/node_modules");
            fs::create_dir_all(home.path().join(packages)).unwrap();
        }
        let path = home.path().to_str().unwrap();
        let env = Env::for_tests([("HOME", path), ("PATH", "/usr/local/bin:/usr/bin")], None);
        let found = Installations::find(&env, &Folders::find(&env));
        assert_eq!(found.packages.len(), 2);
        if cfg!(unix) {
            assert_eq!(found.programs, [Path::new("/usr/local/bin"), Path::new("/usr/bin")]);
        }
    }
}
