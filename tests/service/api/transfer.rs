//! Bodies that are packed on their way, and downloads that go on where they
//! broke off.

use std::io::{Read, Write};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Call, Client};

on_both!(
    a_packed_upload_is_the_upload,
    a_body_that_cannot_be_unpacked_or_grows_too_much_leaves_nothing,
    a_table_is_packed_as_the_client_likes,
    a_download_goes_on_where_it_broke_off,
);

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).expect("packed");
    encoder.finish().expect("packed")
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 3).expect("packed")
}

async fn upload(client: &Client, id: &str, coding: &str, body: Vec<u8>) -> Answer {
    let call = client
        .call("upload_records")
        .at("id", id)
        .query("mode", "replace");
    let call = call.header("content-encoding", coding);
    call.body("text/csv", body).send().await
}

async fn a_packed_upload_is_the_upload(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::dataset(&client).await;
    let csv = story::records(0, 50);
    let plain = story::upload(&client, &id, csv.clone()).await.expect(201);
    for (coding, body) in [
        ("gzip", gzip(csv.as_bytes())),
        ("zstd", zstd(csv.as_bytes())),
        ("identity", csv.clone().into_bytes()),
    ] {
        let packed = upload(&client, &id, coding, body).await.expect(201);
        assert_eq!(packed["sha256"], plain["sha256"], "{coding}");
        assert_eq!(packed["total_records"], 50);
    }
    let terms = client.call("import_preferences").at("id", &id);
    let terms = terms.header("content-encoding", "gzip");
    let terms = terms.body("text/csv", gzip(b"subject,max_leakage\np1,0.25\n"));
    assert_eq!(terms.send().await.expect(200)["accepted"], 1);
    let tree = client.call("put_dataset_hierarchy").at("id", &id);
    let tree = tree.at("name", "packed");
    let tree = tree.header("content-encoding", "zstd");
    tree.body("text/csv", zstd(b"a;*\nb;*\n"))
        .send()
        .await
        .expect(201);
    let json = client
        .call("create_dataset")
        .header("content-encoding", "gzip");
    let json = json.body("application/json", gzip(b"{}")).send().await;
    json.expect_problem(415, "unsupported-media-type");
}

async fn a_body_that_cannot_be_unpacked_or_grows_too_much_leaves_nothing(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::filled_dataset(&client).await;
    let csv = story::records(0, 50).into_bytes();
    let whole = gzip(&csv);
    let cut = whole[..whole.len() - 9].to_vec();
    let refused = upload(&client, &id, "gzip", cut).await;
    refused.expect_problem(400, "undecodable-body");
    let refused = upload(&client, &id, "zstd", csv.clone()).await;
    refused.expect_problem(400, "undecodable-body");
    let bomb = [csv, b"p1,30,F,red,1\n".repeat(2 << 20)].concat();
    let head = b"subject,sensitive,max_leakage\n".to_vec();
    let terms = [head, b"p1,cost,0.25\n".repeat(2 << 20)].concat();
    for (coding, body, terms_body) in [
        ("gzip", gzip(&bomb), gzip(&terms)),
        ("zstd", zstd(&bomb), zstd(&terms)),
    ] {
        let refused = upload(&client, &id, coding, body).await;
        refused.expect_problem(422, "limit-exceeded");
        let terms = client.call("import_preferences").at("id", &id);
        let terms = terms
            .header("content-encoding", coding)
            .body("text/csv", terms_body);
        terms.send().await.expect_problem(422, "limit-exceeded");
    }
    let view = client
        .call("get_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    assert_eq!(view["version"], 1);
}

async fn published(server: &Server) -> impl Fn() -> Call {
    server.work();
    let steward = server.key(&["steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let release = story::release(&steward, &story::job(&id)).await;
    move || {
        let call = steward.call("get_release_table").at("id", &release);
        call.at("table", "microdata")
    }
}

async fn a_table_is_packed_as_the_client_likes(server: Server) {
    let table = published(&server).await;
    for format in ["csv", "ndjson"] {
        let plain = table().query("format", format).send().await;
        assert_eq!(plain.header("content-encoding"), None);
        assert_eq!(plain.header("vary"), Some("accept, accept-encoding"));
        for (accepted, coding) in [("gzip", "gzip"), ("gzip;q=0.5, zstd", "zstd")] {
            let call = table().query("format", format);
            let packed = call.header("accept-encoding", accepted).send().await;
            assert_eq!(packed.header("content-encoding"), Some(coding));
            assert_ne!(packed.header("etag"), plain.header("etag"));
            assert!(packed.body.len() < plain.body.len());
            assert_eq!(unpack(coding, &packed.body), plain.body);
        }
    }
    let columnar = table()
        .query("format", "parquet")
        .header("accept-encoding", "zstd");
    assert_eq!(columnar.send().await.header("content-encoding"), None);
}

fn unpack(coding: &str, body: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    match coding {
        "gzip" => flate2::read::GzDecoder::new(body).read_to_end(&mut text),
        _ => zstd::stream::read::Decoder::new(body)
            .and_then(|mut decoder| decoder.read_to_end(&mut text)),
    }
    .expect("is packed as its header says");
    text
}

async fn a_download_goes_on_where_it_broke_off(server: Server) {
    let table = published(&server).await;
    for format in ["csv", "ndjson", "parquet", "arrow"] {
        let whole = table().query("format", format).send().await;
        assert_eq!(whole.header("accept-ranges"), Some("bytes"));
        let length = whole.body.len();
        let part = |range: String| table().query("format", format).header("range", &range);
        for (range, from, to) in [
            ("bytes=0-0".to_owned(), 0, 1),
            (format!("bytes={}-", length / 2), length / 2, length),
            ("bytes=-7".to_owned(), length - 7, length),
            (format!("bytes=10-{}", length * 2), 10, length),
        ] {
            // A part is one of the unpacked form, whatever the client takes.
            let answer = part(range).header("accept-encoding", "gzip").send().await;
            assert_eq!(answer.status, 206);
            assert_eq!(answer.body, whole.body[from..to]);
            // No more is made than the range needs: the end of a form that has
            // to be made for it stays unknown.
            let is_known = format == "csv" || to == length;
            let of = if is_known {
                length.to_string()
            } else {
                "*".to_owned()
            };
            let said = format!("bytes {from}-{}/{of}", to - 1);
            assert_eq!(answer.header("content-range"), Some(said.as_str()));
            assert_eq!(answer.header("etag"), whole.header("etag"));
        }
        let beyond = part(format!("bytes={length}-")).send().await;
        beyond.expect_problem(416, "range-not-satisfiable");
        let said = format!("bytes */{length}");
        assert_eq!(beyond.header("content-range"), Some(said.as_str()));
        let tag = whole.header("etag").expect("a tag");
        let same = part("bytes=5-".into()).header("if-range", tag).send().await;
        assert_eq!(same.status, 206);
        let other = part("bytes=5-".into())
            .header("if-range", "\"x\"")
            .send()
            .await;
        assert_eq!((other.status, other.body), (200, whole.body.clone()));
    }
}
