//! What the next start of the program would delete: transcripts that were written too long ago.
//!
//! The age of a file is that of its last write, whatever its content. `cleanupPeriodDays` in the settings says how many days it may
//! have; without it, thirty.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use recount_model::{DeletionReason, PendingDeletion, SourceState};

use super::locate::parent_in_path;
use crate::bytes::read_small;
use crate::json::JsonTree;
use crate::json::edit::set;
use crate::retention::{
    Chats, InstallFolders, Installed, Layer, RetentionPolicy, RetentionSettings, Settings, Trap,
    Unfit, Variables, Wanted,
};
use crate::source::RootShape;

/// The program, as people start it.
const PROGRAM: &str = "claude";
const PACKAGE: &str = "@anthropic-ai/claude-code";
/// The newest release whose rules are known.
const NEWEST: &str = "2.1.325";
const KEY: &str = "cleanupPeriodDays";
/// How long transcripts are kept by default.
const USUAL: i64 = 30;
const DAY: i64 = 24 * 60 * 60 * 1000;
/// A period that means "forever": the program has no other setting for it.
const FOREVER: u32 = 365_000;
/// A period of at least a hundred years is left as it is.
const LONG: i64 = 36_500;
/// How many folders above a program its package may lie.
const ABOVE: usize = 6;

#[cfg(target_os = "macos")]
const MANAGED: &str = "/Library/Application Support/ClaudeCode/managed-settings.json";
#[cfg(windows)]
const MANAGED: &str = "C:\\Program Files\\ClaudeCode\\managed-settings.json";
#[cfg(not(any(target_os = "macos", windows)))]
const MANAGED: &str = "/etc/claude-code/managed-settings.json";

/// Claude Code's clean-up at start.
#[derive(Debug)]
pub(crate) struct CleanUp;

impl RetentionPolicy for CleanUp {
    fn program(&self) -> &'static str {
        PROGRAM
    }

    fn newest(&self) -> &'static str {
        NEWEST
    }

    fn is_release(&self, text: &str) -> bool {
        let parts: Vec<&str> = text.split('.').collect();
        parts.len() == 3 && parts.iter().all(|part| part.parse::<u32>().is_ok())
    }

    fn installed(&self, places: &InstallFolders<'_>) -> Option<Installed> {
        for folder in places.programs {
            let program = folder.join(PROGRAM);
            if !program.is_file() {
                continue;
            }
            let target = program.canonicalize().unwrap_or(program);
            let above =
                target.ancestors().skip(1).take(ABOVE).map(|above| above.join("package.json"));
            let beside = [folder.join("node_modules"), folder.join("../lib/node_modules")];
            let beside = beside.map(|packages| packages.join(PACKAGE).join("package.json"));
            if let Some(found) = above.chain(beside).find_map(|path| package(&path)) {
                return Some(found);
            }
        }
        let packages = places.packages.iter();
        packages
            .map(|packages| packages.join(PACKAGE).join("package.json"))
            .find_map(|path| package(&path))
    }

    fn settings(&self, root: &Path, shape: RootShape, _variables: &dyn Variables) -> Settings {
        Settings {
            is_own: shape == RootShape::Whole,
            home: root.parent().map(Path::to_owned),
            user: layer(root.join("settings.json")),
            system: layer(PathBuf::from(MANAGED)),
            ..Settings::default()
        }
    }

    fn retention(
        &self,
        settings: &Settings,
        folder: Option<&Path>,
        _release: &str,
    ) -> RetentionSettings {
        let mut retention = RetentionSettings { starts: true, ..RetentionSettings::default() };
        if !settings.is_own {
            retention.starts = false;
            retention.off = Some("the program does not look at this folder".to_owned());
            return retention;
        }
        let project = |name: &str| folder.map(|folder| layer(folder.join(".claude").join(name)));
        let shared = project("settings.json").unwrap_or_default();
        let local = project("settings.local.json").unwrap_or_default();
        let mut days = USUAL;
        for layer in [&settings.user, &shared, &local, &settings.system] {
            if let Some(told) = layer.tree.as_ref().and_then(days_of) {
                days = told.max(0);
                retention.from.push(layer.path.clone());
            }
        }
        retention.max_age = Some((format!("{days} days"), days.saturating_mul(DAY)));
        retention
    }

    fn pending_deletions(&self, chats: &Chats<'_>) -> Vec<PendingDeletion> {
        let Some((_, age)) =
            chats.retention.max_age.as_ref().filter(|_| chats.retention.off.is_none())
        else {
            return Vec::new();
        };
        let cut = chats.now.saturating_sub(*age);
        let is_old = |modified: Option<i64>| modified.is_some_and(|modified| modified < cut);
        let old = chats.folder.files.iter().filter(|file| is_old(file.modified));
        let deletion = |file: &std::sync::Arc<crate::source::FileAt>| PendingDeletion {
            path: file.path.to_string_lossy().into_owned(),
            bytes: file.bytes,
            is_link: file.is_link,
            why: DeletionReason::Age,
            with: None,
            with_why: None,
            session: parent_in_path(&file.path),
        };
        let mut found: Vec<PendingDeletion> = old.map(deletion).collect();
        found.sort_by(|one, next| one.path.cmp(&next.path));
        found
    }

    /// No file takes another one along.
    fn traps(&self, _chats: &Chats<'_>) -> Vec<Trap> {
        Vec::new()
    }

    /// The age of a file is that of its last write, so any row makes it new. This one says what is so anyway.
    fn used_line(&self, _time: Timestamp) -> String {
        r#"{"type":"mode","mode":"normal"}"#.to_owned()
    }

    fn used_document(&self, _text: &[u8], _time: Timestamp) -> Option<Vec<u8>> {
        None
    }

    fn settings_file(&self, root: &Path, shape: RootShape) -> Option<PathBuf> {
        (shape == RootShape::Whole).then(|| root.join("settings.json"))
    }

    fn with_retention(&self, text: Option<&[u8]>, wanted: Wanted) -> Result<Vec<u8>, Unfit> {
        let days = match wanted {
            Wanted::Forever => match text.filter(|text| days_in(text) >= Some(LONG)) {
                Some(text) => return Ok(text.to_vec()),
                None => FOREVER,
            },
            Wanted::Days(days) => days,
        };
        set(text.unwrap_or(b"{}\n"), &[KEY], &JsonTree::Number(days.to_string()))
    }

    fn once_edited(&self, mut settings: Settings, text: &[u8]) -> Settings {
        let path = std::mem::take(&mut settings.user.path);
        settings.user = understood(path, text);
        settings
    }

    fn last_used(&self, _state: &SourceState) -> Option<i64> {
        None
    }

    fn remedy(&self) -> &'static str {
        "set \"cleanupPeriodDays\" in ~/.claude/settings.json to a large number of days"
    }
}

