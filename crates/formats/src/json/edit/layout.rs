//! The layout of an added value.

use crate::json::JsonTree;

/// How a value is laid out.
pub(super) struct Layout<'a> {
    /// One item per line.
    pub(super) is_tall: bool,
    /// The indentation of the line on which it begins.
    pub(super) indent: String,
    /// One more step of indentation.
    pub(super) unit: &'a str,
    pub(super) newline: &'a str,
}

impl Layout<'_> {
    pub(super) fn render(&self, value: &JsonTree) -> String {
        let (open, close, items): (_, _, Vec<(Option<&str>, &JsonTree)>) = match value {
            JsonTree::Object(fields) if !fields.is_empty() => {
                ('{', '}', fields.iter().map(|(key, value)| (Some(key.as_str()), value)).collect())
            }
            JsonTree::Array(elements) if !elements.is_empty() => {
                ('[', ']', elements.iter().map(|element| (None, element)).collect())
            }
            JsonTree::Object(_) => return "{}".to_owned(),
            JsonTree::Array(_) => return "[]".to_owned(),
            JsonTree::String(text) => return quoted(text),
            JsonTree::Null => return "null".to_owned(),
            JsonTree::Bool(value) => return value.to_string(),
            JsonTree::Number(text) | JsonTree::Deep(text) => return text.clone(),
        };
        let inner = Layout {
            is_tall: self.is_tall,
            indent: format!("{}{}", self.indent, self.unit),
            ..*self
        };
        let mut out = String::from(open);
        for (number, (key, value)) in items.into_iter().enumerate() {
            out.push_str(if number > 0 { "," } else { "" });
            if self.is_tall {
                out.push_str(self.newline);
                out.push_str(&inner.indent);
            } else {
                out.push_str(if number > 0 { " " } else { "" });
            }
            if let Some(key) = key {
                out.push_str(&quoted(key));
                out.push_str(": ");
            }
            out.push_str(&inner.render(value));
        }
        if self.is_tall {
            out.push_str(self.newline);
            out.push_str(&self.indent);
        }
        out.push(close);
        out
    }
}

/// Writes a string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
