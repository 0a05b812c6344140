//! Names that releases up to 2.1.326 write, as recorded or as the program has them. What is not here is kept and reported, never fatal.

/// Whether rows of this type are outside of the tree.
pub(crate) fn is_side_row(kind: &[u8]) -> bool {
    static NAMES: Names = Names::of(SIDE_ROWS);
    NAMES.has(kind)
}

/// Whether a field of a row is known.
pub(crate) fn is_field(name: &[u8]) -> bool {
    static NAMES: Names = Names::of(FIELDS);
    NAMES.has(name)
}

/// Whether a subtype of a system row is known.
pub(crate) fn is_subtype(name: &[u8]) -> bool {
    static NAMES: Names = Names::of(SUBTYPES);
    NAMES.has(name)
}

/// Whether a kind of attachment is known.
pub(crate) fn is_attachment(name: &[u8]) -> bool {
    static NAMES: Names = Names::of(ATTACHMENTS);
    name.starts_with(b"hook_") || NAMES.has(name)
}

/// How many places a table of names has: more than twice as many as there are names.
const PLACES: usize = 512;

/// A set of names, as a hash table that the compiler builds: each name is in its slot, or in one after it.
struct Names {
    names: &'static [&'static str],
    /// The number of a name, from 1.
    table: [u8; PLACES],
}

impl Names {
    #[expect(clippy::indexing_slicing, reason = "runs in the compiler only")]
    #[expect(clippy::cast_possible_truncation, reason = "checked: there are less than 255 names")]
    const fn of(names: &'static [&'static str]) -> Self {
        assert!(names.len() < 255);
        let mut table = [0; PLACES];
        let mut number = 0;
        while number < names.len() {
            let mut at = place(names[number].as_bytes());
            while table[at] != 0 {
                at = (at + 1) % PLACES;
            }
            number += 1;
            table[at] = number as u8;
        }
        Self { names, table }
    }

    fn has(&self, name: &[u8]) -> bool {
        let (before, behind) = self.table.split_at(place(name));
        let numbers = behind.iter().chain(before);
        let mut numbers = numbers.take_while(|number| **number != 0);
        numbers.any(|number| {
            let known = self.names.get(usize::from(*number) - 1);
            known.is_some_and(|known| known.as_bytes() == name)
        })
    }
}

/// Returns the slot of a name, by its length and some of its bytes.
const fn place(name: &[u8]) -> usize {
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return 0 };
    let middle = name.split_at(name.len() / 2).1;
    let Some(middle) = middle.first() else { return 0 };
    (name.len() * 61 + *first as usize * 7 + *middle as usize * 31 + *last as usize * 127) % PLACES
}

const SIDE_ROWS: &[&str] = &[
    "summary",
    "custom-title",
    "ai-title",
    "agent-name",
    "agent-color",
    "agent-setting",
    "tag",
    "last-prompt",
    "queue-operation",
    "mode",
    "permission-mode",
    "repl-mode",
    "isolation-latch",
    "atis-latch",
    "tools-used",
    "session-owner",
    "dev-mods",
    "memory-mode",
    "pr-link",
    "worktree-state",
    "relocated",
    "file-history-snapshot",
    "file-history-delta",
    "attribution-snapshot",
    "content-replacement",
    "cost-state",
    "api-request-shape",
    "api-request-blob",
    "api-request",
    "continued-in",
    "derived-from",
    "fork-context-ref",
    "observer-ref",
    "bridge-session",
    "history-suppression",
    "ended-by-model",
    "resume-head-vouch",
    "frame-link",
    "artifact-comment-monitor",
    "artifact-autoreact-ledger",
    "data-flow-records",
    "data-flow-incomplete",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "speculation-accept",
    "task-summary",
    "started",
    "result",
    "marble-origami-reset",
];

