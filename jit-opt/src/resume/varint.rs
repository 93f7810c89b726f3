//! Integers of 1 to 10 bytes: seven bits a byte, low ones first, the top bit says that more follow.
//!
//! Signed numbers are folded to unsigned ones first (0, -1, 1, -2, … become 0, 1, 2, 3, …), so that small
//! ones of either sign stay short. Invariant: reading never goes past the end and refuses what does not fit
//! 64 bits. Example: 300 is `ac 02`.

use super::DecodeError;

pub(super) fn write(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(super) fn write_signed(out: &mut Vec<u8>, value: i64) {
    write(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// A place in encoded data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes }
    }

    pub fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn read(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first().ok_or(DecodeError::Truncated)?;
            self.bytes = rest;
            let low = (byte & 0x7f) as u64;
            if shift == 63 && low > 1 {
                return Err(DecodeError::TooLarge);
            }
            value |= low << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(DecodeError::TooLarge)
    }

    pub fn read_u32(&mut self) -> Result<u32, DecodeError> {
        u32::try_from(self.read()?).map_err(|_| DecodeError::TooLarge)
    }

    pub fn read_signed(&mut self) -> Result<i64, DecodeError> {
        let folded = self.read()?;
        Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }
}
