//! Tags and pins of sessions, by agent and session id: a session keeps them wherever it is moved.

use std::collections::{BTreeMap, BTreeSet};

use recount_model::{Labels, SessionId, SourceName};
use serde::{Deserialize, Serialize};

use crate::written::read_toml;

/// Tags and pins of all sessions, including deleted ones: they may be restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Labelled(BTreeMap<String, BTreeMap<String, Mark>>);

/// The labels of a session as stored; empty ones are not written.
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
    /// A message with the line, if the file is invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        read_toml(text)
    }

    /// Writes the file.
    pub fn to_text(&self) -> String {
        let head = "# Tags and pins of sessions, by agent and session id.\n\n";
        format!("{head}{}", toml::to_string(self).unwrap_or_default())
    }

    /// Returns the labels of a session.
    pub fn of(&self, source: SourceName, id: &SessionId) -> Option<Labels> {
        self.0.get(source.as_str())?.get(id.as_str()).map(Mark::labels)
    }

    /// Returns the labels of a session by its agent and id; none if it has none.
    pub fn labels_of(&self, source: &str, id: &str) -> Labels {
        let mark = self.0.get(source).and_then(|sessions| sessions.get(id));
        mark.map(Mark::labels).unwrap_or_default()
    }

    /// Changes the labels of a session.
    pub fn change(&mut self, source: SourceName, id: &SessionId, change: impl FnOnce(&mut Labels)) {
        let sessions = self.0.entry(source.as_str().to_owned()).or_default();
        let mark = sessions.entry(id.as_str().to_owned()).or_default();
        let mut labels = mark.labels();
        change(&mut labels);
        *mark = Mark { tags: labels.tags, pinned: labels.pinned };
        sessions.retain(|_, mark| *mark != Mark::default());
        self.0.retain(|_, sessions| !sessions.is_empty());
    }

    /// Lists agents, ids and the labels of these sessions.
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
    fn labels_round_trip() {
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
