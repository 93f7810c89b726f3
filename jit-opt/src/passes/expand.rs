//! Expansion (being written).
use tracelift_core::Inst;

use crate::pass::{Cx, Outcome, Pass};
use crate::OptError;

pub(crate) struct Expand {
    keep_records: bool,
}
impl Expand {
    pub fn new(keep_records: bool) -> Expand {
        Expand { keep_records }
    }
}

impl Pass for Expand {
    fn name(&self) -> &'static str {
        "expand"
    }
    fn rules(&self) -> Vec<&'static str> {
        vec![]
    }
    fn feed(&mut self, _cx: &mut Cx<'_, '_>, _inst: &Inst) -> Result<Outcome, OptError> {
        let _ = self.keep_records;
        Ok(Outcome::Keep)
    }
}
