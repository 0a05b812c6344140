//! `projects.json` as the agent reads it, and with one entry changed.

use std::path::{Path, PathBuf};

use recount_model::RecordedPath;

use crate::bytes::read_small;
use crate::edit::RegistryEntry;
use crate::gemini::native::quoted;
use crate::gemini::project::is_slug;
use crate::json::Members;

/// The agent's record of projects: valid, or not used at all, as in releases since 0.43.
#[derive(Clone, Debug, Default)]
pub(crate) struct Register {
    file: PathBuf,
    /// `None` if there is none.
    bytes: Option<Vec<u8>>,
    entries: Vec<(RecordedPath, String)>,
    changed: bool,
}

impl Register {
    /// Reads it.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let file = root.join("projects.json");
        let bytes = match read_small(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { file, ..Self::default() });
            }
            Err(error) => return Err(format!("{} cannot be read: {error}", file.display())),
        };
        let mut register = Self { bytes: Some(bytes), file, ..Self::default() };
        register.entries = register.parse()?;
        Ok(register)
    }

    fn parse(&self) -> Result<Vec<(RecordedPath, String)>, String> {
        let damaged = |why: &str| format!("{} is damaged: {why}", self.file.display());
        let bytes = self.bytes.as_deref().unwrap_or_default();
        let outer = Members::of(bytes, 0).map_err(|_| damaged("it is not a JSON object"))?;
        let inner = outer.value("projects").ok_or_else(|| damaged("it has no \"projects\""))?;
        let inner = Members::of(bytes, inner.start)
            .map_err(|_| damaged("\"projects\" is not an object"))?;
        let mut entries = Vec::new();
        for (path, value) in inner.iter() {
            let raw = bytes.get(value.clone()).unwrap_or_default();
            let slug = serde_json::from_slice::<String>(raw).ok().filter(|slug| is_slug(slug));
            let slug = slug.ok_or_else(|| damaged("a name in it is none that the agent makes"))?;
            entries.push((RecordedPath::new(path), slug));
        }
        Ok(entries)
    }

    /// Returns the name of a path.
    pub(crate) fn slug(&self, path: &RecordedPath) -> Option<&str> {
        let found = self.entries.iter().find(|(known, _)| is_same(known, path));
        found.map(|(_, slug)| slug.as_str())
    }

    /// Whether a name belongs to another path.
    pub(crate) fn is_taken(&self, slug: &str, path: &RecordedPath) -> bool {
        self.entries.iter().any(|(known, other)| other == slug && !is_same(known, path))
    }

    /// Sets the name of a path.
    pub(crate) fn set(&mut self, path: &RecordedPath, slug: &str) {
        let known = self.key(path);
        self.edit(|inner, bytes| match &known {
            Some(key) => inner.replaced(bytes, key, &quoted(slug)),
            None => inner.with(bytes, 4, &quoted(path.as_str()), &quoted(slug)),
        });
    }

    /// Assigns the name of one path to another.
    pub(crate) fn rename(&mut self, old: &RecordedPath, new: &RecordedPath) {
        self.remove(new);
        let Some(key) = self.key(old) else { return };
        self.edit(|inner, bytes| inner.renamed(bytes, &key, &quoted(new.as_str())));
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, path: &RecordedPath) {
        let Some(key) = self.key(path) else { return };
        self.edit(|inner, bytes| inner.without(bytes, &key));
    }

    /// Returns the file to write, if anything changed.
    pub(crate) fn entry(&self) -> Option<RegistryEntry> {
        let bytes = self.bytes.clone().filter(|_| self.changed)?;
        Some(RegistryEntry { path: self.file.clone(), bytes, what: "register" })
    }

    fn key(&self, path: &RecordedPath) -> Option<String> {
        let found = self.entries.iter().find(|(known, _)| is_same(known, path));
        found.map(|(key, _)| key.as_str().to_owned())
    }

    fn edit(&mut self, edit: impl FnOnce(&Members, &[u8]) -> Vec<u8>) {
        let bytes = self.bytes.take().unwrap_or_else(|| b"{\n  \"projects\": {}\n}".to_vec());
        let inner = Members::of(&bytes, 0)
            .ok()
            .and_then(|outer| Members::of(&bytes, outer.value("projects")?.start).ok());
        let edited = inner.map(|inner| edit(&inner, &bytes));
        self.changed |= edited.is_some();
        self.bytes = Some(edited.unwrap_or(bytes));
        self.entries = self.parse().unwrap_or_default();
    }
}

/// Compares paths as the agent does: exactly, but on Windows ignoring case.
pub(crate) fn is_same(one: &RecordedPath, other: &RecordedPath) -> bool {
    if cfg!(windows) {
        return one.as_str().to_lowercase() == other.as_str().to_lowercase();
    }
    one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(text: &str) -> Result<Register, String> {
        let mut register =
            Register { bytes: Some(text.as_bytes().to_vec()), ..Register::default() };
        register.entries = register.parse()?;
        Ok(register)
    }

    fn text(register: &Register) -> String {
        String::from_utf8(register.entry().unwrap().bytes).unwrap()
    }

    #[test]
    fn one_entry_changes_and_the_others_stay_as_they_are() {
        let old = "{\n  \"projects\": {\n    \"/home/dev/a\": \"a\",\n    \"/home/dev/b \\\"x\\\"\": \"b-x\"\n  },\n  \"later\": 1\n}\n";
        let path = |path: &str| RecordedPath::new(path);
        let mut known = register(old).unwrap();
        assert_eq!(known.slug(&path("/home/dev/b \"x\"")), Some("b-x"));
        assert!(known.is_taken("a", &path("/c")) && !known.is_taken("a", &path("/home/dev/a")));
        assert_eq!(known.entry(), None);
        known.set(&path("/c"), "c");
        assert_eq!(text(&known), old.replace("\"b-x\"", "\"b-x\",\n    \"/c\": \"c\""));
        known.remove(&path("/c"));
        assert_eq!(text(&known), old);
        known.rename(&path("/home/dev/a"), &path("/home/dev/new"));
        assert_eq!(text(&known), old.replace("/home/dev/a", "/home/dev/new"));
        known.rename(&path("/home/dev/b \"x\""), &path("/home/dev/new"));
        assert_eq!(known.slug(&path("/home/dev/new")), Some("b-x"));
        assert_eq!(known.entries.len(), 1);
        let mut none = Register::default();
        none.set(&path("/c"), "c");
        assert_eq!(text(&none), "{\n  \"projects\": {\n    \"/c\": \"c\"\n  }\n}");
    }

    #[test]
    fn what_the_agent_would_throw_away_is_not_changed() {
        for bad in [
            "",
            "[]",
            "{}",
            "{\"projects\": []}",
            "{\"projects\": {\"/a\": 1}}",
            "{\"projects\": {\"/a\": \"A_b\"}}",
            "{\"projects\": {\"/a\": \"a\"",
        ] {
            assert!(register(bad).unwrap_err().contains("damaged"), "{bad}");
        }
    }
}
