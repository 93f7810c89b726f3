//! Deliberate bugs, to show that the checks see them.
//!
//! Problem: a differential test that never fails proves little. Design: places in optimizer, lowering and
//! resume data ask [`planted`] whether a named bug is switched on and then do the wrong thing; the tests
//! switch each on in turn and fail unless some check objects: `tests/planted.rs` for what traces, programs of
//! units, trees of traces and control flow graphs show, `runtime/tests/host_calls` and
//! `runtime/tests/regions.rs` for recorder and service. Without the feature `planted-bugs` the question is
//! the constant `false` and costs nothing.
//! Invariant: no release artifact is built with the feature.

macro_rules! define_bugs {
    (
        traces { $( $bug:ident, )* }
        units { $( $unit:ident, )* }
        service { $( $service:ident, )* }
        regions { $( $region:ident, )* }
        region_service { $( $region_service:ident, )* }
        graphs { $( $graph:ident, )* }
    ) => {
        /// A deliberate bug.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs)]
        pub enum Bug {
            $( $bug, )*
            $( $unit, )*
            $( $service, )*
            $( $region, )*
            $( $region_service, )*
            $( $graph, )*
        }

        impl Bug {
            /// Every planted bug that checks of traces must see.
            pub const ALL: &'static [Bug] = &[$(Bug::$bug),*];
            /// Those that checks of programs of units must see.
            pub const OF_UNITS: &'static [Bug] = &[$(Bug::$unit),*];
            /// Those of recorder and service, which no trace alone shows.
            pub const OF_SERVICE: &'static [Bug] = &[$(Bug::$service),*];
            /// Those of trees of traces that are one function, which checks of such trees must see.
            pub const OF_REGIONS: &'static [Bug] = &[$(Bug::$region),*];
            /// Those of the service that makes them.
            pub const OF_REGION_SERVICE: &'static [Bug] = &[$(Bug::$region_service),*];
            /// Those of regions that are control flow graphs.
            pub const OF_GRAPHS: &'static [Bug] = &[$(Bug::$graph),*];
        }
    };
}

