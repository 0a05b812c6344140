//! Tests on every recorded home of another agent: every recorded folder is found.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use recount_formats::bytes::read_small;
use recount_formats::{SOURCES, Source};
use recount_testkit::{Capture, corpus_of_other_agents};

/// How a folder is written in rows, in texts for the model and in settings.
const MARKS: [&str; 4] = ["\"cwd\":\"/", "<cwd>/", "\"project\":\"/", "[projects.\"/"];

fn listed(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// Searches all files for folders, without parsing them.
fn on_record(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in listed(folder) {
        if path.is_dir() {
            found.extend(on_record(&path));
        } else if path.extension().is_some_and(|end| end != "sqlite") {
            let bytes = read_small(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            for mark in MARKS {
                let ends =
                    text.split(mark).skip(1).filter_map(|rest| rest.split(['"', '<']).next());
                found.extend(ends.map(|end| format!("/{end}")));
            }
        }
    }
    found
}

fn root_in(home: &Path) -> Option<(&'static dyn Source, PathBuf)> {
    let others = SOURCES.iter().filter(|source| source.name().as_str() != "gemini");
    let roots = others.flat_map(|source| {
        let below = source.folders().below_home.iter();
        below.map(|below| (*source, home.join(below)))
    });
    { roots }.find(|(_, root)| root.is_dir())
}

#[test]
fn every_folder_that_is_on_record_is_found() {
    for home in corpus_of_other_agents().captures.iter().map(Capture::home) {
        let Some((source, root)) = root_in(&home) else { continue };
        let found = source.known_folders(&root);
        let told = format!("{}: {found:?}", home.display());
        let names: BTreeSet<String> = found.iter().map(|(path, _)| path.to_string()).collect();
        assert!(on_record(&home).is_subset(&names), "{told}");
        assert!(names.iter().all(|path| path.starts_with("/home/dev")), "{told}");
        assert!(found.is_sorted() && names.len() == found.len(), "{told}");
        assert!(found.iter().all(|(_, file)| file.is_file()), "{told}");
    }
}
