//! Files that people write by hand, and their error messages.

use serde::de::DeserializeOwned;

/// Reads TOML.
///
/// # Errors
/// A message on one line, with the line number in the file.
pub fn read_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let message = error.message().replace('\n', "; ");
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map(|before| before.matches('\n').count() + 1);
        line.map_or_else(|| message.clone(), |line| format!("line {line}: {message}"))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn an_error_has_its_line() {
        let read = |text: &str| read_toml::<BTreeMap<String, u8>>(text);
        assert_eq!(read("a = 1\n").unwrap(), BTreeMap::from([("a".to_owned(), 1)]));
        for (text, expected) in [
            ("a = 1\n\nb = 'x'\n", "line 3: invalid type"),
            ("a = 1\na = 2\n", "line 2: duplicate key"),
            ("[a", "line 1: unclosed table"),
            ("a = 1\n\n\nü", "line 4: "),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(expected) && !error.contains('\n'), "{error}");
        }
    }
}
