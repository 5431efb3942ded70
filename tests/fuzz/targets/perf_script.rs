#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ironlaw::fuzz::perf_script(data));
