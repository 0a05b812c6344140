//! What is looked for, and what may stay.

use std::collections::BTreeSet;

use crate::kind::{KINDS, SecretKind};

/// What a redactor looks for.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The kinds that are on. The user's own patterns need not be named here.
    pub kinds: BTreeSet<SecretKind>,
    /// Home folders of the user, as `/data/people/ada` or `D:\ada`: replaced as a whole wherever they stand.
    pub homes: Vec<String>,
    /// Patterns of the user's own, each with a name. With a group, only what the first group holds is replaced.
    pub patterns: Vec<(String, String)>,
    /// What may stay: a secret as it is written, or `@company.org` for all addresses there.
    pub allow: Vec<String>,
}

impl Default for Rules {
    fn default() -> Self {
        let kinds = KINDS.iter().filter(|about| about.by_default).map(|about| about.kind).collect();
        Self { kinds, homes: Vec::new(), patterns: Vec::new(), allow: Vec::new() }
    }
}

impl Rules {
    /// Returns rules with every kind on.
    pub fn all() -> Self {
        Self { kinds: KINDS.iter().map(|about| about.kind).collect(), ..Self::default() }
    }
}

/// Why rules cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// A pattern is no regular expression, or too large a one.
    #[error("the pattern `{name}` cannot be used: {why}")]
    Pattern {
        /// The pattern's name.
        name: String,
        /// What the regex engine says.
        why: String,
    },
    /// A name from which no tag can be made.
    #[error("`{name}` is no name for a pattern: letters, digits and dashes, at most 32")]
    Name {
        /// The name.
        name: String,
    },
    /// More patterns than there are numbers for.
    #[error("{count} patterns are too many, at most {most}", most = u8::MAX)]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// A home that would match nearly everything.
    #[error("`{home}` is too short for a home folder")]
    Home {
        /// The folder.
        home: String,
    },
}
