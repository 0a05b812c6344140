//! The tools that read, find and change files.

use super::{Setting, Success, diff, name};
use crate::{
    call::{Action, Hit},
    json::{Json, Text, record},
    options::Era,
};

pub(super) fn success(action: &Action, setting: Setting<'_>) -> Success {
    match action {
        Action::Read { path, text } => read(action, setting, path, text),
        Action::ReadMany { patterns, files } => read_many(action, setting, patterns, files),
        Action::List { path, entries } => list(action, setting, path, entries),
        Action::Glob { pattern, found } => glob(action, setting, pattern, found),
        Action::Search { pattern, hits } => search(action, setting, pattern, hits),
        Action::Edit { path, before, old, new, why } => {
            let args = record! {
                "file_path": setting.project.absolute(path),
                "old_string": old,
                "new_string": new,
                "instruction": why,
            };
            edit(action, setting, (path, before), (old, new), args)
        }
        Action::Write { path, text } => write(action, setting, path, text),
        _ => blank(action, setting),
    }
}

/// Returns the common part of every result; each tool adds its own.
fn blank(action: &Action, setting: Setting<'_>) -> Success {
    Success {
        name: name(action, setting.era),
        args: Json::Null,
        output: Json::Null,
        display: None,
        display_name: "".into(),
        line: "".into(),
        about: "",
        markdown: true,
    }
}

fn read(action: &Action, setting: Setting<'_>, path: &Text, text: &Text) -> Success {
    Success {
        args: record! { "file_path": setting.project.absolute(path) },
        output: record! { "output": text },
        display: Some("".into()),
        display_name: "ReadFile".into(),
        line: path.clone(),
        about: "Reads and returns the content of a specified file. If the file is large, the content \
                will be truncated. The tool's response will clearly indicate if truncation has occurred.",
        ..blank(action, setting)
    }
}

fn read_many(
    action: &Action,
    setting: Setting<'_>,
    patterns: &[Text],
    files: &[(Text, Text)],
) -> Success {
    let root = &setting.project.path;
    let mut output = String::new();
    let mut summary = format!(
        "### ReadManyFiles Result (Target Dir: `{root}`)\n\nSuccessfully read and concatenated \
         content from **{} file(s)**.\n\n**Processed Files:**",
        files.len()
    );
    for (path, text) in files {
        output.extend([format!("--- {root}/{path} ---\n\n{text}\n\n")]);
        summary.extend([format!("\n- `{path}`")]);
    }
    output.push_str("\n--- End of content ---");
    let display = if setting.era == Era::Strings {
        Json::from(summary)
    } else {
        record! {
            "summary": summary,
            "files": Json::list(files.iter().map(|(path, _)| path)),
            "skipped": Json::List(Vec::new()),
            "include": Json::list(patterns),
            "excludes": Json::List(Vec::new()),
            "targetDir": root.as_str(),
        }
    };
    let shown: Vec<&str> = patterns.iter().map(|pattern| &**pattern).collect();
    Success {
        args: record! { "include": Json::list(patterns) },
        output: record! { "output": output },
        display: Some(display),
        display_name: "ReadManyFiles".into(),
        line: format!(
            "using patterns:\n{}\n (within target directory:\n{root}\n) ",
            shown.join("`, `")
        )
        .into(),
        about: "Reads content from multiple files specified by glob patterns within a configured \
                target directory.",
        ..blank(action, setting)
    }
}

fn list(action: &Action, setting: Setting<'_>, path: &Text, entries: &[Text]) -> Success {
    let absolute = setting.project.absolute(path);
    let plain: Vec<String> = entries
        .iter()
        .map(|entry| match entry.strip_suffix('/') {
            Some(folder) => format!("[DIR] {folder}"),
            None => entry.to_string(),
        })
        .collect();
    let mut output = format!("Directory listing for {absolute}:");
    for entry in &plain {
        output.push('\n');
        output.push_str(entry);
        if setting.era != Era::Strings && !entry.starts_with('[') {
            output.extend([format!(" ({} bytes)", 180 + entry.len() * 97)]);
        }
    }
    let count = plain.len();
    let display = match setting.era {
        Era::Strings => Json::from(format!("Listed {count} item(s).")),
        Era::Parts => {
            record! { "summary": format!("Listed {count} item(s)."), "files": Json::list(plain) }
        }
        _ => record! { "summary": format!("Found {count} item(s)."), "files": Json::list(plain) },
    };
    Success {
        args: record! { "dir_path": absolute },
        output: record! { "output": output },
        display: Some(display),
        display_name: "ReadFolder".into(),
        line: path.clone(),
        about: "Lists the names of files and subdirectories directly within a specified directory \
                path. Can optionally ignore entries matching provided glob patterns.",
        ..blank(action, setting)
    }
}

