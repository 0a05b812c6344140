//! Rows as they are kept: some twenty bytes each, read back without a step per field, since a session of some hundred megabytes
//! has a hundred thousand of them and is continued with every line that it grows by.

use recount_model::{MessageKind, Span};

use super::state::{Level, Parent, RowId, RowKind, TreeRow};

/// It continues the row before it.
const FOLLOWS: u8 = 1;
const TIMED: u8 = 1 << 1;
const SIDECHAIN: u8 = 1 << 2;
const ANSWER: u8 = 1 << 3;
const BLOCK: u8 = 1 << 4;
const RESULTS: u8 = 1 << 5;

/// What rows may be; each is written as its place here.
const KINDS: [RowKind; 17] = [
    RowKind::Message(MessageKind::Prompt),
    RowKind::Message(MessageKind::Answer),
    RowKind::Message(MessageKind::Context),
    RowKind::Message(MessageKind::Hook),
    RowKind::Message(MessageKind::ToolResult),
    RowKind::Message(MessageKind::Shell),
    RowKind::Message(MessageKind::Notice),
    RowKind::Message(MessageKind::Summary),
    RowKind::Message(MessageKind::Nudge),
    RowKind::Notice(Level::Info),
    RowKind::Notice(Level::Warning),
    RowKind::Notice(Level::Error),
    RowKind::Answer,
    RowKind::Results,
    RowKind::ResultsAndPrompt,
    RowKind::Boundary,
    RowKind::Hidden,
];

/// What a row is written as the difference to.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    line: u32,
    /// Where the row before it ends.
    end: u64,
    time: i64,
    answer: u32,
    /// Where the results before it end.
    results: u32,
}

impl Before {
    fn advance(&mut self, row: &TreeRow) {
        self.line = row.span.line;
        self.end = row.span.offset.wrapping_add(row.span.bytes);
        self.time = row.time.unwrap_or(self.time);
        self.answer = row.answer.unwrap_or(self.answer);
        if row.results.0 < row.results.1 {
            self.results = row.results.1;
        }
    }
}

/// Packs rows.
pub(super) fn pack(rows: &[TreeRow]) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len() * 12);
    let mut before = Before::default();
    for (number, row) in rows.iter().enumerate() {
        pack_row(&mut out, number, row, before);
        before.advance(row);
    }
    out
}

fn pack_row(out: &mut Vec<u8>, number: usize, row: &TreeRow, before: Before) {
    let last = u32::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let follows = last.is_some_and(|last| row.parent == Parent::Row(last));
    let (has_block, has_results) = (row.block != 0, row.results.0 < row.results.1);
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    out.push(
        flag(follows, FOLLOWS)
            | flag(row.time.is_some(), TIMED)
            | flag(row.is_sidechain, SIDECHAIN)
            | flag(row.answer.is_some(), ANSWER)
            | flag(has_block, BLOCK)
            | flag(has_results, RESULTS),
    );
    let kind = KINDS.iter().position(|kind| *kind == row.what).unwrap_or(KINDS.len() - 1);
    out.push(u8::try_from(kind).unwrap_or_default());
    if !follows {
        pack_parent(out, row.parent);
    }
    put(out, u64::from(row.span.line.wrapping_sub(before.line)));
    put(out, row.span.offset.wrapping_sub(before.end));
    put(out, row.span.bytes);
    if let Some(time) = row.time {
        put(out, zigzag(time.wrapping_sub(before.time)));
    }
    if let Some(answer) = row.answer {
        put(out, u64::from(answer.wrapping_sub(before.answer)));
    }
    if has_block {
        put(out, u64::from(row.block));
    }
    if has_results {
        put(out, u64::from(row.results.0.wrapping_sub(before.results)));
        put(out, u64::from(row.results.1 - row.results.0));
    }
}

fn pack_parent(out: &mut Vec<u8>, parent: Parent) {
    match parent {
        Parent::None => out.push(0),
        Parent::Row(row) => {
            out.push(1);
            put(out, u64::from(row));
        }
        Parent::Id(id) => {
            out.push(2);
            out.extend_from_slice(id.bytes());
        }
        Parent::Before(id) => {
            out.push(3);
            out.extend_from_slice(id.bytes());
        }
    }
}

