//! Finds a call by its id, or a name in a list, in time that does not grow with their number.

use std::collections::HashMap;

/// Up to this many items are searched one by one.
pub(crate) const FEW: usize = 16;

/// The first item of each id. It learns new items when it is asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdIndex {
    named: HashMap<Box<str>, usize>,
    unnamed: Option<usize>,
    seen: usize,
}

impl IdIndex {
    /// Returns the position of the first item with this id. Items may only be added at the end, and keep their ids.
    pub(crate) fn find<T>(
        &mut self,
        items: &[T],
        id_of: impl Fn(&T) -> Option<&str>,
        id: Option<&str>,
    ) -> Option<usize> {
        if items.len() <= FEW {
            return items.iter().position(|item| id_of(item) == id);
        }
        for (at, item) in items.iter().enumerate().skip(self.seen) {
            match id_of(item) {
                Some(id) => {
                    self.named.entry(id.into()).or_insert(at);
                }
                None => {
                    self.unnamed.get_or_insert(at);
                }
            }
        }
        self.seen = items.len();
        match id {
            Some(id) => self.named.get(id).copied(),
            None => self.unnamed,
        }
    }

    /// Returns the number of a name in a list, and adds it if it is new. Numbers above the largest are that one.
    pub(crate) fn number(&mut self, names: &mut Vec<Box<str>>, name: &str) -> u16 {
        let at = self.find(names, |known| Some(known), Some(name)).unwrap_or_else(|| {
            names.push(name.into());
            names.len() - 1
        });
        u16::try_from(at).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_call_of_an_id_is_found_however_many_there_are() {
        let mut calls: Vec<Option<String>> = Vec::new();
        let mut index = IdIndex::default();
        for number in 0..100 {
            let id = (number % 7 != 3).then(|| format!("c{}", number % 40));
            calls.push(id.clone());
            let first = calls.iter().position(|known| *known == id);
            assert_eq!(index.find(&calls, Option::as_deref, id.as_deref()), first);
            assert_eq!(index.find(&calls, Option::as_deref, Some("other")), None);
        }
    }
}
