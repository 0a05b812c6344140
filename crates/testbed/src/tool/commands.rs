//! The tools that do not touch files: shell, web, lists, memory, servers, sub-agents.

use super::{Setting, Success, name, screen};
use crate::{
    call::{Action, Call},
    json::{Json, Text, record},
    options::Era,
    scenario::{Scenario, Step},
};

pub(super) fn success(action: &Action, setting: Setting<'_>, agent: Option<&Text>) -> Success {
    match action {
        Action::Run { command, about, output, code } => {
            run(action, setting, (command, about), (output, *code))
        }
        Action::Todos(items) => todos(action, setting, items),
        Action::Question { question, answer } => ask(action, setting, question, answer),
        Action::Server { server, tool, query, answer } => {
            serve(action, setting, (server, tool), (query, answer))
        }
        Action::Agent { name, prompt, result, scenario } => {
            let activity = activity(scenario, agent, setting.era);
            delegate(action, setting, (name, prompt), (result, activity))
        }
        Action::Remember(fact) => Success {
            args: record! { "fact": fact },
            output: record! { "output": record! {
                "success": true,
                "message": format!("Okay, I've remembered that: \"{fact}\""),
            }.to_compact() },
            display: Some(format!("Okay, I've remembered that: \"{fact}\"").into()),
            display_name: "SaveMemory".into(),
            line: "in ~/.gemini/GEMINI.md".into(),
            about: "Saves concise global user context (preferences, facts) for use across ALL workspaces.",
            ..blank(action, setting)
        },
        Action::WebSearch { query, answer } => Success {
            args: record! { "query": query },
            output: record! { "output": format!("Web search results for \"{query}\":\n\n{answer}") },
            display: Some(format!("Search results for \"{query}\" returned.").into()),
            display_name: "GoogleSearch".into(),
            line: format!("Searching the web for: \"{query}\"").into(),
            about: "Performs a web search using Google Search (via the Gemini API) and returns the results.",
            ..blank(action, setting)
        },
        Action::Fetch { prompt, answer } => Success {
            args: record! { "prompt": prompt },
            output: record! { "output": untrusted(answer, setting.era) },
            display: Some("Content processed from prompt.".into()),
            display_name: "WebFetch".into(),
            line: format!("Processing URLs and instructions from prompt: \"{prompt}\"").into(),
            about: "Processes content from URL(s), including local and private network addresses \
                    (e.g., localhost), embedded in a prompt.",
            ..blank(action, setting)
        },
        _ => blank(action, setting),
    }
}

/// Returns the common part of every result; each tool adds its own.
fn blank(action: &Action, setting: Setting<'_>) -> Success {
    Success {
        name: name(action, setting.era),
        args: Json::Record(Vec::new()),
        output: Json::Record(Vec::new()),
        display: None,
        display_name: "".into(),
        line: "".into(),
        about: "",
        markdown: true,
    }
}

fn untrusted(text: &str, era: Era) -> String {
    if era == Era::Checkpoints {
        format!("<untrusted_context>\n{text}\n</untrusted_context>")
    } else {
        text.to_owned()
    }
}

fn run(
    action: &Action,
    setting: Setting<'_>,
    (command, about): (&Text, &Text),
    (output, code): (&Text, u8),
) -> Success {
    let (printed, group) = (output.trim_end(), setting.group);
    let words = if printed.is_empty() { "(empty)" } else { printed };
    let told = if setting.era == Era::Strings {
        format!(
            "Command: {command}\nDirectory: (root)\nOutput: {words}\nError: (none)\nExit Code: {code}\n\
             Signal: 0\nBackground PIDs: (none)\nProcess Group PGID: {group}"
        )
    } else {
        let exit = if code == 0 { String::new() } else { format!("Exit Code: {code}\n") };
        untrusted(&format!("Output: {words}\n{exit}Process Group PGID: {group}"), setting.era)
    };
    let display = match setting.era {
        Era::Parts | Era::Lines => screen::rows(printed),
        _ if printed.is_empty() && code != 0 => format!("Command exited with code: {code}").into(),
        _ => Json::from(printed),
    };
    Success {
        args: record! { "command": command, "description": about },
        output: record! { "output": told },
        display: Some(display),
        display_name: "Shell".into(),
        line: if setting.era == Era::Checkpoints { command } else { about }.clone(),
        about: "This tool executes a given shell command as `bash -c <command>`. Command is executed \
                as a subprocess that leads its own process group. Command process group can be \
                terminated as `kill -- -PGID` or signaled as `kill -s SIGNAL -- -PGID`.",
        markdown: false,
        ..blank(action, setting)
    }
}

