//! Relaxed plans: a question in a sentence becomes the words that it is about, each in every form.

use super::{Check, QueryPlan};
use crate::document::FieldSet;
use crate::query::{Matcher, Node, TextLeaf, Typed, Words};
use crate::question::{
    Forms, Languages, Role, dense_pairs, is_dense_question, opens_question, role,
};
use crate::token::{Form, Scanner, is_dense};

/// More words hardly change which messages are best.
const MAX_WORDS: usize = 32;
/// The weight of a word that fits anything.
const VAGUE: f32 = 0.35;
/// The weight of a pair of characters: a word of such a script has several.
const PAIR: f32 = 0.6;
/// A sentence with fewer words is a few keywords.
const SHORTEST_SENTENCE: usize = 3;
/// A sentence with this many function words is a question, whatever it begins with.
const FILLERS_OF_SENTENCE: usize = 2;

/// What a relaxed plan looks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relaxation {
    /// The words that are looked for, as they were typed.
    pub words: Vec<String>,
    /// Function words that are not looked for.
    pub left_out: Vec<String>,
    /// How much each word counts.
    pub(crate) weights: Vec<f32>,
}

/// The parts of a relaxed plan.
pub(crate) struct RelaxedParts<'p> {
    /// Any of these words.
    pub(crate) words: &'p [Node<Check>],
    /// All of these conditions.
    pub(crate) conditions: &'p [Node<Check>],
    pub(crate) relaxation: &'p Relaxation,
}

/// One word, and how much it counts.
struct Wish {
    shown: String,
    leaf: TextLeaf,
    weight: f32,
}

impl QueryPlan {
    /// Returns the plan that matches any of the words, in any of their forms, for when no message has them all. Filters and
    /// negated terms are kept. `None` if the query is strict, or if there is nothing to relax.
    pub fn relaxed(&self) -> Option<Self> {
        if self.is_strict || self.relaxation.is_some() {
            return None;
        }
        let (mut wishes, mut conditions) = (Vec::new(), Vec::new());
        split(&self.root, &mut wishes, &mut conditions);
        let sentence = Sentence::of(&wishes);
        let (mut words, left_out) = sentence.words(&wishes);
        words.truncate(MAX_WORDS);
        let is_same = match (words.as_slice(), wishes.as_slice()) {
            ([word], [typed]) => word.is_same(typed),
            _ => false,
        };
        if words.is_empty() || is_same {
            return None;
        }
        let mut relaxation = Relaxation { left_out, ..Relaxation::default() };
        let mut leaves = 0;
        let mut numbered = |leaf: &TextLeaf| {
            leaves += 1;
            TextLeaf { number: leaves - 1, ..leaf.clone() }
        };
        let mut nodes = Vec::new();
        for wish in words {
            nodes.push(Node::Text(numbered(&wish.leaf)));
            relaxation.words.push(wish.shown);
            relaxation.weights.push(wish.weight);
        }
        let mut all = vec![Node::Most(nodes)];
        all.extend(conditions.iter().map(|node| node.with_leaves(&mut numbered)));
        let relaxation = Some(relaxation);
        Some(Self { root: Node::All(all), leaves, is_strict: false, relaxation })
    }

    /// Whether it is a question in a sentence: then a message with all of its words is not more than one with those that
    /// count.
    pub fn is_question(&self) -> bool {
        let (mut wishes, mut conditions) = (Vec::new(), Vec::new());
        split(&self.root, &mut wishes, &mut conditions);
        !self.is_strict && self.relaxation.is_none() && Sentence::of(&wishes).is_question(&wishes)
    }

    /// What it looks for, if it is relaxed.
    pub fn relaxation(&self) -> Option<&Relaxation> {
        self.relaxation.as_ref()
    }

    /// Returns the words of a relaxed plan, and its conditions.
    pub(crate) fn evidence(&self) -> Option<RelaxedParts<'_>> {
        let Node::All(all) = &self.root else { return None };
        let (Node::Most(words), conditions) = all.split_first()? else { return None };
        Some(RelaxedParts { words, conditions, relaxation: self.relaxation.as_ref()? })
    }

    /// Returns the plan for fields that somebody wrote or said, rather than what was passed through.
    pub(crate) fn spoken(&self) -> Self {
        let spoken = FieldSet::TEXTS.and(FieldSet::PASSED_THROUGH.rest());
        let root = self.root.with_leaves(&mut |leaf| {
            let is_text = leaf.fields.and(FieldSet::TEXTS) == leaf.fields;
            let fields = if is_text { leaf.fields.and(spoken) } else { leaf.fields };
            TextLeaf { fields, ..leaf.clone() }
        });
        Self { root, ..self.clone() }
    }
}

impl Wish {
    /// Whether it matches what the typed word matches.
    fn is_same(&self, typed: &TextLeaf) -> bool {
        match (&self.leaf.matcher, &typed.matcher) {
            (Matcher::Forms(forms), _) => !forms.has_others(),
            (Matcher::Words(one), Matcher::Words(other)) => one == other,
            _ => true,
        }
    }
}

/// Separates words that may be relaxed from conditions.
fn split<'p>(
    node: &'p Node<Check>,
    wishes: &mut Vec<&'p TextLeaf>,
    conditions: &mut Vec<&'p Node<Check>>,
) {
    match node {
        Node::All(children) => children.iter().for_each(|child| split(child, wishes, conditions)),
        Node::Text(leaf) if leaf.typed != Typed::Exact => wishes.push(leaf),
        _ => conditions.push(node),
    }
}

