//! Whether the program uses a project's own settings: only in folders that the user trusts.

use std::path::Path;

use super::rules::Rules;
use super::settings::is_true;
use crate::json::JsonTree;
use crate::retention::{Layer, Settings};

/// Whether settings in a folder apply.
pub(crate) fn is_trusted(settings: &Settings, folder: Option<&Path>, rules: &Rules) -> bool {
    let Some(folder) = folder else { return false };
    if let Some(trusted) = settings.env_trust.filter(|_| rules.env_sets_trust) {
        return trusted;
    }
    let layers = [&settings.defaults, &settings.user, &settings.system];
    let asks = layers.iter().filter_map(|layer| asks(layer)).next_back();
    !asks.unwrap_or(rules.asks_for_trust) || is_listed_as_trusted(&settings.trusted, folder)
}

fn asks(layer: &Layer) -> Option<bool> {
    let trust = layer.tree.as_ref()?.get("security")?.get("folderTrust")?;
    // `null` counts as missing.
    trust.get("enabled").filter(|value| **value != JsonTree::Null).map(is_true)
}

/// Whether a folder is trusted: the rule with the longest path decides.
fn is_listed_as_trusted(trusted: &[(String, String)], folder: &Path) -> bool {
    let covers = |(path, how): &&(String, String)| {
        let path = Path::new(path);
        let path = if how == "TRUST_PARENT" { path.parent().unwrap_or(path) } else { path };
        folder.starts_with(path)
    };
    let rule = trusted.iter().filter(covers).max_by_key(|(path, _)| path.len());
    rule.is_some_and(|(_, how)| how == "TRUST_FOLDER" || how == "TRUST_PARENT")
}
