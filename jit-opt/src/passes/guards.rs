//! Repeated and implied guards (being written).
use tracelift_core::Inst;

use crate::pass::{Cx, Outcome, Pass};
use crate::OptError;

pub(crate) struct ClassGuards;
#[derive(Default)]
pub(crate) struct Guards {}

impl Pass for ClassGuards {
    fn name(&self) -> &'static str {
        "guards"
    }
    fn rules(&self) -> Vec<&'static str> {
        vec![]
    }
    fn feed(&mut self, _cx: &mut Cx<'_, '_>, _inst: &Inst) -> Result<Outcome, OptError> {
        Ok(Outcome::Keep)
    }
}
impl Pass for Guards {
    fn name(&self) -> &'static str {
        "guards"
    }
    fn rules(&self) -> Vec<&'static str> {
        vec![]
    }
    fn feed(&mut self, _cx: &mut Cx<'_, '_>, _inst: &Inst) -> Result<Outcome, OptError> {
        Ok(Outcome::Keep)
    }
}
