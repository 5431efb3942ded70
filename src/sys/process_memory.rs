//! Reads another process's memory without stopping it.

use std::io;

/// Reads memory of the process of thread `tid` from `address` into `bytes`. Returns the number of bytes read, which is
/// smaller than requested where the mapping ends.
///
/// # Errors
/// As `process_vm_readv(2)`: the process is gone, belongs to another user, or has nothing mapped there.
pub fn read(tid: u32, address: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let pid = libc::pid_t::try_from(tid).map_err(|_| io::ErrorKind::InvalidInput)?;
    let start = usize::try_from(address).map_err(|_| io::ErrorKind::InvalidInput)?;
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(start), iov_len: bytes.len() };
    // SAFETY: `local` describes `bytes`, which is valid for writes; `remote` is only an address in the other process.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_as_far_as_it_is_mapped() {
        let source = *b"some bytes";
        let mut bytes = [0u8; 10];
        let done = read(std::process::id(), source.as_ptr() as u64, &mut bytes);
        assert_eq!((done.ok(), bytes), (Some(10), source));
        assert!(read(std::process::id(), 8, &mut bytes).is_err());
    }
}
