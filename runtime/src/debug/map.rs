//! Code by address, for the host: what a profiler asks about its samples.
//!
//! Problem: a sample is an address in machine code, and a user wants a line of his program; he asks some time
//! after the sample was taken. Design: pieces of code by their first address; a place of a piece has the
//! words of the frame that the host would go on in. Code that was freed is known until other code lies there.
//! Invariant: pieces do not overlap.
//!
//! Example: address 0x7f00_0040 is 64 bytes inside `loop sum.lua:3 main`, whose place there has the words
//! that the host has put into the snapshot before line 4.

use std::collections::BTreeMap;

use tracelift_cranelift::Place;

use super::piece::{CodeKind, Piece};

/// What is known of a piece of code.
#[derive(Clone, Debug)]
pub struct Known {
    /// What it is.
    pub kind: CodeKind,
    /// What tools call it.
    pub name: String,
    /// What the host knows its tree by: [`Exit::owner`](crate::Exit).
    pub tree_owner: usize,
    /// Its first byte.
    pub address: usize,
    len: usize,
    places: Vec<Place>,
}

impl Known {
    /// The address after its last byte.
    pub fn end(&self) -> usize {
        self.address + self.len
    }

    /// The host's words for the part of the code that contains an address; what no part contains belongs to
    /// the one before.
    pub fn words(&self, address: usize) -> &[u64] {
        let offset = (address - self.address) as u32;
        let begun = self.places.partition_point(|place| place.start <= offset);
        let place = begun.checked_sub(1).map_or(self.places.first(), |at| self.places.get(at));
        place.map_or(&[], |place| &place.words)
    }
}

/// All pieces of code there are.
#[derive(Default)]
pub(super) struct CodeMap {
    pieces: BTreeMap<usize, Known>,
}

impl CodeMap {
    pub fn add(&mut self, piece: Piece<'_>) {
        let Piece { kind, name, tree_owner, address, places, .. } = piece;
        let len = piece.code.len();
        let overlaps = |(&start, known): (&usize, &Known)| (start + known.len > address).then_some(start);
        while let Some(gone) = self.pieces.range(..address + len).next_back().and_then(overlaps) {
            self.pieces.remove(&gone);
        }
        self.pieces.insert(address, Known { kind, name, tree_owner, address, len, places });
    }

    pub fn at(&self, address: usize) -> Option<&Known> {
        let (_, known) = self.pieces.range(..=address).next_back()?;
        (address - known.address < known.len).then_some(known)
    }
}

#[cfg(test)]
mod tests {
    use tracelift_cranelift::TreeId;

    use super::super::piece::Owner;
    use super::*;

    fn piece(address: usize, owner: u32, code: &[u8]) -> Piece<'_> {
        let place = |start: u32, word| Place { start, end: start + 4, words: [word].into_iter().collect() };
        Piece {
            owner: Owner::Tree(TreeId(owner)),
            kind: CodeKind::Glue,
            name: format!("{address}"),
            tree_owner: 0,
            address,
            code,
            unwind: &[],
            places: vec![place(4, 1), place(8, 2)],
        }
    }

    #[test]
    fn an_address_leads_to_its_code_and_its_place() {
        let mut map = CodeMap::default();
        map.add(piece(100, 1, &[0; 20]));
        map.add(piece(120, 2, &[0; 20]));
        let found =
            |map: &CodeMap, address| map.at(address).map(|known| (known.address, known.words(address)[0]));
        assert_eq!(found(&map, 99), None);
        assert_eq!(
            [100, 104, 107, 108, 119].map(|at| found(&map, at).unwrap()),
            [(100, 1), (100, 1), (100, 1), (100, 2), (100, 2)]
        );
        assert_eq!(found(&map, 139), Some((120, 2)));
        assert_eq!(found(&map, 140), None);
        map.add(piece(110, 3, &[0; 5]));
        let firsts = [104, 112, 124].map(|at| found(&map, at).map(|(first, _)| first));
        assert_eq!(firsts, [None, Some(110), Some(120)], "what lay there is gone");
    }
}
