//! Small values as a tree, and JSON text without its white space.

use super::{Fields, JsonScan, Scanner};

/// The maximum depth of a tree; deeper values are kept as raw text.
const DEEPEST: usize = 128;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonTree {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Self>),
    /// An object; of duplicate keys only the last is kept, as in JavaScript.
    Object(Vec<(String, Self)>),
    /// A value nested too deeply to be parsed: its text.
    Deep(String),
}

impl JsonTree {
    /// Builds the tree of one value.
    pub fn parse(bytes: &[u8]) -> JsonScan<Self> {
        let mut scanner = Scanner::new(bytes);
        let tree = Self::build(&mut scanner, 0)?;
        scanner.end()?;
        Ok(tree)
    }

    /// Builds the tree of the value at the scanner's position.
    pub fn read(scanner: &mut Scanner<'_>) -> JsonScan<Self> {
        Self::build(scanner, 0)
    }

    fn build(scanner: &mut Scanner<'_>, depth: usize) -> JsonScan<Self> {
        if depth >= DEEPEST {
            return Ok(Self::Deep(String::from_utf8_lossy(scanner.value()?).into_owned()));
        }
        Ok(match scanner.peek()? {
            b'"' => Self::String(scanner.string()?.decode().into_owned()),
            b'{' => {
                let mut fields = Fields::default();
                scanner.object(|scanner, key| {
                    let value = Self::build(scanner, depth + 1)?;
                    fields.put(key.decode().into_owned(), value);
                    Ok(())
                })?;
                Self::Object(fields.all)
            }
            b'[' => {
                let mut elements = Vec::new();
                scanner.array(|scanner| {
                    elements.push(Self::build(scanner, depth + 1)?);
                    Ok(())
                })?;
                Self::Array(elements)
            }
            _ => match scanner.value()? {
                b"null" => Self::Null,
                b"true" => Self::Bool(true),
                b"false" => Self::Bool(false),
                number => Self::Number(String::from_utf8_lossy(number).into_owned()),
            },
        })
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let mut fields = self.as_object()?.iter();
        fields.find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// Returns the elements of an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    /// Returns the fields of an object.
    pub fn as_object(&self) -> Option<&[(String, Self)]> {
        if let Self::Object(fields) = self { Some(fields) } else { None }
    }

    /// Returns the text of a string under `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }
}

/// Returns valid JSON text without the white space between its tokens, as text.
pub fn compact(json: &[u8]) -> String {
    String::from_utf8(compact_bytes(json))
        .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
}

/// Returns valid JSON text without the white space between its tokens.
pub fn compact_bytes(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    let mut rest = json;
    while let Some((&first, tail)) = rest.split_first() {
        match first {
            b' ' | b'\n' | b'\r' | b'\t' => rest = tail,
            b'"' => {
                let mut scanner = Scanner::new(rest);
                let end = if scanner.string().is_ok() { scanner.offset() } else { rest.len() };
                let (string, after) = rest.split_at(end);
                out.extend_from_slice(string);
                rest = after;
            }
            _ => {
                out.push(first);
                rest = tail;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn of_equal_keys_the_last_is_kept_in_the_place_of_the_first() {
        // Few and many keys take different paths.
        for count in [1, 15, 16, 17, 1000] {
            let mut text = String::from("{");
            for round in 0..2 {
                for key in 0..count {
                    let _written = write!(text, "\"k{key}\":{},", round * count + key);
                }
            }
            text.push_str("\"last\":null}");
            let JsonTree::Object(fields) = JsonTree::parse(text.as_bytes()).unwrap() else {
                panic!("no object")
            };
            assert_eq!(fields.len(), count + 1);
            for (at, (key, value)) in fields.iter().take(count).enumerate() {
                assert_eq!(*key, format!("k{at}"));
                assert_eq!(*value, JsonTree::Number((count + at).to_string()));
            }
        }
    }

    #[test]
    fn an_object_of_many_keys_takes_time_in_proportion() {
        let object = |count: usize| {
            let field = |key: usize| format!("\"key number {key}\":{key}");
            format!("{{{}}}", (0..count).map(field).collect::<Vec<_>>().join(","))
        };
        let took = |text: &str| {
            let runs = (0..3).map(|_| {
                let start = std::time::Instant::now();
                JsonTree::parse(text.as_bytes()).unwrap();
                start.elapsed()
            });
            runs.min().unwrap_or_default().as_secs_f64()
        };
        let (small, large) = (object(20_000), object(80_000));
        // Four times the keys; sixteen times the time if each were compared with all before. Tried again where other work
        // on the machine may have slowed down one of the two.
        let ratios: Vec<f64> = (0..6)
            .map(|_| took(&large) / took(&small))
            .scan(true, |more, ratio| std::mem::replace(more, ratio >= 9.0).then_some(ratio))
            .collect();
        assert!(ratios.last().is_some_and(|ratio| *ratio < 9.0), "{ratios:?}");
    }
}
