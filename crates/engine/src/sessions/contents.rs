//! What the calls of a session name: tools, and paths. Small enough to be cached, and enough to filter sessions.

use std::collections::BTreeSet;

use recount_formats::Source;
use recount_formats::json::JsonTree;
use recount_formats::source::SessionFiles;
use recount_model::{Message, SessionId, SourceName, ToolCall};
use serde::{Deserialize, Serialize};

use crate::cache::notes::Noted;
use crate::messages::{Messages, View};

/// A text of at most this many bytes, on one line, is kept completely: a path may contain spaces.
const SHORT: usize = 512;
/// A longer word is not a path.
const LONGEST: usize = 1024;

/// What the calls of a session name. Each list is one text with a line for each entry, which is searched directly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Contents {
    source: String,
    /// The session.
    pub(crate) id: SessionId,
    /// The tools that were called, by all their names.
    tools: String,
    /// Attached files, and the most telling argument of a call.
    ends: String,
    /// Words in the arguments of calls that may be a path.
    words: String,
}

/// Collects them.
#[derive(Debug, Default)]
struct Collected {
    tools: BTreeSet<String>,
    ends: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl Contents {
    /// The topic under which they are cached.
    pub(crate) const TOPIC: &'static str = "contents";

    /// Reads the messages of a session.
    pub(crate) fn read(source: &'static dyn Source, session_files: &SessionFiles) -> Noted<Self> {
        let mut collected = Collected::default();
        let mut lasts = true;
        for message in Messages::new(source, session_files, None, View::Full) {
            match message {
                Ok(message) => collected.message(&message),
                Err(_) => lasts = false,
            }
        }
        let lines = |all: BTreeSet<String>| {
            all.into_iter().fold(String::new(), |text, line| text + &line + "\n")
        };
        let Collected { tools, ends, words } = collected;
        let value = Self {
            source: source.name().as_str().to_owned(),
            id: session_files.id.clone(),
            tools: lines(tools),
            ends: lines(ends),
            words: lines(words),
        };
        Noted { value, lasts }
    }

    /// Whether it belongs to a session of this source.
    pub(crate) fn is_of(&self, source: SourceName) -> bool {
        self.source == source.as_str()
    }

    /// Whether a tool was called, by any of its names.
    pub(crate) fn has_called(&self, tool: &str) -> bool {
        self.tools.lines().any(|name| name.eq_ignore_ascii_case(tool))
    }

    /// Whether a path, or the end of one, was named.
    pub(crate) fn has_named(&self, path: &str) -> bool {
        self.words.contains(path) || self.ends.contains(&format!("{path}\n"))
    }
}

impl Collected {
    fn message(&mut self, message: &Message) {
        for file in &message.files {
            insert(&mut self.ends, &file.path);
        }
        for call in &message.tool_calls {
            self.call(call);
        }
    }

    fn call(&mut self, call: &ToolCall) {
        insert(&mut self.tools, &call.name);
        insert(&mut self.tools, call.display_name.as_deref().unwrap_or_default());
        insert(&mut self.ends, call.key_arg.as_deref().unwrap_or_default());
        let args = call.args.as_str();
        match JsonTree::parse(args.as_bytes()) {
            Ok(tree) => self.value(&tree),
            Err(_) => self.text(args),
        }
    }

    /// Depth is bounded by the parser.
    fn value(&mut self, tree: &JsonTree) {
        match tree {
            JsonTree::String(text) | JsonTree::Deep(text) => self.text(text),
            JsonTree::Array(all) => all.iter().for_each(|value| self.value(value)),
            JsonTree::Object(fields) => {
                for (key, value) in fields {
                    self.text(key);
                    self.value(value);
                }
            }
            JsonTree::Null | JsonTree::Bool(_) | JsonTree::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        if text.len() <= SHORT && !text.contains('\n') {
            if is_like_path(text) {
                insert(&mut self.words, text);
            }
            return;
        }
        let is_border = |character: char| {
            character.is_whitespace() || matches!(character, '"' | '\'' | '`' | ',' | ';' | '|')
        };
        for word in text.split(is_border).filter(|word| word.len() <= LONGEST) {
            if is_like_path(word) {
                insert(&mut self.words, word);
            }
        }
    }
}

/// Adds a line, unless it exists. A text of several lines is not a name.
fn insert(lines: &mut BTreeSet<String>, line: &str) {
    if !line.is_empty() && !line.contains('\n') && !lines.contains(line) {
        lines.insert(line.to_owned());
    }
}

/// Whether it has a folder separator, or an extension.
fn is_like_path(word: &str) -> bool {
    let has_ending = || {
        let ends = word.match_indices('.').filter_map(|(at, _)| word.as_bytes().get(at + 1));
        { ends }.any(u8::is_ascii_alphanumeric)
    };
    word.contains(['/', '\\']) || has_ending()
}

#[cfg(test)]
mod tests {
    use recount_model::RawJson;

    use super::*;

    fn contents(args: &str) -> Contents {
        let mut collected = Collected::default();
        let call = ToolCall { args: RawJson::new(args), ..ToolCall::named("run_shell_command") };
        collected.call(&call);
        let lines = |all: BTreeSet<String>| all.into_iter().map(|line| line + "\n").collect();
        let Collected { tools, ends, words } = collected;
        let (tools, ends, words) = (lines(tools), lines(ends), lines(words));
        Contents { source: String::new(), id: SessionId::new("s"), tools, ends, words }
    }

    #[test]
    fn paths_are_found_in_every_argument() {
        let long = format!(
            "#!/bin/sh\\ncargo run --manifest=/srv/a/Cargo.toml \\\"src/lib.rs\\\"; cat b.c {}",
            "x".repeat(SHORT)
        );
        for (args, paths) in [
            (
                r#"{"file_path":"/home/dev/My Notes/to do.md"}"#,
                &["to do.md", "My Notes/to do.md"][..],
            ),
            (r#"{"paths":["src/main.rs",{"also":"docs"}]}"#, &["src/main.rs", "main.rs"]),
            (r#"{"edits":{"src/app.ts":[1]}}"#, &["src/app.ts"]),
            (r#"{"file_path":"C:\\code\\shop\\a.rs"}"#, &[r"shop\a.rs"]),
            (&format!(r#"{{"command":"{long}"}}"#), &["a/Cargo.toml", "src/lib.rs", "b.c"]),
            ("not JSON: src/main.rs", &["src/main.rs"]),
        ] {
            let contents = contents(args);
            for path in paths {
                assert!(contents.has_named(path), "{path} in {args}: {contents:?}");
            }
            assert!(!contents.has_named("nowhere.rs"));
        }
    }

    #[test]
    fn what_is_no_path_takes_no_room() {
        let text = "word ".repeat(10_000);
        let picture = "A/b+".repeat(2_000);
        let contents = contents(&format!(r#"{{"content":"{text}{picture}","old":"x + y"}}"#));
        assert_eq!(contents.words, "");
        assert!(contents.has_called("Run_Shell_Command"));
        assert!(!contents.has_called("shell"));
    }
}