const FIELDS: &[&str] = &[
    "advisorModel",
    "afterUuid",
    "agentColor",
    "agentId",
    "agentName",
    "agentSetting",
    "aiTitle",
    "apiBlockIndex",
    "apiErrorStatus",
    "apiErrorType",
    "atis",
    "attachment",
    "attributionAgent",
    "attributionMcpServer",
    "attributionMcpTool",
    "attributionPlugin",
    "attributionSkill",
    "backup",
    "base",
    "budgetLimit",
    "budgetNudges",
    "budgetTokens",
    "cacheControl",
    "cause",
    "commandRun",
    "commands",
    "compactMetadata",
    "content",
    "costUSD",
    "customTitle",
    "cwd",
    "data",
    "durationMs",
    "effort",
    "entrypoint",
    "error",
    "errorDetails",
    "explicit",
    "failedResponseHadNoToolCall",
    "forkedFrom",
    "gitBranch",
    "hasOutput",
    "hasUnknownModelCost",
    "hash",
    "hookAdditionalContext",
    "hookCount",
    "hookErrorLabels",
    "hookErrors",
    "hookInfos",
    "id",
    "imagePasteIds",
    "inheritedReplacements",
    "interruptedMessageId",
    "isAbortedMidStream",
    "isApiErrorMessage",
    "isCompactSummary",
    "isMeta",
    "isReplay",
    "isSidechain",
    "isSnapshotUpdate",
    "isSynthetic",
    "isVirtual",
    "isVisibleInTranscriptOnly",
    "keep",
    "lastPrompt",
    "leafUuid",
    "level",
    "logicalParentUuid",
    "madeBy",
    "maxRetries",
    "mcpMeta",
    "message",
    "messageCount",
    "messageId",
    "microcompactMetadata",
    "mode",
    "modelUsage",
    "neutralizedByFork",
    "operation",
    "origin",
    "params",
    "parentToolUseID",
    "parentUuid",
    "pendingBackgroundAgentCount",
    "pendingWorkflowCount",
    "perTurnEffort",
    "permissionDecision",
    "permissionMode",
    "planContent",
    "prNumber",
    "prRepository",
    "prUrl",
    "preventedContinuation",
    "promptCacheRequested",
    "promptId",
    "promptSource",
    "querySource",
    "queueSkipAttachments",
    "reason",
    "relocatedCwd",
    "rendered",
    "renderedBesideToolResult",
    "renderedRole",
    "replacements",
    "requestDigest",
    "requestId",
    "requestRef",
    "requestSessionId",
    "requestedModel",
    "research",
    "retryAttempt",
    "retryInMs",
    "sandboxed",
    "serverClassifierInputRewritten",
    "serverClassifierOwnInputRewritten",
    "serverClassifierRequest",
    "serverClassifierRewrite",
    "sessionId",
    "sessionKind",
    "session_id",
    "shape",
    "shapeHash",
    "slug",
    "snapshot",
    "snapshotMessageId",
    "snipMetadata",
    "sourceToolAssistantUUID",
    "sourceToolUseID",
    "startTime",
    "statusCode",
    "stopReason",
    "subtype",
    "summarizedMessageCount",
    "summary",
    "tag",
    "tail",
    "teamName",
    "thinkingDisplay",
    "thinkingDurationMs",
    "thinkingMetadata",
    "timestamp",
    "todos",
    "toolInputStreamMs",
    "toolUseID",
    "toolUseResult",
    "tools",
    "totalAPIDuration",
    "totalAPIDurationWithoutRetries",
    "totalCostUSD",
    "totalDuration",
    "totalLinesAdded",
    "totalLinesRemoved",
    "totalToolDuration",
    "trackingPath",
    "turnCompanion",
    "turnOrigin",
    "turnPosition",
    "type",
    "upgradeNudge",
    "url",
    "userType",
    "uuid",
    "verb",
    "version",
    "worktreeSession",
    "writtenPaths",
];

const SUBTYPES: &[&str] = &[
    "compact_boundary",
    "microcompact_boundary",
    "local_command",
    "turn_duration",
    "api_error",
    "api_metrics",
    "informational",
    "stop_hook_summary",
    "permission_denied",
    "permission_retry",
    "model_fallback",
    "model_refusal_fallback",
    "bridge_status",
    "memory_saved",
    "memory_update",
    "scheduled_task_fire",
    "away_summary",
    "agents_killed",
    "file_snapshot",
    "thinking",
    "voice_call_talk",
    "init",
    "status",
    "hook_started",
    "hook_progress",
    "hook_response",
    "task_started",
    "task_progress",
    "task_notification",
    "session_state_changed",
    "files_persisted",
    "elicitation_complete",
    "snip_boundary",
    "snip_marker",
    "api_retry",
    "background_tasks_changed",
    "checkpoint_done",
    "cloud_session_delta",
    "cloud_session_status",
    "code_change_published",
    "commands_changed",
    "dev_intent",
    "feedback_draft_queued",
    "file_attachments_missing",
    "inherited_asks_settled",
    "instruction_size_warning",
    "late_allow_not_run",
    "memory_recall",
    "model_consent_fallback",
    "model_refusal_no_fallback",
    "notification",
    "peer_message_hold",
    "per_turn_effort_changed",
    "post_tool_hook_feedback",
    "post_turn_summary",
    "refusal_continuation",
    "rewind_stand_in",
    "session_metadata",
    "session_title_changed",
    "session_writes_lost",
    "start_folder",
    "task_summary",
    "task_updated",
    "tool_host_result",
    "turn_handoff_available",
    "turn_preempted",
    "turn_starting",
    "vcs_state_changed",
];

