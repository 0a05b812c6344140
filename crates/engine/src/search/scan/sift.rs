//! Selects groups of files that may match, by their bytes alone.

use std::io::Read as _;
use std::path::Path;
use std::sync::OnceLock;

use recount_formats::Source;
use recount_formats::bytes::Input;
use recount_search::Prefilter;

use crate::snapshot::disk_scan::{DiskSnapshot, Group};

/// The read size; small enough for the processor's cache.
const PIECE: usize = 256 * 1024;

/// Excludes groups that cannot match.
#[derive(Debug)]
pub(super) struct ByteFilter<'a> {
    disk: &'a DiskSnapshot,
    filter: Option<Prefilter>,
    /// Per project directory: the conditions that tool outputs beside its sessions meet.
    beside: Vec<OnceLock<Vec<bool>>>,
}

impl<'a> ByteFilter<'a> {
    pub(super) fn new(disk: &'a DiskSnapshot, filter: Option<Prefilter>) -> Self {
        let beside = disk.folders.iter().map(|_| OnceLock::new()).collect();
        Self { disk, filter, beside }
    }

    /// Whether a session of the group may match.
    pub(super) fn may_hold(&self, group: &Group, piece: &mut Vec<u8>) -> bool {
        let Some(filter) = &self.filter else { return true };
        (0..filter.conditions()).all(|condition| {
            let mut is_met = |path: &Path| is_met(filter, condition, path, piece);
            group.files.iter().any(|(_, file)| is_met(&file.path))
                || group.files.iter().any(|(folder, _)| self.is_met_beside(*folder, condition))
        })
    }

    /// Whether a message may match, by the bytes of its record. Its output may be elsewhere.
    pub(super) fn may_hold_record(&self, source: &dyn Source, record: &[u8]) -> bool {
        let may_hold = |filter: &Prefilter| filter.may_hold(record) || source.may_be_cut(record);
        self.filter.as_ref().is_none_or(may_hold)
    }

    fn is_met_beside(&self, folder: usize, condition: usize) -> bool {
        let Some(slot) = self.beside.get(folder) else { return false };
        let met = slot.get_or_init(|| self.met_beside(folder));
        met.get(condition).copied().unwrap_or(false)
    }

    fn met_beside(&self, folder: usize) -> Vec<bool> {
        let (Some(filter), Some(folder)) = (&self.filter, self.disk.folders.get(folder)) else {
            return Vec::new();
        };
        let outputs = folder.source.outputs(&folder.at);
        let mut piece = Vec::new();
        let any =
            |condition| outputs.iter().any(|path| is_met(filter, condition, path, &mut piece));
        (0..filter.conditions()).map(any).collect()
    }
}

/// Whether a file may meet a condition. An unreadable one may: reading it reports the problem.
fn is_met(filter: &Prefilter, condition: usize, path: &Path, piece: &mut Vec<u8>) -> bool {
    let Ok(mut file) = Input::open(path) else { return true };
    piece.resize(PIECE, 0);
    let mut kept = 0;
    loop {
        let Some(free) = piece.get_mut(kept..) else { return true };
        let filled = match file.read(free) {
            Ok(0) => return false,
            Ok(count) => kept + count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return true,
        };
        if filter.is_met(condition, piece.get(..filled).unwrap_or_default()) {
            return true;
        }
        let from = filled.saturating_sub(Prefilter::OVERLAP);
        piece.copy_within(from..filled, 0);
        kept = filled - from;
    }
}

#[cfg(test)]
mod tests {
    use jiff::Zoned;
    use recount_search::SearchQuery;
    use recount_testkit::Home;

    use super::*;

    #[test]
    fn a_word_on_the_border_of_two_pieces_is_seen() {
        let home = Home::empty();
        let plan =
            SearchQuery::parse("xylograph").unwrap().plan(&Zoned::default(), &mut |_| vec![]);
        let filter = plan.prefilter().unwrap();
        let path = home.path().join("file");
        for at in [0, PIECE - 9, PIECE - 8, PIECE - 1, PIECE, 2 * PIECE - Prefilter::OVERLAP - 3] {
            let blank = " ".repeat(at);
            home.write("file", [&blank, "xylo_graph", "  "].concat());
            assert!(is_met(&filter, 0, &path, &mut Vec::new()), "at {at}");
            home.write("file", [&blank, "xylo graph", "  "].concat());
            assert!(!is_met(&filter, 0, &path, &mut Vec::new()), "at {at}");
        }
    }
}
