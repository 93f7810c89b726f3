//! Tracelift.
