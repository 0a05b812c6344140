//! Tests that only the requested change is made.

use proptest::prelude::*;

use super::*;

const PATH: [&str; 3] = ["general", "sessionRetention", "enabled"];

fn off(text: &str) -> String {
    String::from_utf8(set(text.as_bytes(), &PATH, &JsonTree::Bool(false)).unwrap()).unwrap()
}

#[test]
fn a_value_is_replaced_in_its_place() {
    let text = "\u{feff}{ // mine\r\n\t\"general\": {\"sessionRetention\": {\"enabled\" : true /* yes */, \"maxAge\": \"30d\",},},\r\n\t\"x\": [1, 2,],\r\n}\r\n";
    assert_eq!(off(text), text.replace("true", "false"));
    // Of duplicate keys the last one counts.
    let twice = r#"{"general":{"sessionRetention":{"enabled":true,"enabled":true}}}"#;
    assert_eq!(off(twice), r#"{"general":{"sessionRetention":{"enabled":true,"enabled":false}}}"#);
}

#[test]
fn what_is_missing_is_put_in_as_its_surroundings_are() {
    insta::assert_snapshot!(off("{}"), @r#"
    {
      "general": {
        "sessionRetention": {
          "enabled": false
        }
      }
    }
    "#);
    insta::assert_snapshot!(off("{\n    \"a\": 1 // one\n    // no more\n}\n"), @r#"
    {
        "a": 1, // one
        // no more
        "general": {
            "sessionRetention": {
                "enabled": false
            }
        }
    }
    "#);
    insta::assert_snapshot!(off("{\n  \"general\": {\n    \"vimMode\": true,\n  },\n}\n"), @r#"
    {
      "general": {
        "vimMode": true,
        "sessionRetention": {
          "enabled": false
        },
      },
    }
    "#);
    insta::assert_snapshot!(off("{\n  \"general\": {}\n}\n"), @r#"
    {
      "general": {
        "sessionRetention": {
          "enabled": false
        }
      }
    }
    "#);
    insta::assert_snapshot!(off("{\n  \"general\": {\n    // nothing yet\n  }\n}\n"), @r#"
    {
      "general": {
        // nothing yet
        "sessionRetention": {
          "enabled": false
        }
      }
    }
    "#);
    insta::assert_snapshot!(off("{\"general\": {\"sessionRetention\": {}}, \"b\": {}}"), @r#"{"general": {"sessionRetention": {"enabled": false}}, "b": {}}"#);
    insta::assert_snapshot!(off("{\n  \"general\": { \"vimMode\": true }\n}"), @r#"
    {
      "general": { "vimMode": true, "sessionRetention": {"enabled": false} }
    }
    "#);
}

#[test]
fn what_is_not_understood_is_refused_with_its_line() {
    let fault = |text: &str| set(text.as_bytes(), &PATH, &JsonTree::Null).unwrap_err().to_string();
    assert_eq!(fault(""), "line 1: it ends too early");
    assert_eq!(fault("{\n \"a\": 1\n \"b\": 2}"), "line 3: a comma or an end is missing");
    assert_eq!(fault("{\"a\": nope}"), "line 1: not a value");
    assert_eq!(fault("{} {}"), "line 1: something follows the end");
    assert_eq!(fault("[]"), "the whole is not an object");
    assert_eq!(fault("{\"general\": true}"), "general is not an object");
    assert_eq!(
        fault("{\"general\": {\"sessionRetention\": \"x\"}}"),
        "general.sessionRetention is not an object"
    );
    assert!(fault(&"{\"a\":".repeat(200)).ends_with("nested too deeply"));
}

#[test]
fn elements_come_and_go_and_leave_no_trace() {
    let path = ["hooks", "SessionEnd"];
    let ours = JsonTree::Object(vec![("name".to_owned(), JsonTree::String("ours".to_owned()))]);
    let is_ours = |tree: &JsonTree| tree.text("name") == Some("ours");
    for text in [
        "{}",
        "{\n}\n",
        "{\n  \"a\": 1\n}\n",
        "{\n  // hooks below\n  \"hooks\": {\n    \"SessionEnd\": [\n      {\"name\": \"theirs\"} // keep\n    ]\n  }\n}\n",
        "{\"hooks\": {\"SessionEnd\": [{\"name\": \"theirs\"}], \"BeforeTool\": []}}",
        "{\"a\": 1, \"hooks\": {\"BeforeTool\": [1,],},}",
        "{\r\n\t\"hooks\": {\r\n\t\t\"SessionEnd\": [\r\n\t\t\t1,\r\n\t\t\t2\r\n\t\t]\r\n\t}\r\n}",
    ] {
        let with = push(text.as_bytes(), &path, &ours).unwrap();
        assert_ne!(with, text.as_bytes());
        let without = remove_elements(&with, &path, is_ours).unwrap().unwrap();
        let without = String::from_utf8(without).unwrap();
        // An empty pair of braces is not expanded again.
        let flat = |text: &str| text.replace("{\n}", "{}");
        assert_eq!(flat(&without), flat(text));
        assert_eq!(remove_elements(text.as_bytes(), &path, is_ours).unwrap(), None);
    }
    let between = b"{\"hooks\": {\"SessionEnd\": [1, {\"name\": \"ours\"}, 2]}}";
    let without = remove_elements(between, &path, is_ours).unwrap().unwrap();
    assert_eq!(String::from_utf8(without).unwrap(), "{\"hooks\": {\"SessionEnd\": [1, 2]}}");
    assert!(push(b"{\"hooks\": {\"SessionEnd\": 1}}", &path, &ours).is_err());
}

fn any_blank() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            Just(" "),
            Just("\n"),
            Just("\t"),
            Just("\r\n"),
            Just("/* x, } ] */"),
            Just("// \"y\": {\n"),
        ],
        0..3,
    )
    .prop_map(|parts| parts.concat())
}

/// JSON with white space and comments everywhere, and trailing commas.
fn any_json() -> impl Strategy<Value = String> {
    let key = || {
        prop_oneof![
            Just("general"),
            Just("sessionRetention"),
            Just("enabled"),
            Just("é\\\"//"),
            Just("a")
        ]
    };
    let leaf = prop_oneof![
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("-1.5e3".to_owned()),
        Just("\"/* no */ , }\"".to_owned()),
        Just("{}".to_owned()),
        Just("[ ]".to_owned()),
    ];
    let value = leaf.prop_recursive(4, 24, 4, move |inner| {
        let member = (any_blank(), key(), any_blank(), inner.clone(), any_blank())
            .prop_map(|(a, key, b, value, c)| format!("{a}\"{key}\"{b}:{value}{c}"));
        let element = (any_blank(), inner).prop_map(|(a, value)| format!("{a}{value}"));
        let tail = || (any::<bool>(), any_blank());
        prop_oneof![
            3 => (prop::collection::vec(member, 1..4), tail())
                .prop_map(|(all, (comma, end))| format!("{{{}{}{end}}}", all.join(","), if comma { "," } else { "" })),
            1 => (prop::collection::vec(element, 1..4), tail())
                .prop_map(|(all, (comma, end))| format!("[{}{}{end}]", all.join(","), if comma { "," } else { "" })),
        ]
    });
    (any_blank(), value, any_blank(), any::<bool>()).prop_map(|(a, value, b, mark)| {
        format!("{}{a}{value}{b}", if mark { "\u{feff}" } else { "" })
    })
}

/// Returns the tree of a text; of duplicate keys only the last.
fn tree(text: &[u8]) -> JsonTree {
    fn last_only(tree: JsonTree) -> JsonTree {
        match tree {
            JsonTree::Object(fields) => {
                let mut kept: Vec<(String, JsonTree)> = Vec::new();
                for (key, value) in fields {
                    let value = last_only(value);
                    match kept.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, old)) => *old = value,
                        None => kept.push((key, value)),
                    }
                }
                JsonTree::Object(kept)
            }
            JsonTree::Array(elements) => {
                JsonTree::Array(elements.into_iter().map(last_only).collect())
            }
            JsonTree::Null
            | JsonTree::Bool(_)
            | JsonTree::Number(_)
            | JsonTree::String(_)
            | JsonTree::Deep(_) => tree,
        }
    }
    let page = Page::read(text).unwrap();
    last_only(page.tree(&page.root).unwrap())
}

fn with(tree: JsonTree, path: &[&str], value: &JsonTree) -> JsonTree {
    let Some((key, rest)) = path.split_first() else { return value.clone() };
    let JsonTree::Object(mut fields) = tree else { panic!("no object") };
    match fields.iter_mut().find(|(known, _)| known == key) {
        Some((_, inner)) => *inner = with(inner.clone(), rest, value),
        None => fields.push(((*key).to_owned(), with(JsonTree::Object(Vec::new()), rest, value))),
    }
    JsonTree::Object(fields)
}

/// Asserts that all of `old`, except one range, is in `new` in order, and returns that range.
fn stretch<'a>(old: &'a [u8], new: &[u8]) -> &'a [u8] {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let back = old[front..].iter().rev().zip(new[front..].iter().rev()).take_while(|(a, b)| a == b);
    &old[front..old.len() - back.count()]
}

