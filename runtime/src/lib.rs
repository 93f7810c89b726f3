//! Placeholder module doc.
