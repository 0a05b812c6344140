//! Tool calls as in session files: arguments, result, and what the screen showed.
//!
//! `files` and `commands` know the texts of each tool; this module knows the record around them and how it changed from era
//! to era.

mod commands;
mod diff;
mod files;
mod screen;

use crate::{
    call::{Action, Call, Outcome},
    json::{Json, Text, record},
    moment::Moment,
    options::Era,
    project::Project,
};

/// The context of a call: decides wording and shapes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) era: Era,
    pub(crate) project: &'a Project,
    /// Process group that shell results mention.
    pub(crate) group: u64,
}

/// One finished call as recorded in a message.
#[derive(Debug, Clone)]
pub(crate) struct FinishedCall {
    pub(crate) id: Text,
    pub(crate) name: Text,
    pub(crate) args: Json,
    pub(crate) response: Json,
    pub(crate) status: Status,
    pub(crate) time: Moment,
    /// The sub-agent that ran it, which names its file (0.39 and later).
    pub(crate) agent: Option<Text>,
    shown: DisplayedCall,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Success,
    Error,
    Cancelled,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What a person saw of the call.
#[derive(Debug, Clone)]
struct DisplayedCall {
    display: Option<Json>,
    name: Text,
    description: Text,
    markdown: bool,
}

/// The result of a successful call.
struct Success {
    name: Text,
    args: Json,
    output: Json,
    display: Option<Json>,
    display_name: Text,
    /// The line of this call, since 0.35.
    line: Text,
    /// The tool's own description, written instead of the line up to 0.34 and when a call fails.
    about: &'static str,
    markdown: bool,
}

/// Returns the name under which the model calls the tool.
pub(crate) fn name(action: &Action, era: Era) -> Text {
    let fixed = match action {
        Action::Read { .. } => "read_file",
        Action::ReadMany { .. } => "read_many_files",
        Action::List { .. } => "list_directory",
        Action::Glob { .. } => "glob",
        Action::Search { .. } if era == Era::Strings => "search_file_content",
        Action::Search { .. } => "grep_search",
        Action::Run { .. } => "run_shell_command",
        Action::Write { .. } => "write_file",
        Action::Edit { .. } => "replace",
        Action::Todos(_) => "write_todos",
        Action::Remember(_) => "save_memory",
        Action::WebSearch { .. } => "google_web_search",
        Action::Fetch { .. } => "web_fetch",
        Action::Question { .. } => "ask_user",
        Action::Agent { name, .. } if era.is_document() => name,
        Action::Agent { .. } => "invoke_agent",
        Action::Server { server, tool, .. } if era == Era::Strings => {
            return format!("{server}__{tool}").into();
        }
        Action::Server { server, tool, .. } => return format!("mcp_{server}_{tool}").into(),
    };
    fixed.into()
}

/// Returns a finished call.
pub(crate) fn finish_call(
    call: &Call,
    setting: Setting<'_>,
    (id, agent): (Text, Option<Text>),
    time: Moment,
) -> FinishedCall {
    let success = match &call.action {
        Action::Read { .. }
        | Action::ReadMany { .. }
        | Action::List { .. }
        | Action::Glob { .. }
        | Action::Search { .. }
        | Action::Write { .. }
        | Action::Edit { .. } => files::success(&call.action, setting),
        _ => commands::success(&call.action, setting, agent.as_ref()),
    };
    let Success { name, args, output, display, display_name, line, about, markdown } = success;
    let era = setting.era;
    let line = if era == Era::Strings { about.into() } else { line };
    let (status, response, display, description) = match &call.outcome {
        Outcome::Done => (Status::Success, output, display, line),
        Outcome::Failed(reason) => {
            let short = shown_error(&call.action, era).map_or_else(|| reason.into(), Json::from);
            (Status::Error, record! { "error": reason }, Some(short), about.into())
        }
        Outcome::Cancelled => {
            let reason = if era == Era::Strings {
                "[Operation Cancelled] Reason: User did not allow tool call"
            } else {
                "[Operation Cancelled] Reason: User denied execution."
            };
            (Status::Cancelled, record! { "error": reason }, None, line)
        }
    };
    let shown = DisplayedCall { display, name: display_name, description, markdown };
    FinishedCall { id, name, args, response, status, time, agent, shown }
}

/// Returns the short error on the screen, if it is not the reason itself.
fn shown_error(action: &Action, era: Era) -> Option<&'static str> {
    match action {
        _ if era == Era::Strings => None,
        Action::Read { .. } => Some("File not found."),
        Action::Edit { .. } => Some("Error: Failed to edit, could not find the string to replace."),
        _ => None,
    }
}

impl FinishedCall {
    /// Returns the call with which a sub-agent submits `report` and ends.
    pub(crate) fn last(id: Text, report: Json, time: Moment) -> Self {
        let done = "Output submitted and task completed.";
        Self {
            id,
            name: "complete_task".into(),
            args: report,
            response: record! { "output": done },
            status: Status::Success,
            time,
            agent: None,
            shown: DisplayedCall {
                display: Some(done.into()),
                name: "Complete Task".into(),
                description: "Completing task and submitting results.".into(),
                markdown: true,
            },
        }
    }

    /// Returns the part that is sent back to the model.
    pub(crate) fn response_part(&self) -> Json {
        record! { "functionResponse": record! {
            "id": &self.id,
            "name": &self.name,
            "response": self.response.clone(),
        } }
    }

    /// Returns an entry of `toolCalls`.
    pub(crate) fn json(&self, era: Era) -> Json {
        let mut call = record! {
            "id": &self.id,
            "name": &self.name,
            "args": self.args.clone(),
            "result": Json::List(vec![self.response_part()]),
            "status": self.status.name(),
            "timestamp": self.time.iso(),
        };
        if let Some(agent) = &self.agent {
            call.put("agentId", agent);
        }
        if let Some(display) = &self.shown.display {
            call.put("resultDisplay", display.clone());
        }
        // The two keys changed places in 0.35.
        if era == Era::Strings {
            call.put("displayName", &self.shown.name);
            call.put("description", &self.shown.description);
        } else {
            call.put("description", &self.shown.description);
            call.put("displayName", &self.shown.name);
        }
        call.put("renderOutputAsMarkdown", self.shown.markdown);
        call
    }
}
