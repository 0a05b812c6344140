//! Collects our title, and what the agent's faster list mode knows, while a file is read.

use recount_model::MessageKind;
use serde::{Deserialize, Serialize};

use super::content::Content;
use super::facts::{Facts, Resumable, Role};
use super::files::typed_start;
use super::state::{AgentListing, RetentionFacts};
use crate::json::Scanner;

/// How much of a message is kept for the agent's title, which has at most 100 characters.
const TITLE_BYTES: usize = 4096;

/// A message of a human or a model.
const SPOKEN: u8 = 1;
/// A message that can be continued.
const RESUMABLE: u8 = 2;

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordPosition {
    /// On a separate line, or in a document.
    Alone,
    /// In a list: a checkpoint, or an old document on one line.
    InList,
}

/// The messages that the agent's cheaper list mode knows of.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Track {
    /// One entry per *record*, so a message that is written twice is here twice.
    records: Vec<u32>,
    /// The mark of each entry, as far as the list still has it.
    marks: Vec<u8>,
    /// The position of each entry's first record in `records`.
    first: Vec<u32>,
}

/// The position of an entry without a record.
const NOWHERE: u32 = u32::MAX;

impl Track {
    fn take(&mut self, entry: u32, mark: u8) {
        let at = u32::try_from(self.records.len()).unwrap_or(NOWHERE);
        self.records.push(entry);
        self.mark(entry, mark);
        if let Some(first) = self.first.get_mut(entry as usize) {
            *first = (*first).min(at);
        }
    }

    /// Cuts at the *first* record of the id and drops everything after it, even if an earlier copy remains.
    fn rewind(&mut self, entry: Option<u32>) {
        let first = entry.and_then(|entry| self.first.get(entry as usize)).copied();
        self.cut(first.filter(|&first| first != NOWHERE).unwrap_or(0));
    }

    fn clear(&mut self) {
        self.cut(0);
    }

    /// Drops the records from a position on. Marked entries have a record, so nothing else need be checked.
    fn cut(&mut self, from: u32) {
        for entry in self.records.split_off((from as usize).min(self.records.len())) {
            self.mark(entry, 0);
            if let Some(first) = self.first.get_mut(entry as usize)
                && *first >= from
            {
                *first = NOWHERE;
            }
        }
    }

    fn has(&self, mark: u8) -> bool {
        self.marks.iter().any(|known| known & mark != 0)
    }

    fn mark(&mut self, entry: u32, mark: u8) {
        let entry = entry as usize;
        if self.marks.len() <= entry {
            self.marks.resize(entry + 1, 0);
            self.first.resize(entry + 1, NOWHERE);
        }
        if let Some(known) = self.marks.get_mut(entry) {
            *known = mark;
        }
    }
}

/// What the agent's faster list mode knows, including its quirks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Listing {
    all: Track,
    /// Those on separate lines, for releases without checkpoints.
    lines: Track,
    /// Whether the last list has a conversation, unless it is empty: releases 0.40 to 0.43 check it first.
    list: Option<bool>,
    has_conversation: bool,
    titles: AgentListing,
}

/// A typical number of records of a session; memory for them is allocated at once.
const TYPICAL: usize = 128;

impl Listing {
    /// Returns an empty list with room for a typical session.
    pub(crate) fn new() -> Self {
        let track = || Track {
            records: Vec::with_capacity(TYPICAL),
            marks: Vec::with_capacity(TYPICAL),
            first: Vec::with_capacity(TYPICAL),
        };
        Self { all: track(), lines: track(), ..Self::default() }
    }

    /// Adds a record of a message.
    pub(crate) fn take(
        &mut self,
        facts: &Facts<'_>,
        entry: u32,
        resumable: Resumable,
        position_kind: RecordPosition,
    ) {
        let resumable = resumable == Resumable::Yes;
        let spoken = matches!(facts.role, Role::User | Role::Gemini);
        self.has_conversation |= spoken;
        let mark = u8::from(spoken) * SPOKEN + u8::from(resumable) * RESUMABLE;
        self.all.take(entry, mark);
        match position_kind {
            RecordPosition::Alone => self.lines.take(entry, mark),
            RecordPosition::InList => self.list = Some(spoken || self.list == Some(true)),
        }
        if facts.role != Role::User {
            return;
        }
        let listed = &mut self.titles;
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

    /// Cuts at the first record of the id; an unknown one empties the list.
    pub(crate) fn rewind(&mut self, entry: Option<u32>) {
        self.all.rewind(entry);
        self.lines.rewind(entry);
    }

    /// A checkpoint: drops all messages; titles are never dropped.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.begin_list();
    }

    /// Begins a list of messages, which replaces all messages before it.
    pub(crate) fn begin_list(&mut self) {
        self.list = None;
    }

