//! Reading resume data where it lies.
//!
//! Problem: an exit is taken often, so decoding must not build anything; yet data that was damaged must not
//! make the host read at random. Design: [`ResumeState::parse`] walks the whole string once, checks every
//! number and notes where its four sections begin; the iterators then walk a section each. Invariant: after a
//! successful parse the iterators yield exactly the counted items, and every index is inside its table; no
//! input makes the decoder panic.
//!
//! ```
//! use tracelift_opt::resume::ResumeState;
//! // Origin 6, no results, no virtual objects, no pending stores, one frame: base 0, no words, one slot.
//! let state = ResumeState::parse(&[7, 0, 0, 0, 1, 0, 0, 1, 6, 0, 1], 1, 0).unwrap();
//! let slot = state.frames().next().unwrap().slots.next().unwrap();
//! assert_eq!((state.origin, slot.slot, slot.source.bits(&[42], &[])), (Some(6), 3, Some(42)));
//! ```

use thiserror::Error;
use tracelift_core::schema::{CellId, FieldId, LayoutId, TagId};

use super::varint::Reader;
use super::ResumeSource;

/// Resume data that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum DecodeError {
    /// It ends too early.
    #[error("resume data ends too early")]
    Truncated,
    /// A number does not fit its type.
    #[error("a number in resume data is too large")]
    TooLarge,
    /// An index is outside its table, or a kind is unknown.
    #[error("an index or kind in resume data is outside its table")]
    OutOfRange,
    /// Something follows the end.
    #[error("resume data goes on after its end")]
    Trailing,
    /// No exit has that number.
    #[error("the trace has no such exit")]
    NoSuchExit,
}

/// How large the tables are that indices point into.
#[derive(Clone, Copy, Debug, Default)]
struct Limits {
    buffer: u32,
    pool: u32,
    virtuals: u32,
}

/// A place in the data with what reading needs to know.
#[derive(Clone, Copy, Debug)]
struct Cursor<'a> {
    reader: Reader<'a>,
    limits: Limits,
}

type Read<'a, T> = fn(&mut Cursor<'a>, &mut i64) -> Result<T, DecodeError>;

/// A counted sequence in resume data.
#[derive(Clone, Debug)]
pub struct Items<'a, T> {
    cursor: Cursor<'a>,
    left: u32,
    read: Read<'a, T>,
    /// What reading carries from item to item: for slots the number of the last one.
    carried: i64,
}

impl<T> Iterator for Items<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // The data was checked when it was parsed, so an error is impossible here; ending is the safe answer.
        (self.read)(&mut self.cursor, &mut self.carried).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left as usize))
    }
}

/// What a slot of a frame is to hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotData {
    /// Slot number, relative to its frame's base.
    pub slot: i32,
    /// The tag to write.
    pub tag: TagId,
    /// The payload.
    pub source: ResumeSource,
}

/// A host frame.
#[derive(Clone, Debug)]
pub struct FrameData<'a> {
    /// Slots from the frame base at entry to this frame's base.
    pub base: i32,
    /// The host's words, as indices into the pool.
    pub words: Items<'a, u32>,
    /// Changed live slots.
    pub slots: Items<'a, SlotData>,
}

/// A virtual object.
#[derive(Clone, Debug)]
pub struct VirtualData<'a> {
    /// Its layout.
    pub layout: LayoutId,
    /// Capacity of the indexed part.
    pub items: u32,
    /// Capacity of the keyed part.
    pub keys: u32,
    /// Fields that were set.
    pub fields: Items<'a, (FieldId, ResumeSource)>,
    /// Items that were set: index (counted from the part's first), tag, payload.
    pub item_values: Items<'a, (u32, Option<TagId>, ResumeSource)>,
    /// Entries in insertion order: key, tag, payload.
    pub entries: Items<'a, (ResumeSource, Option<TagId>, ResumeSource)>,
}

/// A store that is still to be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PendingData {
    /// Where it is stored: an address or a real object.
    pub address: ResumeSource,
    /// The cell there.
    pub cell: CellId,
    /// What is stored.
    pub source: ResumeSource,
}

/// The state at an exit.
#[derive(Clone, Debug)]
pub struct ResumeState<'a> {
    /// The number of the recorded snapshot; `None` for an exit without one.
    pub origin: Option<u32>,
    results: Items<'a, ResumeSource>,
    virtuals: Items<'a, VirtualData<'a>>,
    pending: Items<'a, PendingData>,
    frames: Items<'a, FrameData<'a>>,
}

impl<'a> ResumeState<'a> {
    /// Checks the resume data of one exit and finds its sections. `buffer` and `pool` are the sizes of the
    /// exit buffer and of the constant pool.
    pub fn parse(bytes: &'a [u8], buffer: u32, pool: u32) -> Result<ResumeState<'a>, DecodeError> {
        let limits = Limits { buffer, pool, virtuals: 0 };
        let mut cursor = Cursor { reader: Reader::new(bytes), limits };
        let origin = cursor.reader.read_u32()?.checked_sub(1);
        let results = cursor.section(read_source)?;
        // Virtual objects may name later ones: their number must be known before they are read.
        let mut ahead = cursor;
        cursor.limits.virtuals = ahead.reader.read_u32()?;
        let virtuals = cursor.section(read_virtual)?;
        let pending = cursor.section(read_pending)?;
        let frames = cursor.section(read_frame)?;
        if !cursor.reader.is_at_end() {
            return Err(DecodeError::Trailing);
        }
        Ok(ResumeState { origin, results, virtuals, pending, frames })
    }

    /// The results of a `finish`.
    pub fn results(&self) -> Items<'a, ResumeSource> {
        self.results.clone()
    }

