//! Why recordings were given up, in words that a user of the language understands.
//!
//! Problem: "unstable slot types" is exact, and says nothing to someone who has written a loop. Design: the
//! table of this library's reasons has a sentence for each (`abort.rs`); the host explains its own
//! ([`MeaningOf`]). Summary and view both look here. A reason that nobody explains is shown as it is.
//! Invariant: the exact word is shown beside the sentence.
//!
//! Example: "unstable slot types" -> "variables kept changing their types from one iteration to the next"

use crate::abort::MEANINGS;

/// The host's function that knows what its reasons mean.
pub type MeaningOf = Box<dyn Fn(&str) -> Option<String>>;

/// Who knows what reasons mean.
#[derive(Default)]
pub(crate) struct Reasons {
    host: Option<MeaningOf>,
}

impl Reasons {
    pub fn set(&mut self, host: Option<MeaningOf>) {
        self.host = host;
    }

    /// What a reason means, if that is known.
    pub fn meaning(&self, reason: &str) -> Option<String> {
        let own = MEANINGS.iter().find(|(known, _)| *known == reason);
        own.map(|(_, meaning)| meaning.to_string()).or_else(|| self.host.as_ref()?(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_knows_its_own() {
        let mut reasons = Reasons::default();
        reasons.set(Some(Box::new(|reason| (reason == "recursion").then(|| "it calls itself".into()))));
        assert_eq!(reasons.meaning("recursion").as_deref(), Some("it calls itself"));
        assert_eq!(reasons.meaning("call of print"), None);
        assert_eq!(reasons.meaning("abandoned").as_deref(), Some("the recording was interrupted"));
    }
}
