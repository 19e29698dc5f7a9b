//! Bodies that lie about their size or become far larger than they are: each
//! is refused, and costs the process next to nothing.
//!
//! | bomb | answer |
//! |---|---|
//! | a length of 10 GB; chunks without end | 413, at once or past the limit |
//! | a million columns, as CSV, NDJSON, Parquet, JSON | 422 or 413 |
//! | a cell of 100 MB, as CSV, NDJSON, Parquet | 422 |
//! | gzip and zstd of 1000 : 1; a zstd window of 128 MiB | 422, 400 |
//! | JSON of 100,000 levels, as schema, hierarchy, job, record | 400 or 422 |
//! | Parquet that claims terabytes, negative, cyclic and foreign positions | 422 |

use std::io::Write;
use std::iter::{once, repeat_with};

use serde_json::json;

use super::common::forged_parquet::{ForgedFile, ForgedPage, Wire, many_columns, with_schema};
use super::launch::Program;
use super::place::{Place, on_each_store};
use super::raw_upload::{Framing, RawRequest, resident, resident_most};

on_each_store!(no_bomb_is_taken_and_none_takes_memory);

/// Bytes by which the process may grow while it refuses a bomb.
const GROWTH_MAX: u64 = 64 << 20;
/// Bytes that the server takes of an upload, so that what has no end ends.
const UPLOAD_BYTES_MAX: u64 = 120 << 20;
const PIECE_BYTES: usize = 64 << 10;
const CELL_BYTES: usize = 100 << 20;
const CSV: &str = "text/csv";
const NDJSON: &str = "application/x-ndjson";
const PARQUET: &str = "application/vnd.apache.parquet";
const JSON: &str = "application/json";

type Body = Box<dyn Iterator<Item = Vec<u8>>>;

/// A body, and what the server may answer.
struct Bomb {
    name: &'static str,
    /// Path behind `/v1/`, with `ID` for the dataset; a `PUT` for hierarchies.
    path: &'static str,
    form: (&'static str, &'static str),
    framing: Framing,
    body: Body,
    answers: &'static [u16],
    /// What the answer says, so that it is no other rule's.
    says: &'static str,
}

const RECORDS: &str = "datasets/ID/records";

fn bomb(name: &'static str, form: (&'static str, &'static str), body: Body) -> Bomb {
    Bomb {
        name,
        path: RECORDS,
        form,
        framing: Framing::Chunks,
        body,
        answers: &[422],
        says: "urn:vizard:problem:",
    }
}

/// A packed body that is refused for what it becomes.
fn growing(name: &'static str, form: (&'static str, &'static str), body: Vec<u8>) -> Bomb {
    Bomb {
        says: "inflation_ratio_max",
        ..bomb(name, form, whole(body))
    }
}

/// Bytes in pieces.
fn whole(bytes: Vec<u8>) -> Body {
    let pieces: Vec<Vec<u8>> = bytes.chunks(PIECE_BYTES).map(<[u8]>::to_vec).collect();
    Box::new(pieces.into_iter())
}

/// A beginning, and then so many bytes of one kind.
fn filled(head: &str, byte: u8, bytes: usize) -> Body {
    let pieces = repeat_with(move || vec![byte; PIECE_BYTES]).take(bytes / PIECE_BYTES);
    Box::new(once(head.as_bytes().to_vec()).chain(pieces))
}

/// A table of as many bytes as there are, all records alike.
fn pack(mut packer: impl Write, bytes: usize) {
    let records = b"a,1\n".repeat(PIECE_BYTES / 4);
    packer.write_all(b"id,x\n").expect("packed");
    for _ in 0..bytes / PIECE_BYTES {
        packer.write_all(&records).expect("packed");
    }
}

fn gzip_of_records(bytes: usize) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    pack(&mut encoder, bytes);
    encoder.finish().expect("packed")
}

fn zstd_of_records(bytes: usize, window_log: u32) -> Vec<u8> {
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).expect("a packer");
    encoder.window_log(window_log).expect("a window");
    pack(&mut encoder, bytes);
    encoder.finish().expect("packed")
}