proptest! {
    #[test]
    fn the_value_is_set_and_all_else_is_as_it_was(
        text in any_json(),
        path in prop::sample::subsequence(vec!["general", "sessionRetention", "enabled"], 1..=3),
        value in prop_oneof![Just(JsonTree::Bool(false)), Just(JsonTree::String("30d".to_owned())), Just(JsonTree::Array(vec![JsonTree::Null]))],
    ) {
        let Ok(new) = set(text.as_bytes(), &path, &value) else { return Ok(()) };
        prop_assert_eq!(tree(&new), with(tree(text.as_bytes()), &path, &value));
        // Either a value was removed, or nothing was: then only a comma and the new lines were added.
        let gone = stretch(text.as_bytes(), &new);
        if tree(text.as_bytes()) == with(tree(text.as_bytes()), &path, &value) {
            prop_assert!(gone.len() <= text.len());
        }
        let comments = |text: &[u8]| {
            let text = String::from_utf8_lossy(text).into_owned();
            (text.matches("/* x, } ] */").count(), text.matches("// \"y\": {").count())
        };
        let inside = comments(gone);
        let (before, after) = (comments(text.as_bytes()), comments(&new));
        prop_assert!(after.0 + inside.0 >= before.0 && after.1 + inside.1 >= before.1);
        // A second time, nothing changes.
        prop_assert_eq!(set(&new, &path, &value).unwrap(), new);
    }

    #[test]
    fn what_was_put_in_can_be_taken_out(text in any_json()) {
        let ours = JsonTree::String("ours".to_owned());
        let Ok(with) = push(text.as_bytes(), &["general", "a"], &ours) else { return Ok(()) };
        let is_ours = |tree: &JsonTree| *tree == ours;
        let without = remove_elements(&with, &["general", "a"], is_ours).unwrap().unwrap();
        let left = format!("{:?}", tree(&without));
        prop_assert!(!left.contains("ours"), "{}", left);
    }
}
