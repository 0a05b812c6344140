//! Tests of searches on fake disks.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Mutex;

use recount_formats::SOURCES;
use recount_platform::{FolderEntry, Lister};

use super::*;

/// A synthetic disk of folders, and how often each was listed.
#[derive(Debug, Default)]
struct FakeTree {
    folders: BTreeMap<String, BTreeSet<String>>,
    /// A folder that never responds.
    hangs: Option<&'static str>,
    listed: Mutex<BTreeMap<String, usize>>,
}

impl FakeTree {
    fn of(paths: &[&str]) -> Self {
        let mut made = Self::default();
        for path in paths {
            let mut path = Path::new(path);
            while let (Some(above), Some(name)) = (path.parent(), path.file_name()) {
                let inside = made.folders.entry(above.to_str().unwrap().to_owned()).or_default();
                inside.insert(name.to_str().unwrap().to_owned());
                path = above;
            }
        }
        made
    }

    fn listed(&self) -> BTreeMap<String, usize> {
        self.listed.lock().unwrap().clone()
    }
}

impl FolderTree for FakeTree {
    fn lister(&self, _place: &Path) -> Lister {
        Lister::default()
    }

    fn folders(
        &self,
        folder: &Path,
        _lister: Lister,
        visit: &mut dyn FnMut(&FolderEntry<'_>),
    ) -> io::Result<()> {
        let folder = folder.to_str().unwrap();
        while self.hangs == Some(folder) {
            std::thread::park();
        }
        *self.listed.lock().unwrap().entry(folder.to_owned()).or_default() += 1;
        for name in self.folders.get(folder).into_iter().flatten() {
            visit(&FolderEntry::named(name));
        }
        Ok(())
    }
}

fn place(path: &str, depth: usize) -> ScanRoot {
    ScanRoot { path: path.into(), depth, patience: Duration::from_mins(1) }
}

fn search(paths: &[&str], names: &[&str]) -> Search {
    let hashes = paths.iter().filter_map(|path| SOURCES[0].project_hash(path)).collect();
    let names = names.iter().map(|&name| name.to_owned()).collect();
    Search { hashes: vec![(SOURCES[0], hashes)], names, repositories: Vec::new() }
}

/// The events of a whole search, except progress.
#[derive(Debug, Default, PartialEq)]
struct ScanResult {
    found: BTreeSet<String>,
    likely: BTreeSet<String>,
    ends: Vec<(String, ScanEnd)>,
}

fn run(search: Search, places: Vec<ScanRoot>, tree: &Arc<FakeTree>) -> ScanResult {
    let tree: Arc<dyn FolderTree> = Arc::<FakeTree>::clone(tree);
    let mut scan = FolderScan::start(search, places, &tree);
    let mut result = ScanResult::default();
    while let Some(event) = scan.next(Duration::from_hours(1)) {
        match event {
            ScanEvent::Found { path, .. } => assert!(result.found.insert(path), "result once"),
            ScanEvent::Likely(path) => assert!(result.likely.insert(path), "result once"),
            ScanEvent::Visited(_) => {}
            ScanEvent::Finished { place, end } => {
                result.ends.push((place.to_str().unwrap().to_owned(), end));
            }
        }
    }
    assert!(scan.is_done());
    result.ends.sort_by(|(one, _), (other, _)| one.cmp(other));
    result
}

fn strings(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|&path| path.to_owned()).collect()
}

#[test]
fn a_search_respects_its_depth_limit() {
    let tree = Arc::new(FakeTree::of(&["/h/a/b/c/d"]));
    for (depth, found) in [(1, false), (2, false), (3, true), (4, true)] {
        let result = run(search(&["/h/a/b/c", "/h/none"], &[]), vec![place("/h", depth)], &tree);
        assert_eq!(!result.found.is_empty(), found, "depth {depth}");
        assert_eq!(result.ends, [("/h".to_owned(), ScanEnd::Searched)]);
    }
}

#[test]
fn the_place_itself_may_be_the_one() {
    let tree = Arc::new(FakeTree::of(&["/h/shop/x"]));
    let result = run(search(&["/h/shop"], &["shop"]), vec![place("/h/shop", 1)], &tree);
    assert_eq!((result.found, result.likely), (strings(&["/h/shop"]), strings(&["/h/shop"])));
}

#[test]
fn skipped_folders_are_found_but_not_entered() {
    let inside =
        ["/h/node_modules/x", "/h/.hidden/x", "/h/target/x", "/h/code/Library/x", "/h/code/x"];
    let tree = Arc::new(FakeTree::of(&inside));
    let wanted = ["/h/node_modules", "/h/.hidden", "/h/target", "/h/code/Library"];
    let all: Vec<&str> = wanted.iter().chain(&inside).copied().collect();
    let result = run(search(&all, &["x"]), vec![place("/h", 9)], &tree);
    let mut expected = strings(&wanted);
    expected.insert("/h/code/x".to_owned());
    assert_eq!((result.found, result.likely), (expected, strings(&["/h/code/x"])));
    let listed: Vec<String> = tree.listed().into_keys().collect();
    assert_eq!(listed, ["/h", "/h/code", "/h/code/x"]);
}

