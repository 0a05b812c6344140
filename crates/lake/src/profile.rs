//! Credentials from the files of the AWS command line: `~/.aws/credentials` and `~/.aws/config`.

use std::collections::BTreeMap;

use recount_engine::export::lake::read_small;
use recount_platform::{Env, Folders};

/// Settings that are used, and what `object_store` calls them.
const KEYS: &[(&str, &str)] = &[
    ("aws_access_key_id", "aws_access_key_id"),
    ("aws_secret_access_key", "aws_secret_access_key"),
    ("aws_session_token", "aws_session_token"),
    ("region", "aws_region"),
    ("endpoint_url", "aws_endpoint_url"),
];

/// Returns the settings of the chosen profile.
pub(crate) fn settings(env: &Env) -> BTreeMap<&'static str, String> {
    let home = Folders::find(env).home.unwrap_or_default();
    let profile = env.text("AWS_PROFILE").unwrap_or("default");
    let place = |variable: &str, usual: &str| {
        env.path(variable).unwrap_or_else(|| home.join(".aws").join(usual))
    };
    let mut settings = BTreeMap::new();
    let config = read_small(&place("AWS_CONFIG_FILE", "config")).unwrap_or_default();
    let named = format!("profile {profile}");
    let section = if profile == "default" { profile } else { named.as_str() };
    read(&config, section, &mut settings);
    let file = place("AWS_SHARED_CREDENTIALS_FILE", "credentials");
    read(&read_small(&file).unwrap_or_default(), profile, &mut settings);
    settings
}

fn read(text: &str, wanted: &str, settings: &mut BTreeMap<&'static str, String>) {
    let mut is_wanted = false;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            is_wanted = section.trim() == wanted;
        } else if let Some((name, value)) = line.split_once('=').filter(|_| is_wanted) {
            let (name, value) = (name.trim(), value.trim());
            if let Some((_, key)) = KEYS.iter().find(|(known, _)| *known == name)
                && !value.is_empty()
            {
                settings.insert(key, value.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_wanted_section_is_read() {
        let text = "# note\n[default]\naws_access_key_id = A\nregion=eu-west-1\n[other]\naws_access_key_id=B\nregion =\n";
        let mut settings = BTreeMap::new();
        read(text, "default", &mut settings);
        assert_eq!(settings.get("aws_access_key_id").map(String::as_str), Some("A"));
        assert_eq!(settings.get("aws_region").map(String::as_str), Some("eu-west-1"));
        let mut settings = BTreeMap::new();
        read(text, "other", &mut settings);
        assert_eq!(settings.len(), 1);
    }
}
