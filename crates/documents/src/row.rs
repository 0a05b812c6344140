//! A row of a list as JSON. Rows are printed by the thousand, so constant parts are written directly; the output equals
//! that of `serde`, which a test compares.

use std::io;

use jiff::Timestamp;
use recount_model::{FileRole, FileRow, Grammar, RawJson, SessionRow, Tokens};
use serde::Serialize;

use crate::moment;

/// Appends a row to `out`. Its project is already serialized.
pub(crate) fn write(out: &mut Vec<u8>, facts: &SessionRow<'_>, project: &str) -> io::Result<()> {
    let mut row = Row { out };
    row.text(b"{\"source\":", facts.source);
    row.text(b",\"id\":", facts.id);
    row.text(b",\"kind\":", facts.kind.as_str());
    row.optional(b",\"parent\":", facts.parent);
    if let Some(call) = facts.parent_call {
        row.text(b",\"parent_call\":", call);
    }
    if let Some(agent) = &facts.agent {
        row.value(b",\"agent\":", agent)?;
    }
    row.optional(b",\"title\":", facts.title);
    row.value(b",\"title_from\":", &facts.title_from)?;
    row.optional(b",\"first_prompt\":", facts.first_prompt);
    row.optional(b",\"last_prompt\":", facts.last_prompt);
    row.optional(b",\"branch\":", facts.branch);
    row.value(b",\"entrypoint\":", &facts.entrypoint)?;
    if let Some(labels) = &facts.labels {
        row.texts(b",\"tags\":", labels.tags.iter().map(String::as_str));
        row.flag(b",\"pinned\":", Some(labels.pinned));
    }
    row.raw(b",\"project\":");
    row.raw(project.as_bytes());
    row.moment(b",\"started\":", facts.started)?;
    row.moment(b",\"updated\":", facts.updated)?;
    row.number(b",\"messages\":", facts.counts.messages);
    row.number(b",\"prompts\":", facts.counts.prompts);
    row.number(b",\"answers\":", facts.counts.answers);
    row.number(b",\"undone\":", facts.counts.undone);
    row.number(b",\"tool_calls\":{\"total\":", facts.tool_calls.total);
    row.number(b",\"failed\":", facts.tool_calls.failed);
    row.number(b",\"cancelled\":", facts.tool_calls.cancelled);
    row.texts(b"},\"models\":", facts.models.iter().copied());
    let from = row.out.len();
    row.tokens(b",\"tokens\":", &facts.tokens);
    let tokens = from..row.out.len();
    row.value(b",\"cost_usd\":", &facts.cost_usd)?;
    row.flag(b",\"cost_is_lower_bound\":", facts.cost_is_lower_bound);
    row.number(b",\"kept\":{\"messages\":", facts.kept.messages);
    row.number(b",\"prompts\":", facts.kept.prompts);
    row.number(b",\"answers\":", facts.kept.answers);
    row.number(b",\"tool_calls\":", facts.kept.tool_calls);
    if facts.kept.tokens == facts.tokens {
        // Mostly nothing is undone.
        row.out.extend_from_within(tokens);
    } else {
        row.tokens(b",\"tokens\":", &facts.kept.tokens);
    }
    row.texts(b"},\"directories\":", facts.directories.iter().copied());
    if let Some(memory) = facts.memory {
        row.value(b",\"memory\":", &RawJson::new(memory))?;
    }
    row.files(&facts.files)?;
    match facts.agent_index {
        Some(index) => row.number(b",\"agent_index\":", u64::from(index)),
        None => row.raw(b",\"agent_index\":null"),
    }
    row.optional(b",\"agent_title\":", facts.agent_title);
    row.flag(b",\"live\":", facts.live);
    row.flag(b",\"doomed\":", facts.pending_deletion);
    row.number(b",\"problems\":", facts.problems);
    row.number(b",\"not_understood\":", facts.not_understood);
    row.raw(b"}");
    Ok(())
}

struct Row<'a> {
    out: &'a mut Vec<u8>,
}

