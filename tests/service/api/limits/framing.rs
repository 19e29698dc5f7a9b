//! Requests about whose end a proxy and this server could disagree: answered
//! 400, and the connection is closed.

use super::socket::{Socket, chunked, head};
use crate::api::{Server, on_both};

on_both!(a_request_whose_end_is_in_doubt_is_answered_400_and_ends_the_connection);

/// What the server says to these bytes, until it closes the connection.
async fn said_to(server: &Server, bytes: &str) -> String {
    let mut socket = Socket::open(server).await;
    socket.write(bytes).await;
    socket.read_to_end().await
}

async fn a_request_whose_end_is_in_doubt_is_answered_400_and_ends_the_connection(server: Server) {
    let next = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
    let post = |fields: &str| format!("POST /v1/keys HTTP/1.1\r\nhost: x\r\n{fields}\r\n");
    for bad in [
        "GET /healthz HTTP/1.1\r\n\r\n".to_owned(),
        "GET /healthz HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n".into(),
        "GET /healthz HTTP/1.1\r\nhost: x\r\nhost: x\r\n\r\n".into(),
        "GET /healthz HTTP/1.1\nhost: x\n\n".into(),
        "GET /healthz HTTP/1.1\r\nhost: x\nx-other: y\r\n\r\n".into(),
        "GET /healthz HTTP/1.1\r\nhost: x\r\n\n".into(),
        post("transfer-encoding: chunked, chunked\r\n") + "0\r\n\r\n",
        post("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n") + "0\r\n\r\n",
        post("transfer-encoding: chunked\r\ncontent-length: 5\r\n") + "0\r\n\r\n",
        post("content-length: 5\r\ntransfer-encoding: chunked\r\n") + "0\r\n\r\n",
        post("content-length: 0\r\ncontent-length: 0\r\n"),
    ] {
        // Alone, and behind a request that is answered.
        let said = said_to(&server, &format!("{bad}{next}")).await;
        assert!(said.starts_with("HTTP/1.1 400 "), "{bad:?}: {said}");
        assert_eq!(said.matches("HTTP/1.1 ").count(), 1, "{bad:?}: {said}");
        let said = said_to(&server, &format!("{next}{bad}{next}")).await;
        assert!(said.starts_with("HTTP/1.1 200 "), "{bad:?}: {said}");
        assert_eq!(said.matches("HTTP/1.1 ").count(), 2, "{bad:?}: {said}");
        assert!(said.contains("HTTP/1.1 400 "), "{bad:?}: {said}");
    }
    // A body may hold anything, and the connection goes on behind it.
    let body = "GET / HTTP/1.1\n\nhost: x\r\nhost: y\r\n\r\n";
    let operator = server.operator();
    let post = |fields: &str| {
        let fields = format!("content-type: application/json\r\n{fields}\r\n");
        head("POST /v1/keys", operator.token(), &fields)
    };
    let sized = post(&format!("content-length: {}", body.len())) + body;
    let chunked = post("transfer-encoding: chunked") + &chunked(body);
    let last = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let said = said_to(&server, &format!("{sized}{chunked}{sized}{last}")).await;
    assert_eq!(said.matches("problem:malformed-json").count(), 3, "{said}");
    assert_eq!(said.matches("HTTP/1.1 200 ").count(), 1, "{said}");
}
