//! TLS of the service, with certificates made here and a rustls client.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::{Request, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion, version};

use crate::common::certificate::Certificate;
use crate::common::program::Program;

/// A handshake is given a second.
const SHORT_TIMER: (&str, &str) = ("VIZARD_HEADER_TIMEOUT_MS", "1000");

/// Certificate files that a server is given.
struct Files {
    _folder: TempDir,
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    fn of(shown: &Certificate) -> Self {
        let folder = TempDir::new().expect("a folder");
        let certificate = folder.path().join("certificate.pem");
        let key = folder.path().join("key.pem");
        shown.write(&certificate, &key);
        Self {
            _folder: folder,
            certificate,
            key,
        }
    }

    fn serve(&self, more: &[&str], environment: &[(&str, &str)]) -> Program {
        let certificate = self.certificate.to_str().expect("text");
        let key = self.key.to_str().expect("text");
        let mut arguments = vec!["--tls-cert", certificate, "--tls-key", key];
        arguments.extend(more);
        Program::serve(&arguments, environment)
    }
}

fn address(server: &Program) -> String {
    server.line_after("listening on https://")
}

/// A connection that trusts one certificate and offers one protocol.
async fn connected(
    address: &str,
    trusted: &Certificate,
    protocol: &[u8],
    versions: &[&'static SupportedProtocolVersion],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    let trusted = CertificateDer::from(trusted.der.clone());
    roots.add(trusted).expect("a certificate");
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("127.0.0.1").expect("an address");
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
}

fn question() -> Request<Empty<Bytes>> {
    let request = Request::get("https://127.0.0.1/healthz").header("host", "127.0.0.1");
    request.body(Empty::new()).expect("a request")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_protocols_are_spoken_over_tls_1_2_and_1_3() {
    let shown = Certificate::of_this_machine("first");
    let files = Files::of(&shown);
    let server = files.serve(&[], &[]);
    let address = address(&server);
    for tls in [&version::TLS12, &version::TLS13] {
        let stream = connected(&address, &shown, b"http/1.1", &[tls]).await;
        let stream = TokioIo::new(stream.expect("a handshake"));
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream)
            .await
            .expect("HTTP/1.1");
        tokio::spawn(connection);
        let answer = sender.send_request(question()).await.expect("an answer");
        assert_eq!(
            (answer.status().as_u16(), answer.version()),
            (200, Version::HTTP_11)
        );

        let stream = connected(&address, &shown, b"h2", &[tls])
            .await
            .expect("a handshake");
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .expect("HTTP/2");
        tokio::spawn(connection);
        let answer = sender.send_request(question()).await.expect("an answer");
        assert_eq!(
            (answer.status().as_u16(), answer.version()),
            (200, Version::HTTP_2)
        );
        for (name, value) in [
            ("strict-transport-security", "max-age=31536000"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(answer.headers()[name], value);
        }
        let body = answer
            .into_body()
            .collect()
            .await
            .expect("whole")
            .to_bytes();
        assert!(body.starts_with(b"{\"status\":\"alive\""));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_http_and_unknown_protocols_get_no_answer_over_tls() {
    let shown = Certificate::of_this_machine("first");
    let files = Files::of(&shown);
    let server = files.serve(&[], &[]);
    let address = address(&server);
    let mut plain = TcpStream::connect(&address).await.expect("it listens");
    plain
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        .await
        .expect("sent");
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said).await;
    assert!(!String::from_utf8_lossy(&said).contains("alive"));
    let versions = [&version::TLS13];
    assert!(
        connected(&address, &shown, b"spdy/3", &versions)
            .await
            .is_err()
    );
    // Somebody else's certificate is not this server's.
    let other = Certificate::of_this_machine("other");
    assert!(connected(&address, &other, b"h2", &versions).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_that_does_not_go_on_is_cut_in_time() {
    let shown = Certificate::of_this_machine("first");
    let files = Files::of(&shown);
    let server = files.serve(&["--metrics-listen", "127.0.0.1:0"], &[SHORT_TIMER]);
    let address = address(&server);
    // A record of a handshake that promises 512 bytes and sends two.
    for bytes in [&b""[..], &[0x16, 3, 1, 2, 0, 1, 0]] {
        let mut slow = TcpStream::connect(&address).await.expect("it listens");
        slow.write_all(bytes).await.expect("sent");
        let begin = Instant::now();
        let mut said = Vec::new();
        let read = slow.read_to_end(&mut said);
        let closed = tokio::time::timeout(Duration::from_secs(15), read).await;
        assert!(closed.is_ok(), "{} bytes, not closed", bytes.len());
        assert!(begin.elapsed() >= Duration::from_millis(500));
    }
    // A whole handshake and then nothing.
    let versions = [&version::TLS13];
    for protocol in [&b"h2"[..], b"http/1.1"] {
        let mut silent = connected(&address, &shown, protocol, &versions)
            .await
            .expect("made");
        silent.write_all(b"P").await.expect("sent");
        let mut said = Vec::new();
        let read = silent.read_to_end(&mut said);
        let closed = tokio::time::timeout(Duration::from_secs(15), read).await;
        assert!(closed.is_ok(), "{}", String::from_utf8_lossy(protocol));
    }
    let metrics = crate::common::client::Client::new(&server.line_after("metrics on http://"));
    let metrics = metrics.send("GET", "/metrics").await.text();
    assert!(metrics.contains("vizard_http_connections_cut_total{reason=\"silent\"} 2"));
    assert!(metrics.contains("vizard_http_connections_cut_total{reason=\"header\"} 2"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_certificate_is_shown_without_dropping_connections() {
    let (first, second) = (
        Certificate::of_this_machine("first"),
        Certificate::of_this_machine("second"),
    );
    let files = Files::of(&first);
    let server = files.serve(&[], &[]);
    let address = address(&server);
    let versions = [&version::TLS13];
    let stream = connected(&address, &first, b"h2", &versions)
        .await
        .expect("a handshake");
    let (mut open, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .expect("HTTP/2");
    tokio::spawn(connection);
    assert!(open.send_request(question()).await.is_ok());
    // A key without its certificate changes nothing.
    let unpaired = TempDir::new().expect("a folder");
    second.write(&unpaired.path().join("unused"), &files.key);
    server.signal("-HUP");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(connected(&address, &first, b"h2", &versions).await.is_ok());
    second.write(&files.certificate, &files.key);
    server.signal("-HUP");
    let begin = Instant::now();
    while connected(&address, &second, b"h2", &versions)
        .await
        .is_err()
    {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "the old one is still shown"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(connected(&address, &first, b"h2", &versions).await.is_err());
    let answer = open
        .send_request(question())
        .await
        .expect("the connection goes on");
    assert_eq!(answer.status().as_u16(), 200);
}

#[test]
fn a_health_check_beside_the_server_trusts_its_certificate_alone() {
    let shown = Certificate::of_this_machine("first");
    let files = Files::of(&shown);
    let server = files.serve(&[], &[]);
    let address = address(&server);
    let asked = |certificate: &PathBuf| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vizard"));
        command.args(["healthcheck", "--address", &address]);
        command.env("VIZARD_TLS_CERT", certificate);
        command.output().expect("it runs").status.success()
    };
    assert!(asked(&files.certificate));
    let other = Files::of(&Certificate::of_this_machine("first"));
    assert!(!asked(&other.certificate));
}

#[test]
fn files_that_cannot_be_used_are_refused_at_the_start() {
    let files = Files::of(&Certificate::of_this_machine("first"));
    let other = Files::of(&Certificate::of_this_machine("other"));
    let checked = |certificate: &PathBuf, key: &PathBuf, listen: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vizard"));
        command.args(["serve", "--check-config", "--listen", listen, "--tls-cert"]);
        command.arg(certificate).arg("--tls-key").arg(key);
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    // Taken for a key, it is judged by its mode first.
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&files.certificate, private).expect("set");
    let missing = PathBuf::from("no-such-file.pem");
    let own = "127.0.0.1:0";
    // With TLS an address of the network needs no other word.
    assert_eq!(
        checked(&files.certificate, &files.key, "0.0.0.0:0").0,
        Some(0)
    );
    let cases = [
        (&missing, &files.key, "the certificate cannot be read"),
        (&files.certificate, &missing, "the key cannot be read"),
        (&files.key, &files.key, "the certificate is not a PEM file"),
        (
            &files.certificate,
            &files.certificate,
            "the key is not a PEM file",
        ),
        (&files.certificate, &other.key, "cannot be used together"),
    ];
    for (certificate, key, why) in cases {
        let (code, said) = checked(certificate, key, own);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    }
}
