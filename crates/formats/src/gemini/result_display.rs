//! `resultDisplay`: what the agent showed of a tool's result, in all its shapes.

use crate::json::JsonTree;

/// A displayed result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Display {
    /// Nothing was shown.
    None,
    /// Text.
    Text(String),
    /// A unified diff.
    Diff(String),
}

/// Reads the raw JSON of a `resultDisplay`. The shapes are distinguished by their keys.
pub(crate) fn read(raw: &[u8]) -> Display {
    let Ok(tree) = JsonTree::parse(raw) else { return Display::None };
    if let Some(diff) = tree.text("fileDiff") {
        return Display::Diff(diff.to_owned());
    }
    let text = match &tree {
        JsonTree::String(text) => text.clone(),
        JsonTree::Array(lines) => screen(lines),
        JsonTree::Object(_) => object(&tree),
        JsonTree::Null | JsonTree::Bool(_) | JsonTree::Number(_) | JsonTree::Deep(_) => {
            String::new()
        }
    };
    if text.is_empty() { Display::None } else { Display::Text(text) }
}

fn object(tree: &JsonTree) -> String {
    if let Some(todos) = tree.get("todos").and_then(JsonTree::as_array) {
        return todos.iter().map(todo).collect::<Vec<_>>().join("\n");
    }
    if tree.get("isSubagentProgress").is_some() {
        return progress(tree);
    }
    tree.text("summary").unwrap_or_default().to_owned()
}

/// Returns the text of a terminal screen: lines of styled tokens.
fn screen(lines: &[JsonTree]) -> String {
    let line = |line: &JsonTree| {
        let tokens = line.as_array().unwrap_or_default();
        let text: String = tokens.iter().filter_map(|token| token.text("text")).collect();
        text.trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn todo(todo: &JsonTree) -> String {
    let mark = match todo.text("status") {
        Some("completed") => "[x]",
        Some("in_progress") => "[>]",
        Some("cancelled") => "[-]",
        Some("blocked") => "[!]",
        _ => "[ ]",
    };
    format!("{mark} {}", todo.text("description").unwrap_or_default())
}

fn progress(tree: &JsonTree) -> String {
    let name = tree.text("agentName").unwrap_or("sub-agent");
    let state = tree.text("state").unwrap_or("running");
    let mut lines = vec![format!("{name}: {state}")];
    let activity = tree.get("recentActivity").and_then(JsonTree::as_array).unwrap_or_default();
    lines.extend(activity.iter().filter_map(|item| {
        let words = item.text("displayName").or_else(|| item.text("content"))?;
        Some(match item.text("description") {
            Some(description) => format!("  {words} {description}"),
            None => format!("  {words}"),
        })
    }));
    lines.extend(tree.text("result").map(str::to_owned));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_its_words() {
        for (json, expected) in [
            (r#""Listed 2 item(s).""#, "Listed 2 item(s)."),
            (r#"[[{"text":"a ","bold":true},{"text":"b"}],[],[{"text":"c  "}]]"#, "a b\n\nc"),
            (
                r#"{"todos":[{"description":"one","status":"completed"},{"description":"two","status":"pending"}]}"#,
                "[x] one\n[ ] two",
            ),
            (r#"{"summary":"Found 3 matches","matches":[{"filePath":"a"}]}"#, "Found 3 matches"),
            (
                r#"{"isSubagentProgress":true,"agentName":"looker","state":"completed","recentActivity":[{"type":"thought","content":"Hm"}],"result":"Done."}"#,
                "looker: completed\n  Hm\nDone.",
            ),
        ] {
            assert_eq!(read(json.as_bytes()), Display::Text(expected.into()), "{json}");
        }
        assert_eq!(
            read(br#"{"fileDiff":"--- a\n+++ b","fileName":"x"}"#),
            Display::Diff("--- a\n+++ b".into())
        );
        assert_eq!(read(b"null"), Display::None);
        assert_eq!(read(br#""""#), Display::None);
    }
}
