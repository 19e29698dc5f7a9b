//! A header that has one value and stands twice: nobody guesses which counts.

use super::limits::socket::Socket;
use super::{Server, on_both, story};
use crate::common::client::Client;

on_both!(
    two_tokens_in_one_request_open_nothing,
    two_tokens_end_an_upload_before_its_body_is_read,
    headers_with_one_value_are_refused_where_they_stand_twice,
    any_tag_beside_a_named_one_is_refused,
);

/// A request with these fields and no others.
async fn ask(server: &Server, (method, path): (&str, &str), fields: &[(&str, &str)]) -> u16 {
    let fields: Vec<_> = fields
        .iter()
        .map(|&(name, value)| (name, value.to_owned()))
        .collect();
    let sent = server.anyone().send_whole(method, path, &fields, "").await;
    if sent.status == 400 {
        sent.expect_problem(400, "invalid-header");
    }
    sent.status
}

fn bearer(client: &Client) -> String {
    format!("Bearer {}", client.token())
}

async fn two_tokens_in_one_request_open_nothing(server: Server) {
    let (admin, analyst) = (server.operator(), server.key(&["analyst"]).await);
    let (admin, good) = (bearer(&admin), bearer(&analyst));
    for (first, second) in [
        (&*good, "Bearer vz_nobody"),
        ("Bearer vz_nobody", &*good),
        (&*good, &*good),
        (&*good, &*admin),
        ("Basic dXNlcjpwYXNz", &*good),
        ("", &*good),
    ] {
        let both = [("authorization", first), ("authorization", second)];
        for path in ["/v1/releases", "/v1/my-preferences", "/openapi.yaml"] {
            let method = if path.contains("my") { "PUT" } else { "GET" };
            assert_eq!(ask(&server, (method, path), &both).await, 400, "{path}");
        }
    }
    // Nobody was looked up.
    let keys = server.operator().call("list_keys").send().await.expect(200);
    assert!(keys["items"][0]["last_used_at"].is_null(), "{keys}");
    assert_eq!(
        ask(
            &server,
            ("GET", "/v1/releases"),
            &[("authorization", &good)]
        )
        .await,
        200
    );
}

async fn two_tokens_end_an_upload_before_its_body_is_read(server: Server) {
    let client = server.key(&["uploader"]).await;
    let id = story::filled_dataset(&client).await;
    let token = bearer(&client);
    let mut socket = Socket::open(&server).await;
    let head = format!(
        "POST /v1/datasets/{id}/records?mode=replace HTTP/1.1\r\nhost: x\r\n\
         authorization: {token}\r\nauthorization: {token}\r\n\
         content-type: text/csv\r\ncontent-length: 1000000\r\n\r\n"
    );
    socket.write(head + "patient,age,sex,ward,cost\np1,").await;
    let said = socket.read_to("\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 400 "), "{said}");
    let view = client.call("get_dataset").at("id", &id).send().await;
    assert_eq!(view.expect(200)["version"], 1);
}

async fn headers_with_one_value_are_refused_where_they_stand_twice(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let job = story::queue(&client, &story::job(&id)).await;
    let token = bearer(&client);
    let datasets = ("POST", "/v1/datasets");
    let events = format!("/v1/jobs/{job}/events");
    let dataset = format!("/v1/datasets/{id}");
    for (place, name, values) in [
        (datasets, "content-type", ["application/json", "text/plain"]),
        (datasets, "idempotency-key", ["a", "a"]),
        (("GET", &*events), "last-event-id", ["0", "1"]),
        (("GET", &*dataset), "if-range", ["\"a\"", "\"b\""]),
    ] {
        let [one, other] = values.map(|value| (name, value));
        let with_token = [("authorization", &*token), one, other];
        assert_eq!(ask(&server, place, &with_token).await, 400, "{name}");
    }
}

async fn any_tag_beside_a_named_one_is_refused(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let token = bearer(&client);
    let path = format!("/v1/datasets/{id}");
    for (one, other) in [("\"never\"", "*"), ("*", "\"never\"")] {
        let fields = [
            ("authorization", &*token),
            ("if-match", one),
            ("if-match", other),
        ];
        assert_eq!(ask(&server, ("DELETE", &path), &fields).await, 400);
    }
    let view = client.call("get_dataset").at("id", &id).send().await;
    view.expect(200);
    // Tags in several fields are one list, as in one.
    let fields = [
        ("authorization", &*token),
        ("if-match", "\"never\""),
        ("if-match", "\"nor\""),
    ];
    assert_eq!(ask(&server, ("DELETE", &path), &fields).await, 412);
}
