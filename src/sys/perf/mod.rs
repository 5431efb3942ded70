//! perf_event_open: attributes, ring buffers, readiness.
