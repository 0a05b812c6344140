//! The usage of a session, message by message: everything needed for counting, in a few bytes each, so that it can be
//! stored and counted again without reading any file.

mod codec;

use std::collections::{HashMap, HashSet};

use recount_formats::Source;
use recount_formats::outline::{CallEnd, MessageEntry, Outline};
use recount_formats::source::{SessionFiles, Unrecorded};
use recount_model::{Fate, FileRole, MessageKind, SessionFacts, SessionKind, Tokens};

use crate::cache::refresh::hash;
use crate::search::index::session_key;
use crate::sessions::facts::own;
use crate::sessions::list::{Digest, Used};
use crate::sessions::union::rows;

pub(crate) use codec::UsageLogReader;

use codec::EncodedEvents;

/// The usage of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UsageLog {
    head: Head,
    /// Prompts and answers, in the order of the conversation.
    events: EncodedEvents,
    /// The time of the last event, in milliseconds; the end of time if some event has none.
    last: i64,
}

/// What is known about a session as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// The key of the session.
    pub(crate) session: u64,
    pub(crate) models: Vec<Box<str>>,
    pub(crate) tools: Vec<Box<str>>,
    /// Unrecorded requests for the session as a whole.
    pub(crate) side_calls: u32,
    /// Prompts without an answer: their requests failed or were stopped.
    pub(crate) unanswered: u32,
    /// Records of requests that were written again in the same file.
    pub(crate) repeated: u32,
    /// Requests that are in other files of the session as well: their times and tokens.
    pub(crate) copies: Vec<(Option<i64>, u64)>,
}

/// A prompt or an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// Identifies the message, wherever it was copied to.
    pub(crate) id: u64,
    pub(crate) said: Said,
    pub(crate) fate: Fate,
    pub(crate) request: Option<Request>,
    pub(crate) calls: Vec<Called>,
    pub(crate) unrecorded: Unrecorded,
}

/// The speaker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Said {
    /// A human.
    Prompt,
    /// A model.
    Answer,
    /// Neither, but something was used.
    #[default]
    Other,
}

/// A request with figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The model, by its number.
    pub(crate) model: Option<u16>,
    pub(crate) tokens: Tokens,
}

/// A tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Called {
    /// The tool, by its number.
    pub(crate) tool: u16,
    pub(crate) end: CallEnd,
}

impl UsageLog {
    /// Records the usage of a session.
    pub(crate) fn of(
        source: &dyn Source,
        session_files: &SessionFiles,
        facts: &SessionFacts,
    ) -> Self {
        let session = session_key(facts);
        let head =
            Head { session, side_calls: source.side_calls(session_files), ..Head::default() };
        let mut usage_log = Self { head, events: EncodedEvents::default(), last: i64::MIN };
        let mut event = Event::default();
        let mut waiting = false;
        let mut places = [NamePlaces::new(), NamePlaces::new()];
        let [models, tools] = &mut places;
        for (at, row) in rows(session_files).enumerate() {
            let session_file = session_files.files.get(row.session_file);
            let own = session_file.filter(|session_file| session_file.role != FileRole::Base);
            let Some(outline) = own.map(|session_file| &session_file.file.outline) else {
                continue;
            };
            let Some(entry) = outline.entries.get(row.entry) else { continue };
            let Some(said) = said(entry) else { continue };
            // A sub-agent's prompt was not typed by a human.
            let said = match said {
                Said::Prompt if facts.kind == SessionKind::Subagent => Said::Other,
                said => said,
            };
            // What was copied beside the conversation, such as a summary, has no id of its own: it counts where it was made.
            if said == Said::Other && outline.is_copy(entry) {
                continue;
            }
            if said == Said::Prompt {
                usage_log.head.unanswered += u32::from(waiting);
            }
            waiting = said == Said::Prompt || (waiting && said == Said::Other);
            event.id =
                source.message_key(outline, row.entry).unwrap_or_else(|| hash(&(session, at)));
            (event.said, event.fate) = (said, row.fate);
            let request = |tokens| usage_log.request(outline, entry, tokens, models);
            event.request = entry.tokens.map(request);
            usage_log.calls(outline, entry, tools, &mut event.calls);
            event.unrecorded = source.unrecorded(outline, entry);
            usage_log.events.push(entry.time, &event);
            usage_log.last = usage_log.last.max(entry.time.unwrap_or(i64::MAX));
        }
        usage_log.head.unanswered += u32::from(waiting);
        usage_log.count_duplicates(session_files);
        usage_log
    }

