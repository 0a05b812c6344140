//! JSON as `JSON.stringify` writes it: keys in the order given, two spaces or none.
//!
//! Only for writing. Texts are shared, because newer eras write the same tool output three times.

use std::{borrow::Cow, rc::Rc};

/// A text that several records share.
pub(crate) type Text = Rc<str>;

#[derive(Debug, Clone)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(u64),
    Text(Text),
    List(Vec<Self>),
    Record(Vec<(Cow<'static, str>, Self)>),
}

/// Builds a [`Json::Record`] with its keys in the order written.
macro_rules! record {
    ($($key:literal : $value:expr),* $(,)?) => {
        $crate::json::Json::Record(vec![
            $((::std::borrow::Cow::Borrowed($key), $crate::json::Json::from($value))),*
        ])
    };
}
pub(crate) use record;

impl Json {
    pub(crate) fn list(items: impl IntoIterator<Item = impl Into<Self>>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }

    /// Adds a key at the end; does nothing for other values.
    pub(crate) fn put(&mut self, key: &'static str, value: impl Into<Self>) {
        if let Self::Record(entries) = self {
            entries.push((Cow::Borrowed(key), value.into()));
        }
    }

    /// Moves the entries of another record to the end.
    pub(crate) fn extend(&mut self, other: &mut Self) {
        if let (Self::Record(entries), Self::Record(others)) = (self, other) {
            entries.append(others);
        }
    }

    /// Sets the value of a key; adds it at the end if it is missing.
    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<Self>) {
        let Self::Record(entries) = self else { return };
        match entries.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value.into(),
            None => entries.push((Cow::Borrowed(key), value.into())),
        }
    }

    /// Removes a key.
    pub(crate) fn remove(&mut self, key: &str) {
        if let Self::Record(entries) = self {
            entries.retain(|(known, _)| known != key);
        }
    }

    fn get(&self, key: &str) -> Option<&Self> {
        let Self::Record(entries) = self else { return None };
        entries.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Returns the text of a key.
    pub(crate) fn text(&self, key: &str) -> Option<Text> {
        if let Some(Self::Text(text)) = self.get(key) { Some(text.clone()) } else { None }
    }

    /// Whether a key has the value `true`.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Self::Bool(true)))
    }

    /// Appends the value without any white space.
    pub(crate) fn compact(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(value) => out.push_str(&value.to_string()),
            Self::Text(text) => quote(text, out),
            Self::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    out.push(if index == 0 { '[' } else { ',' });
                    item.compact(out);
                }
                out.push_str(if items.is_empty() { "[]" } else { "]" });
            }
            Self::Record(entries) => {
                for (index, (key, value)) in entries.iter().enumerate() {
                    out.push(if index == 0 { '{' } else { ',' });
                    quote(key, out);
                    out.push(':');
                    value.compact(out);
                }
                out.push_str(if entries.is_empty() { "{}" } else { "}" });
            }
        }
    }

    /// Appends the value over several lines, indented by two spaces, its first line at `depth`.
    pub(crate) fn pretty(&self, depth: usize, out: &mut String) {
        match self {
            Self::List(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    out.push(if index == 0 { '[' } else { ',' });
                    break_line(depth + 1, out);
                    item.pretty(depth + 1, out);
                }
                break_line(depth, out);
                out.push(']');
            }
            Self::Record(entries) if !entries.is_empty() => {
                for (index, (key, value)) in entries.iter().enumerate() {
                    out.push(if index == 0 { '{' } else { ',' });
                    break_line(depth + 1, out);
                    quote(key, out);
                    out.push_str(": ");
                    value.pretty(depth + 1, out);
                }
                break_line(depth, out);
                out.push('}');
            }
            _ => self.compact(out),
        }
    }

    pub(crate) fn to_pretty(&self) -> String {
        let mut out = String::new();
        self.pretty(0, &mut out);
        out
    }

    pub(crate) fn to_compact(&self) -> String {
        let mut out = String::new();
        self.compact(&mut out);
        out
    }
}

fn break_line(depth: usize, out: &mut String) {
    const BLANKS: &str = "                                        ";
    out.push('\n');
    let wide = depth * 2;
    match BLANKS.get(..wide) {
        Some(blanks) => out.push_str(blanks),
        None => out.extend(std::iter::repeat_n(' ', wide)),
    }
}

/// Appends `text` as a JSON string with exactly the escapes that JavaScript uses.
fn quote(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\')) {
        // The byte found is ASCII, so both cuts are at character boundaries.
        let (plain, from) = rest.split_at(at);
        out.push_str(plain);
        let mut characters = from.chars();
        match characters.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some(other) => out.extend([format!("\\u{:04x}", u32::from(other))]),
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<Text> for Json {
    fn from(text: Text) -> Self {
        Self::Text(text)
    }
}

impl From<&Text> for Json {
    fn from(text: &Text) -> Self {
        Self::Text(Text::clone(text))
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Self::Number(value)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Vec<Self>> for Json {
    fn from(items: Vec<Self>) -> Self {
        Self::List(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_writes_what_javascript_writes() {
        let value = record! {
            "z": "a\"\\\n\t\u{8}\u{c}\r\u{1}é漢🍎",
            "empty": Json::List(Vec::new()),
            "none": Json::Record(Vec::new()),
            "list": Json::list(["x"]),
            "n": 12_u64,
            "yes": true,
            "null": Json::Null,
        };
        assert_eq!(
            value.to_compact(),
            r#"{"z":"a\"\\\n\t\b\f\r\u0001é漢🍎","empty":[],"none":{},"list":["x"],"n":12,"yes":true,"null":null}"#
        );
        let pretty =
            record! { "a": Json::list(["x", "y"]), "b": record! { "c": 1_u64 } }.to_pretty();
        assert_eq!(
            pretty,
            "{\n  \"a\": [\n    \"x\",\n    \"y\"\n  ],\n  \"b\": {\n    \"c\": 1\n  }\n}"
        );
    }

    #[test]
    fn output_round_trips() {
        let text: String = (0..0x300).filter_map(char::from_u32).collect();
        let read: serde_json::Value =
            serde_json::from_str(&Json::from(text.as_str()).to_compact()).unwrap();
        assert_eq!(read, text.as_str());
    }
}
