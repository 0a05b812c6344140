//! One record of a rollout: its kind, and those of its values that are used.

use recount_model::parse_millis;

use crate::json::{JsonScan, Scanner, Text};

/// What a record is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// The session as a whole.
    Meta,
    /// The first line of releases up to 0.31, which had no tags.
    Header,
    /// What the model saw.
    Item,
    /// What the user saw.
    Event,
    /// How a turn is run: its model and its folder.
    TurnContext,
    /// The conversation was replaced by a summary.
    Compacted,
    /// What one response used.
    Usage,
    /// Nothing of the conversation.
    Skipped,
    /// A kind that no known release writes.
    Unknown,
}

/// One record.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) tag: Tag,
    /// When it was written, in milliseconds.
    pub(super) time: Option<i64>,
    /// Whether there is a time that cannot be read.
    pub(super) bad_time: bool,
    /// Its number in a paginated thread.
    pub(super) ordinal: Option<u64>,
    /// Whether there is a field that no known release writes.
    pub(super) unknown_field: bool,
    /// Its values.
    pub(super) fields: Fields<'a>,
}

/// A number for a key: its first and last eight bytes and its length, mixed. Comparing numbers takes less than comparing bytes.
const fn code(key: &[u8]) -> u64 {
    let (first, last) = match (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => match (key.first_chunk::<4>(), key.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                (u32::from_le_bytes(*first) as u64, u32::from_le_bytes(*last) as u64)
            }
            _ => match (key.first(), key.last()) {
                (Some(first), Some(last)) => (*first as u64, *last as u64),
                _ => (0, 0),
            },
        },
    };
    first.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ last.rotate_left(29) ^ key.len() as u64
}

macro_rules! fields {
    ($($name:ident),* $(,)?) => {
        /// The raw values of a record.
        #[derive(Clone, Copy, Debug, Default)]
        pub(super) struct Fields<'a> {
            /// The inner type.
            pub(super) kind: Option<&'a [u8]>,
            $(pub(super) $name: Option<&'a [u8]>,)*
        }

        impl<'a> Fields<'a> {
            /// Returns where the value of a key goes. The codes of all keys differ, so that one comparison of bytes is enough.
            fn slot(&mut self, key: &[u8]) -> Option<&mut Option<&'a [u8]>> {
                const KIND: u64 = code(b"type");
                let (name, slot): (&[u8], _) = match code(key) {
                    KIND => (b"type", &mut self.kind),
                    $(codes::$name => (stringify!($name).as_bytes(), &mut self.$name),)*
                    _ => return None,
                };
                (key == name).then_some(slot)
            }
        }

        /// The codes of the keys: the compiler searches them by halves.
        #[expect(non_upper_case_globals, reason = "named like the fields")]
        mod codes {
            $(pub(super) const $name: u64 = super::code(stringify!($name).as_bytes());)*
        }

        #[cfg(test)]
        const NAMES: &[&str] = &["type", $(stringify!($name)),*];
    };
}

fields! {
    call_id, output, message, role, content, name, id, turn_id, item, info, text, status,
    exit_code, success, num_turns, reason, error, thread_id, usage, thread_token_usage, model, cwd, timestamp,
    source, thread_source, git, forked_from_id, parent_thread_id, history_mode, history_base,
    subagent_history_start_ordinal, cli_version, originator, thread_settings, goal, images, local_images,
    agent_thread_id, thread_name, response_id, agent_role, agent_type, agent_nickname, record_type, instructions, agent_path,
    session_id,
    internal_chat_message_metadata_passthrough,
}

impl<'a> Fields<'a> {
    /// Reads the fields of an object.
    pub(super) fn read(raw: &'a [u8]) -> JsonScan<Self> {
        let mut fields = Self::default();
        fields.fill(&mut Scanner::new(raw))?;
        Ok(fields)
    }

    fn fill(&mut self, scanner: &mut Scanner<'a>) -> JsonScan<()> {
        if scanner.peek()? != b'{' {
            return scanner.skip();
        }
        scanner.object(|scanner, key| self.take(scanner, &key.name()).map(|_| ()))
    }

    /// Stores a value; `false` if it is not needed.
    fn take(&mut self, scanner: &mut Scanner<'a>, key: &[u8]) -> JsonScan<bool> {
        match self.slot(key) {
            Some(slot) => {
                *slot = Some(scanner.value()?);
                Ok(true)
            }
            None => scanner.skip().map(|()| false),
        }
    }

    /// Returns the inner type.
    pub(super) fn kind(&self) -> &'a [u8] {
        self.kind.and_then(word).unwrap_or_default()
    }
}

