//! Unique names of files and folders that are safe on every file system.
//!
//! They contain only letters and digits of any script, `-` and `_`; no name is reserved by a system, ends in a dot, or is
//! too long, and names that differ only in case count as equal.

use std::collections::BTreeSet;

use recount_model::SessionFacts;

use crate::words::day;

/// The maximum number of bytes of a title or a project in a name.
const LONGEST: usize = 60;

/// Names that some systems reserve for devices, with any extension.
const RESERVED: [&str; 7] = ["con", "prn", "aux", "nul", "conin", "conout", "clock"];

/// Returns the name of a session's file, without its extension: `<day>-<title>-<start of the id>`.
pub fn stem(session: &SessionFacts) -> String {
    let began = session.started.or(session.updated);
    let day = began.map_or_else(|| "undated".to_owned(), day);
    let title = slug(session.title.as_deref().unwrap_or_default());
    let id: String =
        slug(session.id.as_str()).chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    let parts = [day, title, id];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

/// Returns the name of a project's folder.
pub fn folder(project: &str) -> String {
    let name = slug(project);
    if name.is_empty() {
        return "project".into();
    }
    let device = |start: &str| {
        name.strip_prefix(start)
            .is_some_and(|rest| rest.chars().count() == 1 && !rest.contains('-'))
    };
    if RESERVED.contains(&name.as_str()) || device("com") || device("lpt") {
        return format!("{name}-project");
    }
    name
}

/// Returns the file name of a part of a session. A stem has no dot, so no other session's file has this name.
pub fn part(stem: &str, number: usize, extension: &str) -> String {
    if number <= 1 {
        format!("{stem}.{extension}")
    } else {
        format!("{stem}.part{number}.{extension}")
    }
}

/// Whether a name is safe in a path: it was created here, or could have been.
pub fn is_safe(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '=');
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('.')
        && !name.ends_with('.')
        && name.chars().all(plain)
}

/// Names that are in use.
#[derive(Clone, Debug, Default)]
pub struct Taken(BTreeSet<String>);

impl Taken {
    /// Reserves a name, and returns whether it was free.
    pub fn take(&mut self, name: &str) -> bool {
        self.0.insert(key(name))
    }

    /// Whether a name is in use, in any case.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(&key(name))
    }

    /// Reserves a free name: this one, or with the first number after it that is free.
    pub fn find(&mut self, wanted: &str, is_free: impl Fn(&str) -> bool) -> String {
        let numbered = (2..).map(|number: u64| format!("{wanted}-{number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        let free = |name: &String| !self.has(name) && is_free(name);
        let name = names.find(free).unwrap_or_else(|| wanted.to_owned());
        self.take(&name);
        name
    }
}

/// Some systems distinguish names by case, others do not, and they do not agree on what case is.
fn key(name: &str) -> String {
    name.to_uppercase().to_lowercase()
}

/// Returns letters and digits in lower case, with single dashes for the rest.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    // A title of many megabytes is not read completely for a few words.
    for character in text.chars().take(4 * LONGEST).flat_map(char::to_lowercase) {
        let character =
            if character.is_alphanumeric() || character == '_' { character } else { '-' };
        if character == '-' && (slug.is_empty() || slug.ends_with('-')) {
            continue;
        }
        if slug.len() + character.len_utf8() > LONGEST {
            break;
        }
        slug.push(character);
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}
