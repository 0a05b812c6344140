//! Which files a tool call touches, and how.

use recount_model::{ToolCall, ToolStatus};

use crate::json::JsonTree;
use crate::source::{FileAccess, FileTouch};

use super::patch;
use super::tool::{command, patch_of};

/// Commands that print files, with nothing but options before them.
const PRINTERS: [&str; 5] = ["cat", "head", "tail", "nl", "bat"];

/// Lists the paths that a call names. What a call that did not get through would have written is only named.
pub(super) fn touched(call: &ToolCall) -> Vec<FileTouch> {
    let went_well = call.status == ToolStatus::Success;
    let touch = |path: String, how| FileTouch {
        path,
        how: if went_well { how } else { FileAccess::Named },
    };
    let args = call.args.as_str();
    if let Some(patch) = patch_of(&call.name, args) {
        let paths = patch::paths(&patch).into_iter();
        return paths.map(|(path, _)| touch(path, FileAccess::Written)).collect();
    }
    let Ok(tree) = JsonTree::parse(args.as_bytes()) else { return Vec::new() };
    if call.name == "apply_patch" {
        let paths = tree.get("paths").and_then(JsonTree::as_array).unwrap_or_default();
        let paths = paths.iter().filter_map(JsonTree::as_str);
        return paths.map(|path| touch(path.to_owned(), FileAccess::Written)).collect();
    }
    if let Some(path) = tree.text("path").or_else(|| tree.text("file_path")) {
        let how = if call.name == "view_image" { FileAccess::Read } else { FileAccess::Named };
        return vec![touch(path.to_owned(), how)];
    }
    let line = command(tree.get("command").or_else(|| tree.get("cmd")));
    printed(&line).into_iter().map(|path| touch(path.to_owned(), FileAccess::Read)).collect()
}

/// Lists the files that a simple command prints.
fn printed(line: &str) -> Vec<&str> {
    let is_plain =
        |word: &&str| !word.contains(['|', '>', '<', '&', ';', '$', '`', '*', '\'', '"', '(']);
    let mut words = line.split_whitespace();
    let Some(program) = words.next().filter(|program| PRINTERS.contains(program)) else {
        return Vec::new();
    };
    let rest: Vec<&str> = words.collect();
    if !rest.iter().all(is_plain) {
        return Vec::new();
    }
    let is_path =
        |word: &&&str| !word.starts_with('-') && (program == "cat" || word.parse::<u64>().is_err());
    rest.iter().filter(is_path).copied().collect()
}

#[cfg(test)]
mod tests {
    use recount_model::RawJson;

    use super::*;

    #[test]
    fn patches_write_and_printers_read() {
        let all = |name: &str, args: &str, status: ToolStatus| -> Vec<(String, FileAccess)> {
            let call = ToolCall { args: RawJson::new(args), status, ..ToolCall::named(name) };
            touched(&call).into_iter().map(|touch| (touch.path, touch.how)).collect()
        };
        let patch = r#"{"input":"*** Begin Patch\n*** Update File: /a\n*** End Patch"}"#;
        let one = |path: &str, how| vec![(path.to_owned(), how)];
        assert_eq!(all("apply_patch", patch, ToolStatus::Success), one("/a", FileAccess::Written));
        assert_eq!(all("apply_patch", patch, ToolStatus::Error), one("/a", FileAccess::Named));
        let shell = r#"{"command":["bash","-lc","apply_patch <<'E'\n*** Begin Patch\n*** Add File: b\n+x\n*** End Patch\nE"]}"#;
        assert_eq!(all("shell", shell, ToolStatus::Success), one("b", FileAccess::Written));
        assert_eq!(
            all("exec_command", r#"{"cmd":"cat /a"}"#, ToolStatus::Success),
            one("/a", FileAccess::Read)
        );
        assert_eq!(
            all("exec_command", r#"{"cmd":"head -n 5 a.rs"}"#, ToolStatus::Success),
            one("a.rs", FileAccess::Read)
        );
        for cmd in ["ls -1", "cat a | wc", "cat $x", ""] {
            let args = format!("{{\"cmd\":\"{cmd}\"}}");
            assert!(all("exec_command", &args, ToolStatus::Success).is_empty(), "{cmd}");
        }
    }
}
