//! Turns a profile into metrics, call trees and causes. Pure: it does no I/O and formats nothing.
