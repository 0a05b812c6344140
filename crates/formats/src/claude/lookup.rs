//! Things by their ids, while a file is read.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

/// How many are searched for one by one before the table is made.
const FEW: u32 = 48;

/// The numbers of things by their keys. A reader that was kept comes without the table: who reads one more line of a session looks
/// at all keys once or twice, which takes far less than to make it.
#[derive(Debug)]
pub(super) struct Lookup<K> {
    table: HashMap<K, u32, RandomState>,
    /// How many things the table knows: all, or the first ones.
    known: usize,
    searched: u32,
}

impl<K> Default for Lookup<K> {
    fn default() -> Self {
        Self { table: HashMap::default(), known: 0, searched: 0 }
    }
}

impl<K: Copy + Eq + Hash> Lookup<K> {
    /// Returns the number of the thing with a key, of `count` things with the keys that `key_of` returns.
    pub(super) fn find(
        &mut self,
        key: K,
        count: usize,
        key_of: impl Fn(usize) -> Option<K>,
    ) -> Option<u32> {
        if self.known < count {
            if self.searched < FEW {
                self.searched += 1;
                let found = (0..count).rev().find(|number| key_of(*number) == Some(key))?;
                return u32::try_from(found).ok();
            }
            self.table.reserve(count);
            for number in self.known..count {
                if let (Some(key), Ok(at)) = (key_of(number), u32::try_from(number)) {
                    self.table.entry(key).or_insert(at);
                }
            }
            self.known = count;
        }
        self.table.get(&key).copied()
    }

    /// Adds a thing that was not found, with the next number.
    pub(super) fn add(&mut self, key: K, number: u32) {
        if self.known == number as usize {
            self.table.insert(key, number);
            self.known += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_was_lost_is_searched_then_made_again() {
        let mut keys: Vec<u64> = (0..100).map(|number| number * 7).collect();
        let mut lookup = Lookup::default();
        for asked in 0..u64::from(FEW) * 3 {
            let wanted = asked * 7;
            let place = keys.iter().position(|key| *key == wanted);
            let found = lookup.find(wanted, keys.len(), |number| keys.get(number).copied());
            assert_eq!(found.map(|found| found as usize), place, "{asked}");
            if found.is_none() {
                lookup.add(wanted, u32::try_from(keys.len()).unwrap());
                keys.push(wanted);
            }
        }
        assert_eq!(lookup.known, keys.len());
    }
}
