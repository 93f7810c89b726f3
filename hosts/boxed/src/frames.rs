//! The interpreter's frames, which lie where compiled code finds them.
//!
//! Problem: where recursion is compiled, one trace ends in the frame that it has made, and another in the one
//! that it returns to; the interpreter's own records of frames must say the same when code is left. Design:
//! frames lie in one array that never moves. The context has the address of the one that runs, so that code
//! makes a frame by a few stores behind that one, and returns by lowering the address. Below the first frame
//! lies one of no function, to which nobody returns.
//!
//! Invariant: while code runs, [`Frames::top`] is the frame whose slots the code was entered with, up to the
//! stores at a trace's end; all frames below it are as the interpreter would have them.
//!
//! ```
//! use tracelift_boxed::frames::{Frame, Frames};
//! let mut frames = Frames::new(10);
//! frames.push(Frame { function: 0, pc: 3, base: 0 });
//! assert_eq!((frames.depth(), frames.top().pc), (1, 3));
//! ```

use tracelift_runtime::ExitFrame;

/// A frame of the interpreter.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Whose it is.
    pub function: usize,
    /// The next operation.
    pub pc: usize,
    /// Its first slot in the stack.
    pub base: usize,
}

/// The function of the frame below the first one.
pub const NO_FUNCTION: usize = usize::MAX;

/// All frames of a machine. Compiled code reads and writes the first two fields, and the frames.
#[repr(C)]
#[derive(Debug)]
pub struct Frames {
    top: *mut Frame,
    /// The last one that there may be.
    last: *mut Frame,
    /// The one of no function.
    none: *mut Frame,
}

/// Where compiled code finds the address of the frame that runs, from the frames' own.
pub const TOP: usize = std::mem::offset_of!(Frames, top);
/// The same for the last frame that there may be.
pub const LAST: usize = std::mem::offset_of!(Frames, last);

impl Frames {
    /// None so far, and so many at most.
    pub fn new(most: usize) -> Frames {
        let all = vec![Frame { function: NO_FUNCTION, pc: 0, base: 0 }; most + 1].into_boxed_slice();
        let none = Box::into_raw(all).cast::<Frame>();
        Frames { top: none, last: none.wrapping_add(most), none }
    }

    fn place(&self, frame: *mut Frame) -> usize {
        (frame as usize - self.none as usize) / size_of::<Frame>()
    }

    /// How many there are.
    pub fn depth(&self) -> usize {
        self.place(self.top)
    }

    /// How many more there may be.
    pub fn room(&self) -> usize {
        self.place(self.last) - self.depth()
    }

    /// The one that runs.
    pub fn top(&self) -> Frame {
        // SAFETY: it is one of the array's, see the file's invariant.
        unsafe { *self.top }
    }

    /// The one that runs, to go on elsewhere.
    pub fn top_mut(&mut self) -> &mut Frame {
        // SAFETY: as above; compiled code uses it only while it runs, when no such borrow is alive.
        unsafe { &mut *self.top }
    }

    /// The frame at a depth, counted from 1; at 0, the one of no function.
    pub fn at(&self, depth: usize) -> Frame {
        assert!(depth <= self.depth(), "there is no frame at depth {depth}");
        // SAFETY: as was just seen, it is one of the array's.
        unsafe { *self.none.add(depth) }
    }

    /// One more.
    pub fn push(&mut self, frame: Frame) {
        assert!(self.room() > 0, "there is no room for a frame");
        // SAFETY: as was just seen, the next one is one of the array's.
        unsafe {
            self.top = self.top.add(1);
            *self.top = frame;
        }
    }

    /// One less.
    pub fn pop(&mut self) {
        assert!(self.depth() > 0, "there is no frame");
        self.top = self.top.wrapping_sub(1);
    }

    /// The frames are those that an exit tells of, whose bases count from `origin`; the first `outer` ones
    /// are of callers of the unit that was left. Returns the depth of the first one that is not.
    pub fn rebuild(&mut self, frames: &[ExitFrame], outer: u32, origin: usize) -> usize {
        let place = |base: i32| origin.wrapping_add_signed(base as isize);
        // The code has made frames, or returned from some, or both.
        while self.top().base > place(frames[0].base) {
            self.pop();
        }
        self.pop();
        let mut bottom = self.depth() + 1;
        for (number, resumed) in frames.iter().enumerate() {
            let [function, pc] = [0, 1].map(|word| resumed.words[word] as usize);
            // What is there twice was called as the first says, and goes on as the second one says.
            if number > 0 && resumed.base == frames[number - 1].base {
                self.pop();
            }
            self.push(Frame { function, pc, base: place(resumed.base) });
            if number == outer as usize {
                bottom = self.depth();
            }
        }
        bottom
    }

    /// None any more.
    pub fn clear(&mut self) {
        self.top = self.none;
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        let all = std::ptr::slice_from_raw_parts_mut(self.none, self.place(self.last) + 1);
        // SAFETY: it came from `Box::into_raw` in `new`, with this length.
        drop(unsafe { Box::from_raw(all) });
    }
}
