//! Compiles a plan to a query of the index engine.
//!
//! Fields without positions can only rule out that words are adjacent, and no field can prove a regex. So there are two
//! bounds: the upper bound finds everything that may match, the lower bound only what certainly does. A negation swaps
//! them.

use std::ops::Bound::{Excluded, Included, Unbounded};

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, FuzzyTermQuery, Occur,
    PhraseQuery, Query, RangeQuery, TermQuery, TermSetQuery,
};
use tantivy::schema::IndexRecordOption;

use super::forward_only::ForwardOnly;
use super::words_containing::WordsContaining;
use super::{Check, QueryPlan};
use crate::document::Field;
use crate::index::schema;
use crate::neighbours::{Adjacent, Pair};
use crate::query::{Matcher, Node, Part, Pattern, TextLeaf, Words};
use crate::question::Forms;
use crate::token::CUT;

/// Which of the two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Everything that may match.
    Upper,
    /// Only what certainly matches.
    Lower,
}

/// The weight of another form of a word than the typed one.
const OTHER_FORM: f32 = 0.8;

type Boxed = Box<dyn Query>;

impl QueryPlan {
    /// Returns the plan as a query.
    pub(crate) fn compiled(&self, bound: Bound) -> Boxed {
        compile(&self.root, bound)
    }
}

/// Returns a word of a relaxed plan as a query.
pub(crate) fn compiled_word(word: &Node<Check>) -> Boxed {
    compile(word, Bound::Upper)
}

/// Returns the conditions of a relaxed plan as a query; `None` if there are none.
pub(crate) fn compiled_conditions(conditions: &[Node<Check>]) -> Option<Boxed> {
    (!conditions.is_empty()).then(|| all(conditions, Bound::Upper))
}

fn compile(node: &Node<Check>, bound: Bound) -> Boxed {
    match node {
        Node::All(children) => all(children, bound),
        Node::Any(children) | Node::Most(children) => {
            any(children.iter().map(|child| compile(child, bound)).collect())
        }
        Node::Not(_) => all(std::slice::from_ref(node), bound),
        Node::Text(leaf) => text(leaf, bound),
        Node::Filter(check) => Box::new(ConstScoreQuery::new(filter(check), 0.0)),
    }
}

fn all(children: &[Node<Check>], bound: Bound) -> Boxed {
    let opposite = match bound {
        Bound::Upper => Bound::Lower,
        Bound::Lower => Bound::Upper,
    };
    let mut clauses: Vec<(Occur, Boxed)> = children
        .iter()
        .map(|child| match child {
            Node::Not(inner) => {
                (Occur::MustNot, Box::new(ForwardOnly(compile(inner, opposite))) as Boxed)
            }
            _ => (Occur::Must, compile(child, bound)),
        })
        .collect();
    if clauses.iter().all(|(occur, _)| *occur == Occur::MustNot) {
        clauses.push((Occur::Must, Box::new(ConstScoreQuery::new(Box::new(AllQuery), 0.0))));
    }
    Box::new(BooleanQuery::new(clauses))
}

fn any(mut queries: Vec<Boxed>) -> Boxed {
    if queries.len() == 1
        && let Some(only) = queries.pop()
    {
        return only;
    }
    Box::new(BooleanQuery::union(queries))
}

fn filter(check: &Check) -> Boxed {
    let tag = |tag: String| Box::new(tag_query(&tag)) as Boxed;
    match check {
        Check::Kind(kinds) => any(kinds.iter().map(|kind| tag(schema::kind_tag(*kind))).collect()),
        Check::Fate(fates) => any(fates.iter().map(|fate| tag(schema::fate_tag(*fate))).collect()),
        Check::Error => tag(schema::ERROR_TAG.to_owned()),
        Check::Before(time) => Box::new(RangeQuery::new(
            Unbounded,
            Excluded(Term::from_field_i64(schema::TIME, *time)),
        )),
        Check::After(time) => Box::new(RangeQuery::new(
            Included(Term::from_field_i64(schema::TIME, *time)),
            Unbounded,
        )),
        Check::Sessions(sessions) if sessions.is_empty() => Box::new(EmptyQuery),
        Check::Sessions(sessions) => Box::new(TermSetQuery::new(
            sessions.iter().map(|&session| Term::from_field_u64(schema::SESSION, session)),
        )),
    }
}

