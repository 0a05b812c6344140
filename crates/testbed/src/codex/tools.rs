//! Tool calls as named and recorded by Codex: most are shell commands.

use crate::{
    call::{Action, Call, Outcome},
    json::{Json, Text, record},
    options::Era,
    project::Project,
};

/// A call and its result.
pub(super) struct RecordedUse {
    pub(super) form: Form,
    /// The plain result, without the program's frame.
    pub(super) raw: Text,
    pub(super) code: u64,
    pub(super) end: End,
}

/// The form of a call.
pub(super) enum Form {
    Shell(Text),
    Patch { input: Text, path: String, change: Json },
    Function(&'static str, Json),
    Search(Text),
    Agent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Done,
    Failed,
    Cancelled,
}

pub(super) fn record_call(call: &Call, project: &Project, era: Era) -> RecordedUse {
    let (form, raw, code) = form(&call.action, project, era);
    let end = if code == 0 { End::Done } else { End::Failed };
    match &call.outcome {
        Outcome::Done => RecordedUse { form, raw, code, end },
        Outcome::Failed(reason) => {
            RecordedUse { form, raw: reason.clone(), code: 1, end: End::Failed }
        }
        Outcome::Cancelled if matches!(form, Form::Search(_)) => {
            RecordedUse { form, raw, code: 1, end: End::Failed }
        }
        Outcome::Cancelled => RecordedUse {
            form,
            raw: "aborted by user after 2.1s".into(),
            code: 1,
            end: End::Cancelled,
        },
    }
}

fn form(action: &Action, project: &Project, era: Era) -> (Form, Text, u64) {
    let done = |form, raw: &Text| (form, raw.clone(), 0);
    match action {
        Action::Read { path, text } => {
            done(Form::Shell(format!("sed -n '1,400p' {path}").into()), text)
        }
        Action::ReadMany { patterns, files } => {
            let texts: Vec<&str> = files.iter().map(|(_, text)| &**text).collect();
            (Form::Shell(format!("cat {}", patterns.join(" ")).into()), texts.concat().into(), 0)
        }
        Action::List { path, entries } => {
            (Form::Shell(format!("ls -1 {path}").into()), entries.join("\n").into(), 0)
        }
        Action::Glob { pattern, found } => {
            (Form::Shell(format!("rg --files -g '{pattern}'").into()), found.join("\n").into(), 0)
        }
        Action::Search { pattern, hits } => {
            let lines: Vec<String> =
                hits.iter().map(|hit| format!("{}:{}:{}", hit.path, hit.line, hit.text)).collect();
            (Form::Shell(format!("rg -n '{pattern}'").into()), lines.join("\n").into(), 0)
        }
        Action::Run { command, output, code, .. } => {
            (Form::Shell(command.clone()), output.clone(), u64::from(*code))
        }
        Action::Write { path, text } => added(&project.absolute(path), text),
        Action::Remember(fact) => {
            added(&project.absolute("AGENTS.md"), &format!("- {fact}\n").into())
        }
        Action::Edit { path, old, new, .. } => updated(&project.absolute(path), old, new),
        Action::Todos(items) => {
            let step =
                |(text, status): &(Text, &'static str)| record! { "step": text, "status": *status };
            let plan = record! { "plan": Json::list(items.iter().map(step)) };
            done(Form::Function("update_plan", plan), &"Plan updated".into())
        }
        // Without an output, this answer could not be distinguished from the next one.
        Action::WebSearch { query, answer }
            if matches!(era, Era::CodexDocument | Era::CodexBare) =>
        {
            let query = query.replace(' ', "+");
            done(Form::Shell(format!("curl -s https://example.com/?q={query}").into()), answer)
        }
        Action::WebSearch { query, answer } => done(Form::Search(query.clone()), answer),
        Action::Fetch { answer, .. } => {
            done(Form::Shell("curl -s https://example.com/".into()), answer)
        }
        // The only server in scenarios.
        Action::Server { query, answer, .. } => {
            done(Form::Function("mcp__orders__run_query", record! { "query": query }), answer)
        }
        Action::Question { question, answer } => {
            done(Form::Function("request_user_input", record! { "question": question }), answer)
        }
        Action::Agent { result, .. } if matches!(era, Era::CodexTagged | Era::CodexPaginated) => {
            done(Form::Agent, result)
        }
        // The first releases have no sub-agents; the model starts the program itself.
        Action::Agent { prompt, result, .. } => {
            let quoted = prompt.replace('\'', " ");
            done(Form::Shell(format!("codex exec '{quoted}'").into()), result)
        }
    }
}

fn added(path: &str, text: &Text) -> (Form, Text, u64) {
    let input =
        format!("*** Begin Patch\n*** Add File: {path}\n{}*** End Patch", signed('+', text));
    let change = record! { "type": "add", "content": text };
    let raw = format!("Success. Updated the following files:\nA {path}\n");
    (Form::Patch { input: input.into(), path: path.to_owned(), change }, raw.into(), 0)
}

fn updated(path: &str, old: &Text, new: &Text) -> (Form, Text, u64) {
    let lines = format!("{}{}", signed('-', old), signed('+', new));
    let input = format!("*** Begin Patch\n*** Update File: {path}\n@@\n{lines}*** End Patch");
    let (gone, come) = (old.lines().count(), new.lines().count());
    let diff = format!("@@ -1,{gone} +1,{come} @@\n{lines}");
    let change = record! { "type": "update", "unified_diff": diff, "move_path": Json::Null };
    let raw = format!("Success. Updated the following files:\nM {path}\n");
    (Form::Patch { input: input.into(), path: path.to_owned(), change }, raw.into(), 0)
}

fn signed(sign: char, text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.lines() {
        out.push(sign);
        out.push_str(line);
        out.push('\n');
    }
    out
}

impl RecordedUse {
    /// Returns the output as the model receives it.
    pub(super) fn output(&self, era: Era, chunk: &str) -> Text {
        let (raw, code) = (&self.raw, self.code);
        if self.end == End::Cancelled {
            return raw.clone();
        }
        let wrapped = || {
            let about = record! { "exit_code": code, "duration_seconds": 0_u64 };
            record! { "output": raw, "metadata": about }.to_compact().into()
        };
        match (&self.form, era) {
            (Form::Shell(_) | Form::Patch { .. }, Era::CodexDocument | Era::CodexBare)
            | (Form::Patch { .. }, Era::CodexTagged) => wrapped(),
            (Form::Shell(_), _) => format!(
                "Chunk ID: {chunk}\nWall time: 0.0210 seconds\nProcess exited with code {code}\nOriginal token count: {}\n\
                 Output:\n{raw}",
                raw.len() / 4
            )
            .into(),
            (Form::Patch { .. }, _) => {
                format!("Exit code: {code}\nWall time: 0 seconds\nOutput:\n{raw}").into()
            }
            _ if self.end == End::Failed => {
                format!("failed to parse function arguments: {raw}").into()
            }
            _ => raw.clone(),
        }
    }
}