/// Returns the inside of a string without escapes.
pub(super) fn word(raw: &[u8]) -> Option<&[u8]> {
    raw.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// Returns a value as text, if it is a string. It was scanned when the record was read.
pub(super) fn text(raw: Option<&[u8]>) -> Option<Text<'_>> {
    raw.and_then(word).map(Text::scanned)
}

/// Returns what a string says.
pub(super) fn string(raw: Option<&[u8]>) -> Option<String> {
    text(raw).map(|text| text.decode().into_owned())
}

/// Returns a count.
pub(super) fn number(raw: Option<&[u8]>) -> Option<u64> {
    std::str::from_utf8(raw?).ok()?.parse().ok()
}

/// Returns a time in milliseconds.
pub(super) fn time(raw: Option<&[u8]>) -> Option<i64> {
    parse_millis(word(raw?)?)
}

impl Default for Record<'_> {
    fn default() -> Self {
        Self {
            tag: Tag::Unknown,
            time: None,
            bad_time: false,
            ordinal: None,
            unknown_field: false,
            fields: Fields::default(),
        }
    }
}

impl<'a> Record<'a> {
    /// Reads one line, or one element of a document.
    pub(super) fn read(line: &'a [u8]) -> JsonScan<Self> {
        let mut record = Self::default();
        record.fill(line)?;
        Ok(record)
    }

    /// Reads one line over what was read before: a record is large.
    pub(super) fn fill(&mut self, line: &'a [u8]) -> JsonScan<()> {
        let mut scanner = Scanner::new(line);
        *self = Self::default();
        let record = self;
        if scanner.peek()? != b'{' {
            scanner.skip()?;
            return scanner.end();
        }
        let (mut outer, mut has_payload, mut unknown) = (None, false, false);
        scanner.object(|scanner, key| {
            let key = key.name();
            match key.as_ref() {
                b"type" => outer = Some(scanner.value()?),
                b"payload" => {
                    has_payload = true;
                    record.fields.fill(scanner)?;
                }
                b"ordinal" => record.ordinal = number(Some(scanner.value()?)),
                b"metadata" => scanner.skip()?,
                b"timestamp" => {
                    let raw = scanner.value()?;
                    record.time = time(Some(raw));
                    record.bad_time = record.time.is_none();
                    // The payload of the first record has a time of its own.
                    record.fields.timestamp = record.fields.timestamp.or(Some(raw));
                }
                _ => unknown |= !record.fields.take(scanner, &key)?,
            }
            Ok(())
        })?;
        scanner.end()?;
        let raw = outer;
        let outer = raw.and_then(word).unwrap_or_default();
        record.unknown_field = has_payload && unknown;
        record.tag = tag(outer);
        if !has_payload {
            // Releases before 0.32 wrote items without a tag; some later ones put the payload into the line itself.
            record.tag = record.fields.bare(outer, record.tag);
            if matches!(record.tag, Tag::Item | Tag::Event) {
                record.fields.kind = raw;
            }
        }
        Ok(())
    }
}

impl Fields<'_> {
    /// Returns what a line without a payload is.
    fn bare(&self, outer: &[u8], tag: Tag) -> Tag {
        if self.record_type.is_some() {
            return Tag::Skipped;
        }
        if outer.is_empty() {
            let is_header = self.id.is_some() && self.timestamp.is_some();
            return if is_header { Tag::Header } else { Tag::Unknown };
        }
        if is_item(outer) && !matches!(outer, b"agent_message") {
            return Tag::Item;
        }
        if is_event(outer) { Tag::Event } else { tag }
    }
}

fn tag(outer: &[u8]) -> Tag {
    match outer {
        b"session_meta" => Tag::Meta,
        b"response_item" => Tag::Item,
        b"event_msg" => Tag::Event,
        b"turn_context" => Tag::TurnContext,
        b"compacted" => Tag::Compacted,
        b"token_usage_record" => Tag::Usage,
        b"world_state"
        | b"inter_agent_communication"
        | b"inter_agent_communication_metadata"
        | b"security_risk_score"
        | b"realtime_item" => Tag::Skipped,
        _ => Tag::Unknown,
    }
}

/// Whether some release records such an item.
pub(super) fn is_item(kind: &[u8]) -> bool {
    matches!(
        kind,
        b"message"
            | b"reasoning"
            | b"function_call"
            | b"function_call_output"
            | b"custom_tool_call"
            | b"custom_tool_call_output"
            | b"local_shell_call"
            | b"local_shell_call_output"
            | b"tool_search_call"
            | b"tool_search_output"
            | b"web_search_call"
            | b"image_generation_call"
            | b"agent_message"
            | b"additional_tools"
            | b"compaction"
            | b"compaction_summary"
            | b"context_compaction"
            | b"ghost_snapshot"
            | b"other"
    )
}

