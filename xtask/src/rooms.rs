//! Allowed dependencies between crates: one table, checked against cargo and printed in `ARCHITECTURE.md`.

use serde_json::Value;

use crate::{Report, TaskError};

/// A crate of the workspace: what it owns, where to start reading, and the crates it may use.
struct Room {
    name: &'static str,
    owns: &'static str,
    start: &'static str,
    uses: &'static [&'static str],
}

/// Every crate, from the shared types to the user interface.
const ROOMS: &[Room] = &[
    Room {
        name: "model",
        owns: "the shared types: sessions, messages, tokens, projects, problems; what `--json` prints",
        start: "session.rs",
        uses: &[],
    },
    Room {
        name: "blocks",
        owns: "a message as typed blocks (Markdown, code, diff, call), for every view",
        start: "lib.rs",
        uses: &["model"],
    },
    Room {
        name: "files",
        owns: "how files are opened: regular ones, no links followed, no waiting",
        start: "lib.rs",
        uses: &[],
    },
    Room {
        name: "formats",
        owns: "bytes to outlines and messages; one folder per agent, each with a `FORMAT.md`",
        start: "source.rs",
        uses: &["model", "files"],
    },
    Room {
        name: "platform",
        owns: "what differs by system: environment, folders, processes, mounts",
        start: "env.rs",
        uses: &["model"],
    },
    Room {
        name: "store",
        owns: "data folders on this machine; which folder a hash stands for, with evidence",
        start: "resolve/mod.rs",
        uses: &["model", "formats", "platform"],
    },
    Room {
        name: "writer",
        owns: "how bytes on disk change: plan, approve, journal, apply, undo; the vault",
        start: "change/mod.rs",
        uses: &["model", "files", "platform"],
    },
    Room {
        name: "search",
        owns: "the full-text index and the query language",
        start: "index/mod.rs",
        uses: &["model"],
    },
    Room {
        name: "catalog",
        owns: "what was read before (SQLite), and the tables behind `sql`; only a cache",
        start: "lib.rs",
        uses: &[],
    },
    Room {
        name: "redact",
        owns: "secrets and personal data in text",
        start: "scan/mod.rs",
        uses: &[],
    },
    Room { name: "prices", owns: "what a request costs", start: "table.rs", uses: &["model"] },
    Room {
        name: "export",
        owns: "a session as Markdown, HTML, JSON, CSV, Parquet",
        start: "renderer.rs",
        uses: &["model", "blocks"],
    },
    Room {
        name: "engine",
        owns: "every question about sessions: snapshots, list, open, search, projects, stats, sql, export, watch",
        start: "lib.rs",
        uses: &[
            "model", "formats", "platform", "store", "writer", "search", "catalog", "redact",
            "prices", "export",
        ],
    },
    Room {
        name: "changes",
        owns: "every change to users' data, as plans: move, delete, restore, repair, guard, vault, doctor",
        start: "lib.rs",
        uses: &["model", "formats", "platform", "store", "writer", "engine"],
    },
    Room {
        name: "testbed",
        owns: "synthetic homes of every era and size",
        start: "lib.rs",
        uses: &["model", "writer"],
    },
    Room {
        name: "display",
        owns: "how things look in a terminal: safe text, widths, tables, transcripts, wording",
        start: "lib.rs",
        uses: &["model", "blocks", "platform", "engine", "changes"],
    },
    Room {
        name: "tui",
        owns: "the terminal app: screens, keys, plans",
        start: "app.rs",
        uses: &["model", "blocks", "platform", "engine", "changes", "display"],
    },
    Room {
        name: "web",
        owns: "the web app: routes, safety, events, the files of the page",
        start: "lib.rs",
        uses: &["model", "blocks", "platform", "engine", "changes", "display"],
    },
    Room {
        name: "mcp",
        owns: "the MCP server: protocol, tools, fenced text",
        start: "lib.rs",
        uses: &["model", "blocks", "platform", "engine", "changes", "display"],
    },
    Room {
        name: "lake",
        owns: "the team lake: tables and raw copies in an object store",
        start: "lib.rs",
        uses: &["model", "platform", "engine", "changes"],
    },
    Room {
        name: "cli",
        owns: "the program `recount`: flags, commands, JSON",
        start: "commands/mod.rs",
        uses: &[
            "model", "blocks", "platform", "engine", "changes", "display", "tui", "web", "mcp",
            "lake", "testbed",
        ],
    },
    Room {
        name: "testkit",
        owns: "fixtures and hermetic homes for tests",
        start: "lib.rs",
        uses: &["model", "testbed"],
    },
];

/// What the tests of any crate may use as well.
const FOR_TESTS: &[&str] = &["testkit", "testbed"];

const PREFIX: &str = "recount-";
const BEGIN: &str = "<!-- rooms: written by `cargo xtask generate` -->";
const END: &str = "<!-- /rooms -->";

