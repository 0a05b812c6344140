//! The user's settings in `config.toml`.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use recount_formats::bytes::read_small;
use recount_platform::Folders;
use recount_store::read_toml;
use serde::Deserialize;

use crate::Error;

/// The user's settings.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default)]
    pub(crate) projects: Projects,
    #[serde(default)]
    pub(crate) redact: Redact,
    /// Prices of models, which take precedence over the embedded ones.
    #[serde(default)]
    pub(crate) prices: BTreeMap<String, recount_prices::Override>,
    #[serde(default)]
    pub(crate) budget: Budget,
    #[serde(default)]
    pub(crate) alarm: Alarm,
    #[serde(default)]
    pub(crate) app: AppConfig,
    /// Keys of the terminal app, by action.
    #[serde(default)]
    pub(crate) keys: BTreeMap<String, Keys>,
    #[serde(default)]
    pub(crate) theme: ThemeConfig,
}

/// How the terminal app behaves.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AppConfig {
    /// Whether only ASCII is drawn for marks and lines.
    pub ascii: bool,
    /// Whether anything moves by itself.
    pub motion: bool,
    /// Whether clicks are taken where they mean something.
    pub mouse: bool,
}

impl Default for AppConfig {
    fn default() -> Self {
        Self { ascii: false, motion: true, mouse: true }
    }
}

/// The colors of the terminal app.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ThemeConfig {
    /// The name of a theme.
    pub(crate) name: Option<String>,
}

/// One key or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Keys {
    One(String),
    Several(Vec<String>),
}

impl crate::Engine {
    /// Returns how the terminal app behaves.
    pub fn app_config(&self) -> &AppConfig {
        &self.config.app
    }

    /// Returns the name of the terminal app's theme, if the user has chosen one.
    pub fn theme(&self) -> Option<&str> {
        self.config.theme.name.as_deref()
    }

    /// Returns the keys that the user has set, by action.
    pub fn keys(&self) -> BTreeMap<String, Vec<String>> {
        let keys = |keys: &Keys| match keys {
            Keys::One(key) => vec![key.clone()],
            Keys::Several(keys) => keys.clone(),
        };
        self.config.keys.iter().map(|(action, set)| (action.clone(), keys(set))).collect()
    }
}

/// What happens when a watched session needs attention.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Alarm {
    /// A program and its arguments, which gets the alarm as JSON on standard input.
    pub(crate) run: Vec<String>,
}

/// The budget, in dollars.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Budget {
    /// On one day.
    pub(crate) daily: Option<f64>,
    /// In one month.
    pub(crate) monthly: Option<f64>,
}

/// What is redacted in exports besides the default, and what is allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Redact {
    /// Regular expressions, by name.
    pub(crate) patterns: BTreeMap<String, String>,
    /// Exceptions, and `@company.org` for addresses.
    pub(crate) allow: Vec<String>,
}

/// How the folders of projects are searched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Projects {
    /// Whether the disk is searched automatically.
    pub(crate) scan: bool,
    /// The places to search, instead of the likely ones.
    pub(crate) roots: Option<Vec<String>>,
    /// The number of levels below each.
    pub(crate) depth: usize,
    /// The timeout of each, in milliseconds.
    patience_ms: u64,
}

impl Default for Projects {
    fn default() -> Self {
        Self { scan: true, roots: None, depth: 4, patience_ms: 2000 }
    }
}

impl Projects {
    /// Returns the timeout of the search of each place.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_millis(self.patience_ms)
    }
}

impl Config {
    /// Reads the file, if there is one.
    pub(crate) fn read(folders: &Folders) -> Result<Self, Error> {
        let Some(path) = &folders.config else { return Ok(Self::default()) };
        let Some(text) = written(path)? else { return Ok(Self::default()) };
        read_toml(&text).map_err(|message| Error::Config { path: path.clone(), message })
    }
}

/// Reads a file that the user may edit, if it exists.
pub(crate) fn written(path: &Path) -> Result<Option<String>, Error> {
    match read_small(path) {
        Ok(bytes) => utf8(path, bytes).map(Some),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(Error::Config { path: path.to_owned(), message: error.to_string() }),
    }
}

/// Decodes the bytes of such a file as text.
pub(crate) fn utf8(path: &Path, bytes: Vec<u8>) -> Result<String, Error> {
    let bad = |_| Error::Config { path: path.to_owned(), message: "not UTF-8".to_owned() };
    String::from_utf8(bytes).map_err(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_set_is_as_it_was() {
        let config: Config = read_toml("[projects]\ndepth = 6\n").unwrap();
        assert_eq!(config.projects, Projects { depth: 6, ..Projects::default() });
        assert!(read_toml::<Config>("[projects]\ndeep = 6\n").unwrap_err().contains("`deep`"));
    }
}
