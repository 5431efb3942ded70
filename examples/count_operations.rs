//! How does a program without C tell ironlaw how many operations it has completed? By writing the page of
//! `native/ironlaw.h` itself: a head, then a line per thread that begins with its count.
//!
//! ```text
//! cargo build --example count_operations
//! ironlaw record --ops page:example -- target/debug/examples/count_operations
//! ironlaw report
//! ```
//!
//! Only the standard library is used, so a thread writes its count as a file, a system call for every thousand operations.
//! A program that maps the page (`memmap2`, `rustix::mm`) adds to an `AtomicU64` in it for half a nanosecond each.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::{SystemTime, UNIX_EPOCH};

const LINE: u64 = 128;
const BATCH: u64 = 1000;

/// A page with a line for each thread, all at zero.
fn page(name: &str, threads: u32) -> io::Result<File> {
    let path = format!("/dev/shm/ironlaw-{name}");
    let page = File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    page.set_len(LINE * (u64::from(threads) + 1))?;
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    // Magic, version, bytes per line, lines, lines taken, when the counts began; the magic comes last, when all is in place.
    let words = [1, LINE as u32, threads, threads].map(u32::to_ne_bytes).concat();
    page.write_all_at(&words, 8)?;
    page.write_all_at(&started.to_ne_bytes(), 24)?;
    page.write_all_at(b"IRONLAWP", 0)?;
    Ok(page)
}

/// What the program is for.
fn handle_request(request: u64) -> u64 {
    (0..100).fold(request, |x, _| black_box(x).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1))
}

fn main() -> io::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "example".to_string());
    let (threads, requests) = (4, 500_000);
    let page = page(&name, threads)?;
    let serve = |thread: u32| -> io::Result<()> {
        for request in 1..=requests {
            black_box(handle_request(request));
            if request % BATCH == 0 || request == requests {
                page.write_all_at(&request.to_ne_bytes(), LINE * (u64::from(thread) + 1))?;
            }
        }
        Ok(())
    };
    let serve = &serve;
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || serve(thread))).collect();
        running.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    })?;
    println!("requests: {}", u64::from(threads) * requests);
    Ok(())
}
