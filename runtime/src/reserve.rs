//! Memory that the host keeps for exits.
//!
//! Problem: an exit makes the objects that compiled code has kept virtual, and it cannot fail: the
//! interpreter's state exists only once they do. But any allocator may refuse. Design: each published trace
//! states its worst case, how many objects of each *shape* (layout, room for items, room for entries) one of
//! its exits makes. For each shape the VM asks the host to hold memory for the most that any live trace
//! needs; only one exit happens at a time, so that this is enough for all of them. The host's `alloc` falls
//! back on what it holds when its allocator refuses, so an exit may use it up: shapes of a trace that an exit
//! has lifted objects of are *owed*, and asked for again before the next entry of a trace that needs them.
//!
//! Invariant: compiled code is entered only if the host has said that it holds what an exit of that trace may
//! need. An entry that owes nothing costs a test per shape of its trace, and traces without virtual objects
//! have none.
//!
//! Example: two traces, whose exits make up to 3 and 2 tables with two keys:
//! `reserve(context, Table, 0, 2, 3)`. When the first is freed: `reserve(context, Table, 0, 2, 2)`.

use std::ffi::c_void;

use tracelift_core::schema::LayoutId;
use tracelift_core::Trace;

/// What a host offers to hold memory: `reserve(context, layout, items, keys, count)`, with the context that
/// it was declared with. From its return until it is called again for this shape, the layout's `alloc` and
/// `insert` make up to `count` such objects at one exit, whatever the allocator says. A smaller count than
/// before lets memory go and succeeds. Returns 0 if the memory is not there; what was held for the shape
/// before may be gone then.
pub type ReserveFn = unsafe extern "C" fn(*mut c_void, u32, u32, u32, u32) -> i32;

/// A host's function and the pointer that it gets.
#[derive(Clone, Copy, Debug)]
struct Hook {
    layout: LayoutId,
    function: ReserveFn,
    context: *mut c_void,
}

/// What objects that need the same memory have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    layout: LayoutId,
    items: u32,
    keys: u32,
}

/// What the host holds of a shape.
#[derive(Debug)]
struct Held {
    shape: Shape,
    wanted: u32,
    is_secured: bool,
}

/// What exits of one trace need at most.
#[derive(Clone, Default, Debug)]
pub(crate) struct WorstCase {
    /// Objects by shape.
    pub shapes: Vec<(Shape, u32)>,
    /// Objects at one exit.
    pub objects: usize,
    /// Frames at one exit.
    pub frames: usize,
}

impl WorstCase {
    /// The worst of all exits of an optimized trace: its resume data says what its snapshots do.
    pub fn of(trace: &Trace) -> WorstCase {
        let mut worst = WorstCase::default();
        let mut seen = vec![false; trace.snapshots.len()];
        for snap in trace.exits().filter_map(|(_, inst)| inst.snap) {
            if std::mem::replace(&mut seen[snap.index()], true) {
                continue;
            }
            let snapshot = &trace.snapshots[snap.index()];
            let mut here: Vec<(Shape, u32)> = Vec::new();
            for object in &snapshot.virtuals {
                add(&mut here, Shape { layout: object.layout, items: object.items, keys: object.keys });
            }
            worst.objects = worst.objects.max(snapshot.virtuals.len());
            worst.frames = worst.frames.max(snapshot.frames.len());
            for (shape, count) in here {
                match worst.shapes.iter_mut().find(|(known, _)| *known == shape) {
                    Some((_, most)) => *most = (*most).max(count),
                    None => worst.shapes.push((shape, count)),
                }
            }
        }
        worst
    }
}

#[cfg(test)]
impl WorstCase {
    /// An exit that makes one object.
    pub fn of_an_object(layout: LayoutId) -> WorstCase {
        let shape = Shape { layout, items: 0, keys: 2 };
        WorstCase { shapes: vec![(shape, 1)], objects: 1, frames: 1 }
    }
}

fn add(shapes: &mut Vec<(Shape, u32)>, shape: Shape) {
    match shapes.iter_mut().find(|(known, _)| *known == shape) {
        Some((_, count)) => *count += 1,
        None => shapes.push((shape, 1)),
    }
}

/// A shape of a trace: its place in [`Reserves`], and how many objects of it the trace's exits may make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Need {
    pub index: usize,
    pub count: u32,
}

/// What is held for all traces together.
#[derive(Default)]
pub(crate) struct Reserves {
    hooks: Vec<Hook>,
    held: Vec<Held>,
}

impl Reserves {
    /// The host holds memory for objects of this layout by this function.
    pub fn declare(&mut self, layout: LayoutId, function: ReserveFn, context: *mut c_void) {
        self.hooks.retain(|hook| hook.layout != layout);
        self.hooks.push(Hook { layout, function, context });
    }

    /// Whether objects of this layout may be left virtual at all.
    pub fn can_hold(&self, layout: LayoutId) -> bool {
        self.hooks.iter().any(|hook| hook.layout == layout)
    }

    /// A trace with this worst case is published.
    pub fn want(&mut self, worst: &WorstCase) -> Vec<Need> {
        let mut needs = Vec::new();
        for &(shape, count) in &worst.shapes {
            let known = self.held.iter().position(|held| held.shape == shape);
            let index = known.unwrap_or_else(|| {
                self.held.push(Held { shape, wanted: 0, is_secured: true });
                self.held.len() - 1
            });
            let held = &mut self.held[index];
            if held.wanted < count {
                held.wanted = count;
                held.is_secured = false;
            }
            needs.push(Need { index, count });
        }
        needs
    }

