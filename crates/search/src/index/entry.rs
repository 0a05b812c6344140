//! A message in the form that the index engine reads.

use tantivy::schema::Field as Handle;
use tantivy::schema::document::{
    Document as EngineDocument, ReferenceValue, ReferenceValueLeaf, Value,
};

use super::schema::{
    self, BYTES, ERROR_TAG, FILE, LINE, MARKS, MESSAGE, OFFSET, SESSION, TAG, TIME,
};
use crate::document::{Document, Field};

/// Room for the tags of a message.
const TAGS: usize = 64;

/// One message, with its text in one buffer: the engine's own document copies it more than once, and checks it with each
/// access.
#[derive(Debug)]
pub(super) struct Entry {
    text: String,
    /// The field of each value, and its end in `text`.
    values: Vec<(Handle, usize)>,
    numbers: [(Handle, u64); 7],
    time: Option<i64>,
}

impl Entry {
    pub(super) fn new(document: &Document<'_>) -> Self {
        let length: usize =
            Field::ALL.iter().flat_map(|&field| document.values(field)).map(str::len).sum();
        let mut text = String::with_capacity(length + TAGS);
        let mut values = Vec::with_capacity(8);
        for field in Field::ALL {
            for value in document.values(field) {
                text.push_str(value);
                values.push((field.handle(), text.len()));
            }
        }
        let mut tag = |tag: &str| {
            text.push_str(tag);
            values.push((TAG, text.len()));
        };
        tag(&schema::kind_tag(document.kind));
        tag(&schema::fate_tag(document.fate));
        if document.is_error {
            tag(ERROR_TAG);
        }
        let numbers = [
            (SESSION, document.session),
            (MESSAGE, document.message),
            (FILE, document.file),
            (OFFSET, document.offset),
            (BYTES, document.bytes),
            (LINE, document.line),
            (MARKS, schema::marks(document.kind, document.fate, !document.text.title.is_empty())),
        ];
        Self { text, values, numbers, time: document.time }
    }

    /// Returns the size of its text in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }
}

impl EngineDocument for Entry {
    type Value<'a> = EntryValue<'a>;
    type FieldsValuesIter<'a> = EntryValues<'a>;

    fn iter_fields_and_values(&self) -> EntryValues<'_> {
        EntryValues { entry: self, next: 0, start: 0 }
    }
}

/// Iterates over the values of a message, with their fields.
#[derive(Debug)]
pub(super) struct EntryValues<'a> {
    entry: &'a Entry,
    next: usize,
    /// The start of the next text.
    start: usize,
}

impl<'a> Iterator for EntryValues<'a> {
    type Item = (Handle, EntryValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let Entry { text, values, numbers, time } = self.entry;
        let at = self.next;
        self.next += 1;
        if let Some(&(field, end)) = values.get(at) {
            let start = std::mem::replace(&mut self.start, end);
            return Some((field, EntryValue::Text(text.get(start..end)?)));
        }
        let at = at - values.len();
        if let Some(&(field, number)) = numbers.get(at) {
            return Some((field, EntryValue::Number(number)));
        }
        let time = time.filter(|_| at == numbers.len())?;
        Some((TIME, EntryValue::Time(time)))
    }
}

/// A value of a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntryValue<'a> {
    Text(&'a str),
    Number(u64),
    Time(i64),
}

impl<'a> Value<'a> for EntryValue<'a> {
    type ArrayIter = std::iter::Empty<Self>;
    type ObjectIter = std::iter::Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match *self {
            Self::Text(text) => ReferenceValueLeaf::Str(text),
            Self::Number(number) => ReferenceValueLeaf::U64(number),
            Self::Time(time) => ReferenceValueLeaf::I64(time),
        })
    }
}
