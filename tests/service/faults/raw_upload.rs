//! Requests byte by byte, so that what a header says and what the body is may
//! differ, and the resident memory of the process that reads them.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rustix::process::Pid;

use super::size::size;

/// Seconds that a server may take to answer what it was told, in CI's size.
const ANSWER_S_MAX: usize = 120;

/// How a request says where its body ends.
#[derive(Clone, Copy, Debug)]
pub enum Framing {
    /// By so many bytes, whether or not there are as many.
    Length(u64),
    /// By a last chunk, if there is one.
    Chunks,
}

/// A request whose body is made while it is sent.
pub struct RawRequest<'r> {
    pub address: &'r str,
    pub token: &'r str,
    /// Method and path.
    pub line: &'r str,
    /// Media type, and content coding or `identity`.
    pub form: (&'r str, &'r str),
    pub framing: Framing,
}

impl RawRequest<'_> {
    /// Sends the request until the body ends or the server has heard enough;
    /// status and body of the answer.
    pub fn send(&self, mut body: impl Iterator<Item = Vec<u8>>) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).expect("the server listens");
        let answer_max = Duration::from_secs(size(ANSWER_S_MAX) as u64);
        stream
            .set_read_timeout(Some(answer_max))
            .expect("a timeout");
        stream
            .set_write_timeout(Some(answer_max))
            .expect("a timeout");
        let framing = match self.framing {
            Framing::Length(bytes) => format!("content-length: {bytes}"),
            Framing::Chunks => "transfer-encoding: chunked".to_owned(),
        };
        let head = format!(
            "{} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\
             content-type: {}\r\ncontent-encoding: {}\r\n{framing}\r\n\r\n",
            self.line, self.address, self.token, self.form.0, self.form.1
        );
        stream.write_all(head.as_bytes()).expect("the server reads");
        // Read meanwhile: a server that has heard enough answers and hangs up.
        let read = stream.try_clone().expect("a second handle");
        let reading = std::thread::spawn(move || answer(read));
        let is_whole = body.all(|piece| self.piece(&mut stream, &piece));
        if is_whole && matches!(self.framing, Framing::Chunks) {
            // The server may have hung up behind its answer already.
            let _ = stream.write_all(b"0\r\n\r\n");
        }
        if is_whole && matches!(self.framing, Framing::Length(_)) {
            let _ = stream.shutdown(Shutdown::Write);
        }
        reading.join().expect("reading does not panic")
    }

    /// Sends a piece of the body; false once the server has hung up.
    fn piece(&self, stream: &mut TcpStream, piece: &[u8]) -> bool {
        let sent = match self.framing {
            Framing::Length(_) => stream.write_all(piece),
            Framing::Chunks => write!(stream, "{:x}\r\n", piece.len())
                .and_then(|()| stream.write_all(piece))
                .and_then(|()| stream.write_all(b"\r\n")),
        };
        sent.is_ok()
    }
}

/// Status and body of an answer; what came is taken also if the connection
/// broke behind it.
fn answer(mut stream: TcpStream) -> (u16, String) {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        bytes.extend_from_slice(&piece[..length]);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3));
    let status = status.and_then(|status| status.parse().ok());
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status.unwrap_or(0), body.to_owned())
}

/// A figure of `/proc/PID/status`, in bytes.
fn memory(pid: Pid, name: &str) -> u64 {
    let path = format!("/proc/{}/status", pid.as_raw_nonzero());
    let text = std::fs::read_to_string(path).expect("the process runs");
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kibibytes = line.and_then(|rest| rest.trim_matches([':', ' ', '\t']).split(' ').next());
    let kibibytes: u64 = kibibytes
        .and_then(|text| text.parse().ok())
        .expect("a figure");
    kibibytes << 10
}

/// Bytes resident now; what was most is forgotten.
pub fn resident(pid: Pid) -> u64 {
    // 5 sets the peak back to what is resident (proc(5), clear_refs).
    let path = format!("/proc/{}/clear_refs", pid.as_raw_nonzero());
    std::fs::write(path, "5").expect("a child's own figures");
    memory(pid, "VmRSS")
}

/// Most bytes that were resident at once since [`resident`] was asked.
pub fn resident_most(pid: Pid) -> u64 {
    memory(pid, "VmHWM")
}