/// Compares cargo's metadata with the table.
pub(crate) fn check(metadata: &Value) -> Result<Report, TaskError> {
    let packages = metadata
        .get("packages")
        .and_then(Value::as_array)
        .ok_or_else(|| TaskError::new("cargo metadata has no packages"))?;
    let mut report = Report::default();
    let mut edges = 0;
    for package in packages {
        let package_name = text(package, "name");
        let dependencies = package.get("dependencies").and_then(Value::as_array);
        for dependency in dependencies.into_iter().flatten() {
            let Some(used) = text(dependency, "name").strip_prefix(PREFIX) else { continue };
            edges += 1;
            let extra = if text(dependency, "kind") == "dev" { FOR_TESTS } else { &[] };
            if !uses(package_name).contains(&used) && !extra.contains(&used) {
                report.failures.push(format!(
                    "{package_name} may not depend on {PREFIX}{used} (the table is in xtask/src/rooms.rs)"
                ));
            }
        }
        if let Some(name) = package_name.strip_prefix(PREFIX)
            && !ROOMS.iter().any(|room| room.name == name)
        {
            report.failures.push(format!("{package_name} is not in the table of rooms"));
        }
    }
    report.notes.push(format!("{edges} edges between {} rooms", ROOMS.len()));
    Ok(report)
}

/// Returns what a package may use: a crate in the table what it lists, any other nothing.
fn uses(package: &str) -> &'static [&'static str] {
    let name = package.strip_prefix(PREFIX);
    ROOMS.iter().find(|room| Some(room.name) == name).map_or(&[], |room| room.uses)
}

fn text<'value>(value: &'value Value, key: &str) -> &'value str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Checks that a document contains the current table.
pub(crate) fn check_table(document: &str) -> Report {
    match with_table(document) {
        Ok(fresh) if fresh == document => Report::default(),
        Ok(_) => {
            Report::failed("ARCHITECTURE.md: stale table of rooms; run `cargo xtask generate`")
        }
        Err(trouble) => Report::failed(trouble.to_string()),
    }
}

/// Returns the document with the table inserted between its markers.
pub(crate) fn with_table(document: &str) -> Result<String, TaskError> {
    let lost = || TaskError::new(format!("ARCHITECTURE.md: no block from {BEGIN} to {END}"));
    let (head, rest) = document.split_once(BEGIN).ok_or_else(lost)?;
    let (_, tail) = rest.split_once(END).ok_or_else(lost)?;
    Ok(format!("{head}{BEGIN}\n{}{END}{tail}", table()))
}

fn table() -> String {
    let head = "| crate | owns | may use | start reading |\n|---|---|---|---|\n".to_owned();
    ROOMS.iter().fold(head, |lines, room| {
        let Room { name, owns, start, uses } = room;
        format!("{lines}| `{name}` | {owns} | {} | `{start}` |\n", listed(uses))
    })
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one_edge(from: &str, to: &str, kind: Option<&str>) -> Vec<String> {
        let metadata = json!({"packages": [
            {"name": from, "dependencies": [{"name": to, "kind": kind}, {"name": "serde", "kind": null}]},
        ]});
        check(&metadata).unwrap().failures
    }

    #[test]
    fn an_edge_in_the_table_passes_and_any_other_fails() {
        assert!(one_edge("recount-engine", "recount-store", None).is_empty());
        assert!(one_edge("recount-cli", "recount-engine", None).is_empty());
        assert!(one_edge("recount-cli", "recount-changes", None).is_empty());
        assert!(one_edge("recount-changes", "recount-engine", None).is_empty());
        for (from, to) in [
            ("recount-model", "recount-formats"),
            ("recount-cli", "recount-formats"),
            ("recount-cli", "recount-store"),
            ("recount-cli", "recount-writer"),
            ("recount-engine", "recount-changes"),
            ("recount-formats", "recount-platform"),
            ("xtask", "recount-model"),
        ] {
            let failures = one_edge(from, to, None);
            assert_eq!(failures.len(), 1, "{from} → {to}: {failures:?}");
        }
    }

    #[test]
    fn tests_may_also_use_the_testkit_and_the_testbed_but_nothing_else() {
        assert!(one_edge("recount-formats", "recount-testkit", Some("dev")).is_empty());
        assert!(one_edge("recount-engine", "recount-testbed", Some("dev")).is_empty());
        assert_eq!(one_edge("recount-formats", "recount-testkit", None).len(), 1);
        assert_eq!(one_edge("recount-formats", "recount-engine", Some("dev")).len(), 1);
    }

    #[test]
    fn every_room_has_the_file_to_start_with() {
        for Room { name, start, .. } in ROOMS {
            let path = crate::files::root().join("crates").join(name).join("src").join(start);
            assert!(path.is_file(), "{}", path.display());
        }
    }

    #[test]
    fn a_room_that_is_not_in_the_table_fails() {
        let failures = check(&json!({"packages": [{"name": "recount-attic", "dependencies": []}]}));
        assert_eq!(
            failures.unwrap().failures,
            ["recount-attic is not in the table of rooms".to_owned()]
        );
    }

    #[test]
    fn a_crate_only_uses_crates_above_it_so_there_are_no_cycles() {
        for (at, room) in ROOMS.iter().enumerate() {
            for used in room.uses {
                assert!(ROOMS.iter().take(at).any(|above| above.name == *used), "{}", room.name);
            }
        }
    }

    #[test]
    fn the_table_is_put_between_its_markers_and_found_stale_when_changed() {
        let document = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        assert_eq!(check_table(&document).failures.len(), 1);
        let fresh = with_table(&document).unwrap();
        assert!(fresh.starts_with("before\n") && fresh.ends_with("\nafter\n"));
        assert!(fresh.contains("| model, formats, platform | `resolve/mod.rs` |"));
        assert_eq!(check_table(&fresh), Report::default());
        assert_eq!(check_table("no block").failures.len(), 1);
    }
}
