//! Query parameters and parts of paths.

use jiff::Timestamp;
use recount_display::when;

use crate::failure::ApiError;

/// The parameters of a request, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    /// Reads a query string.
    pub(crate) fn read(query: Option<&str>) -> Self {
        let pairs = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(&name.replace('+', " ")), decode(&value.replace('+', " ")))
        };
        Self(pairs.map(pair).collect())
    }

    /// Returns the value of a parameter, unless it is empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let own = self.0.iter().find(|(own, value)| own == name && !value.is_empty());
        own.map(|(_, value)| value.as_str())
    }

    /// Returns all values of a parameter that may be repeated.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let own = self.0.iter().filter(move |(own, value)| own == name && !value.is_empty());
        own.map(|(_, value)| value.as_str())
    }

    /// Returns all values of a parameter that may be repeated or have commas.
    pub(crate) fn list<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.all(name).flat_map(|value| value.split(',')).filter(|value| !value.is_empty())
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    /// Whether a flag is set.
    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some("1" | "true" | "yes"))
    }

    /// Returns a number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<usize>, ApiError> {
        let wrong = |value: &str| ApiError::bad(format!("{name}={value}: not a number"));
        self.get(name).map(|value| value.parse().map_err(|_| wrong(value))).transpose()
    }

    /// Returns a time, as flags take it.
    pub(crate) fn time(&self, name: &str, now: Timestamp) -> Result<Option<Timestamp>, ApiError> {
        let wrong =
            |value: &str, why| ApiError::bad(format!("{name}={value}: not a time")).hint(why);
        self.get(name)
            .map(|value| when::parse(value, now).map_err(|why| wrong(value, why)))
            .transpose()
    }

    /// Returns one of some words.
    pub(crate) fn choice<T: Copy>(
        &self,
        name: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, ApiError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let found = choices.iter().find(|(word, _)| *word == value).map(|(_, choice)| *choice);
        found.map(Some).ok_or_else(|| {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            ApiError::bad(format!("{name}={value}: unknown")).hint(words.join(", "))
        })
    }
}

/// Decodes `%41`; what is no valid code stays as it is.
pub(crate) fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        let is_hex = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let code = digits.filter(|_| *byte == b'%').filter(is_hex);
        if let Some(code) = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            decoded.push(code);
            at += 3;
        } else {
            decoded.push(*byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let params =
            Params::read(Some("q=a+b%20%E5%A4%A9&kind=main,subagent&kind=headless&x=&live=1&n=3"));
        assert_eq!(params.get("q"), Some("a b 天"));
        assert_eq!(params.list("kind").collect::<Vec<_>>(), ["main", "subagent", "headless"]);
        assert_eq!((params.get("x"), params.flag("live")), (None, true));
        assert_eq!(params.number("n").unwrap(), Some(3));
        assert!(params.number("q").is_err());
        assert_eq!(decode("%4"), "%4");
        assert_eq!(decode("%zz%41%"), "%zzA%");
        assert_eq!(decode("%+1"), "%+1");
    }
}
