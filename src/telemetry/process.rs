//! What the operating system knows of this process.
//!
//! Names and units are those of Prometheus' own client libraries where those
//! have one, so that dashboards made for any service show this one too. Where
//! the system has no `/proc`, the figures stay at zero.

/// Tells that the process started at `started_s`, in seconds since 1970, and
/// which version it is.
pub fn tell_start(started_s: f64) {
    ::metrics::gauge!("process_start_time_seconds").set(started_s);
    ::metrics::gauge!("vizard_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
}

/// Sets the gauges of the process: memory and open files.
pub fn observe_process() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = kibibytes(&status, "VmRSS:") * 1024;
    let peak = kibibytes(&status, "VmHWM:") * 1024;
    ::metrics::gauge!("process_resident_memory_bytes").set(resident as f64);
    ::metrics::gauge!("vizard_resident_memory_peak_bytes").set(peak as f64);
    let files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    ::metrics::gauge!("process_open_fds").set(files as f64);
}

/// The number of a line such as `VmRSS:     1234 kB`; 0 where there is none.
fn kibibytes(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number.and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_the_status_of_the_process() {
        let status = "Name:\tvizard\nVmHWM:\t    4096 kB\nVmRSS:\t    2048 kB\n";
        assert_eq!(kibibytes(status, "VmRSS:"), 2048);
        assert_eq!(kibibytes(status, "VmHWM:"), 4096);
        assert_eq!(kibibytes(status, "VmSwap:"), 0);
    }
}
