//! Which release is installed, told by the package's own file; nothing is started.

use std::path::{Path, PathBuf};

use super::rules::Release;
use crate::bytes::read_small;
use crate::json::JsonTree;
use crate::retention::{InstallFolders, Installed};

/// The program, as people start it.
pub(crate) const PROGRAM: &str = "gemini";
const PACKAGE: &str = "@google/gemini-cli";

/// How many folders above a program its package may lie.
const ABOVE: usize = 6;

/// The first on the way of the shell; else the newest of those in the usual places.
pub(crate) fn installed(places: &InstallFolders<'_>) -> Option<Installed> {
    let names = [PROGRAM.to_owned(), format!("{PROGRAM}.cmd"), format!("{PROGRAM}.ps1")];
    let programs = places.programs.iter().flat_map(|folder| {
        let here = names.iter().map(move |name| folder.join(name));
        here.filter(|path| path.is_file()).map(move |path| (folder, path))
    });
    for (folder, program) in programs {
        // A link leads into the package; a script stands beside the folder of packages.
        let target = program.canonicalize().unwrap_or(program);
        let above = target.ancestors().skip(1).take(ABOVE).map(|above| above.join("package.json"));
        let beside = [folder.join("node_modules"), folder.join("../lib/node_modules")];
        let beside = beside.map(|packages| about(&packages));
        if let Some(found) = above.chain(beside).find_map(|path| read(&path)) {
            return Some(found);
        }
    }
    let found = places.packages.iter().filter_map(|packages| read(&about(packages)));
    found.max_by_key(|found| Release::parse(&found.release))
}

fn about(packages: &Path) -> PathBuf {
    packages.join(PACKAGE).join("package.json")
}

fn read(path: &Path) -> Option<Installed> {
    let tree = JsonTree::parse(&read_small(path).ok()?).ok()?;
    let release = tree.text("version").filter(|_| tree.text("name") == Some(PACKAGE))?;
    Release::parse(release)?;
    Some(Installed { release: release.to_owned(), from: path.to_owned() })
}