#[test]
fn a_place_within_another_is_searched_once() {
    let tree = Arc::new(FakeTree::of(&["/h/code/shop/src", "/h/docs/x"]));
    let places = vec![place("/h/code", 9), place("/h", 9)];
    let result = run(search(&["/h/code/shop", "/none"], &["shop"]), places, &tree);
    assert_eq!(result.found, strings(&["/h/code/shop"]));
    assert!(tree.listed().values().all(|&times| times == 1), "{:?}", tree.listed());
    assert_eq!(tree.listed().len(), 6);
    assert_eq!(result.ends.len(), 2);
}

#[test]
fn a_search_ends_when_all_is_found() {
    let many: Vec<String> = (0..2000).map(|number| format!("/h/z/{number}/x")).collect();
    let mut paths: Vec<&str> = many.iter().map(String::as_str).collect();
    paths.push("/h/a");
    let tree = Arc::new(FakeTree::of(&paths));
    let result = run(search(&["/h/a"], &[]), vec![place("/h", 9)], &tree);
    assert_eq!(result.ends, [("/h".to_owned(), ScanEnd::Found)]);
    assert!(tree.listed().len() < 100, "{} folders were listed", tree.listed().len());
    let result = run(search(&["/h/a"], &["x"]), vec![place("/h", 9)], &tree);
    assert_eq!(result.ends, [("/h".to_owned(), ScanEnd::Searched)], "a name may be met again");
    assert_eq!(result.likely.len(), 2000);
}

#[test]
fn a_place_without_time_is_not_searched() {
    let tree = Arc::new(FakeTree::of(&["/h/a"]));
    let none = ScanRoot { patience: Duration::ZERO, ..place("/h", 9) };
    let result = run(search(&["/h/a"], &[]), vec![none], &tree);
    assert_eq!((result.found.len(), result.ends), (0, vec![("/h".to_owned(), ScanEnd::OutOfTime)]));
}

#[test]
fn a_folder_that_never_responds_blocks_only_its_own_place() {
    let tree = FakeTree {
        hangs: Some("/net/dead"),
        ..FakeTree::of(&["/net/dead/x", "/net/a", "/h/a/shop"])
    };
    let slow = ScanRoot { patience: Duration::from_secs(5), ..place("/net", 9) };
    let wanted = ["/h/a/shop", "/net/a", "/net/dead/x"];
    let result = run(search(&wanted, &[]), vec![slow, place("/h", 9)], &Arc::new(tree));
    assert_eq!(result.found, strings(&["/h/a/shop", "/net/a"]));
    let expected = [("/h".to_owned(), ScanEnd::Searched), ("/net".to_owned(), ScanEnd::OutOfTime)];
    assert_eq!(result.ends, expected);
}

#[test]
fn a_place_that_is_not_there_is_left_out_and_one_that_is_named_twice_is_seen_once() {
    let home = recount_testkit::Home::empty();
    home.write("code/shop/x", "");
    let tree: Arc<dyn FolderTree> = Arc::new(DiskTree::new());
    let code = home.path().join("code");
    let places = vec![
        code.clone(),
        home.path().join("none"),
        code.join("."),
        home.path().join("code/shop/x"),
    ];
    let looked = look(places, 4, Duration::from_secs(1), &tree);
    assert!(!looked.silent);
    let [seen] = looked.seen.as_slice() else { panic!("{looked:?}") };
    assert_eq!(seen.place.path, code);
    let shape =
        |path: &Path| look(vec![path.to_owned()], 4, Duration::ZERO, &tree).seen[0].shape.clone();
    assert_eq!(shape(&code), seen.shape);
    home.write("code/shop/file", "");
    home.write("code/node_modules/x/y", "");
    assert_eq!(shape(&code), seen.shape, "files and skipped folders do not count");
    home.write("code/shop/folder/x", "");
    assert_ne!(shape(&code), seen.shape, "a folder was made");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let home = recount_testkit::Home::empty();
    home.write("code/shop/x", "");
    let link = |from: &str, to: &str| {
        std::os::unix::fs::symlink(home.path().join(to), home.path().join(from)).unwrap();
    };
    link("code/shop/loop", "code");
    link("code/self", "code/self");
    link("code/broken", "nowhere");
    let tree: Arc<dyn FolderTree> = Arc::new(DiskTree::new());
    let through = home.at("code/shop/loop/shop");
    let wanted = search(&[&home.at("code/shop"), &through], &["shop"]);
    let mut scan = FolderScan::start(wanted, vec![place(&home.at("code"), 256)], &tree);
    let mut likely = Vec::new();
    while let Some(event) = scan.next(Duration::from_hours(1)) {
        match event {
            ScanEvent::Found { path, .. } => assert_eq!(path, home.at("code/shop")),
            ScanEvent::Likely(path) => likely.push(path),
            ScanEvent::Visited(_) | ScanEvent::Finished { .. } => {}
        }
    }
    assert_eq!(likely, [home.at("code/shop")]);
}
