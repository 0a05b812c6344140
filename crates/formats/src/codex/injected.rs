//! Which texts under the user's name were typed, and which the agent put there.

use crate::json::{Scanner, Text};

use super::record::{text, word};

/// How much of a text shows whether it was typed.
const LEAD: usize = 96;

/// How much of a prompt is kept as a title.
pub(super) const TITLE: usize = 4096;

/// What an editor puts in front of a prompt, and what comes before the prompt itself.
const EDITOR: &str = "# Context from my IDE setup:";
const REQUEST: &str = "## My request for Codex:";

/// Starts of texts that were not typed.
const INJECTED: [&str; 18] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions for ",
    "<INSTRUCTIONS>",
    "<turn_aborted>",
    "<skill>",
    "<skills_instructions>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<user_action>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<multi_agent_",
    "<hook_prompt",
    "<goal_context>",
    "<model_switch>",
    "<memory_tool",
    "Another language model started to solve this problem",
];

/// Whether a text begins like one that the agent puts under the user's name.
pub(super) fn is_injected(start: &str) -> bool {
    let start = start.trim_start();
    INJECTED.iter().any(|mark| start.starts_with(mark))
}

/// Whether a text is environment context, or the user's instructions for every session.
pub(super) fn is_surroundings(start: &str) -> bool {
    let start = start.trim_start();
    start.starts_with("<environment_context>") || start.starts_with("<user_instructions>")
}

/// Returns what was typed of a prompt: an editor puts its own state in front.
pub(super) fn typed(prompt: &str) -> &str {
    if !prompt.trim_start().starts_with(EDITOR) {
        return prompt;
    }
    prompt.split_once(REQUEST).map_or(prompt, |(_, typed)| typed.trim_start())
}

/// What the parts of a user's message are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// Whether some were typed.
    pub(super) typed: bool,
    /// Whether some are pictures.
    pub(super) images: bool,
    /// Whether the record itself says that somebody typed it.
    pub(super) told: bool,
}

/// Judges the parts of a user's message; newer releases say what each part is.
pub(super) fn parts(content: Option<&[u8]>, passthrough: Option<&[u8]>) -> Parts {
    let kinds = passthrough.map(kinds).unwrap_or_default();
    let mut parts = Parts::default();
    let mut number = 0;
    each(content, |kind, text| {
        let told = kinds.get(number);
        number += 1;
        let is_image = kind == b"input_image" || kind == b"input_audio";
        let is_typed = match told {
            Some(told) => told.starts_with(b"user."),
            None => is_image || !text.is_some_and(|text| is_injected(&text.decode_start(LEAD))),
        };
        parts.told |= is_typed && told.is_some();
        parts.typed |= is_typed;
        parts.images |= is_image;
    });
    parts
}

/// Returns the typed words of a user's message, its start.
pub(super) fn words(content: Option<&[u8]>, passthrough: Option<&[u8]>) -> String {
    let kinds = passthrough.map(kinds).unwrap_or_default();
    let mut words = String::new();
    let mut number = 0;
    each(content, |_, text| {
        let told = kinds.get(number);
        number += 1;
        let Some(text) = text.filter(|_| words.len() < TITLE) else { return };
        let start = text.decode_start(TITLE);
        if told.map_or_else(|| !is_injected(&start), |told| told.starts_with(b"user.")) {
            if !words.is_empty() {
                words.push('\n');
            }
            words.push_str(&start);
        }
    });
    words
}

/// Calls `visit` with the type and the text of each part.
fn each<'a>(content: Option<&'a [u8]>, mut visit: impl FnMut(&'a [u8], Option<Text<'a>>)) {
    let Some(content) = content else { return };
    if let Some(text) = text(Some(content)) {
        return visit(b"input_text", Some(text));
    }
    let mut scanner = Scanner::new(content);
    // The text was scanned before, so it cannot fail now; what is no list has no parts.
    let _walked = scanner.array(|scanner| {
        if scanner.peek()? != b'{' {
            return scanner.skip();
        }
        let (mut kind, mut said) = (&b""[..], None);
        scanner.object(|scanner, key| {
            let value = scanner.value()?;
            if key.is("type") {
                kind = word(value).unwrap_or_default();
            } else if key.is("text") {
                said = text(Some(value));
            }
            Ok(())
        })?;
        visit(kind, said);
        Ok(())
    });
}

/// Lists what each part is, as newer releases say.
fn kinds(passthrough: &[u8]) -> Vec<&[u8]> {
    let mut kinds = Vec::new();
    let mut scanner = Scanner::new(passthrough);
    let _walked = scanner.object(|scanner, key| {
        if !key.is("content_item_kinds") || scanner.peek()? != b'[' {
            return scanner.skip();
        }
        scanner.array(|scanner| {
            kinds.push(word(scanner.value()?).unwrap_or_default());
            Ok(())
        })
    });
    kinds
}

/// Makes a title of a prompt: its words on one line.
pub(super) fn title(prompt: &str) -> Option<String> {
    let prompt = typed(prompt);
    let mut title = String::with_capacity(prompt.len().min(MOST + MOST / 4));
    let mut length = 0;
    for word in prompt.split_whitespace() {
        if length >= MOST {
            break;
        }
        if !title.is_empty() {
            title.push(' ');
            length += 1;
        }
        let left = MOST.saturating_sub(length);
        let end = word.char_indices().nth(left).map_or(word.len(), |(at, _)| at);
        let word = word.get(..end).unwrap_or_default();
        length += word.chars().count();
        title.push_str(word);
    }
    (!title.is_empty()).then_some(title)
}

/// How long a title may be, in characters.
const MOST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_judged_for_itself() {
        let content = br#"[{"type":"input_text","text":"<environment_context>\n</environment_context>"},{"type":"input_text","text":"fix it"}]"#;
        assert_eq!(parts(Some(content), None), Parts { typed: true, ..Parts::default() });
        assert_eq!(words(Some(content), None), "fix it");
        let told = br#"{"turn_id":"t","content_item_kinds":["environments.environment_context","generic.note"]}"#;
        assert!(!parts(Some(content), Some(told)).typed);
        let image = br#"[{"type":"input_image","image_url":"data:"}]"#;
        assert_eq!(parts(Some(image), None), Parts { typed: true, images: true, told: false });
        assert!(!parts(Some(br#""<user_instructions>x""#), None).typed);
        assert!(!parts(None, None).typed);
    }

    #[test]
    fn an_editors_state_is_not_typed() {
        let prompt = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix\n a.rs";
        assert_eq!(typed(prompt), "fix\n a.rs");
        assert_eq!(title(prompt).as_deref(), Some("fix a.rs"));
        assert_eq!(title(" \n "), None);
        assert_eq!(title(&"字".repeat(300)).map(|title| title.chars().count()), Some(200));
    }
}
