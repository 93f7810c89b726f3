//! Locations by key.
//!
//! Problem: a loop of few iterations is entered often, and each entry asks for its location several times,
//! for which a hash table takes longer than all that is then done with it. Design: locations lie in a vector,
//! a hash table says where, and a small table in front of it remembers for each class of keys who was asked
//! for last. Invariant: the hash table has exactly the keys of the vector; what is remembered is only
//! believed if the location there has the key.
//!
//! Example: `locations.entry(key).or_default().heat += 1`, as with a map.

use rustc_hash::FxHashMap;

use crate::ids::Key;
use crate::location::Location;

/// Classes of keys; a power of two.
const RECENT: usize = 64;

/// All locations of a VM.
pub(crate) struct Locations {
    all: Vec<(Key, Location)>,
    places: FxHashMap<Key, usize>,
    recent: [u32; RECENT],
}

impl Default for Locations {
    fn default() -> Locations {
        Locations { all: Vec::new(), places: FxHashMap::default(), recent: [0; RECENT] }
    }
}

/// A key's place.
pub(crate) struct Entry<'a> {
    locations: &'a mut Locations,
    key: Key,
}

impl<'a> Entry<'a> {
    /// The location, which is made if it is not there.
    #[inline]
    pub fn or_default(self) -> &'a mut Location {
        let Entry { locations, key } = self;
        let at = locations.find(key).unwrap_or_else(|| locations.add(key));
        &mut locations.all[at].1
    }
}

impl Locations {
    /// All of them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Location> {
        self.all.iter_mut().map(|(_, location)| location)
    }

    /// Who was asked for last among keys like this one. Keys are addresses, of instructions say.
    fn class(key: Key) -> usize {
        ((key >> 2) ^ (key >> 16)) % RECENT
    }

    #[inline]
    fn recent(&self, key: Key) -> Option<usize> {
        let at = self.recent[Locations::class(key)] as usize;
        self.all.get(at).is_some_and(|&(known, _)| known == key).then_some(at)
    }

    #[inline]
    fn find(&mut self, key: Key) -> Option<usize> {
        self.recent(key).or_else(|| self.find_anew(key))
    }

    #[cold]
    fn find_anew(&mut self, key: Key) -> Option<usize> {
        let at = *self.places.get(&key)?;
        self.recent[Locations::class(key)] = at as u32;
        Some(at)
    }

    #[cold]
    fn add(&mut self, key: Key) -> usize {
        let at = self.all.len();
        self.all.push((key, Location::default()));
        self.places.insert(key, at);
        self.recent[Locations::class(key)] = at as u32;
        at
    }

    /// The place of a key, which may be new.
    pub fn entry(&mut self, key: Key) -> Entry<'_> {
        Entry { locations: self, key }
    }

    /// The location, if there is one.
    pub fn get(&self, key: &Key) -> Option<&Location> {
        let at = self.recent(*key).or_else(|| self.places.get(key).copied())?;
        Some(&self.all[at].1)
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, key: &Key) -> Option<&mut Location> {
        let at = self.find(*key)?;
        Some(&mut self.all[at].1)
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.all.iter().map(|(key, _)| key)
    }

    /// Takes a location out.
    pub fn remove(&mut self, key: &Key) -> Option<Location> {
        let at = self.places.remove(key)?;
        let (_, location) = self.all.swap_remove(at);
        if let Some(&(moved, _)) = self.all.get(at) {
            self.places.insert(moved, at);
        }
        Some(location)
    }
}

impl std::ops::Index<&Key> for Locations {
    type Output = Location;

    fn index(&self, key: &Key) -> &Location {
        self.get(key).expect("there is such a location")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_found_whoever_was_asked_for_before() {
        let mut locations = Locations::default();
        // Those of one class and those of others.
        let keys: Vec<Key> = (0..300).map(|n| n * 4).collect();
        for &key in &keys {
            assert!(locations.get(&key).is_none() && locations.get_mut(&key).is_none());
            locations.entry(key).or_default().heat = key as u64;
        }
        for &key in keys.iter().rev().chain(&keys) {
            assert_eq!(
                (locations[&key].heat, locations.entry(key).or_default().heat),
                (key as u64, key as u64)
            );
        }
        assert_eq!(locations.keys().count(), 300);
        for &key in keys.iter().step_by(3) {
            assert_eq!(locations.remove(&key).map(|location| location.heat), Some(key as u64));
            assert!(locations.remove(&key).is_none() && locations.get_mut(&key).is_none());
        }
        for (n, &key) in keys.iter().enumerate() {
            assert_eq!(
                locations.get_mut(&key).map(|location| location.heat),
                (n % 3 > 0).then_some(key as u64)
            );
        }
        assert_eq!(locations.keys().count(), 200);
    }
}