    /// The virtual objects, by number.
    pub fn virtuals(&self) -> Items<'a, VirtualData<'a>> {
        self.virtuals.clone()
    }

    /// Stores still to be made, in order.
    pub fn pending(&self) -> Items<'a, PendingData> {
        self.pending.clone()
    }

    /// The host's frames, outermost first.
    pub fn frames(&self) -> Items<'a, FrameData<'a>> {
        self.frames.clone()
    }
}

impl<'a> Cursor<'a> {
    /// The sequence that begins here; goes on after it.
    fn section<T>(&mut self, read: Read<'a, T>) -> Result<Items<'a, T>, DecodeError> {
        let left = self.reader.read_u32()?;
        let items = Items { cursor: *self, left, read, carried: -1 };
        let mut carried = -1;
        for _ in 0..left {
            read(self, &mut carried)?;
        }
        Ok(items)
    }

    fn source(&mut self) -> Result<ResumeSource, DecodeError> {
        let coded = self.reader.read()?;
        let index = u32::try_from(coded >> 2).map_err(|_| DecodeError::TooLarge)?;
        let (source, limit) = match coded & 3 {
            0 if index == 0 => (ResumeSource::Nothing, 1),
            0 => (ResumeSource::InPlace, 2),
            1 => (ResumeSource::Buffer(index), self.limits.buffer),
            2 => (ResumeSource::Constant(index), self.limits.pool),
            _ => (ResumeSource::Virtual(index), self.limits.virtuals),
        };
        if index < limit {
            Ok(source)
        } else {
            Err(DecodeError::OutOfRange)
        }
    }

    fn tag(&mut self) -> Result<Option<TagId>, DecodeError> {
        Ok(self.reader.read_u32()?.checked_sub(1).map(TagId))
    }
}

fn read_source(cursor: &mut Cursor<'_>, _: &mut i64) -> Result<ResumeSource, DecodeError> {
    cursor.source()
}

fn read_field(cursor: &mut Cursor<'_>, _: &mut i64) -> Result<(FieldId, ResumeSource), DecodeError> {
    Ok((FieldId(cursor.reader.read_u32()?), cursor.source()?))
}

fn read_item(
    cursor: &mut Cursor<'_>,
    _: &mut i64,
) -> Result<(u32, Option<TagId>, ResumeSource), DecodeError> {
    Ok((cursor.reader.read_u32()?, cursor.tag()?, cursor.source()?))
}

fn read_entry(
    cursor: &mut Cursor<'_>,
    _: &mut i64,
) -> Result<(ResumeSource, Option<TagId>, ResumeSource), DecodeError> {
    Ok((cursor.source()?, cursor.tag()?, cursor.source()?))
}

fn read_virtual<'a>(cursor: &mut Cursor<'a>, _: &mut i64) -> Result<VirtualData<'a>, DecodeError> {
    Ok(VirtualData {
        layout: LayoutId(cursor.reader.read_u32()?),
        items: cursor.reader.read_u32()?,
        keys: cursor.reader.read_u32()?,
        fields: cursor.section(read_field)?,
        item_values: cursor.section(read_item)?,
        entries: cursor.section(read_entry)?,
    })
}

fn read_pending(cursor: &mut Cursor<'_>, _: &mut i64) -> Result<PendingData, DecodeError> {
    let (address, cell) = (cursor.source()?, CellId(cursor.reader.read_u32()?));
    Ok(PendingData { address, cell, source: cursor.source()? })
}

fn read_word(cursor: &mut Cursor<'_>, _: &mut i64) -> Result<u32, DecodeError> {
    let index = cursor.reader.read_u32()?;
    if index < cursor.limits.pool {
        Ok(index)
    } else {
        Err(DecodeError::OutOfRange)
    }
}

fn read_slot(cursor: &mut Cursor<'_>, previous: &mut i64) -> Result<SlotData, DecodeError> {
    let delta = cursor.reader.read_signed()?;
    let slot =
        previous.checked_add(1).and_then(|next| next.checked_add(delta)).ok_or(DecodeError::TooLarge)?;
    *previous = slot;
    let slot = i32::try_from(slot).map_err(|_| DecodeError::TooLarge)?;
    Ok(SlotData { slot, tag: TagId(cursor.reader.read_u32()?), source: cursor.source()? })
}

fn read_frame<'a>(cursor: &mut Cursor<'a>, _: &mut i64) -> Result<FrameData<'a>, DecodeError> {
    let base = i32::try_from(cursor.reader.read_signed()?).map_err(|_| DecodeError::TooLarge)?;
    Ok(FrameData { base, words: cursor.section(read_word)?, slots: cursor.section(read_slot)? })
}
