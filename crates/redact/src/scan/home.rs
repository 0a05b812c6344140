//! User names in paths, and home folders that the caller passes in.

use memchr::memmem;

use super::Sink;
use super::edge::{at, before, is_fresh, piece, run_end, run_start};
use crate::kind::SecretKind;

/// The longest name of a user.
const LONGEST: usize = 64;

/// Finds `/home/NAME`, `/Users/NAME`, `\Users\NAME`, and names in folders of projects; only the name is replaced.
pub(super) fn users(text: &str, sink: &mut Sink<'_>) {
    let bytes = text.as_bytes();
    for folder in ["/home/", "/Users/"] {
        for start in memmem::find_iter(bytes, folder) {
            // `src/home/page.tsx` is no home; `C:/Users`, `file:///home` and `/mnt/c/Users` are.
            let is_root = is_fresh(bytes, start)
                && !matches!(before(bytes, start), b'.' | b'~' | b'*')
                || (folder == "/Users/" && is_drive(bytes, start));
            if is_root {
                name(text, start + folder.len(), sink);
            }
        }
    }
    for root in ["-home-", "-Users-"] {
        for start in memmem::find_iter(bytes, root) {
            if is_project_folder(bytes, start) {
                dashed_name(text, start + root.len(), sink);
            }
        }
    }
    for start in memmem::find_iter(bytes, "\\Users\\") {
        let from = start + "\\Users".len();
        let slashes = run_end(bytes, from, 9, |b| b == b'\\') - from;
        // As many as before: a different number begins another escape.
        let head = start + 1 - run_start(bytes, start + 1, 9, |b| b == b'\\');
        if slashes != head || !slashes.is_power_of_two() {
            continue;
        }
        name(text, from + slashes, sink);
    }
}

/// Whether the name of a project's folder begins here, or a drive before it: one agent names it by the path, with dashes for
/// slashes, as in `/projects/-home-NAME-shop`, `/projects/-mnt-c-Users-NAME` and `\projects\C--Users-NAME`.
fn is_project_folder(bytes: &[u8], start: usize) -> bool {
    let starts = match piece(bytes, start.saturating_sub(6), start) {
        [b'-', b'm', b'n', b't', b'-', _] => start - 6,
        [.., drive, b'-'] if drive.is_ascii_alphabetic() => start - 2,
        _ => start,
    };
    let slashes = run_start(bytes, starts, 9, |b| matches!(b, b'/' | b'\\'));
    slashes < starts && piece(bytes, 0, slashes).ends_with(b"projects")
}

/// Here a dash ends the name.
fn dashed_name(text: &str, start: usize, sink: &mut Sink<'_>) {
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    if rest.get(..end).is_some_and(is_user) {
        sink.put(SecretKind::User, start..start + end);
    }
}

/// Whether it is `/c/Users` or `/mnt/c/Users`.
fn is_drive(bytes: &[u8], start: usize) -> bool {
    let head = piece(bytes, start.saturating_sub(2), start);
    matches!(head, [b'/', letter] if letter.is_ascii_alphabetic())
}

fn name(text: &str, start: usize, sink: &mut Sink<'_>) {
    let Some(rest) = text.get(start..) else { return };
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let length = rest.char_indices().find(|(at, c)| !is_name(*c) || *at >= LONGEST);
    let length = length.map_or(rest.len(), |(at, _)| at);
    let name = rest.get(..length).unwrap_or_default().trim_end_matches(['.', '-']);
    let next = rest.get(length..).and_then(|tail| tail.chars().next());
    // A name is followed by more of the path or by its end, not by a pattern or a placeholder.
    if matches!(next, Some('*' | '$' | '{' | '<' | '(' | '[' | '%')) || !is_user(name) {
        return;
    }
    sink.put(SecretKind::User, start..start + name.len());
}

/// Whether this may be a personal user name, not a shared one.
fn is_user(name: &str) -> bool {
    const EVERYBODY: &[&str] = &[
        "shared",
        "public",
        "default",
        "all users",
        "defaultuser0",
        "administrator",
        "runner",
        "node",
        "user",
        "users",
        "username",
        "name",
        "your-name",
        "yourname",
        "you",
        "me",
        "linuxbrew",
        "root",
        "ubuntu",
        "vscode",
        "codespace",
        "user_name",
        "runneradmin",
        "circleci",
        "vagrant",
        "docker",
        "app",
        "index",
        "home",
    ];
    let first = name.chars().next();
    let is_file = name.rsplit_once('.').is_some_and(|(_, end)| {
        ["html", "js", "ts", "tsx", "jsx", "php", "md", "css", "json", "py", "rs", "vue", "txt"]
            .contains(&end)
    });
    first.is_some_and(|first| first.is_alphanumeric() || first == '_')
        && !is_file
        && !EVERYBODY.iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// Home folders that the caller passes in, in every spelling.
#[derive(Debug, Default)]
pub(crate) struct Homes(Vec<memmem::Finder<'static>>);

impl Homes {
    pub(crate) fn new(homes: &[String]) -> Self {
        let mut spellings: Vec<String> = homes.iter().flat_map(|home| spellings(home)).collect();
        // Longer ones first: of two with the same start, both are found and the longer one is kept.
        spellings.sort_by_key(|home| std::cmp::Reverse(home.len()));
        spellings.dedup();
        Self(spellings.iter().map(|home| memmem::Finder::new(home).into_owned()).collect())
    }

    pub(super) fn scan(&self, bytes: &[u8], sink: &mut Sink<'_>) {
        for home in &self.0 {
            let length = home.needle().len();
            for start in home.find_iter(bytes) {
                let next = at(bytes, start + length);
                let goes_on = next.is_ascii_alphanumeric() || matches!(next, b'_' | 0x80..);
                // In names of folders slashes become dashes, so a dash may follow.
                let is_dashed = !home.needle().iter().any(|b| matches!(b, b'/' | b'\\' | b'%'));
                if !goes_on && (is_dashed || !matches!(next, b'-')) && is_fresh(bytes, start) {
                    sink.put(SecretKind::Home, start..start + length);
                }
            }
        }
    }
}

/// Returns the spellings of a path in systems, JSON, URLs and folder names.
fn spellings(home: &str) -> Vec<String> {
    let home = home.trim_end_matches(['/', '\\']);
    let mut all = vec![home.to_owned()];
    if home.contains('\\') {
        all.push(home.replace('\\', "\\\\"));
        all.push(home.replace('\\', "\\\\\\\\"));
        all.push(home.replace('\\', "/"));
        all.push(folder_name(home));
    } else if home.matches('/').count() > 1 {
        all.push(home.replace('/', "\\/"));
        all.push(home.replace('/', "%2F"));
        all.push(home.replace('/', "-"));
        all.push(folder_name(home));
    }
    all
}

/// Returns a path as one agent names folders by it: a dash for everything that is no letter or digit, so that `/home/ada.b` is
/// `-home-ada-b`.
fn folder_name(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
