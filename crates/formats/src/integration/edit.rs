//! One value in a file that belongs to the agent or the user. Every other byte stays as it is.

use std::fmt::Write as _;

use super::table::TableEdit;
use crate::json::JsonTree;
use crate::json::comments::strip;
use crate::json::edit::{Unfit, check_accepted, push, remove_elements, remove_value, set};

/// The text of a file of JSON that does not exist yet.
const EMPTY: &[u8] = b"{}\n";

/// A value that is set in a file.
#[derive(Clone, Debug)]
pub enum Edit {
    /// A member of an object of JSON.
    Member {
        /// The keys to it.
        path: Vec<String>,
        /// The value.
        value: JsonTree,
        /// Its members that may have any value.
        any: &'static [&'static str],
        /// Whether an object that it leaves empty stays.
        keeps_parent: bool,
    },
    /// A member of an object of JSON that says which form the file has. It is set in a new file and never removed.
    Form {
        /// Its key.
        key: &'static str,
        /// The value.
        value: JsonTree,
    },
    /// An element of a list of JSON.
    Element {
        /// The keys to the list.
        path: Vec<String>,
        /// The element.
        value: JsonTree,
    },
    /// A table of TOML.
    Table(TableEdit),
}

/// What is there in place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditState {
    /// Nothing.
    Missing,
    /// The value itself.
    Same,
    /// Another value.
    Other,
}

impl Edit {
    /// A member of an object of JSON, given by its keys.
    pub(crate) fn member(path: &[&str], value: JsonTree) -> Self {
        let path = path.iter().map(|key| (*key).to_owned()).collect();
        Self::Member { path, value, any: &[], keeps_parent: false }
    }

