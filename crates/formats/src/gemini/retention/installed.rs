//! Finds the installed release from the package's own file; nothing is started.

use std::path::{Path, PathBuf};

use super::rules::Release;
use crate::bytes::read_small;
use crate::json::JsonTree;
use crate::retention::{InstallFolders, Installed};

/// The program, as people start it.
pub(crate) const PROGRAM: &str = "gemini";
const PACKAGE: &str = "@google/gemini-cli";

/// The maximum number of levels from a program up to its package.
const ABOVE: usize = 6;

/// Returns the first one in the shell's path; else the newest of those in the usual places.
pub(crate) fn installed(places: &InstallFolders<'_>) -> Option<Installed> {
    let names = [PROGRAM.to_owned(), format!("{PROGRAM}.cmd"), format!("{PROGRAM}.ps1")];
    let programs = places.programs.iter().flat_map(|folder| {
        let here = names.iter().map(move |name| folder.join(name));
        here.filter(|path| path.is_file()).map(move |path| (folder, path))
    });
    for (folder, program) in programs {
        // A link leads into the package; a script is beside the folder of packages, or names what it starts.
        let target = program.canonicalize().unwrap_or(program);
        let beside = [folder.join("node_modules"), folder.join("../lib/node_modules")];
        let beside = beside.map(|packages| about(&packages));
        let found = above(&target).chain(beside).find_map(|path| read(&path));
        if let Some(found) = found.or_else(|| wrapped(&target, WRAPPERS)) {
            return Some(found);
        }
    }
    let found = places.packages.iter().filter_map(|packages| read(&about(packages)));
    found.max_by_key(|found| Release::parse(&found.release))
}

/// A wrapper may start another one.
const WRAPPERS: usize = 3;

/// Follows a script to the package that it starts: it names a file of the package, or another program.
fn wrapped(script: &Path, deep: usize) -> Option<Installed> {
    let bytes = read_small(script).ok()?;
    let text = std::str::from_utf8(&bytes).ok().filter(|text| !text.contains('\0'))?;
    let folder = script.parent()?;
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '(' | ')' | '=');
    let paths = text.split(ends).filter(|word| word.contains(['/', '\\'])).take(200);
    paths.map(|word| path(word, folder)).filter(|path| path.is_file()).find_map(|path| {
        let target = path.canonicalize().ok()?;
        let is_program = || target.file_stem().is_some_and(|name| name == PROGRAM);
        let found = above(&target).find_map(|path| read(&path));
        let deeper = || wrapped(&target, deep.checked_sub(1)?);
        found.or_else(|| (target != script && is_program()).then(deeper).flatten())
    })
}

/// Reads a path of a script, with its own folder resolved.
fn path(word: &str, folder: &Path) -> PathBuf {
    let word = word.replace('\\', "/");
    let own = ["$basedir/", "${basedir}/", "%~dp0/", "%~dp0", "%dp0%/", "$PSScriptRoot/"];
    let below = own.into_iter().find_map(|own| word.strip_prefix(own));
    folder.join(below.unwrap_or(&word))
}

/// Returns the possible description files of a file's package.
fn above(target: &Path) -> impl Iterator<Item = PathBuf> {
    target.ancestors().skip(1).take(ABOVE).map(|above| above.join("package.json"))
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
