//! Which segments of the index are merged, and when.

use tantivy::index::SegmentMeta;
use tantivy::indexer::{LogMergePolicy, MergeCandidate, MergePolicy};

/// If more than this share of messages is removed, a segment is rewritten.
const REMOVED_SHARE: f32 = 0.3;
/// The number of messages from which a segment is large: merging several takes seconds.
const LARGE: usize = 4_000;
/// Up to this number of segments, large ones stay as they are: a search takes hardly longer.
const MAX_SEGMENTS: usize = 24;

/// Merges small segments as soon as there are several, and large ones only when there are many.
#[derive(Debug)]
pub(super) struct Merging {
    small: LogMergePolicy,
    all: LogMergePolicy,
}

impl Default for Merging {
    fn default() -> Self {
        let mut all = LogMergePolicy::default();
        all.set_del_docs_ratio_before_merge(REMOVED_SHARE);
        let mut small = all.clone();
        small.set_max_docs_before_merge(LARGE);
        Self { small, all }
    }
}

impl MergePolicy for Merging {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let shrunk = |segment: &SegmentMeta| {
            #[expect(clippy::cast_precision_loss, reason = "a share needs no exact numbers")]
            let share = segment.num_deleted_docs() as f32 / segment.max_doc().max(1) as f32;
            share > REMOVED_SHARE
        };
        let policy = if segments.len() > MAX_SEGMENTS || segments.iter().any(shrunk) {
            &self.all
        } else {
            &self.small
        };
        policy.compute_merge_candidates(segments)
    }
}

#[cfg(test)]
mod tests {
    use tantivy::schema::{INDEXED, Schema};
    use tantivy::{Index, TantivyDocument, Term};

    use super::*;

    /// Returns the segments of an index: their messages, and how many of those are removed.
    fn segments(segments: &[(u64, u64)]) -> Vec<SegmentMeta> {
        let mut schema = Schema::builder();
        let number = schema.add_u64_field("number", INDEXED);
        let index = Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads(1, 15 << 20).unwrap();
        writer.set_merge_policy(Box::new(tantivy::indexer::NoMergePolicy));
        for (at, &(messages, removed)) in (0..).zip(segments) {
            for message in 0..messages {
                let key = (at << 32) + u64::from(message >= removed);
                let mut document = TantivyDocument::new();
                document.add_u64(number, key);
                writer.add_document(document).unwrap();
            }
            writer.commit().unwrap();
            writer.delete_term(Term::from_field_u64(number, at << 32));
        }
        writer.commit().unwrap();
        index.searchable_segment_metas().unwrap()
    }

    /// Returns the number of segments in each merge.
    fn merges(of: &[(u64, u64)]) -> Vec<usize> {
        let candidates = Merging::default().compute_merge_candidates(&segments(of));
        candidates.iter().map(|candidate| candidate.0.len()).collect()
    }

    #[test]
    fn large_segments_of_a_first_build_stay_as_they_are() {
        assert_eq!(merges(&[(4_001, 0); 12]), [0; 0]);
    }

    #[test]
    fn small_segments_are_merged_beside_large_ones() {
        let mut all = vec![(4_001, 0); 9];
        all.extend([(3, 0); 8]);
        assert_eq!(merges(&all), [8]);
        all.pop();
        assert_eq!(merges(&all), [0; 0]);
    }

    #[test]
    fn many_segments_are_merged_whatever_their_size() {
        assert_eq!(merges(&[(4_001, 0); 24]), [0; 0]);
        assert_eq!(merges(&[(4_001, 0); 25]), [25]);
    }

    #[test]
    fn a_segment_with_many_removed_messages_is_rewritten() {
        assert_eq!(merges(&[(4_001, 1_000)]), [0; 0]);
        assert_eq!(merges(&[(4_001, 1_500)]), [1]);
    }
}
