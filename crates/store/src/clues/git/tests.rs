//! Tests with repositories as git writes them, and with damaged ones.

use proptest::prelude::*;
use recount_testkit::Home;

use super::*;

const ZEROS: &str = "0000000000000000000000000000000000000000";
const ID: &str = "39dce72a6a629936d45646fd6ecea4b32bd12370";

fn log_line(before: &str, after: &str) -> String {
    format!("{before} {after} Dev A. <dev@example.com> 1794769200 +0100\tclone: from git@x\n")
}

#[test]
fn the_first_commit_is_known_with_its_time_if_the_log_begins_with_it() {
    let begins = |text: String| first(text.as_bytes());
    let expected = Some(format!("{ID}@1794769200"));
    assert_eq!(begins(log_line(ZEROS, ID)), expected);
    assert_eq!(begins(log_line(ZEROS, ID) + &log_line(ID, ID)), expected);
    assert_eq!(begins(log_line(ID, ID)), None);
    assert_eq!(begins(log_line(ZEROS, ZEROS)), None);
    assert_eq!(begins(log_line(ZEROS, "39dce72a")), None);
    assert_eq!(begins(format!("{ZEROS} {ID} ")), None);
    assert_eq!(begins(String::new()), None);
}

#[test]
fn a_clone_is_distinguished_from_others() {
    let home = Home::empty();
    let shop = home.path().join("shop");
    assert_eq!(identity(&shop), None);
    home.write("shop/.git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(identity(&shop), None);
    home.write(
        "shop/.git/config",
        "[remote \"origin\"]\n\turl = https://u:p@github.com/a/shop.git\n",
    );
    home.write("shop/.git/logs/HEAD", log_line(ZEROS, ID));
    let known = identity(&shop).unwrap();
    assert_eq!(known.remotes, ["github.com/a/shop"]);
    assert_eq!(known.first, Some(format!("{ID}@1794769200")));
    home.write("tree/.git", format!("gitdir: {}\n", home.at("shop/.git/worktrees/tree")));
    home.write("shop/.git/worktrees/tree/commondir", "../..\n");
    assert_eq!(identity(&home.path().join("tree")), Some(known), "a worktree shares it");
}

#[test]
fn two_are_the_same_by_their_beginning_or_a_remote() {
    let known = |remotes: &[&str], first: Option<&str>| GitIdentity {
        remotes: remotes.iter().map(|&remote| remote.to_owned()).collect(),
        first: first.map(str::to_owned),
    };
    let shop = known(&["github.com/a/shop"], Some("1@2"));
    assert!(shop.is_same(&known(&[], Some("1@2"))));
    assert!(shop.is_same(&known(&["github.com/a/shop", "github.com/b/shop"], None)));
    assert!(!shop.is_same(&known(&["github.com/b/shop"], Some("1@3"))));
    assert!(!known(&[], None).is_same(&known(&[], None)));
}

#[test]
fn all_worktrees_are_found_from_any_of_them() {
    let home = Home::empty();
    home.write("shop/.git/HEAD", "ref: refs/heads/main\n");
    home.write("shop/.git/worktrees/a/gitdir", format!("{}\n", home.at("trees/a/.git")));
    home.write("shop/.git/worktrees/a/commondir", "../..\n");
    home.write("shop/.git/worktrees/b/gitdir", "../../../../trees/b/.git\n");
    home.write("shop/.git/worktrees/damaged/gitdir", b"\xff\0");
    home.write("shop/.git/worktrees/empty/gitdir", "\n");
    home.write("shop/.git/worktrees/folder/gitdir/x", "");
    home.write("trees/a/.git", format!("gitdir: {}\n", home.at("shop/.git/worktrees/a")));
    home.write("trees/b/.git", "gitdir: ../../shop/.git/worktrees/b\n");
    let all = ["shop", "trees/a", "trees/b"].map(|folder| home.path().join(folder));
    for folder in &all {
        assert_eq!(worktrees(folder), all, "{}", folder.display());
    }
}

#[test]
fn the_repository_of_a_worktree_is_known_even_when_it_is_gone() {
    let home = Home::empty();
    home.write("tree/.git", format!("gitdir: {}", home.at("gone/.git/worktrees/tree")));
    let tree = home.path().join("tree");
    assert_eq!(worktrees(&tree), [home.path().join("gone"), tree.clone()]);
    assert_eq!(identity(&tree), None);
}

#[test]
fn a_plain_folder_has_no_worktrees() {
    let home = Home::empty();
    assert!(worktrees(&home.path().join("missing")).is_empty());
    for text in ["", "gitdir:", "no pointer", "gitdir: \0"] {
        home.write("x/.git", text);
        assert!(worktrees(&home.path().join("x")).is_empty(), "{text:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_socket_in_place_of_a_file_is_not_waited_for() {
    let home = Home::empty();
    home.write("x/.git/HEAD", "");
    let socket = home.path().join("x/.git/config");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert_eq!(identity(&home.path().join("x")), None);
}

proptest! {
    #[test]
    fn any_log_is_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _first = first(&bytes);
        let _first = first(&[format!("{ZEROS} {ID} ").as_bytes(), &bytes].concat());
    }
}