/// Returns the number of days that settings name.
fn days_of(settings: &JsonTree) -> Option<i64> {
    let JsonTree::Number(text) = settings.get(KEY)? else { return None };
    text.parse().ok()
}

fn days_in(text: &[u8]) -> Option<i64> {
    days_of(&JsonTree::parse(text).ok()?)
}

fn package(path: &Path) -> Option<Installed> {
    let tree = JsonTree::parse(&read_small(path).ok()?).ok()?;
    let release = tree.text("version").filter(|_| tree.text("name") == Some(PACKAGE))?;
    Some(Installed { release: release.to_owned(), from: path.to_owned() })
}

fn layer(path: PathBuf) -> Layer {
    match read_small(&path) {
        Ok(text) => understood(path, &text),
        Err(_) => Layer { path, ..Layer::default() },
    }
}

fn understood(path: PathBuf, text: &[u8]) -> Layer {
    let tree = JsonTree::parse(text).ok();
    Layer { path, is_broken: tree.is_none(), tree, is_safe: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_say_how_many_days_a_transcript_may_have() {
        let put = |text: Option<&[u8]>, wanted| {
            String::from_utf8(CleanUp.with_retention(text, wanted).unwrap()).unwrap()
        };
        assert_eq!(put(None, Wanted::Days(90)), "{\n  \"cleanupPeriodDays\": 90\n}\n");
        let text = br#"{"model": "opus", "cleanupPeriodDays": 7}"#;
        let forever = put(Some(text), Wanted::Forever);
        assert_eq!(forever, r#"{"model": "opus", "cleanupPeriodDays": 365000}"#);
        let mut settings = Settings { is_own: true, ..Settings::default() };
        let usual = CleanUp.retention(&settings, None, NEWEST);
        assert_eq!(usual.max_age, Some(("30 days".to_owned(), 30 * DAY)));
        settings = CleanUp.once_edited(settings, forever.as_bytes());
        let long = CleanUp.retention(&settings, None, NEWEST);
        assert_eq!(long.max_age, Some(("365000 days".to_owned(), 365_000 * DAY)));
    }
}