/// Bodies that are larger than they say, or have no end.
fn sizes() -> Vec<Bomb> {
    let line = format!("p{},1\n", "x".repeat(4_000))
        .repeat(16)
        .into_bytes();
    let lie = Bomb {
        framing: Framing::Length(10 << 30),
        answers: &[413],
        ..bomb(
            "a length of 10 GB",
            (CSV, "identity"),
            whole(b"id,x\n".to_vec()),
        )
    };
    let endless = Bomb {
        answers: &[413],
        ..bomb(
            "records without end",
            (CSV, "identity"),
            Box::new(once(b"id,x\n".to_vec()).chain(repeat_with(move || line.clone()))),
        )
    };
    let document = Bomb {
        path: "datasets",
        answers: &[413],
        ..bomb(
            "JSON without end",
            (JSON, "identity"),
            filled("{\"name\": \"", b'a', usize::MAX),
        )
    };
    let tree = Bomb {
        path: "hierarchies/bomb",
        answers: &[413],
        ..bomb(
            "a hierarchy without end",
            (CSV, "identity"),
            filled("a;*\n", b'a', usize::MAX),
        )
    };
    vec![lie, endless, document, tree]
}

/// Too much of one thing: columns, bytes of a cell.
fn shapes() -> Vec<Bomb> {
    let identity = |media_type| (media_type, "identity");
    let names: String = (0..1_000_000).map(|at| format!("c{at},")).collect();
    let members: String = (0..1_000_000).map(|at| format!("\"c{at}\": 1, ")).collect();
    let wide = with_schema(Wire::Structs(many_columns(1_000_000, false)));
    let narrow = with_schema(Wire::Structs(many_columns(100_000, false)));
    let cell = ForgedPage::plain(
        3,
        [
            (CELL_BYTES as u32).to_le_bytes().to_vec(),
            vec![b'a'; CELL_BYTES],
        ]
        .concat(),
    );
    let mut long = ForgedFile::sound();
    long.columns[0].pages = vec![cell];
    let attributes: String = (0..1_000_000)
        .map(|at| format!(r#"{{"name": "c{at}", "role": "insensitive"}},"#))
        .collect();
    let document = Bomb {
        path: "datasets",
        answers: &[413],
        ..bomb(
            "a schema of a million attributes",
            identity(JSON),
            whole(format!(r#"{{"name": "x", "attributes": [{attributes}"#).into_bytes()),
        )
    };
    vec![
        bomb(
            "a header of a million names",
            identity(CSV),
            whole(names.into_bytes()),
        ),
        bomb(
            "a header of a million commas",
            identity(CSV),
            whole(vec![b','; 1_000_000]),
        ),
        bomb(
            "an object of a million members",
            identity(NDJSON),
            whole(members.into_bytes()),
        ),
        bomb(
            "a file of a million columns",
            identity(PARQUET),
            whole(wide),
        ),
        bomb(
            "a file of 100,000 columns",
            identity(PARQUET),
            whole(narrow),
        ),
        document,
        bomb(
            "a CSV cell of 100 MB",
            identity(CSV),
            filled("id,x\n\"", b'a', CELL_BYTES),
        ),
        bomb(
            "an NDJSON cell of 100 MB",
            identity(NDJSON),
            filled("{\"id\": \"", b'a', CELL_BYTES),
        ),
        bomb(
            "a Parquet cell of 100 MB",
            identity(PARQUET),
            whole(long.bytes()),
        ),
    ]
}

/// Little that becomes much.
fn growths() -> Vec<Bomb> {
    let deep = |open: &str, middle: &str, close: &str| {
        let levels = 100_000;
        whole(
            [open.repeat(levels), middle.into(), close.repeat(levels)]
                .concat()
                .into_bytes(),
        )
    };
    let identity = |media_type| (media_type, "identity");
    let schema = Bomb {
        path: "datasets",
        answers: &[400, 422],
        ..bomb(
            "a schema of 100,000 levels",
            identity(JSON),
            deep("[", "", "]"),
        )
    };
    let tree = Bomb {
        path: "hierarchies/bomb",
        answers: &[400, 422],
        ..bomb(
            "a hierarchy of 100,000 levels",
            identity(JSON),
            deep("{\"label\":\"*\",\"children\":[", "{\"label\":\"a\"}", "]}"),
        )
    };
    let job = Bomb {
        path: "jobs",
        answers: &[400, 422],
        ..bomb(
            "a job of 100,000 levels",
            identity(JSON),
            deep("{\"a\":", "{}", "}"),
        )
    };
    let window = Bomb {
        answers: &[400],
        ..bomb(
            "a zstd window of 128 MiB",
            (CSV, "zstd"),
            whole(zstd_of_records(16 << 20, 27)),
        )
    };
    vec![
        growing("gzip of 1000 : 1", (CSV, "gzip"), gzip_of_records(64 << 20)),
        growing(
            "zstd of 10,000 : 1",
            (CSV, "zstd"),
            zstd_of_records(64 << 20, 20),
        ),
        growing(
            "a packed file that is a bomb",
            (PARQUET, "gzip"),
            gzip_of_records(64 << 20),
        ),
        window,
        schema,
        tree,
        job,
        bomb(
            "a record of 100,000 levels",
            identity(NDJSON),
            deep("{\"id\":", "1", "}"),
        ),
    ]
}

/// Parquet files with one lie each.
fn lies() -> Vec<Bomb> {
    type Lie = (&'static str, fn(&mut ForgedFile));
    let lies: [Lie; 9] = [
        ("terabytes of records", |file| {
            file.rows = 1 << 42;
            file.columns
                .iter_mut()
                .for_each(|column| column.values = 1 << 42);
        }),
        ("a page of 2 GB", |file| {
            file.columns[1].pages[0].unpacked = i64::from(i32::MAX)
        }),
        ("a packed page of 2 GB", |file| {
            file.columns[1].pages[0].packed = i64::from(i32::MAX)
        }),
        ("a dictionary of billions", |file| {
            let page = &mut file.columns[1].pages[0];
            (page.kind, page.values) = (2, i64::from(i32::MAX));
        }),
        ("a column of exabytes", |file| {
            file.columns[1].length = Some(i64::MAX)
        }),
        ("a column in front of the file", |file| {
            file.columns[1].start = Some(-1)
        }),
        ("a column behind the file", |file| {
            file.columns[1].start = Some(i64::MAX)
        }),
        ("all row groups at one place", |file| file.groups = 10_000),
        ("a footer of 4 GB", |file| {
            file.footer_bytes = Some(u32::MAX)
        }),
    ];
    let bombs = lies.into_iter().map(|(name, lie)| {
        let mut file = ForgedFile::sound();
        lie(&mut file);
        bomb(name, (PARQUET, "identity"), whole(file.bytes()))
    });
    bombs.collect()
}

async fn token(server: &Program, roles: &[&str]) -> String {
    let request = json!({"name": "bombs", "roles": roles, "datasets": null});
    let made = server.admin().post("/v1/keys", &request).await;
    let made = made.expect("the admin makes keys");
    made["token"].as_str().expect("it is shown once").to_owned()
}

async fn no_bomb_is_taken_and_none_takes_memory(place: Place) {
    let server = place
        .launch()
        .with("VIZARD_UPLOAD_BYTES_MAX", UPLOAD_BYTES_MAX);
    let server = server.serve();
    let token = token(&server, &["uploader", "steward"]).await;
    let schema = json!({"name": "bombs", "subject_key": "id", "multiplicity": "many", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "x", "role": "sensitive", "type": "integer"}]});
    let client = server.client(&token);
    let dataset = client
        .post("/v1/datasets", &schema)
        .await
        .expect("a schema");
    let dataset = dataset["id"].as_str().expect("an id").to_owned();
    let send = |bomb: Bomb| {
        let method = if bomb.path.starts_with("hier") {
            "PUT"
        } else {
            "POST"
        };
        let line = format!("{method} /v1/{}", bomb.path.replace("ID", &dataset));
        let request = RawRequest {
            address: server.address(),
            token: &token,
            line: &line,
            form: bomb.form,
            framing: bomb.framing,
        };
        request.send(bomb.body)
    };
    let sound = || bomb("", (CSV, "identity"), whole(b"id,x\na,1\n".to_vec()));
    // Once, so that what is set up by the first upload is no growth.
    assert_eq!(send(sound()).0, 201);
    for bombs in [sizes, shapes, growths, lies] {
        for bomb in bombs() {
            let (name, answers, says) = (bomb.name, bomb.answers, bomb.says);
            let before = resident(server.pid());
            let (status, text) = tokio::task::block_in_place(|| send(bomb));
            let grown = resident_most(server.pid()).saturating_sub(before);
            assert!(answers.contains(&status), "{name}: {status} {text}");
            assert!(grown < GROWTH_MAX, "{name}: grown by {grown} bytes");
            assert!(text.contains(says), "{name}: {text}");
        }
    }
    assert_eq!(send(sound()).0, 201, "the server goes on");
}