const ATTACHMENTS: &[&str] = &[
    "environment",
    "model",
    "date",
    "date_change",
    "session_context",
    "skill_listing",
    "skill_discovery",
    "dynamic_skill",
    "invoked_skills",
    "agent_listing_delta",
    "agent_mention",
    "mcp_instructions_delta",
    "deferred_tools_delta",
    "remote_session_change",
    "prompt_snapshot",
    "task_reminder",
    "task_status",
    "task_progress",
    "file",
    "directory",
    "compact_file_reference",
    "pdf_reference",
    "already_read_file",
    "edited_text_file",
    "edited_image_file",
    "selected_lines_in_ide",
    "opened_file_in_ide",
    "diagnostics",
    "nested_memory",
    "relevant_memories",
    "current_session_memory",
    "memory",
    "ultramemory",
    "ultrathink_effort",
    "todo",
    "todo_reminder",
    "plan_mode",
    "plan_mode_reentry",
    "plan_mode_exit",
    "plan_file_reference",
    "auto_mode",
    "auto_mode_exit",
    "queued_command",
    "output_style",
    "mcp_resource",
    "command_permissions",
    "async_hook_response",
    "token_usage",
    "budget_usd",
    "output_token_usage",
    "structured_output",
    "verify_plan_reminder",
    "critical_system_reminder",
    "teammate_mailbox",
    "team_context",
    "teammate_shutdown_batch",
    "max_turns_reached",
    "context_efficiency",
    "companion_intro",
    "bagel_console",
    "background_task_status",
    "background_shell",
    "unified_tasks",
    "ultraplan",
    "custom_agents",
    "collab_notification",
    "sandbox_status",
    "worktree_state",
    "account_memory_recall",
    "advisor_stripped",
    "advisor_tool",
    "artifact_opening_prefetch",
    "async_hook_response_batch",
    "at_mention_reference",
    "background_remote_session_status",
    "background_shell_status",
    "batching_reminder",
    "batching_reminder_sent",
    "claude_app_notice",
    "compaction_reminder",
    "context_sections",
    "coordinator_context",
    "cowork_memory_context",
    "deferred_tools_record",
    "delegate_mode",
    "delegate_mode_exit",
    "dir_sync_notice",
    "document",
    "fork_briefing",
    "goal_status",
    "image",
    "inlined_image_paths",
    "instruction_files_not_loaded",
    "instructions",
    "language",
    "message_pdf_reads",
    "new_directory",
    "new_file",
    "output_limit_note",
    "output_style_instructions",
    "peer_mention",
    "plugin_note",
    "poll_events",
    "project_doc_reads",
    "projects_thread_ask",
    "prompt_as_file",
    "prompt_render_point",
    "read_truncation_notice",
    "repl_mcp_needs_auth",
    "sandbox_instructions",
    "secondary_reminder",
    "secondary_reminder_sent",
    "session_cron_carry",
    "silent_turn_reminder",
    "thinking_stripped",
    "tool_host_result_lines",
    "tool_hosts_notice",
    "tool_search_usage_reminder",
    "total_tokens_reminder",
    "ultra_effort_enter",
    "ultra_effort_exit",
    "workflow_size_guideline_change",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_are_found_and_no_others() {
        for (names, has) in [
            (SIDE_ROWS, is_side_row as fn(&[u8]) -> bool),
            (FIELDS, is_field),
            (SUBTYPES, is_subtype),
            (ATTACHMENTS, is_attachment),
        ] {
            for name in names {
                assert!(has(name.as_bytes()), "{name}");
                assert!(
                    !has(format!("{name}x").as_bytes()) || names.contains(&&*format!("{name}x"))
                );
                assert!(!has(name.to_uppercase().as_bytes()), "{name}");
            }
            assert!(!has(b""));
        }
    }
}