    /// A table of TOML with these keys, whose values are written as TOML.
    pub(crate) fn table(path: &[&str], lines: Vec<(&'static str, String)>) -> Self {
        let path = path.iter().map(|key| (*key).to_owned()).collect();
        Self::Table(TableEdit { path, lines })
    }

    /// Returns what the text has.
    ///
    /// # Errors
    /// If the text is not understood.
    pub fn state(&self, text: Option<&[u8]>) -> Result<EditState, Unfit> {
        let Some(text) = text else { return Ok(EditState::Missing) };
        match self {
            Self::Table(table) => table.state(text),
            Self::Form { key, value } => {
                check_accepted(text)?;
                Ok(match at(text, &[(*key).to_owned()]) {
                    None => EditState::Missing,
                    Some(known) if known == *value => EditState::Same,
                    Some(_) => EditState::Other,
                })
            }
            Self::Member { path, value, any, .. } => {
                check_accepted(text)?;
                Ok(match at(text, path) {
                    None => EditState::Missing,
                    Some(known) if is_same(&known, value, any) => EditState::Same,
                    Some(_) => EditState::Other,
                })
            }
            Self::Element { path, value } => {
                check_accepted(text)?;
                let known = at(text, path);
                let elements = known.as_ref().and_then(JsonTree::as_array).unwrap_or_default();
                Ok(if elements.contains(value) { EditState::Same } else { EditState::Missing })
            }
        }
    }

    /// Returns the text with the value.
    ///
    /// # Errors
    /// If the text is not understood, or has something else where the value belongs.
    pub fn apply(&self, text: Option<&[u8]>) -> Result<Vec<u8>, Unfit> {
        if let (EditState::Same, Some(text)) = (self.state(text)?, text) {
            return Ok(text.to_vec());
        }
        match self {
            Self::Table(table) => table.apply(text.unwrap_or_default()),
            Self::Member { path, value, .. } => set(text.unwrap_or(EMPTY), &words(path), value),
            Self::Form { key, value } => set(text.unwrap_or(EMPTY), &[key], value),
            Self::Element { path, value } => push(text.unwrap_or(EMPTY), &words(path), value),
        }
    }

    /// Returns the text without the value, whatever it is now; `None` if there is none.
    ///
    /// # Errors
    /// If the text is not understood.
    pub fn remove(&self, text: &[u8]) -> Result<Option<Vec<u8>>, Unfit> {
        match self {
            Self::Table(table) => table.remove(text),
            Self::Form { .. } => Ok(None),
            Self::Member { path, keeps_parent, .. } => {
                remove_value(text, &words(path), !keeps_parent)
            }
            Self::Element { path, value } => {
                match remove_elements(text, &words(path), |one| one == value) {
                    // What is no list does not have it.
                    Err(Unfit::Other { .. }) => Ok(None),
                    left => left,
                }
            }
        }
    }

    /// Returns the value that the text has in its place, written the same way whatever its layout. `None` if there is none.
    pub fn found(&self, text: &[u8]) -> Option<String> {
        let mut canonical = String::new();
        match self {
            Self::Table(table) => return table.found(text),
            Self::Form { .. } => return None,
            Self::Member { path, any, .. } => write(&at(text, path)?, any, &mut canonical),
            Self::Element { value, .. } => {
                self.state(Some(text)).ok().filter(|state| *state == EditState::Same)?;
                write(value, &[], &mut canonical);
            }
        }
        Some(canonical)
    }

    /// Whether a text says nothing without the value: a file with it may be removed.
    pub fn is_blank(&self, text: &[u8]) -> bool {
        let is_form = |own: &str| matches!(self, Self::Form { key, .. } if *key == own);
        let is_empty = |value: &JsonTree| value.as_object().is_some_and(<[_]>::is_empty);
        let blank = |(key, value): &(String, JsonTree)| is_form(key) || is_empty(value);
        match self {
            Self::Table(_) => text.trim_ascii().is_empty(),
            Self::Member { .. } | Self::Element { .. } | Self::Form { .. } => JsonTree::parse(text)
                .is_ok_and(|tree| tree.as_object().is_some_and(|all| all.iter().all(blank))),
        }
    }

    /// Returns what is set, for people.
    pub fn name(&self) -> String {
        match self {
            Self::Table(table) => table.path.join("."),
            Self::Member { path, .. } | Self::Element { path, .. } => path.join("."),
            Self::Form { key, .. } => (*key).to_owned(),
        }
    }
}

fn words(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// Returns the value at a path.
fn at(text: &[u8], path: &[String]) -> Option<JsonTree> {
    let tree = JsonTree::parse(&strip(text)).ok()?;
    path.iter().try_fold(&tree, |value, key| value.get(key)).cloned()
}

/// Writes a value without the members that may have any value, and with the others in order.
fn write(value: &JsonTree, any: &[&str], out: &mut String) {
    match value {
        JsonTree::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.retain(|(key, _)| !any.contains(&key.as_str()));
            members.sort_by(|one, other| one.0.cmp(&other.0));
            out.push('{');
            for (key, value) in members {
                let _written = write!(out, "{key:?}:");
                write(value, any, out);
            }
            out.push('}');
        }
        JsonTree::Array(elements) => {
            out.push('[');
            for element in elements {
                write(element, any, out);
            }
            out.push(']');
        }
        JsonTree::Null
        | JsonTree::Bool(_)
        | JsonTree::Number(_)
        | JsonTree::String(_)
        | JsonTree::Deep(_) => {
            let _written = write!(out, "{value:?},");
        }
    }
}

/// Whether a value is the wanted one, apart from members that may have any value. Their order does not matter.
fn is_same(known: &JsonTree, wanted: &JsonTree, any: &[&str]) -> bool {
    match (known, wanted) {
        (JsonTree::Object(known), JsonTree::Object(wanted)) => {
            let value = |members: &[(String, JsonTree)], key: &str| {
                members.iter().find(|(own, _)| own == key).map(|(_, value)| value.clone())
            };
            known.len() == wanted.len()
                && wanted.iter().all(|(key, wanted)| match value(known, key) {
                    Some(known) => any.contains(&key.as_str()) || is_same(&known, wanted, any),
                    None => false,
                })
        }
        (JsonTree::Array(known), JsonTree::Array(wanted)) => {
            known.len() == wanted.len()
                && known.iter().zip(wanted).all(|(known, wanted)| is_same(known, wanted, any))
        }
        _ => known == wanted,
    }
}
