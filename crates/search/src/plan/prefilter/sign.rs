//! Finds the bytes of a file that need a closer check, many at a time.

use std::sync::OnceLock;

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x64};

/// The pattern of two adjacent bytes of which the first may be, or begin, the searched letter.
#[derive(Clone, Copy, Debug)]
pub(in crate::plan) enum Sign {
    /// An ASCII letter followed by the next one, or by what may be between them; an escape; any character that is not
    /// ASCII. Both letters have the lower-case bit set.
    Plain { own: u8, next: u8 },
    /// An ASCII letter followed by another. Both have the lower-case bit set.
    Pair { own: u8, next: u8 },
    /// A character that begins with these bytes, one that represents such characters, or an escape.
    Han { first: u8, second: u8 },
    /// Any character that is not ASCII, or an escape.
    Foreign,
}

const BLOCK: usize = 64;

impl Sign {
    /// Whether `look` accepts any candidate byte.
    pub(in crate::plan) fn any(self, bytes: &[u8], mut look: impl FnMut(usize) -> bool) -> bool {
        static LEVEL: OnceLock<Level> = OnceLock::new();
        let level = *LEVEL.get_or_init(Level::new);
        let mut at = 0;
        loop {
            let block;
            (block, at) = dispatch!(level, simd => self.next(simd, bytes, at));
            let Some(mut signs) = block else { break };
            let start = at - BLOCK;
            while signs != 0 {
                if look(start + signs.trailing_zeros() as usize) {
                    return true;
                }
                signs &= signs - 1;
            }
        }
        (at..bytes.len()).any(look)
    }

    /// Returns the next block with candidates, as a bit mask, and where it ends; at the end, `None` and the rest.
    #[expect(
        clippy::inline_always,
        reason = "the vector width is that of the caller it is inlined into"
    )]
    #[inline(always)]
    fn next<S: Simd>(self, simd: S, bytes: &[u8], mut at: usize) -> (Option<u64>, usize) {
        loop {
            let block = |from: usize| bytes.get(from..).and_then(<[u8]>::first_chunk::<BLOCK>);
            let (Some(first), Some(second)) = (block(at), block(at + 1)) else {
                return (None, at);
            };
            let signs = self.signs(simd, first, second);
            at += BLOCK;
            if signs != 0 {
                return (Some(signs), at);
            }
        }
    }

    #[expect(
        clippy::inline_always,
        reason = "the vector width is that of the caller it is inlined into"
    )]
    #[inline(always)]
    fn signs<S: Simd>(self, simd: S, first: &[u8; BLOCK], second: &[u8; BLOCK]) -> u64 {
        let (a, b) = (u8x64::from_slice(simd, first), u8x64::from_slice(simd, second));
        let all = |byte: u8| u8x64::splat(simd, byte);
        let signs = match self {
            Self::Pair { own, next } => {
                let lower = all(0x20);
                let pair = (a | lower).simd_eq(all(own)) & (b | lower).simd_eq(all(next));
                return pair.to_bitmask();
            }
            Self::Plain { own, next } => {
                // What may be inside a word is in these ranges; a space is not.
                let continues = (b | all(0x20)).simd_eq(all(next))
                    | (b - all(0x21)).simd_lt(all(b'/' - 0x21))
                    | (b & all(0xfc)).simd_eq(all(b'\\'))
                    | b.simd_ge(all(0x80));
                (a | all(0x20)).simd_eq(all(own)) & continues | a.simd_ge(all(0xc2))
            }
            Self::Han { first, second } => {
                a.simd_eq(all(first)) & b.simd_eq(all(second))
                    | a.simd_eq(all(0xef)) & (b - all(0xa4)).simd_lt(all(8))
                    | a.simd_eq(all(0xf0)) & b.simd_eq(all(0xaf))
            }
            Self::Foreign => a.simd_ge(all(0xc2)),
        };
        let escape = a.simd_eq(all(b'\\')) & b.simd_eq(all(b'u'));
        (signs | escape).to_bitmask()
    }
}
