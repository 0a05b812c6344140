//! The searchable text of a message, by field.

use std::collections::HashSet;

use recount_formats::json::JsonTree;
use recount_model::{Message, MessageKind, NoticeLevel, ToolCall, ToolStatus};
use recount_search::{BARRIER, MessageTexts};

/// The maximum depth of arguments.
const DEPTH: usize = 16;
/// Begins a terminal sequence.
const ESCAPE: char = '\u{1b}';

/// The text of one message, by field.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wording {
    prompt: String,
    answer: String,
    thought: String,
    call: String,
    output: String,
    context: String,
    notice: String,
    /// Paths in arguments, and of attached files.
    paths: Names,
    /// Names of tools.
    tools: Names,
    /// Whether it is, or contains, an error.
    pub(crate) is_error: bool,
}

impl Wording {
    /// Collects the text of a message.
    pub(crate) fn of(message: &Message) -> Self {
        let mut wording = Self::default();
        for thought in &message.thoughts {
            push(&mut wording.thought, &thought.subject);
            push(&mut wording.thought, &thought.description);
        }
        for call in &message.tool_calls {
            wording.call(call);
        }
        let typed = message.kind == MessageKind::Prompt;
        if typed && message.text != message.display_text {
            // Custom commands and attached files: the sent text is not the typed text.
            push(&mut wording.context, &message.text);
        }
        for file in &message.files {
            wording.paths.all.push(file.path.clone());
            if !(typed && message.text.contains(&file.content)) {
                push(&mut wording.context, &file.content);
            }
        }
        wording.is_error |= message.level == Some(NoticeLevel::Error);
        let slot = match message.kind {
            MessageKind::Prompt => {
                wording.prompt.clone_from(&message.display_text);
                return wording;
            }
            MessageKind::Answer => &mut wording.answer,
            MessageKind::Shell => &mut wording.call,
            MessageKind::ToolResult => &mut wording.output,
            MessageKind::Notice | MessageKind::Summary => &mut wording.notice,
            MessageKind::Context | MessageKind::Hook | MessageKind::Nudge => &mut wording.context,
        };
        push(slot, &message.text);
        wording
    }

    fn call(&mut self, call: &ToolCall) {
        push(&mut self.call, &call.name);
        if let Some(shown) = call.display_name.as_deref().filter(|shown| *shown != call.name) {
            push(&mut self.call, shown);
        }
        if let Ok(arguments) = JsonTree::parse(call.args.as_str().as_bytes()) {
            self.argument(&arguments, DEPTH);
        }
        if let Some(output) = &call.output {
            push(&mut self.output, output);
        }
        self.is_error |= call.status == ToolStatus::Error;
        self.tools.add(&call.name);
    }

    /// Adds the texts of an argument; those that look like a path are paths.
    fn argument(&mut self, argument: &JsonTree, depth: usize) {
        if let Some(text) = argument.as_str() {
            push(&mut self.call, text);
            if is_path(text) {
                self.paths.add(text);
            }
        }
        if depth == 0 {
            return;
        }
        for (_, inner) in argument.as_object().unwrap_or_default() {
            self.argument(inner, depth - 1);
        }
        for inner in argument.as_array().unwrap_or_default() {
            self.argument(inner, depth - 1);
        }
    }

    /// Returns the texts for the index. `paths` and `title` are owned by the caller, as slices.
    pub(crate) fn texts<'a>(&'a self, paths: &'a [&'a str], title: &'a str) -> MessageTexts<'a> {
        MessageTexts {
            prompt: &self.prompt,
            answer: &self.answer,
            thought: &self.thought,
            call: &self.call,
            output: &self.output,
            context: &self.context,
            notice: &self.notice,
            paths,
            title,
        }
    }

    /// Lists the files that the message names.
    pub(crate) fn paths(&self) -> Vec<&str> {
        self.paths.all.iter().map(String::as_str).collect()
    }

    /// Lists the tools that were called.
    pub(crate) fn tools(&self) -> Vec<&str> {
        self.tools.all.iter().map(String::as_str).collect()
    }
}

/// Unique names in order.
#[derive(Clone, Debug, Default)]
struct Names {
    all: Vec<String>,
    /// The same, once there are many.
    known: HashSet<String>,
}

impl Names {
    /// Up to this number of names a linear search is faster than a table.
    const FEW: usize = 16;

    fn add(&mut self, name: &str) {
        let is_known = if self.all.len() < Self::FEW {
            self.all.iter().any(|known| known == name)
        } else {
            if self.known.is_empty() {
                self.known = self.all.iter().cloned().collect();
            }
            !self.known.insert(name.to_owned())
        };
        if !is_known {
            self.all.push(name.to_owned());
        }
    }
}

fn is_path(text: &str) -> bool {
    text.len() < 512
        && !text.contains(char::is_whitespace)
        && (text.contains('/')
            || text
                .rsplit_once('.')
                .is_some_and(|(stem, end)| !stem.is_empty() && (1..=5).contains(&end.len())))
        && !text.contains("://")
}

fn push(to: &mut String, text: &str) {
    if !to.is_empty() && !text.is_empty() {
        to.push(BARRIER);
    }
    if text.contains(ESCAPE) {
        without_escapes(to, text);
    } else {
        to.push_str(text);
    }
}

/// Removes color sequences: `\u{1b}[31mred` is "red", not "31mred".
fn without_escapes(to: &mut String, text: &str) {
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(ESCAPE) {
        to.push_str(before);
        // Partly colored text is two words, as in the search of files.
        if before.ends_with(char::is_alphanumeric) {
            to.push(' ');
        }
        rest = behind;
        if let Some(sequence) = behind.strip_prefix('[') {
            let end = sequence.find(|c: char| !matches!(c, ' '..='?'));
            let last = end.and_then(|end| sequence.get(end..)).and_then(|end| end.chars().next());
            let is_whole = last.is_some_and(|last| matches!(last, '@'..='~'));
            let length = end.unwrap_or(sequence.len()) + usize::from(is_whole);
            rest = sequence.get(length..).unwrap_or_default();
        }
    }
    to.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_not_words() {
        for (text, expected) in [
            ("\u{1b}[31mred\u{1b}[0m \u{1b}[1;32mgreen", "red  green"),
            ("\u{1b}[", ""),
            ("\u{1b}[3", ""),
            ("\u{1b}[31\u{e9}t\u{e9}", "\u{e9}t\u{e9}"),
            ("a\u{1b}", "a "),
            ("plain", "plain"),
        ] {
            let mut plain = String::new();
            push(&mut plain, text);
            assert_eq!(plain, expected, "{text:?}");
        }
    }
}
