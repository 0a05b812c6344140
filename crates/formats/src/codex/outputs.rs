//! How a call of a tool ended, by what it gave back.
//!
//! Old releases wrap the output in JSON, followed by an exit code; since 0.10x there is a small header in plain text.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use crate::json::JsonTree;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Not recorded.
    Unknown,
    /// Well.
    Fine,
    /// Not well.
    Failed,
    /// The user stopped it.
    Cancelled,
}

static OUTPUT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\nOutput:"));
static EXITED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"exited with code "));

/// How much of an output is looked at: the header of new releases, the end of old ones.
const HEAD: usize = 240;
const TAIL: usize = 120;

/// Returns how a call ended, from its raw output.
pub(super) fn ending(output: Option<&[u8]>) -> Ending {
    let Some(output) = output else { return Ending::Unknown };
    let head = output.get(..HEAD).unwrap_or(output);
    let is_aborted = head.starts_with(b"\"aborted by user")
        || (head.starts_with(b"\"Wall time: ")
            && memmem::find(head, b" seconds\\naborted by user").is_some_and(|at| at < 40));
    if is_aborted {
        return Ending::Cancelled;
    }
    if head.starts_with(b"\"failed to parse function arguments")
        || head.starts_with(b"\"exec_command failed")
        || head.starts_with(b"\"unsupported call")
    {
        return Ending::Failed;
    }
    let wrapped = head.starts_with(br#""{\"output\""#);
    let tail = output.get(output.len().saturating_sub(TAIL)..).unwrap_or(output);
    let code = if wrapped {
        let mark = br#"\"exit_code\":"#;
        after_last(tail, mark).and_then(code)
    } else if let Some(rest) = head.strip_prefix(b"\"Exit code: ") {
        code(rest)
    } else {
        let header = header(head).unwrap_or_default();
        let at = if header.is_empty() { None } else { EXITED.find(header) };
        at.and_then(|at| code(header.get(at + EXITED.needle().len()..)?))
    };
    match code {
        Some(0) => Ending::Fine,
        Some(_) => Ending::Failed,
        None => Ending::Unknown,
    }
}

/// Returns the header of a new release, if there is one.
fn header(head: &[u8]) -> Option<&[u8]> {
    if !head.starts_with(b"\"Chunk ID: ") && !head.starts_with(b"\"Wall time: ") {
        return None;
    }
    let end = OUTPUT.find(head).unwrap_or(head.len());
    head.get(..end)
}

/// Returns what comes after the last `mark`, which ends in a colon: there are few of them, and a search for all of it would have to be
/// prepared for each output.
fn after_last<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let mut before = text;
    loop {
        let at = memchr::memrchr(b':', before)?;
        if before.get(..=at)?.ends_with(mark) {
            return text.get(at + 1..);
        }
        before = before.get(..at)?;
    }
}

/// Reads the exit code at the start of a text.
fn code(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii_start();
    let end = text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'-');
    let digits = text.get(..end.unwrap_or(text.len()))?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Returns an output without what the agent put around it.
pub(super) fn unwrapped(output: &str) -> String {
    if output.starts_with("{\"output\"")
        && let Ok(tree) = JsonTree::parse(output.as_bytes())
        && let Some(text) = tree.text("output")
    {
        return text.to_owned();
    }
    let is_header =
        ["Exit code: ", "Chunk ID: ", "Wall time: "].iter().any(|mark| output.starts_with(mark));
    match output.split_once("\nOutput:\n").filter(|(head, _)| is_header && head.len() < HEAD) {
        Some((_, text)) => text.to_owned(),
        None => output.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_an_output_tells_its_end() {
        for (output, end) in [
            (
                r#""{\"output\":\"a\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}""#,
                Ending::Fine,
            ),
            (
                r#""{\"output\":\"a\",\"metadata\":{\"exit_code\":127,\"duration_seconds\":0.1}}""#,
                Ending::Failed,
            ),
            (r#""Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 1""#, Ending::Fine),
            (r#""Exit code: 1\nWall time: 0 seconds\nOutput:\n""#, Ending::Failed),
            (
                r#""Chunk ID: 5\nWall time: 0.0 seconds\nProcess exited with code 2\nOriginal token count: 0\nOutput:\n""#,
                Ending::Failed,
            ),
            (
                r#""Chunk ID: 5\nWall time: 0.0 seconds\nProcess running with session ID 7\nOutput:\nexited with code 9""#,
                Ending::Unknown,
            ),
            (r#""Wall time: 0.1 seconds\naborted by user""#, Ending::Cancelled),
            (r#""Plan updated""#, Ending::Unknown),
            (r#"[{"type":"input_text","text":"a"}]"#, Ending::Unknown),
        ] {
            assert_eq!(ending(Some(output.as_bytes())), end, "{output}");
        }
        assert_eq!(unwrapped("Exit code: 0\nWall time: 0 seconds\nOutput:\na\n"), "a\n");
        assert_eq!(unwrapped("{\"output\":\"b\",\"metadata\":{}}"), "b");
        assert_eq!(unwrapped("Plan updated"), "Plan updated");
    }
}