    /// Whether the host holds all that a trace needs; asks it for what it owes.
    ///
    /// # Safety
    /// The declared functions and contexts are still good.
    pub unsafe fn secure(&mut self, needs: &[Need]) -> bool {
        needs.iter().all(|need| {
            let held = &mut self.held[need.index];
            if !held.is_secured {
                // SAFETY: passed on from the caller.
                held.is_secured = unsafe { ask(&self.hooks, held) };
            }
            held.is_secured
        })
    }

    /// An exit of a trace has lifted objects, perhaps from what was held.
    pub fn spend(&mut self, needs: &[Need]) {
        needs.iter().for_each(|need| self.held[need.index].is_secured = false);
    }

    /// Traces are gone; `live` are the needs of those that are left. Lets go what nobody needs.
    ///
    /// # Safety
    /// As for [`Reserves::secure`].
    pub unsafe fn shrink<'a>(&mut self, live: impl Iterator<Item = &'a [Need]>) {
        let mut wanted = vec![0; self.held.len()];
        for need in live.flatten() {
            wanted[need.index] = need.count.max(wanted[need.index]);
        }
        for (held, wanted) in self.held.iter_mut().zip(wanted) {
            if wanted < held.wanted {
                held.wanted = wanted;
                // SAFETY: passed on from the caller.
                held.is_secured = unsafe { ask(&self.hooks, held) };
            }
        }
    }
}

/// Asks the host for what is wanted of a shape.
///
/// # Safety
/// The declared functions and contexts are still good.
unsafe fn ask(hooks: &[Hook], held: &Held) -> bool {
    let Some(hook) = hooks.iter().find(|hook| hook.layout == held.shape.layout) else { return false };
    let Shape { layout, items, keys } = held.shape;
    // SAFETY: promised by the caller.
    unsafe { (hook.function)(hook.context, layout.0, items, keys, held.wanted) != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a host holds, and whether it can.
    #[derive(Default)]
    struct Host {
        asked: Vec<(u32, u32, u32)>,
        refuses: bool,
    }

    unsafe extern "C" fn reserve(host: *mut c_void, _layout: u32, items: u32, keys: u32, count: u32) -> i32 {
        // SAFETY: the tests below declare it with a host that outlives the calls.
        let host = unsafe { &mut *host.cast::<Host>() };
        host.asked.push((items, keys, count));
        i32::from(!host.refuses)
    }

    fn worst(shapes: &[(u32, u32, u32)]) -> WorstCase {
        let shape = |&(items, keys, count)| (Shape { layout: LayoutId(1), items, keys }, count);
        WorstCase { shapes: shapes.iter().map(shape).collect(), ..WorstCase::default() }
    }

    #[test]
    fn the_most_that_any_trace_needs_is_held() {
        let mut host = Host::default();
        let context = (&raw mut host).cast();
        let mut reserves = Reserves::default();
        reserves.declare(LayoutId(1), reserve, context);
        let first = reserves.want(&worst(&[(0, 2, 3)]));
        // SAFETY: the host is alive.
        assert!(unsafe { reserves.secure(&first) && reserves.secure(&first) });
        let second = reserves.want(&worst(&[(0, 2, 2), (4, 0, 1)]));
        // SAFETY: as above.
        assert!(unsafe { reserves.secure(&second) });
        assert_eq!(host.asked, [(0, 2, 3), (4, 0, 1)], "what is held already is not asked for");
        host.asked.clear();
        // SAFETY: as above.
        unsafe { reserves.shrink([second.as_slice()].into_iter()) };
        assert_eq!(host.asked, [(0, 2, 2)]);
        // SAFETY: as above.
        unsafe { reserves.shrink([].into_iter()) };
        assert_eq!(host.asked, [(0, 2, 2), (0, 2, 0), (4, 0, 0)]);
    }

    #[test]
    fn what_an_exit_may_have_used_is_owed() {
        let mut host = Host::default();
        let context: *mut Host = &mut host;
        let mut reserves = Reserves::default();
        reserves.declare(LayoutId(1), reserve, context.cast());
        let (first, second) = (reserves.want(&worst(&[(0, 2, 1)])), reserves.want(&worst(&[(3, 0, 1)])));
        // SAFETY: the host is alive and nobody else uses it, here and below.
        unsafe {
            assert!(reserves.secure(&first) && reserves.secure(&second));
            (*context).refuses = true;
            reserves.spend(&first);
            assert!(!reserves.secure(&first), "refused");
            assert!(reserves.secure(&second), "another shape is held still");
            (*context).refuses = false;
            assert!(reserves.secure(&first), "asked again");
            assert_eq!((*context).asked.len(), 4);
        }
    }

    #[test]
    fn a_layout_without_function_is_never_secured() {
        let mut reserves = Reserves::default();
        let needs = reserves.want(&worst(&[(0, 2, 1)]));
        assert!(!reserves.can_hold(LayoutId(1)));
        // SAFETY: nothing is declared.
        assert!(!unsafe { reserves.secure(&needs) });
    }
}
