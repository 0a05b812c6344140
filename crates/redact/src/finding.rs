//! Findings, and how overlapping ones are merged.

use std::ops::Range;

use crate::kind::SecretKind;
use crate::tags::{LONGEST_LABEL, tag_end};

/// A range of text to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFinding {
    /// What it is.
    pub kind: SecretKind,
    /// Its byte range.
    pub range: Range<usize>,
    /// The common prefix of all keys of its issuer, at most four characters; empty if there is none.
    pub prefix: &'static str,
}

/// Sorts findings. Overlapping ones are merged into one of the most certain kind: a part of a secret is still a secret.
/// Tags that are already in the text are kept.
pub(crate) fn settle(mut found: Vec<SecretFinding>, text: &str) -> Vec<SecretFinding> {
    found.sort_by_key(|finding| (finding.range.start, finding.kind));
    let mut merged: Vec<SecretFinding> = Vec::with_capacity(found.len());
    for finding in found {
        match merged.last_mut() {
            Some(last) if finding.range.start < last.range.end => {
                if finding.kind < last.kind {
                    last.kind = finding.kind;
                    last.prefix = finding.prefix;
                }
                last.range.end = last.range.end.max(finding.range.end);
            }
            _ => merged.push(finding),
        }
    }
    let mut settled = Vec::with_capacity(merged.len());
    for finding in &merged {
        around_tags(finding, text, &mut settled);
    }
    settled
}

/// Adds the parts of a finding that are outside of tags and not empty.
fn around_tags(finding: &SecretFinding, text: &str, settled: &mut Vec<SecretFinding>) {
    let bytes = text.as_bytes();
    let mut at = finding.range.start.saturating_sub(LONGEST_LABEL + 12);
    let mut from = finding.range.start;
    let mut piece = |range: Range<usize>| {
        let held = text.get(range.clone()).unwrap_or_default();
        if held.chars().any(char::is_alphanumeric) {
            settled.push(SecretFinding { range, ..finding.clone() });
        }
    };
    while at < finding.range.end {
        let end = tag_end(bytes, at);
        if let Some(end) = end {
            if from < at {
                piece(from..at);
            }
            from = from.max(end);
        }
        at = end.unwrap_or(at + 1);
    }
    if from < finding.range.end {
        piece(from..finding.range.end);
    }
}
