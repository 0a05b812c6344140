//! Bytes cut into JSON values: one per line, indented over many lines, or in one list.

use memchr::memmem;

use crate::json::{ScanError, Scanner};

/// How often an unfinished value at the end is skipped to look for whole ones behind it.
const TRIES: usize = 64;

/// Cuts bytes into records as they come. What is no JSON is skipped line by line and counted.
#[derive(Debug, Default)]
pub struct Splitter {
    waiting: Vec<u8>,
    /// How many bytes must wait before it pays to look again.
    least: usize,
    skipped: u64,
    is_torn: bool,
    /// Whether a whole value has come.
    has_whole: bool,
}

impl Splitter {
    /// Takes the next bytes and hands each whole record to `take`.
    pub fn push(&mut self, bytes: &[u8], take: &mut dyn FnMut(&[u8])) {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= self.least {
            self.cut(take);
            // One long value comes in many pieces: it is not looked at again for each.
            self.least = 2 * self.waiting.len();
        }
    }

    /// Says that nothing follows. Returns what is whole of a document that is cut short.
    pub fn finish(&mut self, take: &mut dyn FnMut(&[u8])) -> Option<Vec<u8>> {
        let mut rest = None;
        self.cut(take);
        for _ in 0..TRIES {
            if self.waiting.trim_ascii().is_empty() {
                break;
            }
            self.is_torn = true;
            let next = next_start(&self.waiting);
            let torn = self.waiting.get(..next.unwrap_or(self.waiting.len())).unwrap_or_default();
            // A document is all that there is; behind other records it is an event.
            if !self.has_whole {
                rest = rest.or(salvage(torn, take));
            }
            self.waiting.drain(..next.unwrap_or(self.waiting.len()));
            self.cut(take);
        }
        rest
    }

    /// Returns how many lines were no JSON.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Whether the last record was cut short.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    fn cut(&mut self, take: &mut dyn FnMut(&[u8])) {
        let mut used = 0;
        loop {
            let rest = self.waiting.get(used..).unwrap_or_default();
            let blank = rest.len() - rest.trim_ascii_start().len();
            let rest = rest.trim_ascii_start();
            used += blank;
            match rest.first() {
                None => break,
                Some(b'{' | b'[') => {
                    let mut scanner = Scanner::new(rest);
                    match scanner.value() {
                        Ok(value) => {
                            self.has_whole = true;
                            each(value, take);
                            used += scanner.offset();
                        }
                        Err(ScanError::Incomplete) => break,
                        Err(ScanError::Syntax) => {
                            self.skipped += 1;
                            let Some(next) = next_start(rest) else {
                                // More of the line may come; it is of no use.
                                used += memchr::memrchr(b'\n', rest).unwrap_or(rest.len());
                                break;
                            };
                            used += next;
                        }
                    }
                }
                // Words of a program, between records.
                Some(_) => match memchr::memchr(b'\n', rest) {
                    Some(end) => {
                        self.skipped += 1;
                        used += end;
                    }
                    None => break,
                },
            }
        }
        self.waiting.drain(..used);
    }
}

/// Hands over a value, or each element of a list.
fn each(value: &[u8], take: &mut dyn FnMut(&[u8])) {
    if value.first() != Some(&b'[') {
        return take(value);
    }
    // The text was scanned before, so it cannot fail now.
    let _whole = Scanner::new(value).array(|scanner| {
        take(scanner.value()?);
        Ok(())
    });
}

/// Finds the next line that begins with a value.
fn next_start(bytes: &[u8]) -> Option<usize> {
    let object = memmem::find(bytes, b"\n{");
    let list = memmem::find(bytes, b"\n[");
    object.into_iter().chain(list).min()
}

/// Hands over the elements of a list that is cut short, and returns the members of a document that is. An event that is cut short is
/// none: half of it may say something else.
fn salvage(torn: &[u8], take: &mut dyn FnMut(&[u8])) -> Option<Vec<u8>> {
    let torn = torn.trim_ascii();
    if torn.first() == Some(&b'[') {
        let _torn = Scanner::new(torn).array(|scanner| {
            take(scanner.value()?);
            Ok(())
        });
        return None;
    }
    if torn.first() == Some(&b'{') {
        let mut members: Vec<u8> = Vec::new();
        let mut is_event = false;
        let _torn = Scanner::new(torn).object(|scanner, key| {
            let value = scanner.value()?;
            is_event |= key.is("type") && value != b"\"result\"";
            members.push(if members.is_empty() { b'{' } else { b',' });
            members.push(b'"');
            members.extend_from_slice(key.raw());
            members.extend_from_slice(b"\":");
            members.extend_from_slice(value);
            Ok(())
        });
        if !members.is_empty() && !is_event {
            members.push(b'}');
            return Some(members);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, piece: usize) -> (Vec<String>, u64, bool) {
        let mut found = Vec::new();
        let mut splitter = Splitter::default();
        let mut take =
            |bytes: &[u8]| found.push(String::from_utf8_lossy(bytes).split_whitespace().collect());
        for piece in text.as_bytes().chunks(piece) {
            splitter.push(piece, &mut take);
        }
        let rest = splitter.finish(&mut take);
        if let Some(rest) = rest {
            take(&rest);
        }
        (found, splitter.skipped(), splitter.is_torn())
    }

    #[test]
    fn records_are_cut_out_however_they_come() {
        for piece in [1, 2, 7, 1000] {
            let (found, skipped, torn) = split(
                "YOLO mode\n{\"a\":1}\n{\n  \"b\": [\n    2\n  ]\n}\n[{\"c\":3},{\"d\":4}]\n",
                piece,
            );
            assert_eq!(found, ["{\"a\":1}", "{\"b\":[2]}", "{\"c\":3}", "{\"d\":4}"], "{piece}");
            assert_eq!((skipped, torn), (1, false));
        }
    }

    #[test]
    fn a_broken_line_costs_no_other() {
        for piece in [1, 5, 1000] {
            let (found, skipped, torn) = split("{\"a\":\n{\"b\":2}\n{\"c\":3}\n", piece);
            assert_eq!(found, ["{\"b\":2}", "{\"c\":3}"], "{piece}");
            assert_eq!((skipped, torn), (1, false));
        }
    }

    #[test]
    fn what_is_whole_of_a_torn_end_is_kept() {
        assert_eq!(split("{\"b\":2,\"c\":\"th", 3).0, ["{\"b\":2}"]);
        assert_eq!(split("{\"a\":1}\n{\"b\":2,\"c\":\"th", 3).0, ["{\"a\":1}"]);
        assert_eq!(split("[{\"a\":1},{\"b\"", 3).0, ["{\"a\":1}"]);
        let (found, skipped, torn) = split("{\"b", 1);
        assert_eq!((found.len(), skipped, torn), (0, 0, true));
        assert!(split("{\"type\":\"message\",\"content\":\"half\",\"del", 3).0.is_empty());
        // Nothing is looked at again and again.
        let hostile = "{\"a\":[\n".repeat(20_000);
        assert!(split(&hostile, 4096).0.is_empty());
    }
}
