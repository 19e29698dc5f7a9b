//! How large a body may be: announced or not, packed or not, of each kind.

use std::io::Write;

use vizard::config::Limits;

use super::socket::{Socket, chunked, head};
use super::{names, server, version};
use crate::api::{Server, story};
use crate::common::client::{Answer, Client};

const REFUSED: (u16, &str) = (413, "body-too-large");

/// Limits of 400 bytes on every kind of body, told apart by their names.
fn small() -> Limits {
    Limits {
        upload_bytes_max: 400,
        json_bytes_max: 1_000,
        hierarchy_bytes_max: 402,
        preference_bytes_max: 403,
        population_bytes_max: 404,
        ..Limits::default()
    }
}

/// One kind of body: the limit's name and value, and how it is sent.
struct Kind {
    limit: &'static str,
    value: u64,
    path: &'static str,
    method: &'static str,
    media_type: &'static str,
    start: String,
    filler: &'static str,
}

fn kinds() -> [Kind; 5] {
    let limits = small();
    let kind = |limit, value, method, path, media_type| Kind {
        limit,
        value,
        path,
        method,
        media_type,
        start: String::new(),
        filler: "\n",
    };
    let mut kinds = [
        kind(
            "upload_bytes_max",
            limits.upload_bytes_max,
            "POST",
            "/v1/datasets/{id}/records?mode=replace",
            "text/csv",
        ),
        kind(
            "json_bytes_max",
            limits.json_bytes_max,
            "POST",
            "/v1/datasets",
            "application/json",
        ),
        kind(
            "hierarchy_bytes_max",
            limits.hierarchy_bytes_max,
            "PUT",
            "/v1/datasets/{id}/hierarchies/h",
            "text/csv",
        ),
        kind(
            "preference_bytes_max",
            limits.preference_bytes_max,
            "POST",
            "/v1/datasets/{id}/preferences",
            "text/csv",
        ),
        kind(
            "population_bytes_max",
            limits.population_bytes_max,
            "PUT",
            "/v1/datasets/{id}/population-table",
            "text/csv",
        ),
    ];
    kinds[0].start = story::records(0, 5);
    kinds[1].start = story::schema().to_string();
    kinds[2].start = "a;*\nb;*\n".into();
    kinds[3].start = "subject,exclude\np1,true\n".into();
    kinds[4].start = "ward\nred\n".into();
    kinds
}

impl Kind {
    /// A sound body of so many bytes.
    fn body(&self, bytes: u64) -> String {
        let missing = usize::try_from(bytes).expect("few") - self.start.len();
        self.start.clone() + &self.filler.repeat(missing)
    }

    async fn send(&self, client: &Client, id: &str, body: String) -> Answer {
        let call = match self.limit {
            "upload_bytes_max" => client
                .call("upload_records")
                .at("id", id)
                .query("mode", "replace"),
            "json_bytes_max" => client.call("create_dataset"),
            "hierarchy_bytes_max" => client
                .call("put_dataset_hierarchy")
                .at("id", id)
                .at("name", "h"),
            "population_bytes_max" => client.call("put_population_table").at("id", id),
            _ => client.call("import_preferences").at("id", id),
        };
        call.body(self.media_type, body).send().await
    }
}

