//! Counts findings by place and kind, without their text.

use std::collections::{BTreeMap, BTreeSet};

use crate::{SecretFinding, SecretKind};

/// The findings of one kind in one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Their number.
    pub times: usize,
    /// The prefixes of the keys among them, for issuers with a common prefix: at most four characters.
    pub prefixes: BTreeSet<&'static str>,
}

/// Findings by place and kind. Reports on parts of an export can be merged in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedactionReport {
    places: BTreeMap<String, BTreeMap<SecretKind, Count>>,
}

impl RedactionReport {
    /// Returns an empty report.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the findings in a place: a file, a message, or anything the caller can name.
    pub fn add(&mut self, place: &str, findings: &[SecretFinding]) {
        if findings.is_empty() {
            return;
        }
        let counts = self.places.entry(place.to_owned()).or_default();
        for finding in findings {
            let count = counts.entry(finding.kind).or_default();
            count.times += 1;
            if !finding.prefix.is_empty() {
                count.prefixes.insert(finding.prefix);
            }
        }
    }

    /// Adds another report.
    pub fn merge(&mut self, other: Self) {
        for (place, kinds) in other.places {
            let counts = self.places.entry(place).or_default();
            for (kind, more) in kinds {
                let count = counts.entry(kind).or_default();
                count.times += more.times;
                count.prefixes.extend(more.prefixes);
            }
        }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the counts, by place and then by kind.
    pub fn rows(&self) -> impl Iterator<Item = (&str, SecretKind, &Count)> {
        self.places.iter().flat_map(|(place, kinds)| {
            kinds.iter().map(move |(kind, count)| (place.as_str(), *kind, count))
        })
    }

    /// Returns the number of findings of each kind, in all places.
    pub fn totals(&self) -> BTreeMap<SecretKind, usize> {
        let mut totals = BTreeMap::new();
        for (_, kind, count) in self.rows() {
            *totals.entry(kind).or_default() += count.times;
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_in_any_order() {
        let finding = |kind, prefix| SecretFinding { kind, range: 0..1, prefix };
        let mut one = RedactionReport::new();
        one.add("a", &[finding(SecretKind::Email, ""), finding(SecretKind::GoogleKey, "AIza")]);
        one.add("b", &[]);
        let mut other = RedactionReport::new();
        other.add("a", &[finding(SecretKind::Email, "")]);
        let (mut left, mut right) = (one.clone(), other.clone());
        left.merge(other);
        right.merge(one);
        assert_eq!(left, right);
        assert_eq!(
            left.totals(),
            BTreeMap::from([(SecretKind::Email, 2), (SecretKind::GoogleKey, 1)])
        );
        assert_eq!(left.rows().count(), 2);
        assert!(!left.is_empty() && RedactionReport::new().is_empty());
    }
}