#[rustfmt::skip]
define_bugs! {
    traces {
    // Optimizer
    FoldSubSwapped, FoldShiftUnmasked, GuardForgottenAcrossLabel, GuardFalseTakenAsTrue, ExpandNoBoundsCheck,
    ExpandNoTagCheck, ExpandMendUnasked,
    HeapStoreAliasIgnored, HeapCallKeepsLoads, HeapNarrowForwarded,
    VirtualSetForgotten, VirtualMissingInSnapshot, LiftTwice, PeelJumpArgStale, PeelAliasIgnored, PeelInputsKept,
    VirtualMappedLate,
    VirtualKeysReversed, VirtualItemsFromFirst, VirtualUnsetRead, VirtualAbsentIgnored, VirtualIdentityByClass,
    VirtualSelfDropped, VirtualBarrierIgnored, VirtualSiteForgotten, LiftSiteForgotten, ExpandFrameShifted,
    VirtualChosenUnchecked, VirtualChosenOther, VirtualChosenAll,
    PeelFactsByPosition, PeelCarriedOrder,
    RotationAgeForgotten, RotationSplitOrder, RotationBoundsFar,
    DelayedMissingAtExit, DelayedAliasIgnored, DelayedCallReads, DelayedMadeAlone, DelayedDroppedFirst,
    DelayedKeptForgotten,
    BoundsOneTooFar, BoundsStartIgnored, BoundsSteadyIgnored, BoundsStrideFar,
    RangeOverflowForgotten, RangeLessOrEqual, RangeWrapForgotten, RangeCellHalved,
    CseKeepsPointers, HeapKeepsPointers,
    EarlyStoreAboveLoad, EarlyTagIgnored,
    // Effects
    EffectsReenteringForgotten,
    // Lowering
    LowerUnsignedAsSigned, LowerFloorDivTruncates, LowerNarrowLoadSigned, LowerJumpArgsSequential,
    LowerMendIgnored, LowerNeighboursExchanged, LowerCheckForgotten, LowerRowAddendForgotten,
    LowerDivisionSignIgnored, LowerQuotientRoundedDown,
    // Quick code
    QuickMovesInOrder, QuickEvictedUnstored, QuickFoldedPastStores, QuickCallUnsecured, QuickNanUnseen,
    QuickEdgeUnstored, QuickDiesInBlock, QuickScratchKept, QuickScaleForgotten,
    // Resume data
    ResumeSlotShifted, ResumeConstantDropped,
    }
    units {
    // Optimizer
    UnitLoadsKept, UnitVirtualKept, UnitStorePending, UnitResultMerged, UnitResumePointKept,
    // Lowering: calls and returns
    UnitBaseNotMoved, UnitBaseMovedTwice, UnitArgumentsExchanged, UnitContextForgotten, UnitReturnConverted,
    // Lowering: results
    UnitTagUnchecked, UnitFloatConverted, UnitLeftAsReturned, UnitResultNotStored, UnitResultTagNotStored,
    // Lowering: units that are left
    UnitRecordWithoutBase, UnitRecordOneShort, UnitRecordReversed, UnitRecordOverwritten, UnitRecordOfResult,
    UnitRecordForOwnFrame, UnitBaseNotTold, UnitExitOfRoot,
    // Lowering: side traces
    UnitSideCellsShifted, UnitSideBufferShifted, UnitSideIgnored,
    // Resume data
    ResumeCalleeSlots, ResumeCalledShared,
    }
    service {
    // Calls of the host
    CallSlotNotStored, CallEndNotStored, CallAnswerIgnored, CallSlotStillKnown, CallEpochIgnored,
    CallForgottenFreed,
    }
    regions {
    // Into a side trace
    RegionSideUnchecked, RegionWayForgotten, RegionEdgesForgotten, RegionSumForgotten, RegionRefusedUnstored,
    RegionRefusedElsewhere, RegionKnownFirst, RegionCellsShifted, RegionCrossingEarly,
    // Slots
    RegionCoveredByOne, RegionSteadyWritten, RegionSteadyUnchecked, RegionWaitingForgotten,
    RegionWaitingRefused, RegionWaitingUnread, RegionWaitingPassed,
    // Back to the loop
    BridgeArgsReversed, BridgeUnchecked, BridgeUncounted, AgainWritten, AgainUnasked,
    RegionHeadUnchecked, RegionEndUnwritten, RegionBackShifted, RegionBackUncounted, RegionBackTagIgnored,
    }
    region_service {
    RegionLinksKept, RegionMemberKept, RegionGrowthIgnored, RegionBackUnasked,
    }
    graphs {
    // Ark's loop peeling
    ArkBackEdges, ArkSnapshotShared, ArkResolverReversed,
    // What comes after it, and code
    CleanForgetsSnapshots, CleanConstantOfOneWay, LowerBranchReversed,
    }
}

/// Whether this bug is switched on in this thread.
#[cfg(not(feature = "planted-bugs"))]
#[inline(always)]
pub fn planted(_bug: Bug) -> bool {
    false
}

#[cfg(feature = "planted-bugs")]
mod switch {
    use super::Bug;
    use std::cell::Cell;

    thread_local! {
        static ACTIVE: Cell<Option<Bug>> = const { Cell::new(None) };
    }

    /// Whether this bug is switched on in this thread.
    pub fn planted(bug: Bug) -> bool {
        ACTIVE.get() == Some(bug)
    }

    /// Runs `f` with the bug switched on in this thread.
    pub fn with_planted<T>(bug: Bug, f: impl FnOnce() -> T) -> T {
        struct Off;
        impl Drop for Off {
            fn drop(&mut self) {
                ACTIVE.set(None);
            }
        }
        ACTIVE.set(Some(bug));
        let _off = Off;
        f()
    }
}
#[cfg(feature = "planted-bugs")]
pub use switch::{planted, with_planted};
