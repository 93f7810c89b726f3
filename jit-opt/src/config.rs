//! Which passes run, and how much they may rewrite.
//!
//! Problem: a wrong result has to be traced to one pass and then to one rewrite, and the figures of the
//! papers show single optimizations alone. Design: every pass has a name and can be switched off by it;
//! *fuel* is the number of rewrites after which the optimizer only copies, so that a search by halves finds
//! the guilty one. Invariant: a configuration changes what the output looks like, never what it means.
//!
//! ```
//! use tracelift_opt::{Config, PassName};
//! let config = Config::parse("-fold,-cse").unwrap();
//! assert!(!config.is_on(PassName::Fold) && config.is_on(PassName::Guards));
//! assert!(Config::parse("-flod").unwrap_err().to_string().contains("flod"));
//! ```

use std::collections::BTreeSet;

use thiserror::Error;
use tracelift_core::schema::LayoutId;

use crate::bridge::BridgeTarget;

/// A pass, as the code asks for it: a name that does not exist does not compile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassName {
    /// `virtuals` in [`PASSES`].
    Virtuals,
    /// `delay_store` in [`PASSES`].
    DelayStore,
    /// `expand` in [`PASSES`].
    Expand,
    /// `ranges` in [`PASSES`].
    Ranges,
    /// `fold` in [`PASSES`].
    Fold,
    /// `cse` in [`PASSES`].
    Cse,
    /// `guards` in [`PASSES`].
    Guards,
    /// `bounds` in [`PASSES`].
    Bounds,
    /// `load_forward` in [`PASSES`].
    LoadForward,
    /// `store_forward` in [`PASSES`].
    StoreForward,
    /// `dead_store` in [`PASSES`].
    DeadStore,
    /// `apart` in [`PASSES`].
    Apart,
    /// `peel` in [`PASSES`].
    Peel,
    /// `collect` in [`PASSES`].
    Collect,
    /// `dce` in [`PASSES`].
    Dce,
    /// `early_store` in [`PASSES`].
    EarlyStore,
}

/// A pass that can be switched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PassInfo {
    /// The pass.
    pub pass: PassName,
    /// Its name in configurations.
    pub name: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// Whether it may be switched off.
    pub optional: bool,
}

/// Every pass, in the order in which an operation meets them.
pub const PASSES: &[PassInfo] = &[
    PassInfo { pass: PassName::Virtuals, name: "virtuals", doc: "objects that nobody else sees are not made", optional: true },
    PassInfo {
        pass: PassName::DelayStore,
        name: "delay_store",
        doc: "a store of an object that does not exist waits until somebody may look",
        optional: true,
    },
    PassInfo { pass: PassName::Expand, name: "expand", doc: "record operations become loads, stores and guards", optional: false },
    PassInfo {
        pass: PassName::Ranges,
        name: "ranges",
        doc: "integers are known to be small, from operations and guards",
        optional: true,
    },
    PassInfo { pass: PassName::Fold, name: "fold", doc: "constant folding and algebraic rewrites", optional: true },
    PassInfo { pass: PassName::Cse, name: "cse", doc: "a pure operation seen before is not repeated", optional: true },
    PassInfo { pass: PassName::Guards, name: "guards", doc: "repeated and implied guards go", optional: true },
    PassInfo {
        pass: PassName::Bounds,
        name: "bounds",
        doc: "an index that is known to be in bounds is not tested, and one test before a loop stands for those in it",
        optional: true,
    },
    PassInfo {
        pass: PassName::LoadForward,
        name: "load_forward",
        doc: "a load of what was loaded before is not repeated",
        optional: true,
    },
    PassInfo { pass: PassName::StoreForward, name: "store_forward", doc: "a load of what was stored before is that value", optional: true },
    PassInfo { pass: PassName::DeadStore, name: "dead_store", doc: "stores that change nothing that is seen go", optional: true },
    PassInfo {
        pass: PassName::Apart,
        name: "apart",
        doc: "a guard before a loop tells two arrays apart, of which one is read and one written",
        optional: true,
    },
    PassInfo {
        pass: PassName::Peel,
        name: "peel",
        doc: "the first iteration stands alone, and the loop uses what it found; in regions, the first test",
        optional: true,
    },
    PassInfo { pass: PassName::Collect, name: "collect", doc: "loops that allocate nothing ask for no collection", optional: true },
    PassInfo { pass: PassName::Dce, name: "dce", doc: "unused operations go", optional: true },
    PassInfo {
        pass: PassName::EarlyStore,
        name: "early_store",
        doc: "outside of loops a slot is stored once, before the exits that would each store it",
        optional: true,
    },
];

/// What the optimizer may do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    off: Vec<PassName>,
    /// At most this many rewrites, to find a wrong one by halving. `None`: no limit.
    pub fuel: Option<u64>,
    /// Keep a trace of every stage in the report.
    pub stages: bool,
    /// Leave record operations as they are, as the papers' figures show them. The output is for reading: it
    /// is verified and evaluated, but cannot be lowered.
    pub keep_records: bool,
    /// The host looks at its collector's debt after each exit: then loops that allocate nothing need no
    /// checks of their own (the pass `collect`), and those that did when they were recorded count instead.
    /// Without this every check stays as it is.
    pub host_collects: bool,
    /// Somebody wants to enter a loop without passing its preamble: the report says what that takes
    /// ([`WayIn`](crate::WayIn)).
    pub wants_way_in: bool,
    /// A peeled loop with virtual objects gets a second body, for bridges that have such objects
    /// ([`BridgeTarget`](crate::BridgeTarget)).
    pub second_body: bool,
    /// The trace goes on in this loop at its end: objects may be virtual on the way there.
    pub bridge_to: Option<std::sync::Arc<BridgeTarget>>,
    /// No guard before a loop stands for work in its iterations: one has failed too often.
    pub no_hoisting: bool,
    /// Layouts whose objects are made where the trace makes them, also with the pass `virtuals` on: nobody
    /// could make them at an exit.
    pub real_layouts: BTreeSet<LayoutId>,
}

