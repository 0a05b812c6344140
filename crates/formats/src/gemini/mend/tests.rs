use super::*;
use crate::mend::Frame;
use crate::own_form::Fields;

#[test]
fn values_are_laid_out_as_the_agent_does() {
    let json = br#"{"a":[],"b":{},"c":[1,{"d":"x:{,}"}],"e":"\"q\""}"#;
    let mut out = Vec::new();
    layout::laid(json, 0, &mut out).unwrap();
    let expected = "{\n  \"a\": [],\n  \"b\": {},\n  \"c\": [\n    1,\n    {\n      \"d\": \"x:{,}\"\n    }\n  ],\n  \"e\": \"\\\"q\\\"\"\n}";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn a_frame_has_the_messages_behind_the_times() {
    let mut fields = Fields::default();
    for (key, value) in [("kind", "\"main\""), ("sessionId", "\"s\""), ("lastUpdated", "\"t\"")] {
        fields.set(key, value.as_bytes());
    }
    let Frame { open, close, empty, .. } = Files.document(&fields);
    assert_eq!(
        String::from_utf8([open, b"    1".to_vec(), close].concat()).unwrap(),
        "{\n  \"sessionId\": \"s\",\n  \"lastUpdated\": \"t\",\n  \"messages\": [\n    1\n  ],\n  \"kind\": \"main\"\n}"
    );
    assert_eq!(
        String::from_utf8(empty).unwrap(),
        "{\n  \"sessionId\": \"s\",\n  \"lastUpdated\": \"t\",\n  \"messages\": [],\n  \"kind\": \"main\"\n}"
    );
}
