//! Changes session-level fields in one of its files.

use crate::edit::{Amendment, Patch, Title};
use crate::gemini::native::{Object, quoted};
use crate::native::Fields;

/// Appends to a log, as the agent does. An incomplete last line is terminated first, valid or not: otherwise the agent,
/// too, would append to it, and lose both.
pub(crate) fn in_log(size: u64, last: Option<u8>, said: Amendment<'_>) -> Vec<Patch> {
    let mut fields = Object::default();
    for (key, value) in values(said) {
        fields.raw(key.as_bytes(), value.as_bytes());
    }
    if fields.is_empty() {
        return Vec::new();
    }
    let mut line = Object::default();
    line.raw(b"$set", &fields.end());
    let mut with = if last.is_none_or(|last| last == b'\n') { Vec::new() } else { vec![b'\n'] };
    with.extend(line.end());
    with.push(b'\n');
    vec![Patch { at: size, bytes: 0, with }]
}

/// Changes only the value in a document, or adds the field after the last one. `None` if it is not complete.
pub(crate) fn in_document(fields: &Fields, said: Amendment<'_>) -> Option<Vec<Patch>> {
    let layout = fields.layout();
    let end = layout.end()?;
    let mut patches = Vec::new();
    let mut behind = Vec::new();
    for (key, value) in values(said) {
        match (layout.of(key), fields.get(key)) {
            (_, Some(known)) if known == value.as_bytes() => {}
            (Some((begin, until)), _) => {
                patches.push(Patch { at: begin, bytes: until - begin, with: value.into_bytes() });
            }
            // If there is no title, none need be removed.
            (None, _) if value == "null" => {}
            (None, _) => behind.extend(format!(",\n  \"{key}\": {value}").into_bytes()),
        }
    }
    if !behind.is_empty() {
        patches.push(Patch { at: end, bytes: 0, with: behind });
    }
    patches.sort_by_key(|patch| patch.at);
    Some(patches)
}

fn values(said: Amendment<'_>) -> Vec<(&'static str, String)> {
    let mut values = Vec::new();
    match said.title {
        Some(Title::Is(title)) => values.push(("summary", quoted(title))),
        // A title that is not a string counts as none, for the agent and for recount.
        Some(Title::None) => values.push(("summary", "null".to_owned())),
        None => {}
    }
    if let Some(hash) = said.project_hash {
        values.push(("projectHash", quoted(hash)));
    }
    values
}

#[cfg(test)]
mod tests {
    use recount_model::Grammar;

    use super::super::amended;
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    fn document(bytes: &str, said: Amendment<'_>) -> Option<String> {
        amended(bytes.as_bytes(), Grammar::Json, said).map(text)
    }

    fn title(text: &str) -> Amendment<'_> {
        Amendment { title: Some(Title::Is(text)), ..Amendment::default() }
    }

    const WITHOUT: Amendment<'_> =
        Amendment { title: Some(Title::None), project_hash: None, folder: None };

    #[test]
    fn a_log_gets_a_line_of_its_own_whatever_it_ends_with() {
        for (log, expected) in [
            ("{\"a\":1}\n", "{\"a\":1}\n{\"$set\":{\"summary\":\"Größe \\\"x\\\"\"}}\n"),
            ("{\"a\":1}", "{\"a\":1}\n{\"$set\":{\"summary\":\"Größe \\\"x\\\"\"}}\n"),
            ("{\"a\":", "{\"a\":\n{\"$set\":{\"summary\":\"Größe \\\"x\\\"\"}}\n"),
            ("{\"a\":1}\r", "{\"a\":1}\r\n{\"$set\":{\"summary\":\"Größe \\\"x\\\"\"}}\n"),
            ("", "{\"$set\":{\"summary\":\"Größe \\\"x\\\"\"}}\n"),
        ] {
            let amended = amended(log.as_bytes(), Grammar::Jsonl, title("Größe \"x\""));
            assert_eq!(text(amended.unwrap()), expected, "{log}");
        }
        assert!(in_log(0, None, Amendment::default()).is_empty());
    }

    #[test]
    fn in_a_document_every_other_byte_stays() {
        let old = "{\n  \"sessionId\": \"s\",\n  \"summary\": \"old\",\n  \"messages\": [\n    {\"id\": \"1\", \"summary\": 2}\n  ],\n  \"x\": 1.50\n}";
        assert_eq!(document(old, title("new")).unwrap(), old.replace("\"old\"", "\"new\""));
        assert_eq!(document(old, WITHOUT).unwrap(), old.replace("\"old\"", "null"));
        assert_eq!(document(old, title("old")).unwrap(), old);
        let both = Amendment { project_hash: Some("h"), ..title("new") };
        let expected = old
            .replace("\"old\"", "\"new\"")
            .replace("1.50\n}", "1.50,\n  \"projectHash\": \"h\"\n}");
        assert_eq!(document(old, both).unwrap(), expected);
    }

    #[test]
    fn a_field_that_is_missing_comes_after_the_last_one() {
        let list = "{\"sessionId\": \"s\", \"messages\": []}\n";
        let expected = "{\"sessionId\": \"s\", \"messages\": [],\n  \"summary\": \"new\"}\n";
        assert_eq!(document(list, title("new")).unwrap(), expected);
        assert_eq!(document(list, WITHOUT).unwrap(), list);
        // Of duplicate keys the agent uses the last.
        let twice = "{\"summary\": \"a\", \"sessionId\": \"s\", \"summary\": \"b\"}";
        let expected = "{\"summary\": \"a\", \"sessionId\": \"s\", \"summary\": \"c\"}";
        assert_eq!(document(twice, title("c")).unwrap(), expected);
    }

    #[test]
    fn a_damaged_document_is_left_alone() {
        let cut = "{\n  \"sessionId\": \"s\",\n  \"summary\": \"old\",\n  \"messages\": [\n    {\"id\": \"1\"},\n    {\"id\"";
        assert_eq!(document(cut, title("new")), None);
    }
}
