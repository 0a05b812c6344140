//! What is on a page: a part of a tree, with rows at its leaves.

use std::ops::Range;

/// Where the tree begins on the first page, after the header of the database.
const BEHIND_HEADER: usize = 100;

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Text(String),
    /// A number with a fraction, or bytes.
    Other,
}

impl Value {
    /// Returns it if it is a text.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

/// What a page of a table's tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageKind {
    Interior,
    Leaf,
}

/// The header of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreePage {
    pub(super) kind: PageKind,
    /// Where the places of the cells begin.
    cells: usize,
    count: usize,
    last_child: u32,
}

impl TreePage {
    /// Reads the header; `None` of a page that is no part of a table.
    pub(super) fn read(page: &[u8], number: u32) -> Option<Self> {
        let start = if number == 1 { BEHIND_HEADER } else { 0 };
        let (kind, header) = match page.get(start)? {
            0x05 => (PageKind::Interior, 12),
            0x0d => (PageKind::Leaf, 8),
            _ => return None,
        };
        let count = usize::from(short(page, start + 3)?);
        let last_child = match kind {
            PageKind::Interior => big_endian(page, start + 8)?,
            PageKind::Leaf => 0,
        };
        Some(Self { kind, cells: start + header, count, last_child })
    }

    /// Lists where the cells begin.
    pub(super) fn cells(&self, page: &[u8]) -> Vec<usize> {
        let place = |at: usize| short(page, self.cells + 2 * at).map(usize::from);
        (0..self.count).map_while(place).collect()
    }

    /// Lists the pages below.
    pub(super) fn children(&self, page: &[u8]) -> Vec<u32> {
        let cells = self.cells(page).into_iter();
        cells.filter_map(|cell| big_endian(page, cell)).chain([self.last_child]).collect()
    }
}

/// The part of a row that is on its own page.
pub(super) struct LocalPayload {
    pub(super) bytes: Range<usize>,
    /// How long the whole row is.
    pub(super) total: usize,
    /// The page with more of it; 0 for none.
    pub(super) overflow: u32,
}

impl LocalPayload {
    pub(super) fn read(page: &[u8], cell: usize, usable: usize) -> Option<Self> {
        let (total, at) = varint(page, cell)?;
        let (_, start) = varint(page, at)?;
        let total = usize::try_from(total).ok()?;
        let most = usable.checked_sub(35)?;
        if total <= most {
            return Some(Self { bytes: start..start + total, total, overflow: 0 });
        }
        let least = (usable.checked_sub(12)? * 32 / 255).checked_sub(23)?;
        let fitting = least + (total - least) % (usable - 4);
        let here = if fitting <= most { fitting } else { least };
        let end = start.checked_add(here)?;
        Some(Self { bytes: start..end, total, overflow: big_endian(page, end)? })
    }
}

/// Reads some columns of a row, in the order in which they are asked for.
pub(super) fn values(payload: &[u8], columns: &[usize]) -> Vec<Value> {
    let mut values = vec![Value::Null; columns.len()];
    let Some((header, mut at)) = varint(payload, 0) else { return values };
    let Ok(header) = usize::try_from(header) else { return values };
    let mut body = header;
    let mut column = 0;
    while at < header.min(payload.len()) {
        let Some((kind, next)) = varint(payload, at) else { break };
        let Some(length) = length(kind) else { break };
        for (slot, wanted) in values.iter_mut().zip(columns) {
            if *wanted == column {
                *slot = value(payload, body, kind, length);
            }
        }
        let Some(end) = body.checked_add(length) else { break };
        (body, at, column) = (end, next, column + 1);
    }
    values
}

/// Returns how many bytes a value of a kind takes.
fn length(kind: u64) -> Option<usize> {
    let length = match kind {
        0 | 8 | 9 => 0,
        1..=4 => kind,
        5 => 6,
        6 | 7 => 8,
        10 | 11 => return None,
        _ => (kind - 12) / 2,
    };
    usize::try_from(length).ok()
}

fn value(payload: &[u8], at: usize, kind: u64, length: usize) -> Value {
    let Some(bytes) = at.checked_add(length).and_then(|end| payload.get(at..end)) else {
        return Value::Null;
    };
    match kind {
        0 => Value::Null,
        8 => Value::Integer(0),
        9 => Value::Integer(1),
        1..=6 => Value::Integer(integer(bytes)),
        _ if kind >= 13 && kind % 2 == 1 => {
            Value::Text(String::from_utf8_lossy(bytes).into_owned())
        }
        _ => Value::Other,
    }
}

/// Reads a number of up to eight bytes, the first of which has its sign.
fn integer(bytes: &[u8]) -> i64 {
    let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
    bytes.iter().fold(sign, |number, byte| number << 8 | i64::from(*byte))
}

/// Reads a number of up to nine bytes, and where it ends.
fn varint(bytes: &[u8], start: usize) -> Option<(u64, usize)> {
    let mut number = 0_u64;
    for at in 0..8 {
        let byte = *bytes.get(start.checked_add(at)?)?;
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, start + at + 1));
        }
    }
    let last = *bytes.get(start.checked_add(8)?)?;
    Some((number << 8 | u64::from(last), start + 9))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes: [u8; 2] = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
    Some(u16::from_be_bytes(bytes))
}

/// Reads a number of four bytes.
pub(super) fn big_endian(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_be_bytes(bytes))
}