    /// Returns what a cleanup finds in the file.
    pub(crate) fn retention(&self) -> RetentionFacts {
        RetentionFacts {
            spoken: self.all.has(SPOKEN),
            spoken_in_lines: self.lines.has(SPOKEN),
            spoken_in_list: self.list.unwrap_or_else(|| self.lines.has(SPOKEN)),
            resumable: self.all.has(RESUMABLE),
            ..RetentionFacts::default()
        }
    }

    /// Whether there is any message of a human or a model.
    pub(crate) fn has_conversation(&self) -> bool {
        self.has_conversation
    }

    /// Whether there is anything to resume.
    pub(crate) fn is_resumable(&self) -> bool {
        self.all.has(RESUMABLE)
    }

    /// Returns the candidates for a title in the agent's list.
    pub(crate) fn into_titles(self) -> AgentListing {
        self.titles
    }
}

/// Returns the text that the agent's list uses as a title: parts joined, `displayContent` ignored. Its rules shorten it to
/// 100 characters later, so its start is enough.
fn listed_text(facts: &Facts<'_>) -> Option<String> {
    Some(facts.content.text_start(TITLE_BYTES)).filter(|text| !text.is_empty())
}

/// The first prompt; a command only until another prompt follows. And the last one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Title {
    prompt: Option<String>,
    command: Option<String>,
    last: Option<String>,
    /// The content of a prompt after `last`, as JSON: only the last one of all is decoded.
    later: Vec<u8>,
}

/// The largest content that is kept undecoded, in bytes.
const LARGEST_LATER: usize = 64 * 1024;

impl Title {
    /// Offers a message as the title.
    pub(crate) fn offer(&mut self, facts: &Facts<'_>, kind: MessageKind) {
        if kind != MessageKind::Prompt {
            return;
        }
        if self.prompt.is_some() && is_plainly_typed(facts) {
            self.later.clear();
            facts.content.write_json(&mut self.later);
            return;
        }
        let typed = typed_start(facts.content, facts.display);
        if typed.is_empty() {
            return;
        }
        self.later.clear();
        if self.prompt.is_some() {
            self.last = Some(typed);
        } else if typed.starts_with(['/', '?']) {
            self.last = Some(typed.clone());
            self.command.get_or_insert(typed);
        } else {
            self.last = None;
            self.prompt = Some(typed);
        }
    }

    /// Returns the title and the last prompt.
    pub(crate) fn texts(self) -> (Option<String>, Option<String>) {
        let first = self.prompt.or(self.command);
        let later = || Content::read(&mut Scanner::new(&self.later)).ok();
        let later = if self.later.is_empty() { None } else { later() };
        let later = later.map(|content| typed_start(content, Content::None));
        let last = later.or(self.last).or_else(|| first.clone());
        (first, last)
    }
}

/// Whether the text of a prompt certainly begins with what a human typed, so that its title is not empty.
fn is_plainly_typed(facts: &Facts<'_>) -> bool {
    matches!(facts.display, Content::None)
        && facts.content.text_bytes() <= LARGEST_LATER
        && facts.content.first_words().is_some_and(|text| {
            // Neither white space nor an escape, nor what a hook says.
            matches!(text.raw().first(), Some(b'!'..=b';' | b'='..=b'[' | b']'..=b'~'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_prompt_is_the_last_that_was_typed() {
        let texts = |contents: &[&str]| {
            let mut title = Title::default();
            for content in contents {
                let json = format!(r#"{{"id":"a","type":"user","content":{content}}}"#);
                let facts = Facts::read(&mut Scanner::new(json.as_bytes())).unwrap();
                title.offer(&facts, MessageKind::Prompt);
            }
            title.texts()
        };
        let both = |first: &str, last: &str| (Some(first.to_owned()), Some(last.to_owned()));
        let first = r#""Fix  it""#;
        assert_eq!(texts(&[first]), both("Fix it", "Fix it"));
        assert_eq!(texts(&[first, r#"[{"text":"And\nthat"}]"#]), both("Fix it", "And that"));
        assert_eq!(texts(&[first, r#""one""#, r#"[ { "text" : "two" } ]"#]), both("Fix it", "two"));
        // What says nothing is not the last prompt.
        assert_eq!(texts(&[first, r#""one""#, r#""  ""#]), both("Fix it", "one"));
        assert_eq!(
            texts(&[first, r#""one""#, r#""\n--- Content from referenced files ---""#]),
            both("Fix it", "one")
        );
        assert_eq!(
            texts(&[first, r#""one""#, r#"[{"text":"so","thought":true}]"#]),
            both("Fix it", "one")
        );
        assert_eq!(
            texts(&[first, r#""one""#, r#""\u0041 last one""#]),
            both("Fix it", "A last one")
        );
        assert_eq!(texts(&[r#""/help""#, r#""/about""#]), both("/help", "/about"));
    }
}
