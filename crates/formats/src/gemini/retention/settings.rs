//! The settings of a cleanup, from every file that may contain them.

use std::path::{Path, PathBuf};

use super::rules::Rules;
use super::trust::is_trusted;
use crate::bytes::read_small;
use crate::json::JsonTree;
use crate::retention::{Layer, RetentionNote, RetentionSettings, Settings, Variables};
use crate::source::RootShape;

/// The minimum age of a session, unless settings override it.
const SHORTEST: &str = "1d";
/// How long sessions are kept by default.
const USUAL: &str = "30d";

const HOUR: i64 = 60 * 60 * 1000;

/// Reads the settings that apply to all projects below a data folder.
pub(crate) fn settings(root: &Path, shape: RootShape, variables: &dyn Variables) -> Settings {
    let home = home(root);
    let base = base(root);
    let system = variables.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH").map(PathBuf::from);
    let system = system.unwrap_or_else(|| PathBuf::from(SYSTEM));
    let defaults = variables.get("GEMINI_CLI_SYSTEM_DEFAULTS_PATH").map(PathBuf::from);
    let beside = || system.with_file_name("system-defaults.json");
    let folders = variables.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH").map(PathBuf::from);
    let trusted = layer(folders.unwrap_or_else(|| base.join("trustedFolders.json")));
    let rules = trusted.tree.as_ref().and_then(JsonTree::as_object).unwrap_or_default();
    let rule = |(path, how): &(String, JsonTree)| Some((path.clone(), how.as_str()?.to_owned()));
    let trust = variables.get("GEMINI_CLI_TRUST_WORKSPACE");
    let restricted = variables.get("GEMINI_RESTRICTED_MODE").as_deref() == Some("true");
    let mut settings = Settings {
        is_own: shape == RootShape::Whole,
        home: home.map(Path::to_owned),
        defaults: layer(defaults.unwrap_or_else(beside)),
        user: layer(base.join("settings.json")),
        trusted: rules.iter().filter_map(rule).collect(),
        env_trust: match trust.as_deref() {
            Some("false") => Some(false),
            _ if restricted => Some(false),
            Some("true") => Some(true),
            _ => None,
        },
        system: layer(system),
        variables: Vec::new(),
    };
    for layer in [&settings.defaults, &settings.user, &settings.system] {
        settings.variables.extend(named(layer, variables));
    }
    settings
}

/// Returns the home of a data folder. In a macOS sandbox data is in `~/.cache/.gemini`, settings stay in place.
fn home(root: &Path) -> Option<&Path> {
    root.parent().map(|above| match above.file_name() {
        Some(name) if name == ".cache" => above.parent().unwrap_or(above),
        _ => above,
    })
}

fn base(root: &Path) -> PathBuf {
    home(root).map_or_else(|| root.to_owned(), |home| home.join(".gemini"))
}

/// Returns the user's own settings file.
pub(crate) fn user_file(root: &Path) -> PathBuf {
    base(root).join("settings.json")
}

/// Returns the same settings with another text in the user's own file.
pub(crate) fn once_edited(mut settings: Settings, text: &[u8]) -> Settings {
    let path = std::mem::take(&mut settings.user.path);
    settings.user = understood(path, text);
    settings
}

#[cfg(target_os = "macos")]
const SYSTEM: &str = "/Library/Application Support/GeminiCli/settings.json";
#[cfg(windows)]
const SYSTEM: &str = "C:\\ProgramData\\gemini-cli\\settings.json";
#[cfg(not(any(target_os = "macos", windows)))]
const SYSTEM: &str = "/etc/gemini-cli/settings.json";