/// Unpacks rows. `None` when they are not understood.
pub(super) fn unpack(content: &[u8], count: usize) -> Option<Vec<TreeRow>> {
    // A row takes five bytes at least, so that a count that is wrong takes no memory.
    let mut rows = Vec::with_capacity(count.min(content.len() / 5));
    let mut rest = Packed(content);
    let mut before = Before::default();
    for number in 0..count {
        let row = rest.row(number, before)?;
        before.advance(&row);
        rows.push(row);
    }
    rest.0.is_empty().then_some(rows)
}

/// Bytes that are being read.
struct Packed<'a>(&'a [u8]);

impl Packed<'_> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    #[inline]
    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn row(&mut self, number: usize, before: Before) -> Option<TreeRow> {
        let flags = self.byte()?;
        let has = |flag: u8| flags & flag != 0;
        let what = *KINDS.get(usize::from(self.byte()?))?;
        let parent = if has(FOLLOWS) {
            Parent::Row(u32::try_from(number.checked_sub(1)?).ok()?)
        } else {
            self.parent()?
        };
        let line = before.line.wrapping_add(self.small()?);
        let offset = before.end.wrapping_add(self.number()?);
        let span = Span { line, offset, bytes: self.number()? };
        let time = if has(TIMED) { Some(before.time.wrapping_add(self.signed()?)) } else { None };
        let answer =
            if has(ANSWER) { Some(before.answer.wrapping_add(self.small()?)) } else { None };
        let block = if has(BLOCK) { self.small()? } else { 0 };
        let results = if has(RESULTS) {
            let start = before.results.wrapping_add(self.small()?);
            (start, start.checked_add(self.small()?)?)
        } else {
            (0, 0)
        };
        let is_sidechain = has(SIDECHAIN);
        Some(TreeRow { parent, time, span, what, is_sidechain, answer, block, results })
    }

    fn parent(&mut self) -> Option<Parent> {
        Some(match self.byte()? {
            0 => Parent::None,
            1 => Parent::Row(self.small()?),
            2 => Parent::Id(self.id()?),
            3 => Parent::Before(self.id()?),
            _ => return None,
        })
    }

    fn id(&mut self) -> Option<RowId> {
        let (id, rest) = self.0.split_first_chunk::<16>()?;
        self.0 = rest;
        Some(RowId::from_bytes(*id))
    }

    #[inline]
    fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<TreeRow> {
        let id = RowId::from_bytes([7; 16]);
        let mut rows = Vec::new();
        for (number, what) in (0_u32..).zip(KINDS) {
            let parent = match number {
                0 => Parent::None,
                1..4 => Parent::Row(number - 1),
                4 => Parent::Row(0),
                5 => Parent::Id(id),
                _ => Parent::Before(id),
            };
            rows.push(TreeRow {
                parent,
                time: (number % 3 != 0).then_some(i64::from(number) * -1_000_000_007),
                span: Span { line: number * 3, offset: u64::from(number) * 1000, bytes: 900 },
                what,
                is_sidechain: number % 2 == 0,
                answer: (number % 4 == 1).then_some(u32::MAX - number),
                block: number % 5,
                results: if number % 3 == 1 { (number, number + 2) } else { (0, 0) },
            });
        }
        let last = Span { line: u32::MAX, offset: u64::MAX, bytes: u64::MAX };
        rows.push(TreeRow { span: last, time: Some(i64::MIN), ..rows[1].clone() });
        rows.push(TreeRow { time: Some(i64::MAX), ..rows[0].clone() });
        rows
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let rows = rows();
        assert_eq!(unpack(&pack(&rows), rows.len()).unwrap(), rows);
        assert_eq!(unpack(&[], 0).unwrap(), []);
    }

    #[test]
    fn what_is_cut_or_damaged_is_refused_or_read_without_a_panic() {
        let rows = rows();
        let content = pack(&rows);
        for end in 0..content.len() {
            assert_eq!(unpack(&content[..end], rows.len()), None, "{end}");
        }
        assert_eq!(unpack(&content, rows.len() - 1), None);
        assert_eq!(unpack(&content, usize::MAX), None);
        for at in 0..content.len() {
            let mut bad = content.clone();
            bad[at] ^= 0xff;
            let _any = unpack(&bad, rows.len());
        }
    }
}
