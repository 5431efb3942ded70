//! Event names to kernel attributes. Pure: it never opens an event.
