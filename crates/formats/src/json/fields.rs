//! The fields of an object, in order.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Up to this number of fields a linear search is faster than a table.
const FEW: usize = 16;

/// The fields of an object in the order of their first appearance; of duplicate keys the last value counts, as in
/// JavaScript.
pub(crate) struct Fields<K, V> {
    pub(crate) all: Vec<(K, V)>,
    /// The position of each key, once there are many.
    places: HashMap<K, usize>,
}

impl<K, V> Default for Fields<K, V> {
    fn default() -> Self {
        Self { all: Vec::new(), places: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash + Borrow<str>, V> Fields<K, V> {
    /// Adds a field. An existing one gets the new value.
    pub(crate) fn put(&mut self, key: K, value: V) {
        let known = if self.all.len() < FEW {
            self.all.iter().position(|(known, _)| *known == key)
        } else {
            if self.places.is_empty() {
                let keys = self.all.iter().enumerate();
                self.places = keys.map(|(at, (key, _))| (key.clone(), at)).collect();
            }
            self.places.get(key.borrow()).copied()
        };
        if let Some((_, old)) = known.and_then(|at| self.all.get_mut(at)) {
            *old = value;
            return;
        }
        if !self.places.is_empty() {
            self.places.insert(key.clone(), self.all.len());
        }
        self.all.push((key, value));
    }
}
