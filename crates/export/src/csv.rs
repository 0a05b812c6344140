//! CSV as in RFC 4180, safe to open in a spreadsheet and to show in a terminal.
//!
//! Text that a spreadsheet would read as a formula gets a leading apostrophe, and control characters are made visible. Use
//! `--json` for the exact bytes.

use std::io::{self, Write};

use crate::text::{Bidi, visible};

/// Characters that begin a formula in a spreadsheet.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Writes one row: each cell is text, which is escaped, or a number.
pub fn row<'a>(
    out: &mut (impl Write + ?Sized),
    cells: impl IntoIterator<Item = CsvCell<'a>>,
) -> io::Result<()> {
    for (at, cell) in cells.into_iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        match cell {
            CsvCell::Number(number) => out.write_all(number.as_bytes())?,
            CsvCell::Text(text) => write_text(out, text)?,
        }
    }
    out.write_all(b"\r\n")
}

/// One cell.
#[derive(Clone, Debug)]
pub enum CsvCell<'a> {
    /// A number, or empty.
    Number(String),
    /// Untrusted text.
    Text(&'a str),
}

fn write_text(out: &mut (impl Write + ?Sized), text: &str) -> io::Result<()> {
    let apostrophe = if text.starts_with(FORMULA) { "'" } else { "" };
    let safe = visible(text, Bidi::Shown);
    if safe.contains(['"', ',', '\n', '\r']) {
        return write!(out, "\"{apostrophe}{}\"", safe.replace('"', "\"\""));
    }
    write!(out, "{apostrophe}{safe}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_where_needed_and_never_a_formula() {
        for (text, written) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\tx", "'\tx"),
            ("\rx", "'␍x"),
            ("=HYPERLINK(\"a\",\"b\")", "\"'=HYPERLINK(\"\"a\"\",\"\"b\"\")\""),
            ("\x1b[2J", "␛[2J"),
            ("", ""),
        ] {
            let mut out = Vec::new();
            row(&mut out, [CsvCell::Text(text), CsvCell::Number("-1".into())]).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), format!("{written},-1\r\n"), "{text:?}");
        }
    }
}
