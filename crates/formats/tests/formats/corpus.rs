//! Tests on every recorded home: our list must match that of the real program.
//!
//! The recordings are not part of the repository; see `recount_testkit::corpus`. The fixtures, which replace them, do not
//! record the program's list.

use std::path::PathBuf;
use std::sync::Arc;

use recount_formats::SOURCES;
use recount_formats::bytes::Buffer;
use recount_formats::json::JsonTree;
use recount_formats::source::{FileAt, ListedFile, ProjectFolder, RootShape, ScannedFile, Source};
use recount_model::RecordedPath;
use recount_testkit::{Corpus, corpus};

/// One recorded home, with its metadata.
struct Recording {
    path: PathBuf,
    name: String,
    release: String,
    meta: JsonTree,
}

fn recordings(corpus: &Corpus) -> impl Iterator<Item = Recording> {
    corpus.captures.iter().filter_map(|capture| {
        let meta = JsonTree::parse(capture.meta()?.as_bytes()).ok()?;
        let release = meta.text("release")?.to_owned();
        Some(Recording { path: capture.path.clone(), name: capture.name.clone(), release, meta })
    })
}

/// A row of the real list: title and session id.
type Row = (String, String);

/// Reads `  1. Title (Just now) [id]`.
fn real_rows(output: &str) -> Vec<Row> {
    let row = |line: &str| {
        let line = line.trim();
        let (number, rest) = line.split_once(". ")?;
        number.parse::<u32>().ok()?;
        let (rest, id) = rest.strip_suffix(']')?.rsplit_once(" [")?;
        let (title, _age) = rest.rsplit_once(" (")?;
        Some((title.to_owned(), id.to_owned()))
    };
    output.lines().filter_map(row).collect()
}

/// Returns our list for one project, by the rules of the capture's release, and its files. Listing may itself write a
/// summary, so the files it changed are read in their later state.
fn our_rows(capture: &Recording, path: &str) -> (Vec<Row>, Vec<ScannedFile>) {
    let source: &dyn Source = *SOURCES.first().unwrap();
    let root = capture.path.join("home/.gemini");
    let later = capture.path.join("home-after-list/.gemini");
    let path = RecordedPath::new(path);
    let mut folders = source.locate(&root, RootShape::Whole).folders;
    // A hash folder beside a named one is a copy that the program no longer uses.
    folders.sort_by_key(|folder| folder.hash.is_some());
    let hash = source.project_hash(path.as_str());
    let own = |folder: &&ProjectFolder| {
        folder.hash.as_ref() == Some(hash.as_ref().unwrap())
            || folder.markers.iter().any(|(marked, _)| *marked == path)
    };
    let Some(folder) = folders.iter().find(own) else { return Default::default() };
    let mut buffer = Buffer::new();
    let survey = |at: &Arc<FileAt>| {
        let changed = later.join(at.path.strip_prefix(&root).unwrap());
        let path = if changed.is_file() { changed } else { at.path.clone() };
        let outline = source.outline(&path, &mut buffer);
        ScannedFile {
            folder: 0,
            named_folder: folder.hash.is_none(),
            is_shared: false,
            at: Arc::clone(at),
            outline,
        }
    };
    let files: Vec<ScannedFile> = folder.files.iter().map(survey).collect();
    let listed: Vec<ListedFile> =
        files.iter().map(|file| file.listed(file.outline.state.clone())).collect();
    let rows = source.agent_list(&listed.iter().collect::<Vec<_>>(), Some(&capture.release));
    (rows.into_iter().map(|row| (row.title, row.id.to_string())).collect(), files)
}

/// Whether the start of the program may have deleted a session before it listed: those whose id8 group has a file that
/// cannot be listed.
fn pending(files: &[ScannedFile], id: &str) -> bool {
    let short = |file: &ScannedFile| file.at.group.clone();
    let own = files
        .iter()
        .find(|f| f.outline.head.session_id.as_ref().is_some_and(|known| known.as_str() == id));
    own.is_some_and(|own| {
        let group: Vec<&ScannedFile> =
            files.iter().filter(|file| short(file) == short(own)).collect();
        group.iter().any(|file| !file.outline.resumable || !file.outline.loadable)
    })
}

/// Whether a release deletes all files of an id8 group for one that cannot be listed (FORMAT.md).
fn deletes_groups(release: &str) -> bool {
    let minor = release.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok()).unwrap_or(0);
    matches!(minor, 42 | 43 | 47..)
}

#[test]
fn we_list_what_the_real_program_listed() {
    let corpus = corpus();
    let mut compared = 0;
    for capture in recordings(&corpus) {
        for listing in
            capture.meta.get("list_sessions").and_then(JsonTree::as_array).unwrap_or_default()
        {
            let folder = listing.text("cwd").unwrap_or_default();
            let printed = [listing.text("stdout"), listing.text("stderr")]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("\n");
            let expected = real_rows(&printed);
            let (mut rows, files) = our_rows(&capture, folder);
            // Sessions that the start deletes may be listed or not, under a summary that it wrote just before.
            rows.retain_mut(|(title, id)| {
                let listed = expected.iter().find(|(_, known)| known == id);
                if !deletes_groups(&capture.release) || !pending(&files, id) {
                    return true;
                }
                if let Some((real, _)) = listed {
                    title.clone_from(real);
                }
                listed.is_some()
            });
            assert_eq!(rows, expected, "{} in {folder}", capture.name);
            compared += expected.len();
        }
    }
    assert!(!corpus.is_recorded() || compared > 150, "only {compared} rows were compared");
}

#[test]
fn nothing_recorded_is_unknown_to_us() {
    let source: &dyn Source = *SOURCES.first().unwrap();
    let mut buffer = Buffer::new();
    let corpus = corpus();
    let mut read = 0;
    for capture in &corpus.captures {
        if capture.name.contains("/damaged/") {
            continue;
        }
        for home in capture.homes() {
            for file in source
                .locate(&home.join(".gemini"), RootShape::Whole)
                .folders
                .iter()
                .flat_map(|f| &f.files)
            {
                let outline = source.outline(&file.path, &mut buffer);
                assert_eq!(outline.problems.kept, [], "{}", file.path.display());
                assert!(outline.loadable, "{}", file.path.display());
                read += 1;
            }
        }
    }
    assert!(!corpus.is_recorded() || read > 200, "only {read} files were read");
}
