//! Registers and stack bytes to return addresses. Pure: it reads no memory and no files.
