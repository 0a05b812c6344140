//! A table in a file of TOML that people write by hand. Comments, order and spacing of everything else are kept.

use toml::{Table, Value};

use super::EditState;
use crate::json::edit::Unfit;

/// A table that is set in a file.
#[derive(Clone, Debug)]
pub struct TableEdit {
    /// The keys to it.
    pub(crate) path: Vec<String>,
    /// Its keys, each with its value as TOML.
    pub(crate) lines: Vec<(&'static str, String)>,
}

impl TableEdit {
    /// Returns its header.
    fn header(&self) -> String {
        format!("[{}]", self.path.join("."))
    }

    /// Returns its text.
    fn text(&self, newline: &str) -> String {
        let mut text = self.header() + newline;
        for (key, value) in &self.lines {
            text.extend([*key, " = ", value.as_str(), newline]);
        }
        text
    }

    pub(super) fn state(&self, text: &[u8]) -> Result<EditState, Unfit> {
        let wanted = parse(&self.text("\n"))?;
        Ok(match self.value(&parse(as_text(text)?)?) {
            None => EditState::Missing,
            Some(known) if Some(known) == self.value(&wanted) => EditState::Same,
            Some(_) => EditState::Other,
        })
    }

    pub(super) fn found(&self, text: &[u8]) -> Option<String> {
        self.value(&parse(as_text(text).ok()?).ok()?).map(|value| format!("{value:?}"))
    }

    /// Adds the table at the end, after another one of that name is removed.
    pub(super) fn apply(&self, text: &[u8]) -> Result<Vec<u8>, Unfit> {
        let removed = self.remove(text)?;
        let text = as_text(removed.as_deref().unwrap_or(text))?;
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut new = text.to_owned();
        if !new.is_empty() {
            if !new.ends_with('\n') {
                new.push_str(newline);
            }
            new.push_str(newline);
        }
        new.push_str(&self.text(newline));
        // Where the tables above it are written inline, a header cannot add to them.
        let mut wanted = parse(text)?;
        let own = parse(&self.text("\n"))?;
        let own = self.value(&own).cloned().ok_or_else(|| self.unfit())?;
        put(&mut wanted, &self.path, own).ok_or_else(|| self.unfit())?;
        let is_right = parse(&new).is_ok_and(|table| table == wanted);
        if is_right { Ok(new.into_bytes()) } else { Err(self.unfit()) }
    }

    /// Removes the table and those below it.
    pub(super) fn remove(&self, text: &[u8]) -> Result<Option<Vec<u8>>, Unfit> {
        let text = as_text(text)?;
        let mut wanted = parse(text)?;
        if self.value(&wanted).is_none() {
            return Ok(None);
        }
        let mut left = String::with_capacity(text.len());
        let mut own = false;
        // Blank lines and comments belong to what follows them.
        let mut waiting = String::new();
        for line in text.split_inclusive('\n') {
            let is_note = line.trim().is_empty() || line.trim_start().starts_with('#');
            if is_note {
                waiting.push_str(line);
                continue;
            }
            if let Some(path) = header_of(line) {
                let was_own = own;
                own = path.starts_with(&self.path);
                if own && !was_own {
                    // The line between it and what is before it.
                    let kept = waiting.strip_suffix("\r\n").or_else(|| waiting.strip_suffix('\n'));
                    let is_blank =
                        waiting.lines().last().is_some_and(|line| line.trim().is_empty());
                    left.push_str(kept.filter(|_| is_blank).unwrap_or(&waiting));
                    waiting.clear();
                    continue;
                }
            }
            let notes = std::mem::take(&mut waiting);
            if !own {
                left.push_str(&notes);
                left.push_str(line);
            }
        }
        left.push_str(&waiting);
        take(&mut wanted, &self.path);
        // A line in a string that looks like a header, or a table that is written in another way.
        let is_right =
            parse(&left).is_ok_and(|table| table == wanted || is_pruned(&table, &wanted));
        if is_right { Ok(Some(left.into_bytes())) } else { Err(self.unfit()) }
    }

    fn value<'t>(&self, table: &'t Table) -> Option<&'t Value> {
        let (last, above) = self.path.split_last()?;
        above.iter().try_fold(table, |table, key| table.get(key)?.as_table())?.get(last)
    }

    fn unfit(&self) -> Unfit {
        Unfit::Other { key: self.path.join("."), wanted: "a table with a header of its own" }
    }
}

/// Whether the tables are equal but for tables above the removed one that are now empty.
fn is_pruned(table: &Table, wanted: &Table) -> bool {
    let without = |table: &Table| {
        let is_empty = |value: &Value| value.as_table().is_some_and(Table::is_empty);
        table
            .iter()
            .filter(|(_, value)| !is_empty(value))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    };
    let [one, other]: [Table; 2] = [without(table), without(wanted)];
    one == other
}

fn as_text(text: &[u8]) -> Result<&str, Unfit> {
    std::str::from_utf8(text).map_err(|_| Unfit::Malformed { line: 1, what: "it is not UTF-8" })
}

fn parse(text: &str) -> Result<Table, Unfit> {
    text.parse::<Table>().map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = 1 + before.matches('\n').count();
        Unfit::Malformed { line, what: "it is not valid TOML" }
    })
}

/// Returns the keys in the header of a table.
fn header_of(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if !line.starts_with('[') {
        return None;
    }
    let whole = line.parse::<Table>().ok()?;
    let mut table = &whole;
    let mut path = Vec::new();
    while let Some((key, value)) = table.iter().next() {
        path.push(key.clone());
        match value {
            Value::Table(inner) => table = inner,
            Value::Array(tables) => table = tables.first()?.as_table()?,
            Value::String(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_) => return None,
        }
    }
    Some(path)
}

fn put(table: &mut Table, path: &[String], value: Value) -> Option<()> {
    let (last, above) = path.split_last()?;
    let mut table = table;
    for key in above {
        let inner = table.entry(key).or_insert_with(|| Value::Table(Table::new()));
        table = inner.as_table_mut()?;
    }
    table.insert(last.clone(), value);
    Some(())
}

fn take(table: &mut Table, path: &[String]) -> Option<Value> {
    let (last, above) = path.split_last()?;
    let mut table = table;
    for key in above {
        table = table.get_mut(key)?.as_table_mut()?;
    }
    table.remove(last)
}