    fn request<'o>(
        &mut self,
        outline: &'o Outline,
        entry: &MessageEntry,
        tokens: Tokens,
        places: &mut NamePlaces<'o>,
    ) -> Request {
        let name = entry.model.and_then(|model| outline.models.get(usize::from(model)));
        Request { model: name.map(|name| number(&mut self.head.models, places, name)), tokens }
    }

    fn calls<'o>(
        &mut self,
        outline: &'o Outline,
        entry: &MessageEntry,
        places: &mut NamePlaces<'o>,
        calls: &mut Vec<Called>,
    ) {
        let called = |used: &recount_formats::outline::ToolUse| {
            let name = outline.tools.get(usize::from(used.tool))?;
            Some(Called { tool: number(&mut self.head.tools, places, name), end: used.end })
        };
        calls.clear();
        calls.extend(entry.tools.iter().filter_map(called));
    }

    /// Counts what is recorded more than once.
    fn count_duplicates(&mut self, session_files: &SessionFiles) {
        let mut seen = HashSet::new();
        // In one file each message is counted once, whatever its number of versions.
        let alone = session_files.files.len() == 1;
        for session_file in own(session_files) {
            let outline = &session_file.file.outline;
            for entry in outline.entries.iter().filter(|entry| entry.tokens.is_some()) {
                let versions = outline.versions_of(entry).count();
                self.head.repeated += u32::try_from(versions.saturating_sub(1)).unwrap_or(u32::MAX);
                let is_new = alone || entry.id.as_deref().is_none_or(|id| seen.insert(id));
                if let Some(tokens) = entry.tokens.filter(|_| !is_new) {
                    self.head.copies.push((entry.time, tokens.total));
                }
            }
        }
    }

    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// Passes prompts and answers to `visit`, with their times in milliseconds.
    pub(crate) fn each(&self, visit: impl FnMut(&Event, Option<i64>)) {
        // What was just encoded is complete.
        let _whole = self.events.each(visit);
    }

    /// Returns the time of the last event, in milliseconds; the end of time if some event has none.
    pub(crate) fn last(&self) -> i64 {
        self.last
    }

    /// Encodes it.
    pub(crate) fn encode(&self) -> Vec<u8> {
        codec::encode(&self.head, &self.events)
    }
}

/// Where usage logs are, once they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UsageKept {
    /// Only in the catalog.
    InCatalog,
    /// In memory, too, for who counts next.
    HereToo,
}

/// Takes the usage logs of a group of files, to be stored with it.
pub(crate) fn take(
    digests: &mut [Digest],
    key: u64,
    kept: UsageKept,
) -> recount_catalog::UsageLogRow {
    // Exactly as much as is needed: many of them are kept.
    let size = |digest: &Digest| match &digest.used {
        Used::Now { usage_log, .. } => size_of::<u32>() + usage_log.len(),
        _ => 0,
    };
    let content = Vec::with_capacity(digests.iter().map(size).sum());
    let mut all = recount_catalog::UsageLogRow { last: i64::MIN, content };
    for digest in &*digests {
        if let Used::Now { last, usage_log } = &digest.used {
            all.last = all.last.max(*last);
            let length = u32::try_from(usage_log.len()).unwrap_or(u32::MAX);
            all.content.extend_from_slice(&length.to_le_bytes());
            all.content.extend_from_slice(usage_log);
        }
    }
    for digest in digests {
        let used = std::mem::replace(&mut digest.used, Used::With(key));
        if let (Used::Now { usage_log, .. }, UsageKept::HereToo) = (used, kept) {
            digest.used = Used::Both { last: all.last, usage_log };
        }
    }
    all
}

/// Splits stored usage logs. `None` if the data is incomplete.
pub(crate) fn unbound(mut content: &[u8]) -> Option<Vec<&[u8]>> {
    let mut all = Vec::with_capacity(1);
    while !content.is_empty() {
        let (length, rest) = content.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (usage_log, rest) = rest.split_at_checked(length)?;
        all.push(usage_log);
        content = rest;
    }
    Some(all)
}

/// Returns how an entry counts; `None` if it does not.
pub(crate) fn said(entry: &MessageEntry) -> Option<Said> {
    match entry.kind {
        MessageKind::Prompt => Some(Said::Prompt),
        MessageKind::Answer => Some(Said::Answer),
        // A summary was requested besides the conversation.
        MessageKind::Summary => Some(Said::Other),
        _ if entry.tokens.is_some() || !entry.tools.is_empty() => Some(Said::Other),
        _ => None,
    }
}

/// Up to this number of names a linear search is fastest; above it, a table is used.
const FEW_NAMES: usize = 16;

/// The positions of names in a list.
type NamePlaces<'a> = HashMap<&'a str, usize>;

fn number<'a>(names: &mut Vec<Box<str>>, places: &mut NamePlaces<'a>, name: &'a str) -> u16 {
    let known = if names.len() <= FEW_NAMES {
        names.iter().position(|known| **known == *name)
    } else {
        places.get(name).copied()
    };
    let at = known.unwrap_or_else(|| {
        let at = names.len();
        names.push(name.into());
        places.insert(name, at);
        at
    });
    u16::try_from(at).unwrap_or(u16::MAX)
}
