//! What is not a regular file is refused, whenever it came there.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::*;

fn text(file: io::Result<impl Read>) -> io::Result<String> {
    let mut text = String::new();
    file?.read_to_string(&mut text)?;
    Ok(text)
}

#[expect(clippy::unwrap_used, reason = "what a test needs it must have")]
fn why_refused(path: &Path) -> String {
    open(path).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn regular_files_are_opened_and_links_only_where_people_link() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "text").unwrap();
    symlink("file", at("link")).unwrap();
    assert_eq!(text(open(&at("file"))).unwrap(), "text");
    assert_eq!(why_refused(&at("link")), "a link, which is not followed");
    assert_eq!(text(open_following(&at("link"))).unwrap(), "text");
    assert_eq!(open(&at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn devices_pipes_sockets_and_folders_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let _socket = UnixListener::bind(at("socket")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    symlink("/dev/zero", at("zero")).unwrap();
    for path in [at("pipe"), at("socket"), at("folder"), at("zero"), "/dev/zero".into()] {
        assert!(open(&path).is_err(), "{}", path.display());
        assert!(open_following(&path).is_err(), "{}", path.display());
    }
}

#[test]
fn an_accepted_link_is_followed_as_long_as_it_leads_to_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "text").unwrap();
    fs::write(at("secret"), "secret").unwrap();
    symlink("file", at("link")).unwrap();
    accept_link(&at("link"), &fs::metadata(at("link")).unwrap());
    assert_eq!(text(open(&at("link"))).unwrap(), "text");
    fs::remove_file(at("link")).unwrap();
    symlink("secret", at("link")).unwrap();
    assert_eq!(why_refused(&at("link")), "a link, which is not followed");
}

#[test]
fn a_file_that_is_swapped_for_a_link_while_it_is_opened_is_never_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("secret"), "secret").unwrap();
    let done = AtomicBool::new(false);
    let mut seen = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                fs::write(at("new"), "text").unwrap();
                fs::rename(at("new"), at("session")).unwrap();
                symlink("secret", at("new")).unwrap();
                fs::rename(at("new"), at("session")).unwrap();
            }
        });
        // On a busy machine the other thread may not run for a while.
        let began = Instant::now();
        let is_enough =
            |(files, links): (u32, u32)| files + links >= 20_000 && files > 0 && links > 0;
        while !is_enough(seen) && began.elapsed() < Duration::from_secs(30) {
            match text(open_bounded(&at("session"))) {
                Ok(text) => {
                    assert_ne!(text, "secret");
                    seen.0 += 1;
                }
                Err(_) => seen.1 += 1,
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(seen.0 > 0 && seen.1 > 0, "{seen:?}");
}

#[test]
fn a_folder_that_is_swapped_for_a_link_is_never_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (place, words) in [("root/chats", "text"), ("root/other", "other"), ("out", "secret")] {
        fs::create_dir_all(at(place)).unwrap();
        fs::write(at(place).join("session"), words).unwrap();
    }
    // What is linked from the beginning may be.
    fs::create_dir_all(at("moved/shop")).unwrap();
    fs::write(at("moved/shop/session"), "moved").unwrap();
    symlink("../moved", at("root/tmp")).unwrap();
    confine(&at("root"), [&*at("root/tmp")]);
    assert_eq!(text(open(&at("root/chats/session"))).unwrap(), "text");
    assert_eq!(text(open(&at("root/tmp/shop/session"))).unwrap(), "moved");

    symlink("../out", at("root/link")).unwrap();
    let exchange = || {
        // As an attacker does: at any time there is one of both.
        fs::rename(at("root/chats"), at("root/was")).unwrap();
        fs::rename(at("root/link"), at("root/chats")).unwrap();
        fs::rename(at("root/chats"), at("root/link")).unwrap();
        fs::rename(at("root/was"), at("root/chats")).unwrap();
    };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                exchange();
            }
        });
        for _ in 0..20_000 {
            let read = text(open_bounded(&at("root/chats/session")));
            assert!(read.is_err() || read.is_ok_and(|text| text == "text"));
        }
        done.store(true, Ordering::Relaxed);
    });
    fs::rename(at("root/chats"), at("root/was")).unwrap();
    symlink("../out", at("root/chats")).unwrap();
    assert_eq!(why_refused(&at("root/chats/session")), "a link, which is not followed");
    fs::remove_file(at("root/chats")).unwrap();
    symlink(at("root/other"), at("root/chats")).unwrap();
    assert_eq!(text(open(&at("root/chats/session"))).unwrap(), "other");
}

#[test]
fn no_more_is_read_than_there_was_and_a_bounded_growth() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, "one\n").unwrap();
    let mut open = open_bounded(&path).unwrap();
    assert_eq!(open.limit(), 4 + GROWTH);
    fs::write(&path, "one\ntwo\n").unwrap();
    let mut text = String::new();
    open.read_to_string(&mut text).unwrap();
    assert_eq!(text, "one\ntwo\n");
}
