//! A folder that the program was started in, and its names on disk.

use sha2::{Digest as _, Sha256};

/// A project: its path, and the two names of its data folder.
#[derive(Debug, Clone)]
pub(crate) struct Project {
    pub(crate) path: String,
    /// Lower-case hexadecimal SHA-256 of the path: the folder's name up to 0.28.
    pub(crate) hash: String,
    /// The readable name of the folder since 0.29.
    pub(crate) slug: String,
    /// Files in the project, relative; shown in the context message.
    pub(crate) files: Vec<&'static str>,
    /// What happened to the hash folder when the slug folder was created.
    pub(crate) migration: Migration,
}

/// What a start of 0.29 or later did with the old folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Migration {
    /// It was copied into the new one and left where it was.
    Copied,
    /// It was not touched, since the new one was not empty (or there never was a new one).
    LeftBehind,
}

impl Project {
    pub(crate) fn new(path: &str, files: &[&'static str], migration: Migration) -> Self {
        let digest = Sha256::digest(path.as_bytes());
        let hash = digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
            for half in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
            }
            hex
        });
        Self { path: path.to_owned(), hash, slug: slug(path), files: files.to_vec(), migration }
    }

    /// Returns the absolute form of a path inside the project.
    pub(crate) fn absolute(&self, relative: &str) -> String {
        if relative == "." || relative.is_empty() {
            self.path.clone()
        } else {
            format!("{}/{relative}", self.path)
        }
    }

    /// Returns the folder tree in the context message: files first, then folders.
    pub(crate) fn tree(&self) -> String {
        let mut out = format!("{}/\n", self.path);
        draw(&self.files, "", &mut out);
        out
    }
}

/// Returns the slug of a path that is not in use yet: its last component in lower-case letters, digits and `-`.
fn slug(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let mut slug = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_ascii_lowercase() || character.is_ascii_digit() {
            slug.push(character);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "project".to_owned() } else { slug.to_owned() }
}

fn draw(files: &[&str], indent: &str, out: &mut String) {
    let mut plain: Vec<&str> = files.iter().copied().filter(|file| !file.contains('/')).collect();
    plain.sort_by_key(|file| file.to_lowercase());
    let mut folders: Vec<&str> =
        files.iter().filter_map(|file| Some(file.split_once('/')?.0)).collect();
    folders.sort_unstable();
    folders.dedup();
    let last = plain.len() + folders.len();
    let names = plain.iter().map(|name| (*name, false)).chain(folders.iter().map(|n| (*n, true)));
    for (index, (name, is_folder)) in names.enumerate() {
        let ends = index + 1 == last;
        out.push_str(indent);
        out.push_str(if ends { "└───" } else { "├───" });
        out.push_str(name);
        out.push_str(if is_folder { "/\n" } else { "\n" });
        if is_folder {
            let inside: Vec<&str> = files
                .iter()
                .filter_map(|file| file.split_once('/').filter(|(top, _)| *top == name))
                .map(|(_, rest)| rest)
                .collect();
            draw(&inside, &format!("{indent}{}", if ends { "    " } else { "│   " }), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_tree_are_those_of_the_real_program() {
        let files = [
            "prices.csv",
            "README.md",
            "docs/guide.md",
            "docs/notes.md",
            "src/cart.js",
            "src/tax.js",
        ];
        let shop = Project::new("/home/dev/code/shop", &files, Migration::Copied);
        assert_eq!(shop.hash, "52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee");
        assert_eq!(
            shop.tree(),
            "/home/dev/code/shop/\n├───prices.csv\n├───README.md\n├───docs/\n│   ├───guide.md\n\
             │   └───notes.md\n└───src/\n    ├───cart.js\n    └───tax.js\n"
        );
    }

    #[test]
    fn slugs_keep_ascii_letters_and_digits() {
        for (path, expected) in [
            ("/home/dev/code/My App (v2)", "my-app-v2"),
            ("/home/dev/code/天気ノート", "project"),
            ("/home/dev/code/API_server", "api-server"),
            ("/", "project"),
        ] {
            assert_eq!(slug(path), expected);
        }
    }
}
