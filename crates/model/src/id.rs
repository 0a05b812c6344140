//! Identifiers, each with its own type so that one cannot be passed for another.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of an agent whose sessions are read, as used in flags and JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SourceName(&'static str);

impl SourceName {
    /// Names a source. The name never changes once released.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the name as text.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Box<str>);

        impl $name {
            /// Wraps the id exactly as the file has it.
            pub fn new(text: impl Into<Box<str>>) -> Self {
                Self(text.into())
            }

            /// Returns the id exactly as the file has it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

text_id! {
    /// The id of a session, unique within its source.
    SessionId
}

/// Identifies a session among all others: ids are unique only within their source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SessionKey {
    /// The agent that wrote it.
    pub source: SourceName,
    /// Its id.
    pub id: SessionId,
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.source, self.id)
    }
}

text_id! {
    /// The id of a message, unique within its session.
    MessageId
}

impl SessionId {
    /// Returns the first eight characters, which people recognize a session by.
    pub fn short(&self) -> &str {
        first(&self.0, 8)
    }

    /// Returns the start that names it in a command: as short as can be, but for an id that begins with the time, whose first eight
    /// characters are the same for a minute, and for a session and its sub-agents.
    pub fn prefix(&self) -> &str {
        id_prefix(&self.0)
    }
}

/// Returns the start of an id that names a session in a command; see [`SessionId::prefix`].
pub fn id_prefix(id: &str) -> &str {
    let is_timed = id.len() == 36 && id.as_bytes().get(13..15) == Some(b"-7");
    first(id, if is_timed { 13 } else { 8 })
}

fn first(id: &str, characters: usize) -> &str {
    let end = id.char_indices().nth(characters);
    end.map_or(id, |(end, _)| id.get(..end).unwrap_or(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_form_is_cut_at_characters() {
        assert_eq!(SessionId::new("3d2f9a10-5c1b").short(), "3d2f9a10");
        assert_eq!(SessionId::new("abc").short(), "abc");
        let timed = SessionId::new("01a1e063-4486-7c73-a912-eeadd06578cc");
        assert_eq!((timed.short(), timed.prefix()), ("01a1e063", "01a1e063-4486"));
        assert_eq!(SessionId::new("01a1e063-4486-4c73-a912-eeadd06578cc").prefix(), "01a1e063");
        assert_eq!(SessionId::new("会话会话会话会话会话").short(), "会话会话会话会话");
    }
}