/// A configuration string that makes no sense.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ConfigError {
    /// The name is no pass.
    #[error("there is no pass `{name}`; the passes are {}", pass_names())]
    UnknownPass {
        /// What was written.
        name: String,
    },
    /// The pass is needed for every trace.
    #[error("the pass `{name}` cannot be switched off: lowering needs what it makes")]
    NotOptional {
        /// The pass.
        name: &'static str,
    },
    /// An item without `+` or `-`.
    #[error("`{item}` should be `+NAME` or `-NAME`")]
    NoSign {
        /// The item.
        item: String,
    },
}

fn pass_names() -> String {
    PASSES.iter().map(|pass| pass.name).collect::<Vec<_>>().join(", ")
}

impl Config {
    /// Everything on.
    pub fn new() -> Config {
        Config::default()
    }

    /// Everything on but what `text` switches: `-NAME,+NAME` from left to right; the name `all` stands for
    /// every pass that may be off.
    pub fn parse(text: &str) -> Result<Config, ConfigError> {
        let mut config = Config::new();
        config.switch(text)?;
        Ok(config)
    }

    /// Switches passes as [`Config::parse`] does, on top of what is set already.
    pub fn switch(&mut self, text: &str) -> Result<(), ConfigError> {
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (on, name) = match (item.strip_prefix('+'), item.strip_prefix('-')) {
                (Some(name), _) => (true, name),
                (_, Some(name)) => (false, name),
                _ => return Err(ConfigError::NoSign { item: item.to_string() }),
            };
            if name == "all" {
                for pass in PASSES.iter().filter(|pass| pass.optional) {
                    self.set(pass.pass, on);
                }
                continue;
            }
            let pass = PASSES
                .iter()
                .find(|pass| pass.name == name)
                .ok_or_else(|| ConfigError::UnknownPass { name: name.to_string() })?;
            if !on && !pass.optional {
                return Err(ConfigError::NotOptional { name: pass.name });
            }
            self.set(pass.pass, on);
        }
        Ok(())
    }

    /// The same without loop peeling, for loops that would gain less by it than it takes: the preamble is as
    /// much again to optimize and compile.
    pub fn without_peeling(mut self) -> Config {
        self.set(PassName::Peel, false);
        self
    }

    fn set(&mut self, pass: PassName, on: bool) {
        self.off.retain(|&off| off != pass);
        if !on {
            self.off.push(pass);
        }
    }

    /// Whether a pass runs.
    pub fn is_on(&self, pass: PassName) -> bool {
        !self.off.contains(&pass)
    }

    /// Whether checks for a collection may be removed or counted in the end, so that nobody may rely on what
    /// they say.
    pub(crate) fn checks_say_nothing(&self) -> bool {
        self.host_collects
    }

    /// Whether checks for a collection may be removed.
    pub(crate) fn checks_may_go(&self) -> bool {
        self.host_collects && self.is_on(PassName::Collect)
    }

    /// The same, with a trace of every stage in the report.
    pub fn with_stages(mut self) -> Config {
        self.stages = true;
        self
    }

    /// The same, with record operations left as they are.
    pub fn keeping_records(mut self) -> Config {
        self.keep_records = true;
        self
    }

    /// The same with objects of these layouts made where the trace makes them.
    pub fn keeping_real(mut self, layouts: impl IntoIterator<Item = LayoutId>) -> Config {
        self.real_layouts.extend(layouts);
        self
    }

    /// The same, with what it takes to enter a loop without its preamble.
    pub fn with_way_in(mut self) -> Config {
        self.wants_way_in = true;
        self
    }

    /// The same, with second bodies of loops for bridges.
    pub fn with_second_body(mut self) -> Config {
        self.second_body = true;
        self
    }

    /// The same for a trace that goes on in this loop.
    pub fn bridging_to(mut self, target: std::sync::Arc<BridgeTarget>) -> Config {
        self.bridge_to = Some(target);
        self
    }

    /// The same with at most this many rewrites.
    pub fn with_fuel(mut self, fuel: u64) -> Config {
        self.fuel = Some(fuel);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_read_from_left_to_right() {
        let config = Config::parse("-all, +guards").unwrap();
        assert!(
            config.is_on(PassName::Guards) && !config.is_on(PassName::Fold) && config.is_on(PassName::Expand)
        );
        assert_eq!(Config::parse("").unwrap(), Config::new());
    }

    #[test]
    fn each_pass_has_its_row() {
        for (row, info) in PASSES.iter().enumerate() {
            assert_eq!(info.pass as usize, row, "{}", info.name);
            let off = Config::parse(&format!("-{}", info.name));
            assert_eq!(off.is_ok_and(|config| !config.is_on(info.pass)), info.optional, "{}", info.name);
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(Config::parse("-expand"), Err(ConfigError::NotOptional { name: "expand" }));
        assert_eq!(Config::parse("fold"), Err(ConfigError::NoSign { item: "fold".into() }));
        let message = Config::parse("-heat").unwrap_err().to_string();
        assert!(
            message.contains("`heat`")
                && message.contains("expand, ranges, fold, cse, guards, bounds, load_forward"),
            "{message}"
        );
    }
}
