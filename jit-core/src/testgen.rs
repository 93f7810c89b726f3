//! Random valid traces.
