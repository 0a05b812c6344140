//! `@file` expansions: what the human typed, and the files that were sent along.
//!
//! The markers are the same in every era: separate parts since 0.28, one string before. The closing one may be
//! missing, and file text may itself contain markers, so typed text ends at the *first* opening marker.

use memchr::memchr_iter;
use recount_model::AttachedFile;

use super::content::Content;
use super::kind::HOOK_END;
use crate::json::trim;

const OPEN: &str = "\n--- Content from referenced files ---";
/// Embedded context of editors over ACP; never closed.
const OPEN_CONTEXT: &str = "\n--- Content from referenced context ---";
const CLOSE: &str = "\n--- End of content ---";
const FILE: &str = "\nContent from @";

/// How much of a prompt is read for a title.
const TITLE_BYTES: usize = 2048;

/// Returns how the typed text of a prompt begins, on one line.
pub(crate) fn typed_start(content: Content<'_>, display: Content<'_>) -> String {
    let shown = display.text_start(TITLE_BYTES);
    let mut text = if shown.is_empty() { content.text_start(TITLE_BYTES) } else { shown };
    if trim(&text).starts_with("<hook_context>") && !text.contains(HOOK_END) {
        // The prompt stands behind all that the hook said.
        text = content.text();
    }
    let typed = typed(&text);
    let mut line = String::new();
    for word in typed.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > TITLE_BYTES / 4 {
            break;
        }
    }
    line
}

/// Returns what the human typed: without hook output in front and file contents behind.
pub(crate) fn typed(text: &str) -> &str {
    let text = if trim(text).starts_with("<hook_context>") {
        text.split_once(HOOK_END).map_or(text, |(_, prompt)| prompt)
    } else {
        text
    };
    let end = opening_marker(text);
    trim(end.and_then(|end| text.get(..end)).unwrap_or(text))
}

/// Returns where the first opening marker is.
fn opening_marker(text: &str) -> Option<usize> {
    memchr_iter(b'\n', text.as_bytes()).find(|&at| {
        let rest = text.get(at..).unwrap_or_default();
        rest.starts_with(OPEN) || rest.starts_with(OPEN_CONTEXT)
    })
}

/// Splits off the files that were sent along: by parts where there are parts, else by the markers in the text.
pub(crate) fn attached_to(content: Content<'_>, text: &str) -> Vec<AttachedFile> {
    let mut parts = Vec::new();
    if let Content::Parts(_) = content {
        content.each(|piece| parts.extend(piece.spoken().map(|text| text.decode().into_owned())));
    }
    let opens = |part: &String| part.starts_with(OPEN) || part.starts_with(OPEN_CONTEXT);
    let Some(first) = parts.iter().position(opens).filter(|_| parts.len() > 2) else {
        return attached(text);
    };
    let mut files: Vec<AttachedFile> = Vec::new();
    for part in parts.iter().skip(first + 1) {
        let path = part.strip_prefix(FILE).and_then(|rest| rest.strip_suffix(":\n"));
        if let Some(path) = path.filter(|path| !path.contains('\n')) {
            files.push(AttachedFile { path: path.to_owned(), bytes: 0, content: String::new() });
        } else if part == CLOSE {
            break;
        } else if let Some(file) = files.last_mut() {
            file.content.push_str(part);
            file.bytes = file.content.len() as u64;
        }
    }
    if files.is_empty() { attached(text) } else { files }
}

/// Splits off files by the markers in the text.
pub(crate) fn attached(text: &str) -> Vec<AttachedFile> {
    let Some(start) = opening_marker(text) else { return Vec::new() };
    let block = text.get(start..).unwrap_or_default();
    let block = block.rfind(CLOSE).and_then(|end| block.get(..end)).unwrap_or(block);
    let mut files = Vec::new();
    let mut rest = block;
    while let Some(at) = rest.find(FILE) {
        let after = rest.get(at + FILE.len()..).unwrap_or_default();
        let Some((path, body)) = after.split_once(":\n") else { break };
        // A line break in the path means that this is file text that looks like a marker.
        if path.contains('\n') {
            rest = after;
            continue;
        }
        let end = next_file(body);
        let content = body.get(..end).unwrap_or(body);
        files.push(AttachedFile {
            path: path.to_owned(),
            bytes: content.len() as u64,
            content: content.to_owned(),
        });
        rest = body.get(end..).unwrap_or_default();
    }
    files
}

/// Returns where the next file begins.
fn next_file(body: &str) -> usize {
    let mut from = 0;
    while let Some(at) = body.get(from..).and_then(|rest| rest.find(FILE)) {
        let after = body.get(from + at + FILE.len()..).unwrap_or_default();
        let line = after.lines().next().unwrap_or_default();
        if line.ends_with(':') {
            return from + at;
        }
        from += at + FILE.len();
    }
    body.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<(String, String)> {
        attached(text).into_iter().map(|file| (file.path, file.content)).collect()
    }

    #[test]
    fn files_are_split_off_in_every_form() {
        let one = "read @a.txt\n--- Content from referenced files ---\nContent from @a.txt:\nhi\n\n--- End of content ---";
        assert_eq!(typed(one), "read @a.txt");
        assert_eq!(paths(one), [("a.txt".into(), "hi\n".into())]);

        let unclosed =
            "x\n--- Content from referenced files ---\nContent from @a:\n1\nContent from @b c:\n2";
        assert_eq!(paths(unclosed), [("a".into(), "1".into()), ("b c".into(), "2".into())]);

        let acp = "look\n--- Content from referenced context ---\nContent from @file:///x/y.rs:\nfn main() {}";
        assert_eq!(typed(acp), "look");
        assert_eq!(paths(acp), [("file:///x/y.rs".into(), "fn main() {}".into())]);

        assert!(paths("nothing @here").is_empty());
    }

    #[test]
    fn hook_output_in_front_is_not_typed() {
        assert_eq!(typed("<hook_context>lint ok</hook_context>\n\nfix it"), "fix it");
    }
}
