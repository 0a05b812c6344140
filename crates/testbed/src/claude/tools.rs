//! Tool calls as named and recorded by Claude Code.

use crate::{
    call::{Action, Call, Outcome},
    json::{Json, Text, record},
    options::Era,
    project::Project,
};

/// A call and its result, as in the file.
pub(super) struct RecordedUse {
    pub(super) name: Text,
    pub(super) input: Json,
    /// The result for the model.
    pub(super) content: Text,
    /// The program's own record, in `toolUseResult`.
    pub(super) rich: Json,
    pub(super) end: End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Done,
    Failed,
    Cancelled,
}

const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a \
                       file edit, the new_string was NOT written to the file). STOP what you are doing and wait for \
                       the user to tell you how to proceed.";

pub(super) fn record_call(call: &Call, project: &Project, era: Era) -> RecordedUse {
    let (name, input) = asked(&call.action, project, era);
    let used = |content: Text, rich: Json, end| RecordedUse {
        name: name.into(),
        input,
        content,
        rich,
        end,
    };
    match &call.outcome {
        Outcome::Failed(reason) => {
            used(reason.clone(), Json::from(format!("Error: {reason}")), End::Failed)
        }
        Outcome::Cancelled => used(REFUSED.into(), "User rejected tool use".into(), End::Cancelled),
        Outcome::Done => {
            let (content, rich) = given(&call.action, project);
            let failed = matches!(&call.action, Action::Run { code, .. } if *code != 0);
            if failed {
                let rich = Json::from(format!("Error: {content}"));
                return used(content, rich, End::Failed);
            }
            used(content, rich, End::Done)
        }
    }
}

fn asked(action: &Action, project: &Project, era: Era) -> (&'static str, Json) {
    let absolute = |path: &Text| project.absolute(path);
    match action {
        Action::Read { path, .. } => ("Read", record! { "file_path": absolute(path) }),
        Action::ReadMany { patterns, .. } => {
            ("Glob", record! { "pattern": patterns.join(","), "path": project.path.as_str() })
        }
        Action::List { path, .. } if era == Era::ClaudeInline => {
            ("LS", record! { "path": absolute(path) })
        }
        Action::List { path, .. } => {
            ("Bash", record! { "command": format!("ls -1 {path}"), "description": "List files" })
        }
        Action::Glob { pattern, .. } => ("Glob", record! { "pattern": pattern }),
        Action::Search { pattern, .. } => {
            ("Grep", record! { "pattern": pattern, "output_mode": "content", "-n": true })
        }
        Action::Run { command, about, .. } => {
            ("Bash", record! { "command": command, "description": about })
        }
        Action::Write { path, text } => {
            ("Write", record! { "file_path": absolute(path), "content": text })
        }
        Action::Edit { path, old, new, .. } => (
            "Edit",
            record! { "file_path": absolute(path), "old_string": old, "new_string": new, "replace_all": false },
        ),
        Action::Todos(items) => ("TodoWrite", record! { "todos": todos(items) }),
        Action::Remember(fact) => (
            "Write",
            record! { "file_path": project.absolute("CLAUDE.md"), "content": format!("- {fact}\n") },
        ),
        Action::WebSearch { query, .. } => ("WebSearch", record! { "query": query }),
        Action::Fetch { prompt, .. } => {
            ("WebFetch", record! { "url": "https://example.com/", "prompt": prompt })
        }
        // The only server in scenarios.
        Action::Server { query, .. } => ("mcp__orders__run_query", record! { "query": query }),
        Action::Question { question, .. } => {
            let one = record! { "question": question, "header": "Question", "options": Json::List(Vec::new()), "multiSelect": false };
            ("AskUserQuestion", record! { "questions": Json::List(vec![one]) })
        }
        Action::Agent { prompt, .. } => {
            let name = if era == Era::ClaudeFolder { "Agent" } else { "Task" };
            let about: String = prompt.chars().take(40).collect();
            (
                name,
                record! { "description": about, "prompt": prompt, "subagent_type": "general-purpose" },
            )
        }
    }
}

