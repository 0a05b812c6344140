//! Which files a tool call touches, and how.

use recount_model::{ToolCall, ToolStatus};

use crate::json::JsonTree;
use crate::source::{FileAccess, FileTouch};

/// Arguments that name a file or a folder, in all releases.
const PATHS: &[&str] = &["file_path", "absolute_path", "path", "dir_path", "paths", "include"];

/// Lists the paths that a call names. For a call that did not succeed, they are only named.
pub(crate) fn touched(call: &ToolCall) -> Vec<FileTouch> {
    let reach = match call.name.as_str() {
        "read_file" | "read_many_files" => FileAccess::Read,
        "write_file" | "replace" => FileAccess::Written,
        "list_directory" | "glob" | "grep_search" | "search_file_content" => FileAccess::Named,
        // Tools of others: a path in their arguments is still a path, but its use is unknown.
        _ if names_path(call.args.as_str()) => FileAccess::Named,
        _ => return Vec::new(),
    };
    let Ok(args) = JsonTree::parse(call.args.as_str().as_bytes()) else { return Vec::new() };
    let mut found = Vec::new();
    for key in PATHS {
        let Some(value) = args.get(key) else { continue };
        let one = value.as_str().into_iter();
        let many = value.as_array().unwrap_or_default().iter().filter_map(JsonTree::as_str);
        for path in one.chain(many).filter(|path| !path.is_empty()) {
            let certain = call.status == ToolStatus::Success && !path.contains('*');
            let how = if certain { reach } else { FileAccess::Named };
            found.push(FileTouch { path: path.to_owned(), how });
        }
    }
    found
}

fn names_path(args: &str) -> bool {
    PATHS.iter().any(|key| args.contains(&format!("\"{key}\":")))
}

#[cfg(test)]
mod tests {
    use recount_model::RawJson;

    use super::*;

    #[test]
    fn what_a_call_does_to_its_paths_depends_on_the_tool_and_its_end() {
        let all = |name: &str, args: &str, status: ToolStatus| -> Vec<(String, FileAccess)> {
            let call = ToolCall { args: RawJson::new(args), status, ..ToolCall::named(name) };
            touched(&call).into_iter().map(|touch| (touch.path, touch.how)).collect()
        };
        let ok = || ToolStatus::Success;
        for (name, args, status, expected) in [
            ("read_file", r#"{"file_path":"/a"}"#, ok(), vec![("/a", FileAccess::Read)]),
            ("read_file", r#"{"absolute_path":"/a"}"#, ok(), vec![("/a", FileAccess::Read)]),
            ("replace", r#"{"file_path":"/a"}"#, ok(), vec![("/a", FileAccess::Written)]),
            (
                "write_file",
                r#"{"file_path":"/a"}"#,
                ToolStatus::Error,
                vec![("/a", FileAccess::Named)],
            ),
            (
                "read_many_files",
                r#"{"paths":["a","src/**"],"include":[1]}"#,
                ok(),
                vec![("a", FileAccess::Read), ("src/**", FileAccess::Named)],
            ),
            ("glob", r#"{"pattern":"*","path":"/src"}"#, ok(), vec![("/src", FileAccess::Named)]),
            ("theirs__tool", r#"{"path":"/x"}"#, ok(), vec![("/x", FileAccess::Named)]),
            ("run_shell_command", r#"{"command":"ls"}"#, ok(), vec![]),
            ("read_file", "null", ok(), vec![]),
            ("read_file", r#"{"file_path":7}"#, ok(), vec![]),
        ] {
            let expected: Vec<_> =
                expected.into_iter().map(|(path, how)| (path.to_owned(), how)).collect();
            assert_eq!(all(name, args, status), expected, "{name} {args}");
        }
    }
}