/// Whether some release records such an event. Those that only say again what an item says are among them.
pub(super) fn is_event(kind: &[u8]) -> bool {
    const STEMS: [&[u8]; 12] = [
        b"agent_message",
        b"agent_reasoning",
        b"exec_command_",
        b"mcp_",
        b"patch_apply_",
        b"web_search_",
        b"image_generation_",
        b"collab_",
        b"hook_",
        b"dynamic_tool_call_",
        b"thread_",
        b"realtime_",
    ];
    matches!(
        kind,
        b"user_message"
            | b"token_count"
            | b"task_started"
            | b"turn_started"
            | b"task_complete"
            | b"turn_complete"
            | b"turn_aborted"
            | b"context_compacted"
            | b"entered_review_mode"
            | b"exited_review_mode"
            | b"sub_agent_activity"
            | b"item_completed"
            | b"item_started"
            | b"session_configured"
            | b"error"
            | b"stream_error"
            | b"warning"
            | b"background_event"
            | b"deprecation_notice"
            | b"turn_diff"
            | b"plan_update"
            | b"view_image_tool_call"
            | b"undo_started"
            | b"undo_completed"
            | b"shutdown_complete"
            | b"raw_response_item"
            | b"model_reroute"
            | b"guardian_assessment"
            | b"terminal_interaction"
    ) || STEMS.iter().any(|stem| kind.starts_with(stem))
}

/// Whether some release records such an item of a paginated thread.
pub(super) fn is_thread_item(kind: &[u8]) -> bool {
    matches!(
        kind,
        b"UserMessage"
            | b"AgentMessage"
            | b"Reasoning"
            | b"CommandExecution"
            | b"FileChange"
            | b"McpToolCall"
            | b"DynamicToolCall"
            | b"CollabAgentToolCall"
            | b"SubAgentActivity"
            | b"WebSearch"
            | b"ImageView"
            | b"ImageGeneration"
            | b"Plan"
            | b"Sleep"
            | b"HookPrompt"
            | b"EnteredReviewMode"
            | b"ExitedReviewMode"
            | b"ContextCompaction"
            | b"Extension"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag_of(line: &str) -> (Tag, String) {
        let record = Record::read(line.as_bytes()).unwrap();
        (record.tag, String::from_utf8_lossy(record.fields.kind()).into_owned())
    }

    #[test]
    fn keys_have_codes_of_their_own() {
        let codes: std::collections::BTreeSet<u64> =
            NAMES.iter().map(|name| code(name.as_bytes())).collect();
        assert_eq!(codes.len(), NAMES.len());
        let mut fields = Fields::default();
        for name in NAMES {
            assert!(fields.slot(name.as_bytes()).is_some(), "{name}");
        }
        for other in ["", "t", "typf", "history_bade", "xype"] {
            assert!(fields.slot(other.as_bytes()).is_none(), "{other}");
        }
    }

    #[test]
    fn lines_are_told_apart_with_and_without_a_tag() {
        for (line, tag, kind) in [
            (
                r#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"a"}}"#,
                Tag::Meta,
                "",
            ),
            (
                r#"{"type":"response_item","payload":{"type":"message","role":"user"}}"#,
                Tag::Item,
                "message",
            ),
            (r#"{"payload":{"type":"message"},"type":"response_item"}"#, Tag::Item, "message"),
            (r#"{"type":"message","role":"user","content":[]}"#, Tag::Item, "message"),
            (
                r#"{"timestamp":"2026-01-01T00:00:00Z","type":"user_message","message":"a"}"#,
                Tag::Event,
                "user_message",
            ),
            (
                r#"{"timestamp":"2026-01-01T00:00:00Z","type":"turn_context","model":"m"}"#,
                Tag::TurnContext,
                "",
            ),
            (
                r#"{"id":"a","timestamp":"2026-01-01T00:00:00Z","instructions":null}"#,
                Tag::Header,
                "",
            ),
            (r#"{"record_type":"state"}"#, Tag::Skipped, ""),
            (r#"{"type":"new_kind","payload":{}}"#, Tag::Unknown, ""),
            ("[1]", Tag::Unknown, ""),
        ] {
            assert_eq!(tag_of(line), (tag, kind.to_owned()), "{line}");
        }
        assert!(Record::read(br#"{"type":"x","payload":{}"#).is_err());
        let more = br#"{"type":"compacted","payload":{"message":"m"},"fresh":1}"#;
        assert!(Record::read(more).unwrap().unknown_field);
    }
}