async fn prepared() -> (Server, Client, String) {
    let server = server(small()).await;
    let client = server.key(&["uploader", "consent", "steward"]).await;
    let id = story::dataset(&client).await;
    (server, client, id)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_may_be_as_large_as_its_limit_and_no_larger() {
    let (_server, client, id) = prepared().await;
    for kind in kinds() {
        for bytes in [kind.value - 1, kind.value] {
            let taken = kind.send(&client, &id, kind.body(bytes)).await;
            assert!(
                matches!(taken.status, 200 | 201),
                "{}: {}",
                kind.limit,
                taken.text()
            );
        }
        let before = version(&client, &id).await;
        let refused = kind.send(&client, &id, kind.body(kind.value + 1)).await;
        names(&refused, REFUSED, kind.limit, kind.value);
        assert_eq!(version(&client, &id).await, before);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_does_not_say_its_length_is_held_to_the_same_limit() {
    let (server, client, id) = prepared().await;
    let token = client.token().to_owned();
    for kind in kinds() {
        for (bytes, is_taken) in [(kind.value, true), (kind.value + 1, false)] {
            let mut socket = Socket::open(&server).await;
            let start = format!("{} {}", kind.method, kind.path.replace("{id}", &id));
            let fields = format!(
                "content-type: {}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n",
                kind.media_type
            );
            socket.write(head(&start, &token, &fields)).await;
            socket.write(chunked(&kind.body(bytes))).await;
            let said = socket.read_to_end().await;
            assert_eq!(
                said.starts_with("HTTP/1.1 20"),
                is_taken,
                "{} {bytes}: {said}",
                kind.limit
            );
            assert_eq!(said.starts_with("HTTP/1.1 413 "), !is_taken, "{said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_announces_too_much_is_refused_before_any_of_it_is_sent() {
    let (server, client, id) = prepared().await;
    let token = client.token().to_owned();
    for kind in kinds() {
        let start = format!("{} {}", kind.method, kind.path.replace("{id}", &id));
        for wish in ["", "expect: 100-continue\r\n"] {
            let fields = format!(
                "content-type: {}\r\n{wish}content-length: {}\r\n",
                kind.media_type,
                kind.value + 1
            );
            let mut socket = Socket::open(&server).await;
            socket.write(head(&start, &token, &fields)).await;
            let said = socket.read_to_end().await;
            assert!(said.starts_with("HTTP/1.1 413 "), "{}: {said}", kind.limit);
            assert!(said.contains("connection: close"), "{said}");
            assert!(said.contains(kind.limit), "{said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_for_a_word_is_told_to_go_on_where_the_body_is_wanted() {
    let (server, client, id) = prepared().await;
    let kind = &kinds()[2];
    let body = kind.body(kind.value);
    let fields = format!(
        "content-type: {}\r\nexpect: 100-continue\r\ncontent-length: {}\r\nconnection: close\r\n",
        kind.media_type,
        body.len()
    );
    let start = format!("PUT /v1/datasets/{id}/hierarchies/h");
    let mut socket = Socket::open(&server).await;
    socket.write(head(&start, client.token(), &fields)).await;
    let word = socket.read_to("\r\n\r\n").await;
    assert!(word.starts_with("HTTP/1.1 100 "), "{word}");
    socket.write(body).await;
    let said = socket.read_to_end().await;
    assert!(said.starts_with("HTTP/1.1 201 "), "{said}");
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).expect("packed");
    encoder.finish().expect("packed")
}

async fn upload_packed(client: &Client, id: &str, body: Vec<u8>) -> Answer {
    let call = client.call("upload_records").at("id", id);
    let call = call
        .query("mode", "replace")
        .header("content-encoding", "gzip");
    call.body("text/csv", body).send().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_limit_counts_what_a_packed_body_unpacks_to() {
    let (_server, client, id) = prepared().await;
    let kind = &kinds()[0];
    let taken = upload_packed(&client, &id, gzip(&kind.body(kind.value))).await;
    taken.expect(201);
    let packed = gzip(&kind.body(kind.value + 1));
    assert!((packed.len() as u64) < kind.value);
    let refused = upload_packed(&client, &id, packed).await;
    names(&refused, REFUSED, kind.limit, kind.value);
    assert_eq!(version(&client, &id).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_may_grow_to_its_ratio_and_no_further() {
    // Growth counts behind the first MiB.
    let csv = story::records(0, 30_000) + &"\n".repeat(1 << 20);
    let packed = gzip(&csv);
    let ratio = (csv.len() as u64).div_ceil(packed.len() as u64);
    for (inflation_ratio_max, is_taken) in [(ratio + 1, true), (ratio, true), (ratio - 1, false)] {
        let limits = Limits {
            inflation_ratio_max,
            ..Limits::default()
        };
        let server = server(limits).await;
        let client = server.key(&["uploader"]).await;
        let id = story::dataset(&client).await;
        let answer = upload_packed(&client, &id, packed.clone()).await;
        if is_taken {
            drop(answer.expect(201))
        } else {
            names(
                &answer,
                (422, "limit-exceeded"),
                "inflation_ratio_max",
                ratio - 1,
            )
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_uploads_of_one_key_leave_room_for_those_of_others() {
    let limits = Limits {
        uploads_max: 3,
        uploads_of_key_max: 2,
        ..Limits::default()
    };
    let server = server(limits).await;
    let slow = server.key(&["uploader"]).await;
    let open = story::dataset(&slow).await;
    let fields = "content-type: text/csv\r\ncontent-length: 99\r\nexpect: 100-continue\r\n";
    let start = format!("POST /v1/datasets/{open}/records");
    let mut sockets = Vec::new();
    for _ in 0..2 {
        let mut socket = Socket::open(&server).await;
        socket.write(head(&start, slow.token(), fields)).await;
        assert!(socket.read_to("\r\n\r\n").await.contains(" 100 "));
        sockets.push(socket);
    }
    let refused = story::upload(&slow, &open, story::records(0, 3)).await;
    names(&refused, (429, "too-many-uploads"), "uploads_of_key_max", 2);
    let other = server.key(&["uploader"]).await;
    let own = story::dataset(&other).await;
    story::upload(&other, &own, story::records(0, 3))
        .await
        .expect(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_uploads_as_allowed_are_read_at_once_and_the_next_comes_again() {
    let limits = Limits {
        uploads_max: 2,
        ..Limits::default()
    };
    let server = server(limits).await;
    let client = server.key(&["uploader"]).await;
    let (open, other) = (story::dataset(&client).await, story::dataset(&client).await);
    let csv = story::records(0, 3);
    let fields = format!(
        "content-type: text/csv\r\ncontent-length: {}\r\n",
        csv.len()
    );
    let start = format!("POST /v1/datasets/{open}/records");
    let mut sockets = Vec::new();
    for waiting in 0..3 {
        let answer = story::upload(
            &client,
            &other,
            story::records(waiting * 3, waiting * 3 + 3),
        )
        .await;
        if waiting == 2 {
            names(&answer, (429, "too-many-uploads"), "uploads_max", 2);
            assert!(answer.header("retry-after").is_some());
            break;
        }
        answer.expect(201);
        let mut socket = Socket::open(&server).await;
        // The word says that the body is being read.
        let fields = format!("{fields}expect: 100-continue\r\n");
        socket.write(head(&start, client.token(), &fields)).await;
        assert!(socket.read_to("\r\n\r\n").await.contains(" 100 "));
        sockets.push(socket);
    }
    for socket in &mut sockets {
        socket.write(&csv).await;
        socket.read_to("\r\n\r\n").await;
    }
    story::upload(&client, &other, story::records(50, 53))
        .await
        .expect(201);
}