/// Returns what is kept in the project at `folder`.
pub(crate) fn retention(
    settings: &Settings,
    folder: Option<&Path>,
    rules: &Rules,
) -> RetentionSettings {
    let mut retention = RetentionSettings { starts: true, ..RetentionSettings::default() };
    let own = folder.filter(|folder| settings.home.as_deref() != Some(folder));
    let project = own.map(|folder| layer(folder.join(".gemini").join("settings.json")));
    let project = project.unwrap_or_default();
    let all = [&settings.defaults, &settings.user, &project, &settings.system];
    if let Some(broken) = all.iter().find(|layer| layer.is_broken) {
        retention.starts = false;
        retention.off = Some(format!(
            "{} is not valid: the program does not start until it is mended",
            broken.path.display()
        ));
        retention.from.push(broken.path.clone());
        return retention;
    }
    let mut merged = Merged::new(rules);
    let counts = |layer: &Layer| !rules.checks_system || layer.is_safe;
    for (layer, counts) in [
        (&settings.defaults, counts(&settings.defaults)),
        (&settings.user, true),
        (&project, is_trusted(settings, folder, rules)),
        (&settings.system, counts(&settings.system)),
    ] {
        let says = Merged::said(layer).is_some();
        if says && !counts {
            retention.notes.push(RetentionNote::Ignored(layer.path.clone()));
        } else if says {
            merged.take(layer);
            retention.from.push(layer.path.clone());
        }
    }
    merged.decide(&mut retention, &settings.variables, rules);
    retention
}

/// `general.sessionRetention`, merged file by file.
struct Merged {
    fields: Vec<(String, JsonTree)>,
}

impl Merged {
    fn new(rules: &Rules) -> Self {
        let text = |text: &str| JsonTree::String(text.to_owned());
        let mut fields = vec![
            ("enabled".to_owned(), JsonTree::Bool(rules.on_by_default)),
            ("minRetention".to_owned(), text(SHORTEST)),
        ];
        if rules.on_by_default {
            fields.push(("maxAge".to_owned(), text(USUAL)));
        }
        Self { fields }
    }

    /// Returns the value in a layer; if that is not an object, it replaces everything.
    fn said(layer: &Layer) -> Option<&JsonTree> {
        let general = layer.tree.as_ref()?.get("general")?;
        if general.as_object().is_some() { general.get("sessionRetention") } else { Some(general) }
    }

    fn take(&mut self, layer: &Layer) {
        let Some(said) = Self::said(layer) else { return };
        match said.as_object() {
            None => self.fields.clear(),
            Some(fields) => {
                for (key, value) in fields {
                    self.fields.retain(|(known, _)| known != key);
                    self.fields.push((key.clone(), value.clone()));
                }
            }
        }
    }

