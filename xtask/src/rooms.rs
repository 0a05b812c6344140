//! Who may depend on whom: the one table, checked against cargo and printed in `ARCHITECTURE.md`.

use serde_json::Value;

use crate::{Report, Trouble};

/// A crate of the workspace, and the crates it may use.
struct Room {
    name: &'static str,
    uses: &'static [&'static str],
}

/// Every room, from the words everyone shares to what people see.
const ROOMS: &[Room] = &[
    Room { name: "model", uses: &[] },
    Room { name: "blocks", uses: &["model"] },
    Room { name: "formats", uses: &["model"] },
    Room { name: "platform", uses: &["model"] },
    Room { name: "store", uses: &["model", "formats", "platform"] },
    Room { name: "writer", uses: &["model", "platform"] },
    Room { name: "search", uses: &["model"] },
    Room { name: "catalog", uses: &[] },
    Room { name: "redact", uses: &[] },
    Room { name: "prices", uses: &["model"] },
    Room { name: "export", uses: &["model", "blocks"] },
    Room {
        name: "engine",
        uses: &[
            "model", "formats", "platform", "store", "writer", "search", "catalog", "redact",
            "prices", "export",
        ],
    },
    Room { name: "changes", uses: &["model", "formats", "platform", "store", "writer", "engine"] },
    Room { name: "testbed", uses: &["model", "writer"] },
    Room { name: "cli", uses: &["model", "blocks", "platform", "engine", "changes", "testbed"] },
    Room { name: "testkit", uses: &["model", "testbed"] },
];

/// What the tests of any room may use besides.
const FOR_TESTS: &[&str] = &["testkit", "testbed"];

const PREFIX: &str = "recount-";
const BEGIN: &str = "<!-- rooms: written by `cargo xtask generate` -->";
const END: &str = "<!-- /rooms -->";

/// Compares what cargo knows with the table.
pub(crate) fn check(metadata: &Value) -> Result<Report, Trouble> {
    let packages = metadata
        .get("packages")
        .and_then(Value::as_array)
        .ok_or_else(|| Trouble::new("cargo metadata has no packages"))?;
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

/// Returns what a package may use: a room what the table says, any other nothing.
fn uses(package: &str) -> &'static [&'static str] {
    let name = package.strip_prefix(PREFIX);
    ROOMS.iter().find(|room| Some(room.name) == name).map_or(&[], |room| room.uses)
}

fn text<'value>(value: &'value Value, key: &str) -> &'value str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Checks that a document prints the table as it is.
pub(crate) fn check_table(document: &str) -> Report {
    match with_table(document) {
        Ok(fresh) if fresh == document => Report::default(),
        Ok(_) => {
            Report::failed("ARCHITECTURE.md: stale table of rooms; run `cargo xtask generate`")
        }
        Err(trouble) => Report::failed(trouble.to_string()),
    }
}

/// Returns the document with the table put between its markers.
pub(crate) fn with_table(document: &str) -> Result<String, Trouble> {
    let lost = || Trouble::new(format!("ARCHITECTURE.md: no block from {BEGIN} to {END}"));
    let (head, rest) = document.split_once(BEGIN).ok_or_else(lost)?;
    let (_, tail) = rest.split_once(END).ok_or_else(lost)?;
    Ok(format!("{head}{BEGIN}\n{}{END}{tail}", table()))
}

fn table() -> String {
    let head = "| room | uses | is used by |\n|---|---|---|\n".to_owned();
    ROOMS.iter().fold(head, |lines, room| {
        let mut users: Vec<&str> = ROOMS
            .iter()
            .filter(|user| user.uses.contains(&room.name))
            .map(|user| user.name)
            .collect();
        if FOR_TESTS.contains(&room.name) {
            users.push("tests of any room");
        }
        let everyone = users.len() == ROOMS.len() - 1;
        let used_by = if everyone { "everyone".to_owned() } else { listed(&users) };
        format!("{lines}| `{}` | {} | {used_by} |\n", room.name, listed(room.uses))
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
    fn a_room_that_is_not_in_the_table_fails() {
        let failures = check(&json!({"packages": [{"name": "recount-attic", "dependencies": []}]}));
        assert_eq!(
            failures.unwrap().failures,
            ["recount-attic is not in the table of rooms".to_owned()]
        );
    }

    #[test]
    fn a_room_only_uses_rooms_above_it_so_there_are_no_circles() {
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
        assert!(fresh.contains("| `store` | model, formats, platform | engine, changes |"));
        assert_eq!(check_table(&fresh), Report::default());
        assert_eq!(check_table("no block").failures.len(), 1);
    }
}
