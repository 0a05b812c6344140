//! Names of users in paths, and home folders the caller knows.

use memchr::memmem;

use super::Sink;
use super::edge::{at, before, is_fresh, piece, stretch, stretch_back};
use crate::kind::SecretKind;

/// The longest name of a user.
const LONGEST: usize = 64;

/// Looks for `/home/NAME`, `/Users/NAME` and `\Users\NAME`; only the name is replaced.
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
    for start in memmem::find_iter(bytes, "\\Users\\") {
        let from = start + "\\Users".len();
        let slashes = stretch(bytes, from, 9, |b| b == b'\\') - from;
        // As many as before: with another number, what follows is an escape of its own.
        let head = start + 1 - stretch_back(bytes, start + 1, 9, |b| b == b'\\');
        if slashes != head || !slashes.is_power_of_two() {
            continue;
        }
        name(text, from + slashes, sink);
    }
}

/// `/c/Users`, `/mnt/c/Users`.
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
    // A name is followed by more of the path or by its end, not by a pattern or a place to fill in.
    if matches!(next, Some('*' | '$' | '{' | '<' | '(' | '[' | '%')) || !is_user(name) {
        return;
    }
    sink.put(SecretKind::User, start..start + name.len());
}

/// Whether this may be somebody's name, and not everybody's.
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

/// Home folders the caller knows, in every spelling.
#[derive(Debug, Default)]
pub(crate) struct Homes(Vec<memmem::Finder<'static>>);

impl Homes {
    pub(crate) fn new(homes: &[String]) -> Self {
        let mut spellings: Vec<String> = homes.iter().flat_map(|home| spellings(home)).collect();
        // The longer first: of two that begin alike, both are found and the longer one stays.
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
                // Dashes stand for slashes in some spellings, so one may follow there.
                let is_dashed = home.needle().starts_with(b"-");
                if !goes_on && (is_dashed || !matches!(next, b'-')) && is_fresh(bytes, start) {
                    sink.put(SecretKind::Home, start..start + length);
                }
            }
        }
    }
}

/// A path as systems, JSON, URLs and names of folders write it.
fn spellings(home: &str) -> Vec<String> {
    let home = home.trim_end_matches(['/', '\\']);
    let mut all = vec![home.to_owned()];
    if home.contains('\\') {
        all.push(home.replace('\\', "\\\\"));
        all.push(home.replace('\\', "\\\\\\\\"));
        all.push(home.replace('\\', "/"));
    } else if home.matches('/').count() > 1 {
        all.push(home.replace('/', "\\/"));
        all.push(home.replace('/', "%2F"));
        all.push(home.replace('/', "-"));
    }
    all
}
