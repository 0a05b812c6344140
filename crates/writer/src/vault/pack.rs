//! Bytes to zstd frames and back, a piece at a time.

use std::io::{self, Read, Write};

use crate::change::Hash;
use crate::change::state::{Hasher, pour};

/// Fast, and small enough for text.
const LEVEL: i32 = 6;

/// A written frame.
pub(super) struct Frame {
    pub(super) bytes: u64,
    pub(super) hash: Hash,
    /// Its length.
    pub(super) packed: u64,
}

/// Packs all of `input` as one frame, and adds it to `whole`.
pub(super) fn pack(
    input: &mut dyn Read,
    out: &mut dyn Write,
    whole: &mut Hasher,
) -> io::Result<Frame> {
    let mut own = Hasher::default();
    let mut encoder = zstd::Encoder::new(Counted { out, bytes: 0 }, LEVEL)?;
    encoder.include_checksum(true)?;
    pour(input, u64::MAX, |piece| {
        own.update(piece);
        whole.update(piece);
        encoder.write_all(piece)
    })?;
    let packed = encoder.finish()?.bytes;
    Ok(Frame { bytes: own.bytes(), hash: own.hash(), packed })
}

/// Reads the content packed in the first bytes of an input.
pub(crate) fn unpacked<'a>(
    input: Box<dyn Read + 'a>,
    packed: u64,
) -> io::Result<Box<dyn Read + 'a>> {
    Ok(Box::new(zstd::Decoder::new(input.take(packed))?))
}

struct Counted<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
