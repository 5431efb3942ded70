//! Commands started stopped, so that they can be profiled from their first instruction.