/// Returns the result: for the model, and for the program.
fn given(action: &Action, project: &Project) -> (Text, Json) {
    let plain = |text: &Text| (text.clone(), Json::from(text));
    match action {
        Action::Read { path, text } => {
            let lines = text.lines().count() as u64;
            let file = record! {
                "filePath": project.absolute(path), "content": text, "numLines": lines, "startLine": 1_u64, "totalLines": lines,
            };
            (numbered(text), record! { "type": "text", "file": file })
        }
        Action::ReadMany { files, .. } => names(files.iter().map(|(path, _)| path), project),
        Action::Glob { found, .. } => names(found, project),
        Action::List { entries, .. } => shell(&entries.join("\n").into()),
        Action::Search { hits, .. } => {
            let lines: Vec<String> =
                hits.iter().map(|hit| format!("{}:{}:{}", hit.path, hit.line, hit.text)).collect();
            let content: Text = lines.join("\n").into();
            let rich = record! {
                "mode": "content", "numFiles": 0_u64, "filenames": Json::List(Vec::new()), "content": &content,
                "numLines": hits.len() as u64,
            };
            (content, rich)
        }
        Action::Run { output, code: 0, .. } => shell(output),
        Action::Run { output, code, .. } => plain(&format!("Exit code {code}\n{output}").into()),
        Action::Write { path, text } => created(&project.absolute(path), text),
        Action::Remember(fact) => {
            created(&project.absolute("CLAUDE.md"), &format!("- {fact}\n").into())
        }
        Action::Edit { path, before, old, new, .. } => {
            edited(&project.absolute(path), (before, old, new))
        }
        Action::Todos(items) => {
            let said = "Todos have been modified successfully. Ensure that you continue to use the todo list to track \
                        your progress. Please proceed with the current tasks if applicable";
            (said.into(), record! { "oldTodos": Json::List(Vec::new()), "newTodos": todos(items) })
        }
        Action::WebSearch { query, answer } => (
            answer.clone(),
            record! { "query": query, "results": Json::List(vec![answer.into()]), "durationSeconds": 2_u64 },
        ),
        Action::Fetch { answer, .. } => {
            let rich = record! {
                "bytes": answer.len() as u64, "code": 200_u64, "codeText": "OK", "result": answer, "durationMs": 900_u64,
                "url": "https://example.com/",
            };
            (answer.clone(), rich)
        }
        Action::Server { answer, .. } => plain(answer),
        Action::Question { question, answer } => {
            let content = format!("User has answered your questions: \"{question}\"=\"{answer}\".");
            (
                content.into(),
                record! { "questions": Json::List(Vec::new()), "answers": Json::Record(Vec::new()) },
            )
        }
        Action::Agent { result, .. } => plain(result),
    }
}

fn names<'a>(found: impl IntoIterator<Item = &'a Text>, project: &Project) -> (Text, Json) {
    let found: Vec<String> = found.into_iter().map(|path| project.absolute(path)).collect();
    let rich = record! {
        "filenames": Json::list(found.iter().map(String::as_str)), "durationMs": 12_u64, "numFiles": found.len() as u64,
        "truncated": false,
    };
    (found.join("\n").into(), rich)
}

fn shell(output: &Text) -> (Text, Json) {
    let output: Text = output.trim_end().into();
    let rich = record! { "stdout": &output, "stderr": "", "interrupted": false, "isImage": false };
    (output, rich)
}

fn created(path: &str, text: &Text) -> (Text, Json) {
    let rich = record! {
        "type": "create", "filePath": path, "content": text, "structuredPatch": Json::List(Vec::new()), "originalFile": Json::Null,
    };
    (format!("File created successfully at: {path}").into(), rich)
}

fn edited(path: &str, (before, old, new): (&Text, &Text, &Text)) -> (Text, Json) {
    let at = before.find(&**old).and_then(|at| before.get(..at));
    let line = at.map_or(1, |before| before.matches('\n').count() as u64 + 1);
    let signed = |sign: char, text: &Text| -> Vec<String> {
        text.lines().map(|line| format!("{sign}{line}")).collect()
    };
    let (gone, come) = (signed('-', old), signed('+', new));
    let hunk = record! {
        "oldStart": line, "oldLines": gone.len() as u64, "newStart": line, "newLines": come.len() as u64,
        "lines": Json::list(gone.iter().chain(&come).map(String::as_str)),
    };
    let rich = record! {
        "filePath": path, "oldString": old, "newString": new, "originalFile": before,
        "structuredPatch": Json::List(vec![hunk]), "userModified": false, "replaceAll": false,
    };
    (format!("The file {path} has been updated.").into(), rich)
}

fn todos(items: &[(Text, &'static str)]) -> Json {
    Json::list(
        items.iter().map(
            |(text, status)| record! { "content": text, "status": *status, "activeForm": text },
        ),
    )
}

fn numbered(text: &str) -> Text {
    let lines: Vec<String> =
        text.lines().enumerate().map(|(at, line)| format!("{:6}→{line}", at + 1)).collect();
    lines.join("\n").into()
}
