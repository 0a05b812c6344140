//! Many bytes at a time: the ends of strings and of white space.
//!
//! Long strings, which are most of a session, use the widest vectors of the processor; keys and white space are too short
//! for this choice to pay off.

use std::sync::OnceLock;

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x64};
use wide::u8x16;

use super::{JsonScan, ScanError};

/// Returns the position of the first byte from `at` on that is not white space.
#[inline]
pub(super) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        let block = u8x16::new(*block);
        let space = block.simd_eq(u8x16::splat(b' '))
            | block.simd_eq(u8x16::splat(b'\n'))
            | block.simd_eq(u8x16::splat(b'\r'))
            | block.simd_eq(u8x16::splat(b'\t'));
        let other = !space.to_bitmask() & 0xffff;
        if other != 0 {
            return at + other.trailing_zeros() as usize;
        }
        at += 16;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count()
}

/// Finds the quote that ends the string whose content begins at `start`, and checks escapes and control characters. Returns
/// its position and whether there was an escape.
#[expect(
    clippy::inline_always,
    reason = "the result stays in registers; through memory it costs as much as the work"
)]
#[inline(always)]
pub(super) fn string_end(bytes: &[u8], start: usize) -> JsonScan<(usize, bool)> {
    // Most strings are keys, ids and times: short, without escapes.
    let mut at = start;
    for _ in 0..SHORT_BLOCKS {
        let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<32>) else { break };
        let (quote, special) = short_block(block);
        if special != 0 {
            let first = special.trailing_zeros();
            if quote >> first & 1 == 1 {
                return Ok((at + first as usize, false));
            }
            break;
        }
        at += 32;
    }
    // The bytes so far are plain.
    long_string_end(bytes, at).unpack()
}

/// The same for a key: nearly all are shorter than half a block of [`string_end`], and the second half is only looked at if they are not.
#[expect(clippy::inline_always, reason = "a few instructions for each key")]
#[inline(always)]
pub(super) fn key_end(bytes: &[u8], start: usize) -> JsonScan<(usize, bool)> {
    if let Some(block) = bytes.get(start..).and_then(<[u8]>::first_chunk::<32>) {
        let (quote, special) = half_block(block.first_chunk());
        if special != 0 {
            let first = special.trailing_zeros();
            if quote >> first & 1 == 1 {
                return Ok((start + first as usize, false));
            }
        } else {
            let (quote, special) = half_block(block.last_chunk());
            let first = special.trailing_zeros();
            if quote.checked_shr(first).unwrap_or_default() & 1 == 1 {
                return Ok((start + 16 + first as usize, false));
            }
        }
    }
    long_string_end(bytes, start).unpack()
}

/// The number of blocks that are checked before the widest vectors are used: enough for ids and times.
const SHORT_BLOCKS: usize = 2;

/// Returns the positions of quotes, and of the bytes that plain text does not have: quotes, backslashes and control
/// characters.
#[expect(clippy::inline_always, reason = "a few instructions for each key")]
#[inline(always)]
fn short_block(block: &[u8; 32]) -> (u32, u32) {
    let (low, high) = (half_block(block.first_chunk()), half_block(block.last_chunk()));
    (low.0 | high.0 << 16, low.1 | high.1 << 16)
}

#[expect(clippy::inline_always, reason = "a few instructions for each key")]
#[inline(always)]
fn half_block(half: Option<&[u8; 16]>) -> (u32, u32) {
    let half = u8x16::new(half.copied().unwrap_or_default());
    let quote = half.simd_eq(u8x16::splat(b'"'));
    // min(x, 0x1f) == x only for control characters; SSE2 has no unsigned comparison.
    let special =
        quote | half.simd_eq(u8x16::splat(b'\\')) | half.min(u8x16::splat(0x1f)).simd_eq(half);
    (quote.to_bitmask(), special.to_bitmask())
}

/// The result of [`string_end`], in one register.
#[derive(Clone, Copy, Debug)]
struct End(usize);

impl End {
    const INCOMPLETE: usize = usize::MAX;
    const SYNTAX: usize = usize::MAX - 1;

    fn pack(end: JsonScan<(usize, bool)>) -> Self {
        Self(match end {
            // No slice is longer than half of the address space.
            Ok((at, escaped)) => at << 1 | usize::from(escaped),
            Err(ScanError::Incomplete) => Self::INCOMPLETE,
            Err(ScanError::Syntax) => Self::SYNTAX,
        })
    }

