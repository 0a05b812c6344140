//! The folders in zoxide's database: every folder the user has changed to, as long as it is visited occasionally.

use std::path::PathBuf;

use recount_formats::bytes::read_head;
use recount_platform::{Env, Folders};

/// The version that zoxide writes.
const VERSION: u32 = 3;

/// zoxide removes folders long before its database is this large.
const LARGEST: u64 = 8 * 1024 * 1024;

/// Lists the folders in zoxide's database, each with the database.
pub(crate) fn read(env: &Env, places: &Folders) -> Vec<(String, PathBuf)> {
    let Some(database) = database(env, places) else { return Vec::new() };
    let bytes = read_head(&database, LARGEST).unwrap_or_default();
    folders(&bytes).into_iter().map(|folder| (folder, database.clone())).collect()
}

/// Returns the possible location of the database.
pub(crate) fn database(env: &Env, places: &Folders) -> Option<PathBuf> {
    let usual = || places.programs.as_ref().map(|folder| folder.join("zoxide"));
    let folder = env.path("_ZO_DATA_DIR").or_else(usual)?;
    Some(folder.join("db.zo"))
}

/// Reads a database: bincode with fixed-size little-endian numbers.
///
/// A version, then a count, then for each folder the length of its path, the path, a rank and a time.
pub(crate) fn folders(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = bytes;
    if take(&mut rest).map(u32::from_le_bytes) != Some(VERSION) {
        return found;
    }
    let count = take(&mut rest).map_or(0, u64::from_le_bytes);
    for _ in 0..count {
        let Some(path) = path(&mut rest) else { break };
        if let Ok(path) = str::from_utf8(path) {
            found.push(path.to_owned());
        }
    }
    found
}

/// Reads one entry and returns its path; `None` if it is incomplete.
fn path<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take(rest).map(u64::from_le_bytes)?).ok()?;
    let (path, after) = rest.split_at_checked(length)?;
    *rest = after;
    let _rank = take::<8>(rest)?;
    let _last_accessed = take::<8>(rest)?;
    Some(path)
}

fn take<const SIZE: usize>(rest: &mut &[u8]) -> Option<[u8; SIZE]> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;
    use recount_testkit::Home;

    use super::*;

    /// Returns the database that zoxide writes for these folders.
    fn written(folders: &[&str]) -> Vec<u8> {
        let mut bytes = VERSION.to_le_bytes().to_vec();
        bytes.extend((folders.len() as u64).to_le_bytes());
        for folder in folders {
            bytes.extend((folder.len() as u64).to_le_bytes());
            bytes.extend(folder.as_bytes());
            bytes.extend(4.0_f64.to_le_bytes());
            bytes.extend(1_794_769_200_u64.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn every_folder_is_read() {
        let all = ["/home/dev/code/shop", "/home/dev/code/商店", ""];
        assert_eq!(folders(&written(&all)), all);
        assert!(folders(&written(&[])).is_empty());
    }

    #[test]
    fn entries_before_damage_are_read() {
        let bytes = written(&["/home/dev/code/shop", "/home/dev/code/docs"]);
        assert_eq!(folders(bytes.get(..bytes.len() - 1).unwrap()), ["/home/dev/code/shop"]);
        assert!(folders(bytes.get(..20).unwrap()).is_empty());
        let mut other_version = bytes;
        other_version[0] = 4;
        assert!(folders(&other_version).is_empty());
        let mut endless = written(&["/home/dev/code/shop"]);
        endless.splice(4..12, u64::MAX.to_le_bytes());
        assert_eq!(folders(&endless), ["/home/dev/code/shop"]);
    }

    #[test]
    fn the_database_is_where_the_environment_says() {
        let env = Env::for_tests([("_ZO_DATA_DIR", "/data/z")], None);
        assert_eq!(database(&env, &Folders::default()).unwrap(), Path::new("/data/z/db.zo"));
        let env = Env::for_tests([("HOME", "/home/dev")], None);
        if cfg!(target_os = "linux") {
            let expected = Path::new("/home/dev/.local/share/zoxide/db.zo");
            assert_eq!(database(&env, &Folders::find(&env)).unwrap(), expected);
        }
        assert_eq!(database(&env, &Folders::default()), None);
    }

    #[test]
    fn a_missing_database_has_no_folders() {
        let home = Home::empty();
        let env = Env::for_tests([("_ZO_DATA_DIR", home.at("z").as_str())], None);
        assert!(read(&env, &Folders::default()).is_empty());
        home.write("z/db.zo", written(&["/home/dev/code/shop"]));
        let found = read(&env, &Folders::default());
        assert_eq!(found, [("/home/dev/code/shop".to_owned(), home.path().join("z/db.zo"))]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _found = folders(&bytes);
            let _found = folders(&[&VERSION.to_le_bytes(), bytes.as_slice()].concat());
        }
    }
}
