//! What the user has put on sessions, tags and pins, by agent and session id: wherever a session lies, it keeps them.

use std::collections::{BTreeMap, BTreeSet};

use recount_model::{Labels, SessionId, SourceName};
use serde::{Deserialize, Serialize};

use crate::written::read_toml;

/// Tags and pins of all sessions, also of those that are gone: they may come back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Labelled(BTreeMap<String, BTreeMap<String, Mark>>);

/// What is on a session, as people read it: only what there is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Mark {
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    tags: BTreeSet<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
}

impl Mark {
    fn labels(&self) -> Labels {
        Labels { tags: self.tags.clone(), pinned: self.pinned }
    }
}

impl Labelled {
    /// Reads the file.
    ///
    /// # Errors
    /// In words, with the line, if it is not such a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        read_toml(text)
    }

    /// Writes the file.
    pub fn to_text(&self) -> String {
        let head = "# Tags and pins of sessions, by agent and session id.\n\n";
        format!("{head}{}", toml::to_string(self).unwrap_or_default())
    }

    /// Returns what is on a session.
    pub fn of(&self, source: SourceName, id: &SessionId) -> Option<Labels> {
        self.0.get(source.as_str())?.get(id.as_str()).map(Mark::labels)
    }

    /// Changes what is on a session.
    pub fn change(&mut self, source: SourceName, id: &SessionId, change: impl FnOnce(&mut Labels)) {
        let sessions = self.0.entry(source.as_str().to_owned()).or_default();
        let mark = sessions.entry(id.as_str().to_owned()).or_default();
        let mut labels = mark.labels();
        change(&mut labels);
        *mark = Mark { tags: labels.tags, pinned: labels.pinned };
        sessions.retain(|_, mark| *mark != Mark::default());
        self.0.retain(|_, sessions| !sessions.is_empty());
    }

    /// Lists agents, ids and what is on these sessions.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, Labels)> {
        self.0.iter().flat_map(|(source, sessions)| {
            sessions.iter().map(|(id, mark)| (source.as_str(), id.as_str(), mark.labels()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_a_session_is_read_as_it_was_written() {
        let (agent, id) = (SourceName::new("agent"), SessionId::new("3d2f9a10 \"x\"\n.y"));
        let mut all = Labelled::default();
        all.change(agent, &id, |labels| {
            labels.pinned = true;
            labels.tags.extend(["tax".to_owned(), "größe \"2\"".to_owned()]);
        });
        assert_eq!(Labelled::parse(&all.to_text()).unwrap(), all);
        assert_eq!(all.iter().count(), 1);
        all.change(agent, &id, |labels| labels.pinned = false);
        assert!(all.of(agent, &id).is_some_and(|labels| labels.tags.len() == 2));
        all.change(agent, &id, |labels| labels.tags.clear());
        assert_eq!(all, Labelled::default());
        assert!(Labelled::parse("[agent.x]\ncolour = 1").unwrap_err().contains("line 2"));
        assert_eq!(Labelled::parse("").unwrap(), Labelled::default());
    }
}
