//! Constant folding (being written).
use tracelift_core::Inst;

use crate::pass::{Cx, Outcome, Pass};
use crate::OptError;

pub(crate) struct Fold;

impl Pass for Fold {
    fn name(&self) -> &'static str {
        "fold"
    }
    fn rules(&self) -> Vec<&'static str> {
        vec![]
    }
    fn feed(&mut self, _cx: &mut Cx<'_, '_>, _inst: &Inst) -> Result<Outcome, OptError> {
        Ok(Outcome::Keep)
    }
}
