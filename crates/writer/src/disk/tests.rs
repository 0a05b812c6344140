//! Tests of what is on disk after each step.

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn an_atomic_write_creates_and_replaces_and_leaves_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.json");
    write_atomically(&path, b"one").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
    write_atomically(&path, b"two, longer").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two, longer");
    assert_eq!(names(home.path()), ["a.json"]);
}

#[test]
fn a_failed_atomic_write_keeps_the_old_state_and_cleans_up() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("taken");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("inside"), b"x").unwrap();
    let error = write_atomically(&path, b"new").unwrap_err();
    assert!(matches!(&error, Error::ReplaceFile { path: named, .. } if *named == path));
    assert_eq!(names(home.path()), ["taken"]);
    assert_eq!(names(&path), ["inside"]);
}

#[test]
fn an_incremental_write_is_complete_or_absent() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.md");
    let length = write_with(&path, |out| {
        out.write_all(b"one ")?;
        out.write_all(b"two")
    });
    assert_eq!(length.unwrap(), 7);
    let error = write_with(&path, |out| {
        out.write_all(b"half")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert!(matches!(error, Err(Error::WriteFile { path: named, .. }) if named == path));
    assert_eq!(fs::read(&path).unwrap(), b"one two");
    assert_eq!(names(home.path()), ["a.md"]);
}

#[test]
fn an_atomic_write_needs_a_folder_and_a_name() {
    let home = tempfile::tempdir().unwrap();
    let missing = write_atomically(&home.path().join("no/such/file"), b"").unwrap_err();
    assert!(matches!(missing, Error::CreateFile { .. }));
    let unnamed = write_atomically(&home.path().join(".."), b"").unwrap_err();
    assert!(matches!(unnamed, Error::NotAFile { .. }));
}

#[test]
fn a_leftover_temporary_file_is_ignored() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a");
    for n in 0..200 {
        fs::write(home.path().join(format!(".a.{}-{n}.tmp", process::id())), b"").unwrap();
    }
    write_atomically(&path, b"fine").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"fine");
}

#[cfg(unix)]
#[test]
fn an_atomic_write_keeps_the_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("private");
    fs::write(&path, b"one").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    write_atomically(&path, b"two").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_new_file_gets_its_time_and_is_never_overwritten() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("new");
    let time = Timestamp::from_millisecond(1_700_000_000_123).unwrap();
    create_new(&path, b"first", Some(time)).unwrap();
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(Timestamp::try_from(modified).unwrap(), time);
    let error = create_new(&path, b"second", None).unwrap_err();
    assert!(matches!(&error, Error::AlreadyExists { path: named } if *named == path));
    assert!(error.to_string().contains("not overwritten"));
    assert_eq!(fs::read(&path).unwrap(), b"first");
}

#[test]
fn updates_of_a_file_are_serialized() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("numbers");
    let add = |number: u32| {
        update(&path, |old| {
            let mut text = old.unwrap_or_default();
            text.extend_from_slice(format!("{number}\n").as_bytes());
            Some(text)
        })
    };
    thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || add(number).unwrap());
        }
    });
    let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
    let numbers: std::collections::BTreeSet<&str> = text.lines().collect();
    assert_eq!(numbers.len(), 8, "{text}");
    update(&path, |_| None).unwrap();
    assert_eq!(fs::read(&path).unwrap(), text.as_bytes());
    remove(&path).unwrap();
    remove(&path).unwrap();
    assert!(!path.exists());
}

#[test]
fn an_unreadable_file_is_not_replaced() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("names");
    fs::create_dir(&path).unwrap();
    let error = update(&path, |_| Some(b"new".to_vec())).unwrap_err();
    assert!(matches!(&error, Error::ReadFile { path: named, .. } if *named == path));
    assert!(path.is_dir());
}

#[test]
fn folders_are_made_once_and_not_over_files() {
    let home = tempfile::tempdir().unwrap();
    let deep = home.path().join("a/b/c");
    create_folders(&deep).unwrap();
    create_folders(&deep).unwrap();
    assert!(deep.is_dir());
    fs::write(home.path().join("file"), b"").unwrap();
    let error = create_folders(&home.path().join("file/below")).unwrap_err();
    assert!(matches!(error, Error::CreateFolder { .. }));
}

#[test]
fn drafts_do_not_exist_before_they_are_finished() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (home.path().join("one"), home.path().join("two"));
    let (mut first, mut second) = (Draft::new(&one).unwrap(), Draft::new(&two).unwrap());
    first.write_all(b"1").unwrap();
    second.write_all(b"22").unwrap();
    assert!(!one.exists() && !two.exists());
    assert_eq!(second.finish().unwrap(), 2);
    drop(first);
    assert_eq!(names(home.path()), ["two"]);
    remove_empty_folder(home.path()).unwrap();
    assert!(two.exists(), "it is not empty");
    remove(&two).unwrap();
    remove_empty_folder(home.path()).unwrap();
    assert!(!home.path().exists());
}

#[cfg(unix)]
mod private {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn open_up(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn an_open_data_folder_is_made_private_with_its_contents() {
        let top = tempfile::tempdir().unwrap();
        let data = top.path().join("data");
        let outside = top.path().join("outside");
        fs::write(&outside, "x").unwrap();
        open_up(&outside, 0o644);
        fs::create_dir_all(data.join("trash/1")).unwrap();
        for path in ["catalog.db", "trash/1/0000-a"] {
            fs::write(data.join(path), "x").unwrap();
            open_up(&data.join(path), 0o666);
        }
        symlink(&outside, data.join("link")).unwrap();
        for path in ["", "trash", "trash/1"] {
            open_up(&data.join(path), 0o755);
        }
        create_private_folder(&data).unwrap();
        for path in ["", "trash", "trash/1"] {
            assert_eq!(mode(&data.join(path)), 0o700, "{path}");
        }
        for path in ["catalog.db", "trash/1/0000-a"] {
            assert_eq!(mode(&data.join(path)), 0o600, "{path}");
        }
        assert_eq!(mode(&outside), 0o644);
    }

    #[test]
    fn our_own_files_are_made_private() {
        let top = tempfile::tempdir().unwrap();
        let data = top.path().join("a/b");
        create_private_folder(&data).unwrap();
        assert_eq!((mode(&top.path().join("a")), mode(&data)), (0o700, 0o700));
        let file = data.join("folders.json");
        fs::write(&file, "x").unwrap();
        open_up(&file, 0o644);
        update(&file, |_| Some(b"y".to_vec())).unwrap();
        create_private_file(&data.join("catalog.db"));
        for name in ["folders.json", "folders.json.lock", "catalog.db"] {
            assert_eq!(mode(&data.join(name)), 0o600, "{name}");
        }
        create_private_file(&file);
        assert_eq!(fs::read(&file).unwrap(), b"y");
        // Users' files keep their permissions.
        open_up(&file, 0o644);
        write_atomically(&file, b"z").unwrap();
        assert_eq!(mode(&file), 0o644);
    }
}
