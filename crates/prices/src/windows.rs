//! The size of a model's context window, in tokens.

use std::sync::OnceLock;

use serde::Deserialize;

/// The embedded table.
const TABLE: &str = include_str!("../windows.toml");

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Windows {
    window: Vec<Window>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Window {
    model: String,
    tokens: u64,
    extended: Option<u64>,
    #[expect(dead_code, reason = "read by people")]
    source: String,
}

/// Returns the context window of a model in tokens, given that `used` are in use. `None` for unknown models.
pub fn context_window(model: &str, used: u64) -> Option<u64> {
    static WINDOWS: OnceLock<Windows> = OnceLock::new();
    let windows = WINDOWS.get_or_init(|| toml::from_str(TABLE).unwrap_or_default());
    let fits = windows.window.iter().filter(|one| model.starts_with(&one.model));
    let window = fits.max_by_key(|one| one.model.len())?;
    Some(window.extended.filter(|_| used > window.tokens).unwrap_or(window.tokens))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_counts_and_use_shows_the_larger_window() {
        assert_eq!(context_window("gemini-3.5-flash", 10), Some(1_048_576));
        assert_eq!(context_window("claude-haiku-4-5-20251001", 10), Some(200_000));
        assert_eq!(context_window("claude-sonnet-4-5", 200_001), Some(1_000_000));
        assert_eq!(context_window("claude-opus-5-5", 10), Some(1_000_000));
        assert_eq!(context_window("llama", 10), None);
    }
}