fn tag_query(tag: &str) -> TermQuery {
    TermQuery::new(Term::from_field_text(schema::TAG, tag), IndexRecordOption::Basic)
}

fn text(leaf: &TextLeaf, bound: Bound) -> Boxed {
    let in_fields: Vec<Boxed> = leaf
        .fields
        .iter()
        .filter_map(|field| {
            let query = match &leaf.matcher {
                Matcher::Words(words) => adjacent(words, field, bound),
                Matcher::Fuzzy { word, distance } => {
                    Some(Box::new(FuzzyTermQuery::new(term(field, word), *distance, true)) as Boxed)
                }
                Matcher::Pattern(pattern) => matching(pattern, field, bound),
                Matcher::Forms(forms) => Some(any_form(forms, field)),
            }?;
            Some(Box::new(BoostQuery::new(query, field.weight())) as Boxed)
        })
        .collect();
    if in_fields.is_empty() { Box::new(EmptyQuery) } else { any(in_fields) }
}

/// Returns a query for adjacent words, or for the identifier they form.
fn adjacent(words: &Words, field: Field, bound: Bound) -> Option<Boxed> {
    let in_parts = match words.parts.as_slice() {
        [only] => Some(word(field, &only.text, words.is_open)),
        _ if bound == Bound::Lower && (words.is_open || !field.has_positions()) => None,
        parts => {
            let (last, before) = parts.split_last()?;
            let fixed = if words.is_open { before } else { parts };
            let mut clauses = if field.has_positions() && fixed.len() > 1 {
                let terms =
                    fixed.iter().map(|part| (part.offset as usize, term(field, &part.text)));
                vec![Box::new(PhraseQuery::new_with_offset(terms.collect())) as Boxed]
            } else {
                let mut texts: Vec<&str> = fixed.iter().map(|part| part.text.as_str()).collect();
                texts.sort_unstable();
                texts.dedup();
                texts.into_iter().map(|text| word(field, text, false)).collect()
            };
            if words.is_open {
                clauses.push(word(field, &last.text, true));
            }
            let all = Box::new(BooleanQuery::intersection(clauses)) as Boxed;
            let pairs = if field.has_positions() { Vec::new() } else { neighbours(fixed) };
            Some(if pairs.is_empty() { all } else { Box::new(Adjacent::new(all, pairs)) })
        }
    };
    let in_one = words.whole.as_ref().map(|whole| word(field, whole, words.is_open));
    let either: Vec<Boxed> = in_parts.into_iter().chain(in_one).collect();
    if either.is_empty() { None } else { Some(any(either)) }
}

/// Returns a query for any form of a word.
fn any_form(forms: &Forms, field: Field) -> Boxed {
    let others = forms
        .all()
        .skip(1)
        .map(|form| Box::new(BoostQuery::new(word(field, form, false), OTHER_FORM)) as Boxed);
    any(std::iter::once(word(field, forms.word(), false)).chain(others).collect())
}

/// Returns the pairs of words that must be adjacent.
fn neighbours(parts: &[Part]) -> Vec<Pair> {
    let pairs = parts.iter().zip(parts.iter().skip(1));
    let near = pairs.filter(|(first, second)| second.offset == first.offset + 1);
    near.map(|(first, second)| Pair::of(&first.text, &second.text)).collect()
}

/// Returns a query for texts with all the letters the regex needs, or of which the index is incomplete.
fn matching(pattern: &Pattern, field: Field, bound: Bound) -> Option<Boxed> {
    let needed = pattern.needed();
    if bound == Bound::Lower {
        return None;
    }
    if needed.is_empty() {
        return Some(Box::new(AllQuery));
    }
    if needed.iter().any(|need| !need.begins) {
        let rows = needed.iter().map(|need| need.letters.as_str());
        return Some(Box::new(WordsContaining::new(field.handle(), rows)));
    }
    let words = needed
        .iter()
        .map(|need| any(vec![word(field, &need.letters, !need.ends), word(field, CUT, false)]));
    Some(Box::new(BooleanQuery::intersection(words.collect())))
}

fn word(field: Field, text: &str, is_open: bool) -> Boxed {
    if is_open {
        Box::new(FuzzyTermQuery::new_prefix(term(field, text), 0, false))
    } else {
        Box::new(TermQuery::new(term(field, text), IndexRecordOption::WithFreqs))
    }
}

fn term(field: Field, text: &str) -> Term {
    Term::from_field_text(field.handle(), text)
}
