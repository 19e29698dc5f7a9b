//! Uploads of any size are read at constant memory, also several at once.
//!
//! Four at a time, 20 MiB each in CI, 500 MiB in a full run: the process stays
//! below 256 MiB throughout, from the first byte to the answer. Then half of each
//! is sent again as an upsert. Imports of preferences are read the same way.

use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::{Value, json};

use super::launch::Program;
use super::place::{Place, on_each_store};
use super::raw_upload::{Framing, RawRequest, resident, resident_most};
use super::size::size;

on_each_store!(
    four_uploads_at_once_fit_into_256_mib,
    six_packed_imports_at_once_take_little,
);

const UPLOADS: usize = 4;
const RESIDENT_MAX: u64 = 256 << 20;
const PIECE_LINES: u64 = 1_000;

/// Bytes of one upload.
fn upload_bytes() -> u64 {
    match size(1) {
        1 => 20 << 20,
        _ => 500 << 20,
    }
}

/// Lines of made-up records of one upload, in pieces of about 50 kB.
fn lines(upload: u64, is_csv: bool) -> impl Iterator<Item = Vec<u8>> {
    let mut next = 0;
    let mut left = upload_bytes();
    let mut head = is_csv.then(|| b"id,age,ward,weight,cost\n".to_vec());
    std::iter::from_fn(move || {
        if let Some(head) = head.take() {
            return Some(head);
        }
        if left == 0 {
            return None;
        }
        let mut text = String::new();
        for number in next..next + PIECE_LINES {
            let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16;
            let (age, ward, grams, cost) = (
                mixed % 90,
                mixed / 90 % 500,
                mixed % 99_999,
                mixed / 7 % 1_000_000,
            );
            let weight = format!("{}.{:03}", grams / 1_000, grams % 1_000);
            let written = if is_csv {
                writeln!(text, "p{upload}-{number},{age},ward {ward},{weight},{cost}")
            } else {
                writeln!(
                    text,
                    r#"{{"id":"p{upload}-{number}","age":{age},"ward":"ward {ward}","weight":{weight},"cost":{cost}}}"#
                )
            };
            written.expect("a String");
        }
        next += PIECE_LINES;
        left = left.saturating_sub(text.len() as u64);
        Some(text.into_bytes())
    })
}

async fn dataset(server: &Program, token: &str) -> String {
    let schema = json!({"name": "much", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "ward", "role": "quasi_identifier", "type": "categorical"},
        {"name": "weight", "role": "quasi_identifier", "type": "decimal"},
        {"name": "cost", "role": "sensitive", "type": "integer"}]});
    let made = server.client(token).post("/v1/datasets", &schema).await;
    let made = made.expect("a schema");
    made["id"].as_str().expect("an id").to_owned()
}

/// A token with these roles, and so many datasets.
async fn prepared(server: &Program, roles: &[&str], datasets: usize) -> (String, Vec<String>) {
    let request = json!({"name": "much", "roles": roles, "datasets": null});
    let made = server.admin().post("/v1/keys", &request).await;
    let made = made.expect("the admin makes keys");
    let token = made["token"].as_str().expect("it is shown once").to_owned();
    let mut ids = Vec::new();
    for _ in 0..datasets {
        ids.push(dataset(server, &token).await);
    }
    (token, ids)
}

async fn four_uploads_at_once_fit_into_256_mib(place: Place) {
    let server = place.launch().serve();
    let (token, datasets) = prepared(&server, &["uploader"], UPLOADS).await;
    let idle = resident(server.pid());
    for mode in ["append", "upsert"] {
        let send = |upload, id| send(&server, &token, (upload, id), mode);
        tokio::task::block_in_place(|| {
            std::thread::scope(|scope| {
                for (upload, id) in (0..).zip(&datasets) {
                    scope.spawn(move || send(upload, id));
                }
            });
        });
    }
    let most = resident_most(server.pid());
    println!("idle {} MiB, at most {} MiB", idle >> 20, most >> 20);
    assert!(most <= RESIDENT_MAX, "{most} bytes resident");
}

/// Sends one upload; an upsert half of it, which replaces half of the records.
fn send(server: &Program, token: &str, (upload, id): (u64, &str), mode: &str) {
    // Half of them as CSV, half as NDJSON.
    let is_csv = upload % 2 == 0;
    let media_type = if is_csv {
        "text/csv"
    } else {
        "application/x-ndjson"
    };
    let request = RawRequest {
        address: server.address(),
        token,
        line: &format!("POST /v1/datasets/{id}/records?mode={mode}"),
        form: (media_type, "identity"),
        framing: Framing::Chunks,
    };
    let pieces = lines(upload, is_csv).count();
    let pieces = if mode == "upsert" { pieces / 2 } else { pieces };
    let (status, text) = request.send(lines(upload, is_csv).take(pieces));
    assert_eq!(status, 201, "{text}");
    let view: Value = serde_json::from_str(&text).expect("JSON");
    assert!(view["records"].as_u64() > Some(0), "{text}");
    if mode == "upsert" {
        let subjects = &view["subjects"];
        assert_eq!(subjects["replaced"], view["records"], "{text}");
        assert!(subjects["kept"].as_u64() > Some(0), "{text}");
    }
}

/// Imports at once.
const IMPORTS: usize = 6;
/// Bytes by which the process may grow while it takes them.
const IMPORTS_GROWTH_MAX: u64 = 96 << 20;

/// So many packed lines of terms, every one of another subject.
fn packed_terms(lines: usize) -> Vec<u8> {
    let mut packer = zstd::stream::Encoder::new(Vec::new(), 3).expect("a packer");
    for line in 0..lines {
        let terms = format!(
            "{{\"subject\": \"p{line}\", \"sensitive\": [\"cost\"], \"max_leakage\": 0.25}}\n"
        );
        packer.write_all(terms.as_bytes()).expect("packed");
    }
    packer.finish().expect("packed")
}

async fn six_packed_imports_at_once_take_little(place: Place) {
    let server = place
        .launch()
        .with("VIZARD_UPLOADS_OF_KEY_MAX", IMPORTS)
        .serve();
    let (token, datasets) = prepared(&server, &["uploader", "consent", "steward"], IMPORTS).await;
    let lines = size(30_000);
    let body = packed_terms(lines);
    let idle = resident(server.pid());
    let import = |id: &str| {
        let request = RawRequest {
            address: server.address(),
            token: &token,
            line: &format!("POST /v1/datasets/{id}/preferences"),
            form: ("application/x-ndjson", "zstd"),
            framing: Framing::Chunks,
        };
        let (status, text) = request.send(body.chunks(50_000).map(<[u8]>::to_vec));
        assert_eq!(status, 200, "{text}");
        let view: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(view["accepted"], lines, "{text}");
        assert_eq!(view["unknown_subjects"], lines, "{text}");
    };
    tokio::task::block_in_place(|| {
        std::thread::scope(|scope| {
            for id in &datasets {
                scope.spawn(|| import(id));
            }
        });
    });
    let grown = resident_most(server.pid()).saturating_sub(idle);
    println!("idle {} MiB, {} MiB more", idle >> 20, grown >> 20);
    assert!(grown <= IMPORTS_GROWTH_MAX, "grew by {grown} bytes");
}
