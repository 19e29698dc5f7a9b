//! Writes the seeds of every target, made of the bundled sample and of small
//! made-up records: `scripts/fuzz --seeds`.

use std::io::{Result, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

// What is instrumented does not link without the fuzzer.
use libfuzzer_sys as _;

use arrow_array::{ArrayRef, Date32Array, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_array::types::Int32Type;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::microdata::{RecordFormat, Schema, encode_chunk};
use vizard_anonymizer::release::{Format, TableDescription, Transcoder};
use vizard_fuzz::records::{Records, SCHEMA};
use vizard_fuzz::releases::{releases, table, tables};

const CSV: &str = "id,n,r,d,c,h\np1,1,0.5,2024-02-29,red,a\np2,-7,1e3,1999-12-31,\"a \"\"b\"\"\",b\np3,+007,-0.0,0001-01-01,,c\n";
const NDJSON: &str = "{\"id\": \"p1\", \"n\": 1, \"r\": 0.5, \"d\": \"2024-02-29\", \"c\": \"r\\u00e9d\\ud83d\\ude00\", \"h\": \"a\"}\n{\"n\":-7,\"id\":2,\"r\":1e3,\"d\":\"1999-12-31\",\"c\":null,\"h\":\"b\"}\n";
/// Lines of a published table that a seed has.
const LINES: usize = 4;

fn main() -> Result<()> {
    let seeds = Seeds {
        folder: Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"),
        sample: Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample"),
    };
    seeds.records()?;
    seeds.terms()?;
    seeds.jobs()?;
    seeds.queries()?;
    seeds.releases()
}

struct Seeds {
    folder: PathBuf,
    sample: PathBuf,
}

impl Seeds {
    fn write(&self, target: &str, name: &str, bytes: &[u8]) -> Result<()> {
        let folder = self.folder.join(target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(name), bytes)
    }

    /// A seed of a target whose first byte is a choice.
    fn choose(&self, target: &str, name: &str, choice: usize, bytes: &[u8]) -> Result<()> {
        self.write(target, name, &[&[choice as u8], bytes].concat())
    }

    fn records(&self) -> Result<()> {
        self.write("csv", "records", CSV.as_bytes())?;
        self.write("csv", "crlf", CSV.replace('\n', "\r\n").as_bytes())?;
        self.write("csv", "wrong", b"id,n,r,d,c,h\np1,x,y,z,\"a\"b,q\np1,1\n")?;
        self.write("ndjson", "records", NDJSON.as_bytes())?;
        let wrong = b"{\"id\": [1], \"n\": true}\n{\"id\": \"a\", \"id\": \"b\"}\n{";
        self.write("ndjson", "wrong", wrong)?;
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let forms = [
            (Compression::UNCOMPRESSED, false),
            (Compression::UNCOMPRESSED, true),
            (Compression::SNAPPY, true),
            (zstd, true),
        ];
        let names = ["id", "n", "r", "d", "c", "h"];
        for (at, (packing, has_dictionary)) in forms.into_iter().enumerate() {
            let file = parquet(names, packing, has_dictionary);
            self.write("parquet", &format!("records-{at}"), &file)?;
        }
        let chunks = Records::of_text(CSV.as_bytes(), RecordFormat::Csv);
        let chunk = encode_chunk(&chunks.expect("sound").chunks[0]);
        self.write("chunk", "records", &chunk.expect("memory takes it"))?;
        // What its pages hold is not packed here, so that it can be searched.
        let names = ["c0", "c1", "c2", "c3", "c4", "c5"];
        self.write(
            "chunk",
            "unpacked",
            &parquet(names, Compression::UNCOMPRESSED, true),
        )?;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(CSV.as_bytes())?;
        self.choose("packed", "gzip", 0, &gzip.finish()?)?;
        self.choose("packed", "zstd", 1, &zstd::encode_all(CSV.as_bytes(), 3)?)
    }

    fn terms(&self) -> Result<()> {
        let district = std::fs::read_to_string(self.sample.join("hierarchies/district.csv"))?;
        self.choose("hierarchy", "district", 0, head(&district, 12).as_bytes())?;
        let tree = r#"{"label": "*", "children": [{"label": "a"}, {"label": "b", "children": [{"label": "c"}]}]}"#;
        self.choose("hierarchy", "tree", 1, tree.as_bytes())?;
        let intervals = r#"{"intervals": {"origin": 0, "width": 5, "fanouts": [2, 5]}}"#;
        self.choose("hierarchy", "intervals", 1, intervals.as_bytes())?;
        let bulk = "subject,sensitive,max_leakage,max_reidentification,exclude\np1,n|d,0.25,,false\np2,,0.5,0.1,true\n";
        self.choose("preferences", "bulk", 0, bulk.as_bytes())?;
        let document = r#"{"subject": "p1", "sensitive": ["n"], "max_leakage": {"h": 0.5}, "max_reidentification": 0.1, "exclude": false, "guard": {"h": ["x"]}}"#;
        self.choose("preferences", "documents", 1, document.as_bytes())?;
        let one = r#"{"sensitive": ["n", "d"], "max_leakage": 0.5, "guard": {"h": ["x"]}}"#;
        self.choose("preferences", "one", 2, one.as_bytes())
    }

    fn jobs(&self) -> Result<()> {
        let sample = std::fs::read(self.sample.join("spec.json"))?;
        self.write("job", "sample", &sample)?;
        // Most engines publish an attribute in one way for everyone.
        let uniform = SCHEMA.replace("semi_sensitive", "quasi_identifier");
        let many = uniform.replacen('{', r#"{"multiplicity": "many", "#, 1);
        for (engine, parameters, schema) in [
            ("lgb", r#"{"k": 5, "l": 5}"#, SCHEMA),
            (
                "mondrian",
                r#"{"k": 5, "l": 2, "diversity": "distinct"}"#,
                &uniform,
            ),
            ("arp", r#"{"l": 5}"#, &uniform),
            ("anatomy", r#"{"l": 5}"#, &uniform),
            ("ng", r#"{"l": 5}"#, &uniform),
            ("slicing", r#"{"k": 2, "l": 2, "clusters": 2}"#, &uniform),
            (
                "personalized",
                r#"{"k": 4, "sensitive": "h", "max_leakage": 0.5}"#,
                &uniform,
            ),
            ("one_to_many", r#"{"k": 4, "l": 2}"#, &many),
            ("rmr", r#"{"k": 4, "m": 2, "delta": 0.5}"#, &many),
        ] {
            let known: Schema = serde_json::from_str(schema)?;
            if let Err(error) = Engine::parse(engine, &serde_json::from_str(parameters)?, &known) {
                panic!("the seed for {engine} is refused: {error}");
            }
            let job = format!(r#"{{"engine": "{engine}", "parameters": {parameters}}}"#);
            let document = format!(r#"{{"schema": {schema}, "job": {job}}}"#);
            self.write("job", engine, document.as_bytes())?;
        }
        Ok(())
    }

    fn queries(&self) -> Result<()> {
        let count = r#"{"select": {"count": true}, "group_by": "sex", "where": [{"attribute": "age", "op": "between", "lo": 30, "hi": 59}, {"attribute": "insurance", "op": "in", "values": ["Guild Fund"]}]}"#;
        let sum = r#"{"select": {"sum": "cost"}, "where": [{"attribute": "admitted", "op": ">=", "value": "2026-08-01"}]}"#;
        let average = r#"{"select": {"avg": "length_of_stay"}, "where": [{"attribute": "cost", "op": "<", "value": 4000.5}]}"#;
        self.write("query", "count", count.as_bytes())?;
        self.write("query", "sum", sum.as_bytes())?;
        self.write("query", "average", average.as_bytes())
    }

    fn releases(&self) -> Result<()> {
        for (at, (release, place, description)) in tables().enumerate() {
            let text = String::from_utf8_lossy(&release.texts[place]);
            let name = format!("{}-{}", release.manifest.engine, description.name);
            let text = head(&text, LINES) + "\n";
            self.choose("release", &name, at, text.as_bytes())?;
            let file = published(description, text.as_bytes());
            self.choose("published_parquet", &name, at, &file)?;
        }
        let lineage = head(
            &String::from_utf8_lossy(&releases()[0].lineage.to_csv(table())),
            LINES,
        );
        self.choose(
            "release",
            "lineage",
            tables().count(),
            (lineage + "\n").as_bytes(),
        )?;
        for release in releases() {
            let manifest = serde_json::to_vec(&release.manifest)?;
            self.write("manifest", &release.manifest.engine, &manifest)?;
        }
        Ok(())
    }
}

/// The first lines of a text.
fn head(text: &str, lines: usize) -> String {
    text.lines().take(lines).collect::<Vec<_>>().join("\n")
}

/// The first rows of a published table as Parquet.
fn published(description: &TableDescription, text: &[u8]) -> Vec<u8> {
    let mut transcoder = Transcoder::new(description, Format::Parquet).expect("columns of a table");
    let mut file = Vec::new();
    transcoder.piece(text, &mut file).expect("canonical");
    transcoder.finish(&mut file).expect("memory takes it");
    file
}

/// Three records; their columns are named so.
fn parquet(names: [&str; 6], packing: Compression, has_dictionary: bool) -> Vec<u8> {
    let texts = |texts: [&'static str; 3]| texts.into_iter();
    let category =
        |labels| -> ArrayRef { Arc::new(texts(labels).collect::<DictionaryArray<Int32Type>>()) };
    let columns: [ArrayRef; 6] = [
        Arc::new(texts(["p1", "p2", "p3"]).map(Some).collect::<StringArray>()),
        Arc::new(Int64Array::from(vec![1, -7, i64::MAX])),
        Arc::new(Float64Array::from(vec![0.5, 1e3, 0.0])),
        Arc::new(Date32Array::from(vec![0, 19_782, -719_162])),
        category(["red", "blue", "red"]),
        category(["a", "b", "a"]),
    ];
    let columns = names.into_iter().zip(columns);
    let batch = RecordBatch::try_from_iter(columns).expect("columns fit");
    let properties = WriterProperties::builder()
        .set_compression(packing)
        .set_dictionary_enabled(has_dictionary)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties));
    let mut writer = writer.expect("the schema is flat");
    writer.write(&batch).expect("memory takes it");
    writer.into_inner().expect("memory takes it")
}
