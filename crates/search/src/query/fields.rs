//! `name:value` terms: the field names and their possible values.

use std::ops::Range;

use recount_model::Fate;

use super::when::When;
use super::words::Words;
use super::{Filter, Matcher, Node, QueryError, SessionLeaf, TextLeaf, Typed};
use crate::document::{Field, FieldSet};
use crate::index::{FATES, KINDS};

const NAMES: [&str; 11] =
    ["in", "project", "source", "model", "tool", "file", "kind", "fate", "before", "after", "is"];

/// Whether a field of this name is known.
pub(super) fn is_known(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Returns the error for an unknown field.
pub(super) fn unknown(name: &str, at: Range<usize>) -> QueryError {
    let known = NAMES.join(", ");
    let what =
        format!("there is no field `{name}`; fields are {known}; quote it to search for the words");
    QueryError::new(at, what, "\"note: check this\"")
}

/// A value as it was typed, and its position.
#[derive(Clone, Debug)]
pub(super) struct Value<'q> {
    pub(super) text: &'q str,
    /// Where the text begins.
    pub(super) start: usize,
    /// Its range, including quotes.
    pub(super) at: Range<usize>,
    pub(super) is_quoted: bool,
}

/// What a field term means.
pub(super) enum Meaning {
    Node(Node<Filter>),
    Scope(FieldSet),
}

/// Parses a field term.
pub(super) fn meaning(name: &str, value: &Value<'_>) -> Result<Meaning, QueryError> {
    if name == "in" {
        return fields(value).map(Meaning::Scope);
    }
    let filter = match name {
        "project" => Filter::Session(SessionLeaf::Project(value.text.to_owned())),
        "source" => Filter::Session(SessionLeaf::Source(value.text.to_owned())),
        "kind" => Filter::Kind(each(value, KINDS, "kind:prompt,answer")?),
        "fate" => Filter::Fate(each(value, FATES, "fate:rewound,compressed")?),
        "before" => Filter::Before(moment(value)?),
        "after" => Filter::After(moment(value)?),
        "is" => state(value)?,
        "model" => return words(Field::Model, value),
        "tool" => return words(Field::Tool, value),
        _ => return words(Field::Path, value),
    };
    Ok(Meaning::Node(Node::Filter(filter)))
}

/// Returns the parts of a list, each with its position.
fn listed<'q>(value: &Value<'q>) -> impl Iterator<Item = (&'q str, Range<usize>)> {
    let mut start = value.start;
    value.text.split(',').map(move |item| {
        let at = start..start + item.len();
        start = at.end + 1;
        (item, at)
    })
}

fn fields(value: &Value<'_>) -> Result<FieldSet, QueryError> {
    let texts: Vec<Field> = FieldSet::TEXTS.iter().collect();
    listed(value).try_fold(FieldSet::NONE, |set, (item, at)| {
        let found = texts.iter().find(|field| field.name() == item);
        let names = || texts.iter().map(|field| field.name()).collect::<Vec<_>>().join(", ");
        let what = || format!("`in:` takes {}", names());
        found
            .map(|&field| set.or(FieldSet::of(field)))
            .ok_or_else(|| QueryError::new(at, what(), "in:prompt,answer retry"))
    })
}

/// Parses a list of names.
fn each<T: Copy + std::fmt::Display, const N: usize>(
    value: &Value<'_>,
    all: [T; N],
    example: &'static str,
) -> Result<Vec<T>, QueryError> {
    listed(value)
        .map(|(item, at)| {
            let found = all.iter().find(|one| one.to_string() == item).copied();
            found.ok_or_else(|| {
                let names: Vec<String> = all.iter().map(ToString::to_string).collect();
                QueryError::new(at, format!("must be one of {}", names.join(", ")), example)
            })
        })
        .collect()
}

fn moment(value: &Value<'_>) -> Result<When, QueryError> {
    When::parse(value.text).ok_or_else(|| {
        let what = "not a date: a day, a month, hours, days or weeks ago, today or yesterday";
        QueryError::new(value.at.clone(), what, "after:2026-09-02 before:7d")
    })
}

fn state(value: &Value<'_>) -> Result<Filter, QueryError> {
    match value.text {
        "live" => Ok(Filter::Session(SessionLeaf::Live)),
        "error" => Ok(Filter::Error),
        "undone" => {
            Ok(Filter::Fate(FATES.into_iter().filter(|&fate| fate != Fate::Kept).collect()))
        }
        _ => {
            let what = "`is:` takes live, error or undone";
            Err(QueryError::new(value.at.clone(), what, "is:error timeout"))
        }
    }
}

/// Names of models, tools and files are searched by their words, as in text.
fn words(field: Field, value: &Value<'_>) -> Result<Meaning, QueryError> {
    let whole = [(value.text, value.at.clone())];
    let items: Vec<_> = if value.is_quoted || field == Field::Path {
        whole.into_iter().collect()
    } else {
        listed(value).collect()
    };
    let mut leaves = Vec::new();
    for (item, at) in items {
        let stem = item.strip_suffix('*');
        let words = Words::of(stem.unwrap_or(item), stem.is_some()).ok_or_else(|| {
            QueryError::new(at, "no letters or digits to look for", "file:src/cart model:pro")
        })?;
        let matcher = Matcher::Words(words);
        let (fields, typed) = (FieldSet::of(field), Typed::Exact);
        leaves.push(Node::Text(TextLeaf { number: 0, matcher, fields, typed }));
    }
    Ok(Meaning::Node(Node::Any(leaves)))
}
