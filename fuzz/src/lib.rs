//! What the targets share: how a target begins, the planted panic, `records`
//! (a schema with every type, and what holds of all that is accepted), and
//! `releases` (small releases made of the bundled sample).

pub mod records;
pub mod releases;

/// Begins a target: `fuzz_target!(init: vizard_fuzz::begin(), …)`.
///
/// One thread, the fuzzer's own: for inputs of some hundred bytes a second one
/// costs more than it does. And panics inside other crates are left to whoever
/// catches them, since Parquet's reader panics on hostile bytes and its callers
/// know it; the fuzzer's hook would end the program before anyone could. Panics
/// of ours still end it, and so do those that nobody catches.
pub fn begin() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    let pool = pool.use_current_thread().build_global();
    pool.expect("no pool was there before");
    let ends = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let place = info.location().map_or("", |place| place.file());
        if !place.contains("/registry/") {
            ends(info);
        }
    }));
}

/// With the feature `planted`, a panic behind two runs of bytes that no seed
/// has: each comes about once in ten thousand changes, so both at once never
/// do. A target finds it that keeps the input with the first to look for the
/// second.
pub fn plant(bytes: &[u8]) {
    let has = |run: [u8; 3]| bytes.windows(3).any(|window| window == run);
    if cfg!(feature = "planted") && has([0x9A; 3]) && has(std::hint::black_box([0x51; 3])) {
        panic!("planted");
    }
}
