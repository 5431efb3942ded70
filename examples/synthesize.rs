//! Writes a made-up recording of a stated shape, to measure how costs grow with it.
//!
//! `cargo run --release --example synthesize RECORDING SAMPLES STACKS THREADS`

#[path = "../tests/benches/synthetic.rs"]
mod synthetic;

use ironlaw::error::{Error, ErrorKind, Result};
use ironlaw::store::Writer;
use synthetic::{Shape, Synthetic};

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let path = words.next().unwrap_or_default();
    let numbers: Vec<u32> = words.filter_map(|word| word.parse().ok()).collect();
    let &[samples, stacks, threads] = numbers.as_slice() else {
        return Err(Error::new(ErrorKind::Usage, "usage: synthesize RECORDING SAMPLES STACKS THREADS"));
    };
    let mut events = Synthetic::new(Shape { samples, stacks: stacks.max(1), threads: threads.max(1) }, false);
    let mut writer = Writer::create(path.as_ref(), &events.meta(), true)?;
    for chunk in &mut events {
        writer.write(&chunk)?;
        writer.flush()?;
    }
    writer.finish(&events.meta())?;
    Ok(())
}
