//! Plain, serialisable view models that screens and exports draw. It never draws.
