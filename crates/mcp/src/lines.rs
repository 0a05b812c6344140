//! Lines of bounded length.

use std::io::{self, BufRead};

/// The longest line that is read: no question is nearly as long.
pub(crate) const LONGEST: usize = 4 * 1024 * 1024;

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputLine {
    /// Its bytes, without the line end.
    Whole(Vec<u8>),
    /// It was longer than [`LONGEST`], and was skipped.
    TooLong,
}

/// Reads the next line. `None` at the end.
pub(crate) fn next(input: &mut impl BufRead) -> io::Result<Option<InputLine>> {
    let mut line = Vec::new();
    let (mut is_long, mut is_empty) = (false, true);
    loop {
        let bytes = match input.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if bytes.is_empty() {
            break;
        }
        is_empty = false;
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        is_long = is_long || line.len() + part.len() > LONGEST;
        if is_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(match (is_empty, is_long) {
        (true, _) => None,
        (_, true) => Some(InputLine::TooLong),
        (_, false) => Some(InputLine::Whole(line)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_skipped_and_the_next_is_read() {
        let mut text = b"one\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', 10_000_000));
        text.extend(b"\n\nlast");
        let mut input = io::BufReader::new(text.as_slice());
        let whole = |text: &str| Some(InputLine::Whole(text.as_bytes().to_vec()));
        assert_eq!(next(&mut input).unwrap(), whole("one"));
        assert_eq!(next(&mut input).unwrap(), Some(InputLine::TooLong));
        assert_eq!(next(&mut input).unwrap(), whole(""));
        assert_eq!(next(&mut input).unwrap(), whole("last"));
        assert_eq!(next(&mut input).unwrap(), None);
    }
}
