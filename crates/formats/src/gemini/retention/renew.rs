//! Marks a session as used now, so that a cleanup by age keeps it. Nothing else of it changes.

use jiff::Timestamp;

use crate::json::Scanner;

const UPDATED: &str = "lastUpdated";

/// Returns a record for the end of a log.
pub(crate) fn line(time: Timestamp) -> String {
    format!("{{\"$set\":{{\"{UPDATED}\":\"{}\"}}}}\n", iso(time))
}

/// Returns a document with another time in its place; of several, the last one counts.
pub(crate) fn document(text: &[u8], time: Timestamp) -> Option<Vec<u8>> {
    let mut scanner = Scanner::new(text);
    let mut span = None;
    scanner
        .object(|scanner, key| {
            scanner.peek()?;
            let start = scanner.offset();
            scanner.skip()?;
            if key.decode() == UPDATED {
                span = Some(start..scanner.offset());
            }
            Ok(())
        })
        .ok()?;
    let span = span?;
    let (before, after) = (text.get(..span.start)?, text.get(span.end..)?);
    Some([before, format!("\"{}\"", iso(time)).as_bytes(), after].concat())
}

fn iso(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_time_is_another() {
        let time: Timestamp = "2026-11-16T08:00:00Z".parse().unwrap();
        assert_eq!(line(time), "{\"$set\":{\"lastUpdated\":\"2026-11-16T08:00:00.000Z\"}}\n");
        let text = br#"{ "lastUpdated" : "old", "messages": [{"lastUpdated": 1}], "kind":"main"}"#;
        let new = String::from_utf8(document(text, time).unwrap()).unwrap();
        assert_eq!(
            new,
            r#"{ "lastUpdated" : "2026-11-16T08:00:00.000Z", "messages": [{"lastUpdated": 1}], "kind":"main"}"#
        );
        assert_eq!(document(b"{}", time), None);
        assert_eq!(document(b"{\"lastUpdated\": \"x\"", time), None);
    }
}
