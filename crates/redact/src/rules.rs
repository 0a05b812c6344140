//! What to look for, and what to allow.

use std::collections::BTreeSet;

use crate::kind::{KINDS, SecretKind};

/// What a redactor looks for.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The enabled kinds. The user's own patterns need not be listed here.
    pub kinds: BTreeSet<SecretKind>,
    /// Home folders of the user, such as `/data/people/ada` or `D:\ada`: replaced as a whole wherever they occur.
    pub homes: Vec<String>,
    /// The user's own patterns, each with a name. If a pattern has a group, only its first group is replaced.
    pub patterns: Vec<(String, String)>,
    /// Exceptions: a secret as written, or `@company.org` for all addresses there.
    pub allow: Vec<String>,
}

impl Default for Rules {
    fn default() -> Self {
        let kinds = KINDS.iter().filter(|about| about.by_default).map(|about| about.kind).collect();
        Self { kinds, homes: Vec::new(), patterns: Vec::new(), allow: Vec::new() }
    }
}

impl Rules {
    /// Returns rules with every kind enabled.
    pub fn all() -> Self {
        Self { kinds: KINDS.iter().map(|about| about.kind).collect(), ..Self::default() }
    }
}

/// Why rules are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// A pattern is not a valid regular expression, or is too large.
    #[error("the pattern `{name}` cannot be used: {why}")]
    Pattern {
        /// The pattern's name.
        name: String,
        /// The message of the regex engine.
        why: String,
    },
    /// A name that cannot be used in a tag.
    #[error("`{name}` is no name for a pattern: letters, digits and dashes, at most 32")]
    Name {
        /// The name.
        name: String,
    },
    /// Too many patterns.
    #[error("{count} patterns are too many, at most {most}", most = u8::MAX)]
    TooMany {
        /// Their number.
        count: usize,
    },
    /// A home that would match nearly everything.
    #[error("`{home}` is too short for a home folder")]
    Home {
        /// The folder.
        home: String,
    },
}
