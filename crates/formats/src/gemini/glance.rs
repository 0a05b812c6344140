//! What is kept at a glance while a file is read: our title, and what the agent's cheaper list mode knows.

use recount_model::MessageKind;
use serde::{Deserialize, Serialize};

use super::facts::{Facts, Resumable, Role};
use super::files::typed_start;
use crate::outline::Listed;

/// How much of a message is kept for the agent's title, which has 100 characters at most.
const TITLE_BYTES: usize = 4096;

/// What the agent's cheaper list mode keeps, quirks included.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Listing {
    /// One entry per *record*, so a message written twice is here twice.
    records: Vec<u32>,
    /// Per entry whether it makes the session listable, as far as the list still knows of it.
    resumable: Vec<bool>,
    listed: Listed,
}

impl Listing {
    /// Takes a record of a message.
    pub(crate) fn take(&mut self, facts: &Facts<'_>, entry: u32, resumable: Resumable) {
        let resumable = resumable == Resumable::Yes;
        self.records.push(entry);
        self.listed.conversation |= matches!(facts.role, Role::User | Role::Gemini);
        self.mark(entry, resumable);
        if facts.role != Role::User {
            return;
        }
        let listed = &mut self.listed;
        if listed.first_any.is_none() {
            listed.first_any = listed_text(facts);
        }
        if resumable && listed.first_flat.is_none() {
            listed.first_flat = Some(facts.content.flat_start(TITLE_BYTES));
        }
        if resumable && listed.first_user.is_none() {
            listed.first_user = listed_text(facts);
        }
    }

    /// Cuts at the *first* record of the id and forgets all that is cut, even if an earlier copy remains.
    pub(crate) fn rewind(&mut self, entry: Option<u32>) {
        let from = entry.and_then(|entry| self.records.iter().position(|&known| known == entry));
        let Some(from) = from else { return self.clear() };
        for entry in self.records.split_off(from) {
            self.mark(entry, false);
        }
    }

    /// Forgets all messages; titles are never forgotten.
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.resumable.fill(false);
    }

    /// Returns how the agent's list sees the file.
    pub(crate) fn listed(self) -> Listed {
        Listed { resumable: self.resumable.contains(&true), ..self.listed }
    }

    fn mark(&mut self, entry: u32, resumable: bool) {
        let entry = entry as usize;
        if self.resumable.len() <= entry {
            self.resumable.resize(entry + 1, false);
        }
        if let Some(known) = self.resumable.get_mut(entry) {
            *known = resumable;
        }
    }
}

/// The text that the agent's list takes as a title: parts joined, `displayContent` not looked at. Its rules
/// shorten it to 100 characters later, so its start is enough.
fn listed_text(facts: &Facts<'_>) -> Option<String> {
    Some(facts.content.text_start(TITLE_BYTES)).filter(|text| !text.is_empty())
}

/// The first prompt; one that is a command only until another comes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Title {
    prompt: Option<String>,
    command: Option<String>,
}

impl Title {
    /// Offers a message as the title.
    pub(crate) fn offer(&mut self, facts: &Facts<'_>, kind: MessageKind) {
        if kind != MessageKind::Prompt || self.prompt.is_some() {
            return;
        }
        let typed = typed_start(facts.content, facts.display);
        if typed.is_empty() {
            return;
        }
        if typed.starts_with(['/', '?']) {
            self.command.get_or_insert(typed);
        } else {
            self.prompt = Some(typed);
        }
    }

    /// Returns the title.
    pub(crate) fn text(self) -> Option<String> {
        self.prompt.or(self.command)
    }
}
