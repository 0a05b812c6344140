//! The write-ahead log of a database: pages that were committed and are not in its file yet.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::record::big_endian;
use crate::bytes;

const HEADER: usize = 32;
const FRAME: usize = 24;
const VERSION: u32 = 3_007_000;
/// Checksums are over numbers of the writer's byte order, which the first number of the log shows.
const LITTLE_ENDIAN: u32 = 0x377f_0682;
const BIG_ENDIAN: u32 = 0x377f_0683;
/// How much of a log is read. Programs let it grow to a few megabytes.
const LONGEST: u64 = 256 * 1024 * 1024;

/// The pages in a log.
#[derive(Debug)]
pub(super) struct Wal {
    file: File,
    page_size: usize,
    /// Where the newest committed version of each page is.
    places: HashMap<u32, u64>,
}

impl Wal {
    /// Reads which pages are in a log. Frames after the last commit do not count, nor do those of an earlier round.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut reader = BufReader::new(bytes::open(path)?);
        let mut header = [0; HEADER];
        reader.read_exact(&mut header)?;
        let number = |at| big_endian(&header, at).unwrap_or_default();
        let page_size = usize::try_from(number(8)).unwrap_or_default();
        let is_big = match number(0) {
            BIG_ENDIAN => true,
            LITTLE_ENDIAN => false,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        let is_size = (512..=65_536).contains(&page_size) && page_size.is_power_of_two();
        let mut sum = Checksum { is_big, one: 0, two: 0 };
        sum.add(header.get(..FRAME).unwrap_or_default());
        if number(4) != VERSION || !is_size || (sum.one, sum.two) != (number(24), number(28)) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let salt = header.get(16..24).unwrap_or_default();
        let mut places = HashMap::new();
        let mut waiting: Vec<(u32, u64)> = Vec::new();
        let mut offset = HEADER as u64;
        let mut frame = vec![0; FRAME + page_size];
        while offset < LONGEST && reader.read_exact(&mut frame).is_ok() {
            let number = |at| big_endian(&frame, at).unwrap_or_default();
            sum.add(frame.get(..8).unwrap_or_default());
            sum.add(frame.get(FRAME..).unwrap_or_default());
            let is_whole = (sum.one, sum.two) == (number(16), number(20));
            if frame.get(8..16) != Some(salt) || !is_whole {
                break;
            }
            waiting.push((number(0), offset + FRAME as u64));
            // A frame that ends a transaction says how large the database is.
            if number(4) != 0 {
                places.extend(waiting.drain(..));
            }
            offset += frame.len() as u64;
        }
        Ok(Self { file: reader.into_inner(), page_size, places })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn page_size(&self) -> usize {
        self.page_size
    }

    pub(super) fn pages(&self) -> u64 {
        self.places.len() as u64
    }

    pub(super) fn place(&self, page: u32) -> Option<u64> {
        self.places.get(&page).copied()
    }

    pub(super) fn read(&mut self, offset: u64, page: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(page)
    }
}

/// The checksum of a log, which continues from frame to frame.
struct Checksum {
    is_big: bool,
    one: u32,
    two: u32,
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        let is_big = self.is_big;
        let number = |bytes: [u8; 4]| {
            if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        let (mut one, mut two) = (self.one, self.two);
        for pair in bytes.chunks_exact(8) {
            let Some((first, second)) = pair.split_first_chunk::<4>() else { continue };
            let Ok(second) = second.try_into() else { continue };
            one = one.wrapping_add(number(*first)).wrapping_add(two);
            two = two.wrapping_add(number(second)).wrapping_add(one);
        }
        (self.one, self.two) = (one, two);
    }
}