    #[inline]
    fn unpack(self) -> JsonScan<(usize, bool)> {
        match self.0 {
            Self::INCOMPLETE => Err(ScanError::Incomplete),
            Self::SYNTAX => Err(ScanError::Syntax),
            end => Ok((end >> 1, end & 1 == 1)),
        }
    }
}

#[inline(never)]
fn long_string_end(bytes: &[u8], start: usize) -> End {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    let level = *LEVEL.get_or_init(Level::new);
    dispatch!(level, simd => End::pack(string_end_by_blocks(simd, bytes, start)))
}

#[expect(
    clippy::inline_always,
    reason = "the vector width is that of the caller it is inlined into"
)]
#[inline(always)]
fn string_end_by_blocks<S: Simd>(simd: S, bytes: &[u8], start: usize) -> JsonScan<(usize, bool)> {
    let mut at = start;
    let mut seen_escape = false;
    // Whether the previous block ended in a backslash that escapes the first byte of this one.
    let mut carry = 0;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<64>) {
        let block = u8x64::from_slice(simd, block);
        let mask = |byte: u8| block.simd_eq(u8x64::splat(simd, byte)).to_bitmask();
        let (quote, backslash) = (mask(b'"'), mask(b'\\'));
        let control = block.simd_lt(u8x64::splat(simd, 0x20)).to_bitmask();
        let escaped;
        (escaped, carry) = escaped_bytes(backslash, carry);
        seen_escape |= backslash != 0;
        let ends = (quote & !escaped) | control;
        let inside = if ends == 0 { u64::MAX } else { (1 << ends.trailing_zeros()) - 1 };
        let checked = escaped & inside & !(quote | backslash);
        // `\n` is by far the most frequent.
        if checked != 0 && checked & !mask(b'n') != 0 {
            check_escapes(bytes, at, checked)?;
        }
        if ends != 0 {
            let end = ends.trailing_zeros();
            let is_quote = control >> end & 1 == 0;
            return if is_quote {
                Ok((at + end as usize, seen_escape))
            } else {
                Err(ScanError::Syntax)
            };
        }
        at += 64;
    }
    last_bytes(bytes, at, carry == 1, seen_escape)
}

/// Returns which bytes are escaped: those after an odd run of backslashes. Runs that start on an odd bit are propagated by
/// an addition, as in simdjson (Langdale and Lemire, 2019).
#[inline]
fn escaped_bytes(backslash: u64, carry: u64) -> (u64, u64) {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    if backslash == 0 {
        return (carry, 0);
    }
    let backslash = backslash & !carry;
    let follows = backslash << 1 | carry;
    let odd_starts = backslash & !EVEN & !follows;
    let (even_runs, overflow) = odd_starts.overflowing_add(backslash);
    ((EVEN ^ (even_runs << 1)) & follows, u64::from(overflow))
}

/// The same, byte by byte, for what follows the last whole block.
fn last_bytes(
    bytes: &[u8],
    mut at: usize,
    mut escaped: bool,
    mut seen_escape: bool,
) -> JsonScan<(usize, bool)> {
    while let Some(&byte) = bytes.get(at) {
        if escaped {
            check_escape(bytes, at)?;
            escaped = false;
        } else if byte == b'"' {
            return Ok((at, seen_escape));
        } else if byte < 0x20 {
            return Err(ScanError::Syntax);
        } else if byte == b'\\' {
            escaped = true;
            seen_escape = true;
        }
        at += 1;
    }
    Err(ScanError::Incomplete)
}

fn check_escapes(bytes: &[u8], base: usize, mut mask: u64) -> JsonScan<()> {
    while mask != 0 {
        check_escape(bytes, base + mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
    }
    Ok(())
}

/// Checks the byte after a backslash, and the digits that `u` needs.
fn check_escape(bytes: &[u8], at: usize) -> JsonScan<()> {
    match bytes.get(at) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(()),
        Some(b'u') => {
            let digits = bytes.get(at + 1..).unwrap_or_default();
            let digits = digits.get(..4).unwrap_or(digits);
            if !digits.iter().all(u8::is_ascii_hexdigit) {
                return Err(ScanError::Syntax);
            }
            if digits.len() < 4 { Err(ScanError::Incomplete) } else { Ok(()) }
        }
        Some(_) => Err(ScanError::Syntax),
        None => Err(ScanError::Incomplete),
    }
}
