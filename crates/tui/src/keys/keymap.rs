//! The keys in force: the table, with what the user has set.

use std::collections::BTreeMap;

use super::chord::Chord;
use super::table::{Action, Binding, KEYS, Place};

/// The keys in force.
#[derive(Clone, Debug)]
pub struct Keymap {
    bindings: Vec<(Action, Vec<Chord>)>,
}

/// What a key does at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    /// It does this.
    Does(Action),
    /// It opens the menu of its second keys.
    Opens(char),
    /// It does nothing.
    Nothing,
}

/// Something in `[keys]` that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Clash {
    /// No action has this name.
    #[error("there is no action '{0}'; docs/keys.md lists them")]
    NoAction(String),
    /// This is not a key.
    #[error("'{key}' for '{action}' is not a key; examples: d, ctrl-d, shift-tab, s u")]
    NoKey {
        /// The action.
        action: &'static str,
        /// What was written.
        key: String,
    },
    /// Two actions have the same key at the same place.
    #[error("'{key}' is set for both '{one}' and '{other}'")]
    Twice {
        /// The key.
        key: String,
        /// An action.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
}

impl Default for Keymap {
    fn default() -> Self {
        let chords = |binding: &Binding| {
            binding.keys.iter().filter_map(|key| Chord::parse(key)).collect::<Vec<_>>()
        };
        Self { bindings: KEYS.iter().map(|binding| (binding.action, chords(binding))).collect() }
    }
}

impl Keymap {
    /// Replaces the keys of some actions by what the user has set.
    ///
    /// # Errors
    /// If an action or key does not exist, or two actions share a key.
    pub fn with(set: &BTreeMap<String, Vec<String>>) -> Result<Self, Clash> {
        let mut map = Self::default();
        for (name, keys) in set {
            let binding = KEYS.iter().find(|binding| binding.name == name);
            let binding = binding.ok_or_else(|| Clash::NoAction(name.clone()))?;
            let chord = |key: &String| {
                Chord::parse(key)
                    .ok_or_else(|| Clash::NoKey { action: binding.name, key: key.clone() })
            };
            let chords = keys.iter().map(chord).collect::<Result<Vec<_>, _>>()?;
            for (action, own) in &mut map.bindings {
                if *action == binding.action {
                    own.clone_from(&chords);
                }
            }
        }
        map.check()?;
        Ok(map)
    }

    /// Checks that no key does two things at one place, and that no prefix is a key itself.
    fn check(&self) -> Result<(), Clash> {
        for (at, (action, chords)) in self.bindings.iter().enumerate() {
            for (other, others) in self.bindings.iter().skip(at + 1) {
                let (one, two) = (binding(*action), binding(*other));
                let (Some(one), Some(two)) = (one, two) else { continue };
                if !one.places.iter().any(|place| two.places.contains(place)) {
                    continue;
                }
                let is_same = |chord: &&Chord| {
                    let opens =
                        |c: &Chord, o: &Chord| c.letter().is_some() && c.letter() == o.prefix;
                    others.iter().any(|o| o == *chord || opens(chord, o) || opens(o, chord))
                };
                if let Some(chord) = chords.iter().find(is_same) {
                    let key = chord.to_string();
                    return Err(Clash::Twice { key, one: one.name, other: two.name });
                }
            }
        }
        Ok(())
    }

    /// Returns what a key does at a place.
    pub fn press(&self, place: Place, chord: Chord) -> Pressed {
        let here = self.bindings.iter().filter(|(action, _)| is_at(*action, place));
        let mut opens = None;
        for (action, chords) in here {
            if chords.contains(&chord) {
                return Pressed::Does(*action);
            }
            if chord.letter().is_some() && chords.iter().any(|one| one.prefix == chord.letter()) {
                opens = chord.letter();
            }
        }
        opens.map_or(Pressed::Nothing, Pressed::Opens)
    }

    /// Returns the keys of an action, as people write them.
    pub fn keys(&self, action: Action) -> Vec<String> {
        let own = self.bindings.iter().filter(|(one, _)| *one == action);
        own.flat_map(|(_, chords)| chords).map(Chord::to_string).collect()
    }

    /// Returns the first key of an action, for hints.
    pub fn first(&self, action: Action) -> Option<String> {
        self.keys(action).into_iter().next()
    }

    /// Returns what is bound at a place: keys, name and help of each.
    pub fn at(&self, place: Place) -> impl Iterator<Item = (String, &'static Binding)> {
        let here = KEYS.iter().filter(move |binding| binding.places.contains(&place));
        here.map(|binding| (self.keys(binding.action).join(" "), binding))
            .filter(|(keys, _)| !keys.is_empty())
    }

    /// Returns the second keys of a prefix at a place.
    pub fn menu(&self, place: Place, prefix: char) -> Vec<(char, &'static Binding)> {
        let mut menu = Vec::new();
        for (action, chords) in self.bindings.iter().filter(|(action, _)| is_at(*action, place)) {
            let after = chords.iter().filter(|chord| chord.prefix == Some(prefix));
            for letter in after.filter_map(|chord| chord.last_letter()) {
                menu.extend(binding(*action).map(|binding| (letter, binding)));
            }
        }
        menu
    }
}

fn binding(action: Action) -> Option<&'static Binding> {
    KEYS.iter().find(|binding| binding.action == action)
}

fn is_at(action: Action, place: Place) -> bool {
    binding(action).is_some_and(|binding| binding.places.contains(&place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(action: &str, key: &str) -> BTreeMap<String, Vec<String>> {
        BTreeMap::from([(action.to_owned(), vec![key.to_owned()])])
    }

    #[test]
    fn every_key_of_the_table_is_one_and_none_clashes() {
        for binding in KEYS {
            for key in binding.keys {
                assert!(Chord::parse(key).is_some(), "{key} of {}", binding.name);
            }
        }
        assert_eq!(Keymap::default().check(), Ok(()));
    }

    #[test]
    fn keys_can_be_set_and_clashes_are_errors_with_both_names() {
        let map = Keymap::with(&set("delete", "ctrl-x")).unwrap();
        assert_eq!(map.keys(Action::Delete), ["ctrl-x"]);
        assert_eq!(map.press(Place::Sessions, Chord::parse("d").unwrap()), Pressed::Nothing);
        let error = Keymap::with(&set("delete", "m")).unwrap_err();
        assert_eq!(error.to_string(), "'m' is set for both 'delete' and 'move'");
        assert!(matches!(Keymap::with(&set("delete", "s")), Err(Clash::Twice { .. })));
        assert!(matches!(Keymap::with(&set("fly", "f")), Err(Clash::NoAction(_))));
        assert!(matches!(Keymap::with(&set("delete", "hyper-d")), Err(Clash::NoKey { .. })));
    }

    #[test]
    fn a_prefix_opens_its_menu() {
        let map = Keymap::default();
        let press = |key: &str| map.press(Place::Sessions, Chord::parse(key).unwrap());
        assert_eq!(press("s"), Pressed::Opens('s'));
        assert_eq!(press("s c"), Pressed::Does(Action::SortCost));
        assert!(map.menu(Place::Sessions, 's').len() >= 6);
    }
}
