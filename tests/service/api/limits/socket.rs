//! A client that writes its own bytes, to say what no library would.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::api::Server;

/// Longer than any test here lets a server take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to a server.
pub struct Socket(pub TcpStream);

impl Socket {
    /// A new connection.
    pub async fn open(server: &Server) -> Self {
        let stream = TcpStream::connect(server.anyone().address()).await;
        Self(stream.expect("it listens"))
    }

    /// Writes bytes; whether the server still took them.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.0.write_all(bytes.as_ref()).await.is_ok()
    }

    /// Writes pieces with pauses between them, until the server takes no more.
    pub async fn drip(&mut self, text: &str, piece_bytes: usize, pause: Duration) {
        for piece in text.as_bytes().chunks(piece_bytes) {
            if !self.write(piece).await {
                return;
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Reads until the text holds `end`, or the connection ends.
    pub async fn read_to(&mut self, end: &str) -> String {
        self.read_until(|said| said.contains(end)).await
    }

    /// Reads until the server closes the connection, in whatever way.
    pub async fn read_to_end(&mut self) -> String {
        self.read_until(|_| false).await
    }

    async fn read_until(&mut self, is_enough: impl Fn(&str) -> bool) -> String {
        let mut said = Vec::new();
        let reading = async {
            let mut piece = [0; 4096];
            while let Ok(read @ 1..) = self.0.read(&mut piece).await {
                said.extend_from_slice(&piece[..read]);
                if is_enough(&String::from_utf8_lossy(&said)) {
                    break;
                }
            }
        };
        timeout(PATIENCE, reading).await.expect("an answer in time");
        String::from_utf8_lossy(&said).into_owned()
    }
}

/// The first lines of a request: method, path, token, then further fields.
pub fn head(start: &str, token: &str, fields: &str) -> String {
    format!("{start} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n{fields}\r\n")
}

/// A body in one chunk, with its end.
pub fn chunked(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}