/// The languages of a query's words.
struct Sentence {
    languages: Languages,
}

impl Sentence {
    fn of(wishes: &[&TextLeaf]) -> Self {
        let words = wishes.iter().filter_map(|leaf| first_word(leaf));
        Self { languages: Languages::of(&words) }
    }

    fn is_filler(&self, leaf: &TextLeaf) -> bool {
        plain(leaf).is_some_and(|text| {
            let mut parts = parts(text).into_iter();
            let first = parts.next();
            first.is_some_and(|word| role(&word, self.languages) == Role::Filler)
                && parts.all(|word| role(&word, self.languages) == Role::Filler)
        })
    }

    fn is_question(&self, wishes: &[&TextLeaf]) -> bool {
        let is_dense = |leaf: &&TextLeaf| plain(leaf).is_some_and(is_dense_question);
        if wishes.iter().any(is_dense) {
            return true;
        }
        let fillers = wishes.iter().filter(|leaf| self.is_filler(leaf)).count();
        let opens = wishes.first().and_then(|leaf| first_word(leaf)).is_some_and(opens_question);
        wishes.len() >= SHORTEST_SENTENCE
            && fillers < wishes.len()
            && (fillers >= FILLERS_OF_SENTENCE || opens && fillers > 0)
    }

    /// Returns the words that count, each once, and those that are left out.
    fn words(&self, wishes: &[&TextLeaf]) -> (Vec<Wish>, Vec<String>) {
        let (mut words, mut left_out): (Vec<Wish>, Vec<String>) = (Vec::new(), Vec::new());
        for leaf in wishes {
            if self.is_filler(leaf) {
                left_out.extend(plain(leaf).map(shown));
                continue;
            }
            let wishes = self.wishes(leaf);
            if wishes.is_empty() {
                left_out.extend(plain(leaf).map(shown));
            }
            for wish in wishes {
                if !words.iter().any(|known| known.shown == wish.shown) {
                    words.push(wish);
                }
            }
        }
        if words.is_empty() {
            // A sentence of nothing but function words is about them.
            left_out.clear();
            words.extend(wishes.iter().map(|leaf| as_typed(leaf)));
        }
        (words, left_out)
    }

    /// Returns what a typed word stands for.
    fn wishes(&self, leaf: &TextLeaf) -> Vec<Wish> {
        let Some(text) = plain(leaf) else { return vec![as_typed(leaf)] };
        if text.chars().any(is_dense) {
            return self.dense(text, leaf);
        }
        let mut parts = parts(text);
        if parts.len() > 1 && !is_compound(text) {
            return vec![as_typed(leaf)];
        }
        let is_content = |word: &String| role(word, self.languages) != Role::Filler;
        if parts.iter().any(is_content) {
            parts.retain(is_content);
        }
        parts.iter().map(|word| self.word(word, leaf)).collect()
    }

    fn word(&self, word: &str, leaf: &TextLeaf) -> Wish {
        let weight = if role(word, self.languages) == Role::Vague { VAGUE } else { 1.0 };
        let matcher = Matcher::Forms(Forms::of(word, self.languages));
        Wish { shown: word.to_owned(), leaf: TextLeaf { matcher, ..leaf.clone() }, weight }
    }

    /// Splits a text with characters of a script without spaces.
    fn dense(&self, text: &str, leaf: &TextLeaf) -> Vec<Wish> {
        let pairs = dense_pairs(text).into_iter().filter_map(|pair| {
            let matcher = Matcher::Words(Words::of(&pair, false)?);
            Some(Wish { shown: pair, leaf: TextLeaf { matcher, ..leaf.clone() }, weight: PAIR })
        });
        let others = text.split(is_dense).flat_map(parts);
        pairs.chain(others.map(|word| self.word(&word, leaf))).collect()
    }
}

/// Returns a word as it was typed.
fn as_typed(leaf: &TextLeaf) -> Wish {
    let shown = plain(leaf).map_or_else(|| first_word(leaf).unwrap_or_default().to_owned(), shown);
    Wish { shown, leaf: leaf.clone(), weight: 1.0 }
}

fn plain(leaf: &TextLeaf) -> Option<&str> {
    match &leaf.typed {
        Typed::Plain(text) => Some(text),
        Typed::Like | Typed::Exact => None,
    }
}

fn first_word(leaf: &TextLeaf) -> Option<&str> {
    match &leaf.matcher {
        Matcher::Words(words) => words.parts.first().map(|part| part.text.as_str()),
        Matcher::Fuzzy { word, .. } => Some(word),
        Matcher::Pattern(_) | Matcher::Forms(_) => None,
    }
}

/// Whether a typed word is several words of a language ("rate-limit", "what's"), rather than a name or a path.
fn is_compound(text: &str) -> bool {
    let text = text.trim_matches(|character: char| !character.is_alphanumeric());
    let is_lower = |character: char| character.is_alphabetic() && !character.is_uppercase();
    let mut characters = text.chars();
    characters.next().is_some_and(char::is_alphabetic)
        && characters.all(|character| is_lower(character) || "-'’".contains(character))
}

/// Returns the folded words of a text.
fn parts(text: &str) -> Vec<String> {
    let mut scanner = Scanner::new(text);
    let mut parts = Vec::new();
    while let Some(token) = scanner.next() {
        if token.form == Form::Part {
            parts.push(token.text.to_owned());
        }
    }
    parts
}

/// Returns a typed word without the punctuation around it.
fn shown(text: &str) -> String {
    text.trim_matches(|character: char| !character.is_alphanumeric()).to_lowercase()
}
