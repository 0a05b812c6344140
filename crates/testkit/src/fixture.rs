//! Finds fixtures.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// One case: a home as an agent wrote it, and a README with its origin.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// Its name, `<source>/<era>/<case>`.
    pub name: String,
    /// Its folder, which contains `home/` and possibly more.
    pub path: PathBuf,
}

/// Returns the path of something below `fixtures/`.
///
/// ```
/// let case = recount_testkit::fixture("gemini/lines/rewind");
/// assert!(case.join("README.md").is_file());
/// ```
pub fn fixture(path: impl AsRef<Path>) -> PathBuf {
    repository().join("fixtures").join(path)
}

/// Lists the cases of the first source, sorted by name.
///
/// # Panics
/// If the folder of fixtures cannot be read.
pub fn fixtures() -> Vec<Fixture> {
    fixtures_of("gemini")
}

/// Lists the cases of a source, sorted by name.
///
/// # Panics
/// If the folder of fixtures cannot be read.
pub fn fixtures_of(source: &str) -> Vec<Fixture> {
    let eras = folders(&fixture(source));
    eras.iter().flat_map(|era| folders(era)).map(case).collect()
}

fn case(path: PathBuf) -> Fixture {
    let below = path.strip_prefix(fixture("")).unwrap_or(&path);
    let names: Vec<_> = below.iter().map(|name| name.to_string_lossy()).collect();
    Fixture { name: names.join("/"), path }
}

/// Lists the folders in a folder, sorted by path.
pub(crate) fn folders(path: &Path) -> Vec<PathBuf> {
    let listed = || -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
        Ok(entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
    };
    #[expect(clippy::panic, reason = "a test without its fixtures must fail")]
    let mut all = listed().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    all.sort();
    all
}

pub(crate) fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_home_and_a_readme() {
        let sources = folders(&fixture(""));
        let names = sources.iter().filter_map(|source| source.file_name()?.to_str());
        let all: Vec<Fixture> = names.flat_map(fixtures_of).collect();
        assert!(!all.is_empty());
        for case in all {
            assert!(case.path.join("home").is_dir(), "{} has no home", case.name);
            let readme = fs::read_to_string(case.path.join("README.md")).unwrap_or_default();
            assert!(!readme.trim().is_empty(), "{} has no README.md", case.name);
        }
    }
}
