//! Wires a source of events to its readers; the only place that knows live and replay. It never formats.
