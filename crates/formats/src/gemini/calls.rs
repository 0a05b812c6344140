//! The tool calls of a message, counted in the same pass as the rest of it.

use recount_model::parse_millis;

use super::facts::string;
use crate::json::{JsonScan, Scanner, Text};
use crate::outline::CallEnd;

/// The maximum number of calls kept while counting; with more, they are read again.
const FEW: usize = 4;

/// Calls recorded further apart than this, in milliseconds, were requested one after the other: all calls of one reply are
/// recorded when the last of them has ended.
const APART: i64 = 10;

/// Tools that run a sub-agent. Since 0.39 the call names the agent it ran; before that, only the tool's name is available.
const AGENT_TOOLS: &[&str] = &["invoke_agent", "codebase_investigator", "delegate_to_agent"];

/// Whether a tool runs a sub-agent.
pub(crate) fn runs_agent(tool: &str) -> bool {
    AGENT_TOOLS.contains(&tool)
}

/// Counts of tool calls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calls<'a> {
    /// The number of elements in the list, of any type.
    pub(crate) length: u32,
    pub(crate) total: u32,
    pub(crate) failed: u32,
    pub(crate) cancelled: u32,
    pub(crate) with_result: u32,
    /// Those that ran a sub-agent.
    pub(crate) agents: u32,
    /// The number of requests that asked for them, as far as times show.
    pub(crate) rounds: u32,
    /// Whether one has a field that no known release writes.
    pub(crate) unknown_field: bool,
    first: [Option<(Text<'a>, CallEnd)>; FEW],
    raw: &'a [u8],
}

/// One call while it is read.
#[derive(Default)]
struct Call<'a> {
    name: Option<Text<'a>>,
    end: CallEnd,
    time: Option<i64>,
    result: bool,
    agent: bool,
    unknown_field: bool,
}

impl<'a> Calls<'a> {
    /// Reads the value of `toolCalls`.
    pub(crate) fn fill(&mut self, scanner: &mut Scanner<'a>) -> JsonScan<()> {
        if scanner.peek()? != b'[' {
            return scanner.skip();
        }
        let start = scanner.offset();
        let mut last = None;
        scanner.array(|scanner| {
            self.length += 1;
            if scanner.peek()? != b'{' {
                return scanner.skip();
            }
            let call = Call::read(scanner)?;
            let later = |last: i64| call.time.is_some_and(|time| time - last > APART);
            self.rounds += u32::from(self.total == 0 || last.is_some_and(later));
            last = call.time.or(last);
            self.take(&call);
            Ok(())
        })?;
        self.raw = scanner.since(start);
        Ok(())
    }

    fn take(&mut self, call: &Call<'a>) {
        if let (Some(slot), Some(name)) = (self.first.get_mut(self.total as usize), call.name) {
            *slot = Some((name, call.end));
        }
        self.total += 1;
        self.failed += u32::from(call.end == CallEnd::Failed);
        self.cancelled += u32::from(call.end == CallEnd::Cancelled);
        self.with_result += u32::from(call.result);
        self.agents += u32::from(call.agent);
        self.unknown_field |= call.unknown_field;
    }

    /// Returns the raw list.
    pub(crate) fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// Calls `visit` with the tool and the outcome of each call that names its tool.
    pub(crate) fn each(&self, mut visit: impl FnMut(Text<'a>, CallEnd)) {
        if self.total as usize <= FEW {
            for (name, end) in self.first.into_iter().flatten() {
                visit(name, end);
            }
            return;
        }
        let mut scanner = Scanner::new(self.raw);
        // The text was already scanned, so this cannot fail.
        let _whole = scanner.array(|scanner| {
            if scanner.peek()? != b'{' {
                return scanner.skip();
            }
            let call = Call::read(scanner)?;
            if let Some(name) = call.name {
                visit(name, call.end);
            }
            Ok(())
        });
    }
}

impl<'a> Call<'a> {
    fn read(scanner: &mut Scanner<'a>) -> JsonScan<Self> {
        let mut call = Self::default();
        scanner.object(|scanner, key| {
            match key.name().as_ref() {
                b"status" => {
                    call.end = match string(scanner)? {
                        Some(text) if text.is("error") => CallEnd::Failed,
                        Some(text) if text.is("cancelled") => CallEnd::Cancelled,
                        _ => CallEnd::Fine,
                    };
                }
                b"agentId" => call.agent |= string(scanner)?.is_some(),
                b"name" => {
                    call.name = string(scanner)?;
                    let runs = |name: Text<'_>| AGENT_TOOLS.iter().any(|tool| name.is(tool));
                    call.agent |= call.name.is_some_and(runs);
                }
                b"result" => {
                    call.result = scanner.peek()? != b'n';
                    scanner.skip()?;
                }
                b"timestamp" => {
                    call.time = string(scanner)?.and_then(|text| parse_millis(text.raw()));
                }
                b"id"
                | b"args"
                | b"resultDisplay"
                | b"displayName"
                | b"description"
                | b"renderOutputAsMarkdown" => scanner.skip()?,
                _ => {
                    call.unknown_field = true;
                    scanner.skip()?;
                }
            }
            Ok(())
        })?;
        Ok(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(calls: &[(&str, &str, &str)]) -> (u32, Vec<(String, CallEnd)>) {
        let one = |(name, status, time): &(&str, &str, &str)| {
            format!(
                r#"{{"name":"{name}","status":"{status}","timestamp":"2026-01-01T00:00:{time}Z"}}"#
            )
        };
        let text = format!("[{}]", calls.iter().map(one).collect::<Vec<_>>().join(","));
        let mut calls = Calls::default();
        calls.fill(&mut Scanner::new(text.as_bytes())).unwrap();
        let mut seen = Vec::new();
        calls.each(|name, end| seen.push((name.decode().into_owned(), end)));
        assert_eq!(seen.len(), calls.total as usize);
        (calls.rounds, seen)
    }

    #[test]
    fn rounds_are_distinguished_by_their_times() {
        // As 0.29 accumulates them, and as 0.43 records one batch.
        let piled =
            [("a", "success", "30.629"), ("b", "error", "30.629"), ("c", "success", "31.192")];
        assert_eq!(read(&piled).0, 2);
        assert_eq!(read(&[("a", "success", "52.335"), ("b", "success", "52.336")]).0, 1);
        assert_eq!(read(&[]).0, 0);
    }

    #[test]
    fn tools_are_named_however_many_there_are() {
        for count in [1, FEW, FEW + 1, 40] {
            let calls = vec![("t\\u0061sk", "cancelled", "01.000"); count];
            let (rounds, seen) = read(&calls);
            assert_eq!((rounds, seen.len()), (1, count));
            assert!(seen.iter().all(|call| *call == ("task".to_owned(), CallEnd::Cancelled)));
        }
    }
}
