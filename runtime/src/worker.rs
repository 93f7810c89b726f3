//! The thread that compiles.
//!
//! Problem: compiling takes as long as the program takes for ten thousand iterations of a small loop, and it
//! could go on in the interpreter. Design: a [`Worker`] is one thread, which is made with the first task.
//! A task is handed over by value with the compiler that is to do it, and both come back by value with what
//! became of it: so there is one compiler, whoever has it, and nothing is shared but the wish that a task is
//! wanted no more. There is one task at a time. What else is hot meanwhile asks again soon, the hottest loop
//! soonest, so that the order in which traces are compiled follows from the program as it is then, and not
//! from a queue that was made of what it did before.
//!
//! Signals are for the program's threads: this one blocks all. A child after `fork` has no such thread, and
//! what it was doing is lost: the child makes another one (`Worker::is_lost`), and drops nothing of this one,
//! whose channels may be in any state.
//!
//! Invariant: a task reads neither the VM nor the host's memory (`job.rs`), so it may go on when these are no
//! more; all the same a worker that is dropped waits for its thread, as the code that the thread runs may be
//! of a library that the host is about to unload.
//!
//! ```text
//! host's thread:  task 0, compiler --> interpreter ... interpreter --> what became of it, compiler
//! this thread:                     compile, 900 us of its own time
//! ```

use std::io;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender, TryRecvError};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use tracelift_core::Schema;
use tracelift_cranelift::{forks, Compiled, Compiler};

use crate::budget::thread_time;
use crate::job::{self, Done, Job, NoCode, Placed};
use crate::tree::Member;

/// Bytes of the thread's stack: a host's own thread has no less.
const STACK: usize = 8 << 20;

/// What is to be made code of.
pub(crate) enum Task {
    /// A recorded trace.
    Trace(Box<Job>),
    /// Traces that become one function.
    Region(Vec<RegionPart>, Arc<Schema>),
}

/// A trace of a region.
pub(crate) struct RegionPart {
    pub member: Arc<Member>,
    /// As in [`Placed`].
    pub goes_to: Option<usize>,
    pub frame: i32,
}

/// What became of a task.
pub(crate) enum Made {
    Trace(Box<Done>),
    Region(Result<Box<Compiled>, NoCode>),
}

impl Task {
    /// Does it.
    pub fn run(self, compiler: &mut Compiler) -> Made {
        match self {
            Task::Trace(job) => Made::Trace(Box::new(job::compile(*job, compiler))),
            Task::Region(parts, schema) => {
                let all: Vec<Placed<'_>> = (parts.iter())
                    .map(|RegionPart { member, goes_to, frame }| Placed {
                        source: member,
                        goes_to: *goes_to,
                        frame: *frame,
                    })
                    .collect();
                Made::Region(job::generate_tree(compiler, &all, &schema).map(Box::new))
            }
        }
    }
}

/// What is handed over.
struct Order {
    task: Task,
    compiler: Box<Compiler>,
}

/// What comes back.
pub(crate) struct Delivery {
    pub made: Made,
    pub compiler: Box<Compiler>,
    /// Processor time that it took, in nanoseconds.
    pub took: u64,
}

/// How a delivery is asked for.
pub(crate) enum Asked {
    /// Here it is.
    Delivered(Box<Delivery>),
    /// Not yet.
    Working,
    /// It will never come: the thread is no more.
    Lost,
}

/// The thread, and the ways to it and back.
pub(crate) struct Worker {
    orders: Option<SyncSender<Order>>,
    deliveries: Receiver<Delivery>,
    thread: Option<JoinHandle<()>>,
    /// How many forks there were when it was made.
    forks: u32,
}

impl Worker {
    /// Starts the thread.
    pub fn start() -> io::Result<Worker> {
        let (orders, taken) = sync_channel::<Order>(1);
        let (made, deliveries) = sync_channel(1);
        let work = move || {
            for Order { task, mut compiler } in taken {
                let before = thread_time();
                let result = task.run(&mut compiler);
                let took = thread_time().saturating_sub(before);
                if made.send(Delivery { made: result, compiler, took }).is_err() {
                    return;
                }
            }
        };
        let thread =
            without_signals(|| Builder::new().name("tracelift".into()).stack_size(STACK).spawn(work))?;
        Ok(Worker { orders: Some(orders), deliveries, thread: Some(thread), forks: forks() })
    }

    /// Hands a task over; it comes back, with the compiler, if the thread is no more.
    pub fn hand_over(&self, task: Task, compiler: Box<Compiler>) -> Result<(), (Task, Box<Compiler>)> {
        let order = Order { task, compiler };
        match &self.orders {
            Some(orders) => orders.send(order).map_err(|no| (no.0.task, no.0.compiler)),
            None => Err((order.task, order.compiler)),
        }
    }

    /// Asks for what was handed over, without waiting.
    pub fn ask(&self) -> Asked {
        if self.is_lost() {
            return Asked::Lost;
        }
        match self.deliveries.try_recv() {
            Ok(delivery) => Asked::Delivered(Box::new(delivery)),
            Err(TryRecvError::Empty) => Asked::Working,
            Err(TryRecvError::Disconnected) => Asked::Lost,
        }
    }

    /// Waits for what was handed over.
    pub fn wait(&self) -> Option<Box<Delivery>> {
        if self.is_lost() {
            return None;
        }
        self.deliveries.recv().ok().map(Box::new)
    }

    /// Whether this process is a child of the one that has the thread.
    pub fn is_lost(&self) -> bool {
        self.forks != forks()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.is_lost() {
            // Whoever holds a lock of these is not in this process.
            std::mem::forget(self.orders.take());
            std::mem::forget(self.thread.take());
            let nothing = sync_channel(1).1;
            std::mem::forget(std::mem::replace(&mut self.deliveries, nothing));
            return;
        }
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            // A task that has panicked has said so, and was counted.
            let _ = thread.join();
        }
    }
}

/// What is made in `run` inherits a mask in which all signals are blocked.
fn without_signals<R>(run: impl FnOnce() -> R) -> R {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: there is room for both sets, and the first is filled before it is read.
    let is_set = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) == 0
    };
    let result = run();
    if is_set {
        // SAFETY: the call above has filled it.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_without_work_ends_when_it_is_dropped() {
        let worker = Worker::start().expect("there are threads");
        assert!(matches!(worker.ask(), Asked::Working));
        drop(worker);
    }

    #[test]
    fn the_thread_has_all_signals_blocked_and_this_one_keeps_its_own() {
        let blocks = || {
            // SAFETY: there is room for the set, which is filled before it is read.
            unsafe {
                let mut set = std::mem::zeroed();
                libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &mut set);
                libc::sigismember(&set, libc::SIGINT) == 1
            }
        };
        let inside = without_signals(|| std::thread::spawn(blocks)).join().expect("it does not panic");
        assert_eq!((inside, blocks()), (true, false));
    }
}