fn glob(action: &Action, setting: Setting<'_>, pattern: &Text, found: &[Text]) -> Success {
    let root = &setting.project.path;
    let mut output = format!(
        "Found {} file(s) matching \"{pattern}\" within {root}, sorted by modification time (newest \
         first):",
        found.len()
    );
    for path in found {
        output.extend([format!("\n{root}/{path}")]);
    }
    Success {
        args: record! { "pattern": pattern },
        output: record! { "output": output },
        display: Some(format!("Found {} matching file(s)", found.len()).into()),
        display_name: "FindFiles".into(),
        line: format!("'{pattern}'").into(),
        about: "Efficiently finds files matching specific glob patterns (e.g., `src/**/*.ts`, \
                `**/*.md`), returning absolute paths sorted by modification time (newest first).",
        ..blank(action, setting)
    }
}

fn search(action: &Action, setting: Setting<'_>, pattern: &Text, hits: &[Hit]) -> Success {
    let (count, noun) = (hits.len(), if hits.len() == 1 { "match" } else { "matches" });
    let place =
        if setting.era == Era::Checkpoints { "path \".\"" } else { "the workspace directory" };
    let mut output = format!("Found {count} {noun} for pattern \"{pattern}\" in {place}:\n---");
    let mut last: &str = "";
    for hit in hits {
        if *hit.path != *last {
            output.push_str(if last.is_empty() { "\n" } else { "\n---\n" });
            output.extend([format!("File: {}", hit.path)]);
            last = &hit.path;
        }
        output.extend([format!("\nL{}: {}", hit.line, hit.text)]);
    }
    output.push_str("\n---");
    let summary = format!("Found {count} {noun}");
    let display = if setting.era == Era::Strings {
        Json::from(summary)
    } else {
        let matches = hits.iter().map(|hit| {
            record! {
                "filePath": &hit.path,
                "absolutePath": setting.project.absolute(&hit.path),
                "lineNumber": hit.line,
                "line": &hit.text,
            }
        });
        record! { "summary": summary, "matches": Json::list(matches) }
    };
    Success {
        args: record! { "pattern": pattern },
        output: record! { "output": output },
        display: Some(display),
        display_name: "SearchText".into(),
        line: format!("'{pattern}'").into(),
        about: "Searches for a regular expression pattern within file contents. Max 100 matches.",
        ..blank(action, setting)
    }
}

fn write(action: &Action, setting: Setting<'_>, path: &Text, text: &Text) -> Success {
    let absolute = setting.project.absolute(path);
    let change = diff::Change { path, absolute: &absolute, before: "", after: text, is_new: true };
    let output = if setting.era == Era::Strings {
        format!("Successfully created and wrote to new file: {absolute}.")
    } else {
        format!(
            "Successfully created and wrote to new file: {absolute}. Here is the updated code:\n{text}"
        )
    };
    Success {
        args: record! { "file_path": absolute.as_str(), "content": text },
        output: record! { "output": output },
        display: (setting.era != Era::Strings).then(|| change.display()),
        display_name: "WriteFile".into(),
        line: format!("Writing to {path}").into(),
        about: "Writes content to a specified file in the local filesystem.\n\n      The user has the \
                ability to modify `content`. If modified, this will be stated in the response.",
        ..blank(action, setting)
    }
}

fn edit(
    action: &Action,
    setting: Setting<'_>,
    (path, before): (&Text, &Text),
    (old, new): (&Text, &Text),
    args: Json,
) -> Success {
    let absolute = setting.project.absolute(path);
    let after = before.replacen(&**old, new, 1);
    let change = diff::Change { path, absolute: &absolute, before, after: &after, is_new: false };
    let output = if setting.era == Era::Strings {
        format!("Successfully modified file: {absolute} (1 replacements).")
    } else {
        format!(
            "Successfully modified file: {absolute} (1 replacements). Here is the updated code:\n{after}"
        )
    };
    let first = |text: &str| -> String {
        let line = text.lines().next().unwrap_or_default();
        let cut: String = line.chars().take(30).collect();
        if cut.len() < text.trim_end().len() { format!("{cut}...") } else { cut }
    };
    Success {
        args,
        output: record! { "output": output },
        display: (setting.era != Era::Strings).then(|| change.display()),
        display_name: "Edit".into(),
        line: format!("{path}: {} => {}", first(old), first(new)).into(),
        about: "Replaces text within a file. By default, the tool expects to find and replace exactly \
                ONE occurrence of `old_string`. This tool requires providing significant context \
                around the change to ensure precise targeting.",
        ..blank(action, setting)
    }
}