    fn get(&self, key: &str) -> Option<&JsonTree> {
        self.fields.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Decides like the program, which uses JavaScript's truthiness.
    fn decide(&self, retention: &mut RetentionSettings, words: &[(String, String)], rules: &Rules) {
        if !rules.has_cleanup {
            retention.off = Some("this release has no clean-up".to_owned());
            return;
        }
        if !self.get("enabled").is_some_and(is_true) {
            let default = if rules.on_by_default { "" } else { " (as it is by default)" };
            retention.off = Some(format!("general.sessionRetention.enabled is off{default}"));
            return;
        }
        retention.outputs = true;
        let period = |value: &JsonTree| {
            let text = expanded(value.as_str()?, words);
            let millis = period(&text)?;
            Some((text, millis))
        };
        let age = self.get("maxAge").filter(|age| is_true(age));
        let count = self.get("maxCount");
        retention.max_age = age.and_then(period);
        retention.max_count = count.and_then(number).and_then(at_most);
        if let Some(age) = age {
            let Some((text, millis)) = &retention.max_age else {
                let said = age.as_str().map_or_else(String::new, |text| format!(" {text:?}"));
                retention.off = Some(format!("maxAge{said} is not a period: nothing is deleted"));
                return;
            };
            let shortest = self.get("minRetention").filter(|least| is_true(least));
            let shortest =
                shortest.and_then(period).or_else(|| period(&JsonTree::String(SHORTEST.into())));
            if let Some((least, _)) = shortest.filter(|(_, least)| millis < least) {
                let words = format!("maxAge {text} is less than minRetention {least}");
                retention.off = Some(format!("{words}: no session is deleted"));
                return;
            }
        }
        if count.and_then(number).is_some_and(|count| count < 1.0) {
            retention.off = Some("maxCount is less than 1: no session is deleted".to_owned());
        } else if age.is_none() && count.is_none() {
            retention.off = Some("neither maxAge nor maxCount is set".to_owned());
        }
    }
}

/// Reads one file. Comments are allowed.
pub(crate) fn layer(path: PathBuf) -> Layer {
    match read_small(&path) {
        Ok(bytes) => understood(path, &bytes),
        Err(_) => Layer { path, ..Layer::default() },
    }
}

fn understood(path: PathBuf, bytes: &[u8]) -> Layer {
    let tree = JsonTree::parse(&crate::json::comments::strip(bytes)).ok();
    let tree = tree.filter(|tree| tree.as_object().is_some());
    Layer { is_broken: tree.is_none(), tree, is_safe: is_safe(&path), path }
}

/// Whether only the system's owner can have written a file: it and its folder belong to root, and nobody else may write.
#[cfg(unix)]
fn is_safe(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let safe = |path: &Path| {
        path.metadata().is_ok_and(|known| known.uid() == 0 && known.mode() & 0o022 == 0)
    };
    safe(path) && path.parent().is_some_and(safe)
}

#[cfg(not(unix))]
fn is_safe(_path: &Path) -> bool {
    true
}

/// Whether a value is truthy in JavaScript.
pub(crate) fn is_true(value: &JsonTree) -> bool {
    match value {
        JsonTree::Null => false,
        JsonTree::Bool(value) => *value,
        JsonTree::Number(number) => number.parse::<f64>().is_ok_and(|number| number != 0.0),
        JsonTree::String(text) => !text.is_empty(),
        JsonTree::Array(_) | JsonTree::Object(_) | JsonTree::Deep(_) => true,
    }
}

/// Returns a value as JavaScript compares it with a number; anything else is never less and never more.
fn number(value: &JsonTree) -> Option<f64> {
    match value {
        JsonTree::Null => Some(0.0),
        JsonTree::Bool(value) => Some(f64::from(u8::from(*value))),
        JsonTree::Number(number) => number.parse().ok(),
        JsonTree::String(text) if text.trim().is_empty() => Some(0.0),
        JsonTree::String(text) => text.trim().parse().ok(),
        JsonTree::Array(_) | JsonTree::Object(_) | JsonTree::Deep(_) => None,
    }
}

/// Returns the first index over the limit.
fn at_most(count: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "such a cast stops at the ends"
    )]
    (!count.is_nan()).then(|| count.ceil() as u64)
}

/// Reads a period such as `30d`, in milliseconds.
fn period(text: &str) -> Option<i64> {
    let unit = match text.bytes().last()? {
        b'h' => HOUR,
        b'd' => 24 * HOUR,
        b'w' => 7 * 24 * HOUR,
        b'm' => 30 * 24 * HOUR,
        _ => return None,
    };
    let digits = text.get(..text.len() - 1)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: i64 = digits.parse().unwrap_or(i64::MAX);
    (count > 0).then(|| count.saturating_mul(unit))
}

/// Expands environment variables: `$NAME` and `${NAME}`.
fn expanded(text: &str, words: &[(String, String)]) -> String {
    words.iter().fold(text.to_owned(), |text, (place, word)| text.replace(place, word))
}

/// Lists the environment variables in a layer's periods.
fn named(layer: &Layer, variables: &dyn Variables) -> Vec<(String, String)> {
    let fields = Merged::said(layer).and_then(JsonTree::as_object).unwrap_or_default();
    let texts = fields.iter().filter_map(|(_, value)| value.as_str());
    let name = |text: &str| {
        let (_, rest) = text.split_once('$')?;
        let bare = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let name =
            bare.map_or_else(|| rest.split(end).next().unwrap_or_default(), |(name, _)| name);
        let place = if bare.is_some() { format!("${{{name}}}") } else { format!("${name}") };
        Some((place, variables.get(name)?))
    };
    texts.filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_whole_numbers_with_a_unit() {
        assert_eq!(period("30d"), Some(30 * 24 * HOUR));
        assert_eq!(period("2m"), Some(60 * 24 * HOUR));
        assert_eq!(period("1w"), period("7d"));
        for wrong in ["", "d", "30", "0d", "-1d", "1.5d", "30 d", "30D", "30d\n", "٣d"] {
            assert_eq!(period(wrong), None, "{wrong:?}");
        }
        assert_eq!(period("99999999999999999999h"), Some(i64::MAX));
    }
}