impl Row<'_> {
    fn raw(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    fn value<T: Serialize>(&mut self, key: &[u8], value: &T) -> io::Result<()> {
        self.raw(key);
        Ok(serde_json::to_writer(&mut *self.out, value)?)
    }

    fn moment(&mut self, key: &[u8], time: Option<Timestamp>) -> io::Result<()> {
        let mut text = moment::BLANK;
        match time.and_then(|time| moment::write(time, &mut text)) {
            Some(length) => {
                self.raw(key);
                self.out.push(b'"');
                self.raw(text.get(..length).unwrap_or_default());
                self.out.push(b'"');
                Ok(())
            }
            None => self.value(key, &time),
        }
    }

    fn text(&mut self, key: &[u8], text: &str) {
        self.raw(key);
        self.quoted(text);
    }

    fn quoted(&mut self, text: &str) {
        if needs_escapes(text) {
            // Writing to memory cannot fail.
            let _written = serde_json::to_writer(&mut *self.out, text);
        } else {
            self.out.push(b'"');
            self.raw(text.as_bytes());
            self.out.push(b'"');
        }
    }

    fn optional(&mut self, key: &[u8], text: Option<&str>) {
        self.raw(key);
        match text {
            Some(text) => self.quoted(text),
            None => self.raw(b"null"),
        }
    }

    fn texts<'t>(&mut self, key: &[u8], texts: impl Iterator<Item = &'t str>) {
        self.raw(key);
        self.raw(b"[");
        for (at, text) in texts.enumerate() {
            self.raw(if at > 0 { b"," } else { b"" });
            self.quoted(text);
        }
        self.raw(b"]");
    }

    fn flag(&mut self, key: &[u8], flag: Option<bool>) {
        self.raw(key);
        self.raw(match flag {
            None => b"null",
            Some(true) => b"true",
            Some(false) => b"false",
        });
    }

    fn number(&mut self, key: &[u8], number: u64) {
        self.raw(key);
        // Most are small.
        match u8::try_from(number) {
            Ok(number @ 0..10) => self.out.push(b'0' + number),
            _ => self.raw(itoa::Buffer::new().format(number).as_bytes()),
        }
    }

    fn tokens(&mut self, key: &[u8], tokens: &Tokens) {
        self.raw(key);
        self.number(b"{\"input\":", tokens.input);
        self.number(b",\"output\":", tokens.output);
        self.number(b",\"cached\":", tokens.cached);
        self.number(b",\"cache_write\":", tokens.cache_write);
        self.number(b",\"cache_write_1h\":", tokens.cache_write_1h);
        self.number(b",\"thoughts\":", tokens.thoughts);
        self.number(b",\"tool\":", tokens.tool);
        self.number(b",\"total\":", tokens.total);
        self.raw(b"}");
    }

    fn files(&mut self, files: &[FileRow<'_>]) -> io::Result<()> {
        self.raw(b",\"files\":[");
        for (at, file) in files.iter().enumerate() {
            self.raw(if at > 0 { b"," } else { b"" });
            self.text(b"{\"path\":", file.path);
            match file.role {
                FileRole::Main => self.raw(b",\"role\":\"main\""),
                role => self.value(b",\"role\":", &role)?,
            }
            self.number(b",\"bytes\":", file.bytes);
            self.raw(match file.grammar {
                Grammar::Json => b",\"grammar\":\"json\"}".as_slice(),
                Grammar::Jsonl => b",\"grammar\":\"jsonl\"}",
            });
        }
        self.raw(b"]");
        Ok(())
    }
}

/// Whether a text has bytes that JSON escapes. Without an early exit, as most texts have none.
fn needs_escapes(text: &str) -> bool {
    let (words, rest) = text.as_bytes().as_chunks();
    let mut last = [b' '; 8];
    last.iter_mut().zip(rest).for_each(|(slot, byte)| *slot = *byte);
    words.iter().fold(escaped(last), |any, word| any | escaped(*word)) != 0
}

/// Returns bits that are set if any of the bytes is escaped. The compiler would not look at several bytes at once in a program that is
/// optimized for size; this takes a fifth of the instructions of a long list less.
fn escaped(bytes: [u8; 8]) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_ne_bytes(bytes);
    let below = |word: u64, limit: u8| word.wrapping_sub(EACH * u64::from(limit)) & !word;
    let equal = |byte: u8| below(word ^ (EACH * u64::from(byte)), 1);
    (below(word, 0x20) | equal(b'"') | equal(b'\\')) & (EACH << 7)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use recount_engine::{Engine, ListQuery, Setup};
    use recount_model::{AgentNote, Clock, Labels, Problem, RawJson, SessionFacts, SessionId};

    use super::*;

    fn check(facts: &SessionFacts) {
        let mut written = Vec::new();
        let project = serde_json::to_string(&facts.project).unwrap();
        write(&mut written, &facts.into(), &project).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), serde_json::to_string(facts).unwrap());
    }

    #[test]
    fn every_escaped_byte_is_found_wherever_it_stands() {
        for length in 1..20 {
            for place in 0..length {
                for byte in 0..=0x7f_u8 {
                    let mut text = vec![b'~'; length];
                    text[place] = byte;
                    let text = String::from_utf8(text).unwrap();
                    let is_escaped = serde_json::to_string(&text).unwrap().len() > length + 2;
                    assert_eq!(needs_escapes(&text), is_escaped, "{text:?}");
                }
            }
        }
        assert!(!needs_escapes("") && !needs_escapes("修正 été 🏴 §±"));
        assert!(needs_escapes("修正\u{1f}") && needs_escapes("\u{ff}été été\""));
    }

    #[test]
    fn a_row_is_what_serde_makes_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let now = "2026-11-16T00:00:00Z".parse().unwrap();
        recount_testbed::demo(&home, now).unwrap();
        let env = recount_platform::Env::for_tests([], None);
        let setup = Setup {
            known_sources: recount_engine::SOURCES,
            homes: vec![home],
            sources: Vec::new(),
            env,
            clock: Clock::fixed(now),
        };
        let query = ListQuery { pending_deletion: true, labelled: true, ..ListQuery::default() };
        let listing = Engine::new(setup).unwrap().list(&query, &()).unwrap();
        assert!(!listing.sessions.is_empty());
        listing.sessions.iter().for_each(|facts| check(facts));
        let mut odd = SessionFacts::clone(&listing.sessions[0]);
        odd.title = Some("a \"quoted\" \\ line\nand 修正 \u{7f}\u{1}".to_owned());
        odd.labels =
            Some(Labels { tags: BTreeSet::from(["a".into(), "b\"".into()]), pinned: true });
        odd.parent = Some(SessionId::new("p"));
        odd.parent_call = Some("call".to_owned());
        odd.agent = Some(AgentNote { kind: Some("Explore".to_owned()), ..AgentNote::default() });
        odd.memory = Some(RawJson::new("{\"x\": 1}".to_owned()));
        odd.tokens.total = u64::MAX;
        odd.cost_usd = Some(0.1 + 0.2);
        odd.started = "-000001-01-01T00:00:00.123456Z".parse().ok();
        odd.problem_list = Vec::<Problem>::new();
        odd.project = Arc::default();
        check(&odd);
        odd = SessionFacts { title: None, labels: None, cost_usd: None, live: Some(true), ..odd };
        check(&SessionFacts { agent_index: None, started: None, ..odd });
    }
}