fn todos(action: &Action, setting: Setting<'_>, items: &[(Text, &'static str)]) -> Success {
    let list = Json::list(
        items.iter().map(|(text, status)| record! { "description": text, "status": *status }),
    );
    let lines: Vec<String> = items
        .iter()
        .enumerate()
        .map(|(index, (text, status))| format!("{}. [{status}] {text}", index + 1))
        .collect();
    let output = format!(
        "Successfully updated the todo list. The current list is now:\n{}",
        lines.join("\n")
    );
    Success {
        args: record! { "todos": list.clone() },
        output: record! { "output": output },
        display: (setting.era != Era::Strings).then(|| record! { "todos": list }),
        display_name: "WriteTodos".into(),
        line: format!("Set {} todo(s)", items.len()).into(),
        about: "This tool can help you list out the current subtasks that are required to be \
                completed for a given user request.",
        ..blank(action, setting)
    }
}

fn ask(action: &Action, setting: Setting<'_>, question: &Text, answer: &Text) -> Success {
    let asked = record! { "question": question, "header": "Choice", "type": "text" };
    Success {
        args: record! { "questions": Json::List(vec![asked]) },
        output: record! {
            "output": record! { "answers": record! { "0": answer } }.to_compact(),
        },
        display: Some(format!("**User answered:**\n  Choice → {answer}").into()),
        display_name: "Ask User".into(),
        line: format!("Asking user: {question}").into(),
        about: "Ask the user one or more questions to gather preferences, clarify requirements, or \
                make decisions.",
        ..blank(action, setting)
    }
}

fn serve(
    action: &Action,
    setting: Setting<'_>,
    (server, tool): (&str, &str),
    (query, answer): (&Text, &Text),
) -> Success {
    let args = record! { "query": query, "limit": 20_u64 };
    // A server's answer is passed through unchanged.
    let content = record! { "type": "text", "text": answer };
    Success {
        line: args.to_compact().into(),
        args,
        output: record! { "content": Json::List(vec![content]), "isError": false },
        display: Some(answer.into()),
        display_name: format!("{tool} ({server} MCP Server)").into(),
        about: "Runs a read-only query and returns the rows as text.",
        ..blank(action, setting)
    }
}

fn delegate(
    action: &Action,
    setting: Setting<'_>,
    (agent, prompt): (&str, &Text),
    (result, activity): (&Text, Json),
) -> Success {
    let report = record! { "response": result }.to_pretty();
    let output =
        format!("Subagent '{agent}' finished.\nTermination Reason: GOAL\nResult:\n{report}");
    let args = if setting.era.is_document() {
        record! { "objective": prompt }
    } else {
        record! { "agent_name": agent, "prompt": prompt }
    };
    let display = if setting.era == Era::Strings {
        Json::from(output.as_str())
    } else {
        record! {
            "isSubagentProgress": true,
            "agentName": agent,
            "recentActivity": activity,
            "state": "completed",
            "result": report,
            "terminateReason": "GOAL",
        }
    };
    Success {
        args,
        output: record! { "output": output },
        display: Some(display),
        display_name: "Invoke Subagent".into(),
        line: format!("Delegating to agent '{agent}'").into(),
        about: "Delegates a task to a specialized sub-agent.",
        ..blank(action, setting)
    }
}

/// Returns what the screen showed of a running sub-agent: its thoughts and calls, in order.
fn activity(scenario: &Scenario, agent: Option<&Text>, era: Era) -> Json {
    let agent = agent.map_or("agent", |id| id);
    let mut seen = Vec::new();
    let replies = scenario.steps.iter().filter_map(|step| match step {
        Step::Reply(reply) => Some(reply),
        _ => None,
    });
    for (turn, reply) in replies.enumerate() {
        for (subject, _) in &reply.thoughts {
            seen.push(record! {
                "id": format!("{agent}#{turn}-thought"),
                "type": "thought",
                "content": subject,
                "status": "running",
            });
        }
        for (index, Call { action, .. }) in reply.calls.iter().enumerate() {
            seen.push(record! {
                "id": format!("{agent}#{turn}-{index}"),
                "type": "tool_call",
                "content": name(action, era),
                "status": "completed",
            });
        }
    }
    Json::List(seen)
}
