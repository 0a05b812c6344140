//! Tests of disks that never respond: everything else is still answered, and nothing blocks.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_engine::{Engine, ListQuery};
use recount_model::{ClueKind, ProjectState};
use recount_platform::{FolderEntry, Lister};
use recount_store::scan::{DiskTree, FolderTree};
use recount_testkit::Home;

use super::{
    assert_proven, engine, hash, path, row, rows, session, write_hash_directory, write_session,
};

/// The disk, with one folder that never responds.
#[derive(Debug)]
struct Hanging(DiskTree, PathBuf);

impl FolderTree for Hanging {
    fn lister(&self, place: &Path) -> Lister {
        self.0.lister(place)
    }

    fn folders(
        &self,
        folder: &Path,
        lister: Lister,
        visit: &mut dyn FnMut(&FolderEntry<'_>),
    ) -> io::Result<()> {
        if folder == self.1 {
            loop {
                std::thread::park();
            }
        }
        self.0.folders(folder, lister, visit)
    }
}

/// Returns a home with an existing project, one that only a search finds, and one that no search finds.
fn home() -> Home {
    let home = Home::empty();
    home.write(".config/recount/config.toml", "[projects]\npatience_ms = 3000\n");
    home.write("code/known/README.md", "");
    home.write(".gemini/tmp/known/.project_root", home.at("code/known"));
    write_session(&home, "known", &session("aa11bb22", &home.at("code/known"), "hello"));
    home.write("src/x/y/deep/README.md", "");
    write_hash_directory(&home, &home.at("src/x/y/deep"));
    home.write("code/a/b/c/d/README.md", "");
    write_hash_directory(&home, "/nowhere/at/all");
    home
}

fn hanging(home: &Home, at: &str) -> Engine {
    engine(home).with_tree(Arc::new(Hanging(DiskTree::new(), home.path().join(at))))
}

/// The first level of a place, one that is listed before the search, and one that only the search reaches.
const PLACES: &[&str] = &["code", "code/a", "code/a/b"];

#[test]
fn a_list_of_projects_says_what_it_knows() {
    for at in PLACES {
        let home = home();
        let engine = hanging(&home, at);
        let rows = rows(&engine);
        assert_eq!(row(&rows, "known").state, ProjectState::Present, "{at}");
        let deep = row(&rows, &home.at("src/x/y/deep"));
        assert_eq!(path(deep), Some(&*home.at("src/x/y/deep")), "{at}");
        let unknown = row(&rows, "/nowhere/at/all");
        assert_eq!((path(unknown), unknown.state), (None, ProjectState::Scanning), "{at}");
    }
}

#[test]
fn a_list_of_sessions_does_not_wait() {
    for at in PLACES {
        let home = home();
        let listing = hanging(&home, at).list(&ListQuery::default(), &()).unwrap();
        assert_eq!(listing.sessions.len(), 3, "{at}");
        let of = |folder: &str| {
            let own = hash(folder);
            let session = listing.sessions.iter().find(|session| {
                session.project.hash.as_ref().is_some_and(|hash| hash.as_str() == own)
            });
            session.unwrap().project.state
        };
        assert_eq!(of(&home.at("code/known")), ProjectState::Present, "{at}");
        assert_eq!(of("/nowhere/at/all"), ProjectState::Scanning, "{at}");
    }
}

#[test]
fn when_the_disk_answers_again_the_search_is_finished() {
    let home = home();
    home.write("code/a/b/shop/README.md", "");
    let shop = home.at("code/a/b/shop");
    write_hash_directory(&home, &shop);
    assert_eq!(row(&rows(&hanging(&home, "code/a/b")), &shop).state, ProjectState::Scanning);
    home.write(".config/recount/config.toml", "[projects]\npatience_ms = 20000\n");
    assert_proven(&engine(&home), &shop, ClueKind::Scan);
    let rows = rows(&engine(&home));
    assert_eq!(row(&rows, "/nowhere/at/all").state, ProjectState::Unknown);
}
