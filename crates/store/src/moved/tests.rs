//! Tests of the evidence for a location and its weight.

use recount_testkit::Home;

use super::*;

const OLD: &str = "/home/dev/code/shop";

fn time(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

fn spoken(below: &[&str], names: &[&str]) -> MentionedFiles {
    let owned = |all: &[&str]| all.iter().map(|&name| name.to_owned()).collect();
    MentionedFiles { below: owned(below), names: owned(names) }
}

/// Returns the proposal for a folder that was at `old`, with the weights.
fn proposed(
    old: &str,
    spoken: &MentionedFiles,
    spots: &[FolderCandidate],
) -> Option<(String, bool, Vec<u8>)> {
    let path = RecordedPath::new(old);
    let began = time("2026-11-01T00:00:00Z");
    let gone = MissingFolder { path: &path, repository: None, began, spoken };
    let moved = propose(&gone, spots)?;
    let weights = moved.evidence.iter().map(|clue| clue.weight).collect();
    Some((moved.path, moved.likely, weights))
}

#[test]
fn the_name_is_evidence_for_a_location() {
    let spots = [FolderCandidate::new("/srv/shop", None), FolderCandidate::new("/srv/store", None)];
    let expected = Some(("/srv/shop".to_owned(), false, vec![40]));
    assert_eq!(proposed(OLD, &MentionedFiles::default(), &spots), expected);
}

#[test]
fn two_equal_locations_make_no_proposal() {
    let spots = [FolderCandidate::new("/srv/shop", None), FolderCandidate::new("/opt/shop", None)];
    assert_eq!(proposed(OLD, &MentionedFiles::default(), &spots), None);
    let later = FolderCandidate::new("/opt/shop", time("2026-11-02T00:00:00Z"));
    let spots = [FolderCandidate::new("/srv/shop", None), later];
    let expected = Some(("/opt/shop".to_owned(), true, vec![40, 10]));
    assert_eq!(proposed(OLD, &MentionedFiles::default(), &spots), expected);
}

#[test]
fn a_neighbour_alone_is_no_proposal_unless_it_was_used_since() {
    let beside = "/home/dev/code/store";
    assert_eq!(
        proposed(OLD, &MentionedFiles::default(), &[FolderCandidate::new(beside, None)]),
        None
    );
    let since = FolderCandidate::new(beside, time("2026-11-02T00:00:00Z"));
    let expected = Some((beside.to_owned(), false, vec![15, 10]));
    assert_eq!(proposed(OLD, &MentionedFiles::default(), &[since]), expected);
    let before = FolderCandidate::new(beside, time("2026-10-02T00:00:00Z"));
    assert_eq!(proposed(OLD, &MentionedFiles::default(), &[before]), None);
}

#[test]
fn a_folder_does_not_move_into_itself_or_above() {
    for place in ["/home/dev/code/shop/shop", "/home/dev/code", "/"] {
        assert_eq!(
            proposed(
                "/home/dev/code/shop",
                &MentionedFiles::default(),
                &[FolderCandidate::new(place, None)]
            ),
            None
        );
    }
}

#[test]
fn touched_files_count_by_their_share() {
    let home = Home::empty();
    for file in ["src/cart.js", "src/tax.js", "prices.csv", "README.md"] {
        home.write(&format!("store/{file}"), "");
    }
    let spot = || [FolderCandidate::new(home.at("store"), None)];
    let weights = |below: &[&str]| {
        proposed(OLD, &spoken(below, &[]), &spot()).map(|(_, likely, weights)| (likely, weights))
    };
    assert_eq!(weights(&["src/cart.js", "src/tax.js", "prices.csv"]), Some((true, vec![60])));
    assert_eq!(weights(&[r"src\cart.js", "src/tax.js"]), Some((false, vec![40])));
    assert_eq!(weights(&["src/cart.js", "a.js", "b.js", "c.js"]), None, "one of four");
    assert_eq!(weights(&["README.md"]), None, "every project has one");
}

#[test]
fn file_names_count_if_no_path_does() {
    let home = Home::empty();
    for file in ["src/cart.js", "src/tax.js", "docs/guide.md", "prices.csv", "docs/notes.md"] {
        home.write(&format!("store/{file}"), "");
    }
    home.write("store/node_modules/x/vendor.js", "");
    let names = ["cart.js", "tax.js", "guide.md", "prices.csv", "notes.md", "vendor.js"];
    let found =
        proposed(OLD, &spoken(&[], &names), &[FolderCandidate::new(home.at("store"), None)]);
    assert_eq!(found, Some((home.at("store"), false, vec![40])));
    let three = spoken(&[], &["cart.js", "tax.js", "vendor.js", "package.json", "README.md"]);
    assert_eq!(
        proposed(OLD, &three, &[FolderCandidate::new(home.at("store"), None)]),
        None,
        "two are not enough"
    );
}

#[test]
fn common_files_are_no_evidence() {
    let home = Home::empty();
    let common = ["README.md", "package.json", "tsconfig.json", "index.ts", "src/main.ts"];
    for file in common {
        home.write(&format!("other/{file}"), "");
    }
    let names =
        spoken(&common, &["README.md", "package.json", "tsconfig.json", "index.ts", "main.ts"]);
    assert_eq!(proposed(OLD, &names, &[FolderCandidate::new(home.at("other"), None)]), None);
}

#[test]
fn a_place_with_none_of_the_files_is_another_project() {
    let home = Home::empty();
    home.write("store/other.py", "");
    let since = || [FolderCandidate::new(home.at("store"), time("2026-11-02T00:00:00Z"))];
    let old = home.at("shop");
    let touched = spoken(&["src/cart.js", "src/tax.js", "prices.csv"], &["cart.js"]);
    assert_eq!(proposed(&old, &touched, &since()), None);
    assert!(proposed(&old, &MentionedFiles::default(), &since()).is_some());
}

#[test]
fn a_repository_is_recognized() {
    let home = Home::empty();
    let id = "39dce72a6a629936d45646fd6ecea4b32bd12370";
    let zeros = "0".repeat(40);
    let log = |seconds: u32| format!("{zeros} {id} Dev <dev@example.com> {seconds} +0000\tclone\n");
    home.write("moved/.git/logs/HEAD", log(1));
    home.write("moved/.git/config", "[remote \"origin\"]\n\turl = git@host.example:a/shop.git\n");
    home.write("again/.git/logs/HEAD", log(2));
    home.write("again/.git/config", "[remote \"origin\"]\n\turl = git@host.example:a/shop.git\n");
    home.write("shop/.git/logs/HEAD", log(3));
    let known = identity(&home.path().join("moved")).unwrap();
    let path = RecordedPath::new("/nowhere/shop");
    let spoken = MentionedFiles::default();
    let gone =
        MissingFolder { path: &path, repository: Some(&known), began: None, spoken: &spoken };
    let spots = ["again", "shop", "moved"].map(|name| FolderCandidate::new(home.at(name), None));
    let moved = propose(&gone, &spots).unwrap();
    assert_eq!(moved.path, home.at("moved"));
    let weights: Vec<u8> = moved.evidence.iter().map(|clue| clue.weight).collect();
    assert_eq!(weights, [100, 60]);
    let [again, shop, _] = &spots;
    assert_eq!(propose(&gone, [again, shop]).unwrap().path, home.at("again"), "the remote");
    assert_eq!(propose(&gone, [shop]), None, "the same name, and certainly another repository");
}

#[test]
fn unlisted_files_are_looked_up_on_disk() {
    let home = Home::empty();
    home.write("store/a/b/c/d/deep.py", "");
    home.write("store/.config/mine.toml", "");
    for number in 0..150 {
        home.write(&format!("wide/{number}/x.py"), "");
    }
    let has = |folder: &str, file: &str| {
        let folder = home.path().join(folder);
        Contents::of(&folder).has(&folder, file)
    };
    assert!(has("store", "a/b/c/d/deep.py") && has("store", ".config/mine.toml"));
    assert!(!has("store", "a/b/c/d/other.py") && !has("store", "a/other.py") && !has("store", "b"));
    assert!((0..150).all(|number| has("wide", &format!("{number}/x.py"))));
    assert!(!has("wide", "7/y.py"));
}
