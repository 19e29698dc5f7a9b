//! The file of a push: which server, which records, which job, and when its
//! release is published.
//!
//! YAML, of which JSON is a part. It is checked as a whole before anything is
//! sent: unknown fields and fields that stand twice are refused, and so is what
//! the server would refuse of the job's form. The key never stands in it: a file
//! or an environment variable has it. Paths are relative to the file's folder.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};
use vizard_anonymizer::microdata::Mapping;

use super::super::exit::Exit;
use super::super::options::read_secret;
use crate::ids::DatasetId;
use crate::job::JobSpec;

/// What a push does.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PushFile {
    /// URL of the server.
    pub server: String,
    /// File of the PEM certificates that are trusted, and no others.
    pub ca_file: Option<PathBuf>,
    /// Whether key and records may travel to another machine without TLS.
    #[serde(default)]
    insecure_server: bool,
    key_file: Option<PathBuf>,
    key_env: Option<String>,
    /// The dataset.
    pub dataset: DatasetId,
    /// What is uploaded.
    pub records: Records,
    job: Map<String, Value>,
    /// Seconds that all of it may take.
    #[serde(default = "timeout_default")]
    pub timeout_s: u64,
    /// When the release is published; without it, it stays a draft.
    pub publish: Option<Publish>,
}

fn timeout_default() -> u64 {
    3_600
}

/// What is uploaded, and how it relates to the records before it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// The file, where there is one.
    pub file: Option<PathBuf>,
    /// Else the files of several tables about one subject, by the tables' names.
    #[serde(default)]
    pub tables: BTreeMap<String, PathBuf>,
    /// Which table gives which attribute: a file, `fhir` or `omop`.
    pub mapping: Option<PathBuf>,
    /// What becomes of the records before.
    pub mode: Mode,
    /// Whether the upload may lose records, as the API says it.
    #[serde(default)]
    pub allow_loss: bool,
}

/// What becomes of the records before an upload.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// They stay.
    Append,
    /// They go.
    Replace,
    /// Those of subjects that the upload names go.
    Upsert,
}

impl Mode {
    /// The API's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Replace => "replace",
            Self::Upsert => "upsert",
        }
    }
}

/// When a release is published: all figures are within their bounds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publish {
    /// Largest values of figures, by dotted path.
    #[serde(default)]
    pub if_at_most: BTreeMap<String, f64>,
    /// Least values of figures.
    #[serde(default)]
    pub if_at_least: BTreeMap<String, f64>,
}

/// The form of a file of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Media type.
    pub media_type: &'static str,
    /// Content coding, where the file is packed.
    pub coding: Option<&'static str>,
}

/// The form that a file's name says.
pub fn form_of(path: &Path) -> Option<Form> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    let (name, coding) = match (name.strip_suffix(".gz"), name.strip_suffix(".zst")) {
        (Some(inner), _) => (inner, Some("gzip")),
        (_, Some(inner)) => (inner, Some("zstd")),
        _ => (name.as_str(), None),
    };
    let media_type = match name.rsplit_once('.')?.1 {
        "csv" => "text/csv",
        "ndjson" | "jsonl" => "application/x-ndjson",
        "parquet" => "application/vnd.apache.parquet",
        _ => return None,
    };
    Some(Form { media_type, coding })
}

impl Records {
    fn check(&self) -> Result<(), &'static str> {
        if self.file.is_some() != self.tables.is_empty() {
            return Err("one of `file` and `tables` names what is uploaded, and one alone");
        }
        if self.file.is_some() && self.mapping.is_some() {
            return Err("`mapping` belongs to `tables`");
        }
        if self
            .file
            .as_deref()
            .is_some_and(|path| form_of(path).is_none())
        {
            return Err(
                "the name of `file` ends in .csv, .ndjson, .jsonl or .parquet, and where it is \
                 packed in .gz or .zst behind that",
            );
        }
        let is_table = |path: &PathBuf| {
            form_of(path)
                .is_some_and(|form| form.coding.is_none() && !form.media_type.ends_with(".parquet"))
        };
        if !self.tables.values().all(is_table) {
            return Err("the names of `tables`' files end in .csv, .ndjson or .jsonl");
        }
        let is_name = |name: &String| {
            let is_sign = |one: char| !one.is_control() && !matches!(one, '"' | '\\');
            !name.is_empty() && name != "mapping" && name.chars().all(is_sign)
        };
        if !self.tables.keys().all(is_name) {
            return Err("a table's name has no quote, and is not `mapping`");
        }
        Ok(())
    }

    /// What is named by a path that is relative to the file's folder.
    fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let is_shipped = |name: &&mut PathBuf| name.to_str().and_then(Mapping::shipped).is_some();
        let mapping = self
            .mapping
            .iter_mut()
            .filter(move |named| !is_shipped(named));
        self.file
            .iter_mut()
            .chain(self.tables.values_mut())
            .chain(mapping)
    }
}

impl PushFile {
    /// Reads and checks a file.
    pub fn read(path: &Path) -> Result<Self, Exit> {
        let wrong = |what: String| Exit::Usage(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| wrong(format!("cannot be read: {}", error.kind())))?;
        let mut file = Self::parse(&text).map_err(wrong)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let paths = [&mut file.ca_file, &mut file.key_file];
        let paths = paths.into_iter().filter_map(Option::as_mut);
        for named in paths.chain(file.records.paths()) {
            *named = folder.join(&*named);
        }
        Ok(file)
    }

    fn parse(text: &str) -> Result<Self, String> {
        // Of a field that stands twice, one would be lost below.
        let whole: yaml_serde::Value =
            yaml_serde::from_str(text).map_err(|error| error.to_string())?;
        if whole.get("key").is_some() {
            return Err(
                "the key itself does not belong in this file; `key_file` names a file that \
                 holds it, `key_env` an environment variable"
                    .into(),
            );
        }
        let file: Self = yaml_serde::from_str(text).map_err(|error| error.to_string())?;
        file.check_server()?;
        file.check_job()?;
        if file.key_file.is_some() == file.key_env.is_some() {
            return Err(
                "one of `key_file` and `key_env` says where the API key is, and one alone".into(),
            );
        }
        let records = file.records.check();
        records.map_err(|what| format!("records: {what}"))?;
        if file.timeout_s == 0 {
            return Err("timeout_s is at least 1".into());
        }
        let bounds = file.publish.iter();
        let mut bounds =
            bounds.flat_map(|publish| publish.if_at_most.iter().chain(&publish.if_at_least));
        match bounds.find(|(_, bound)| !bound.is_finite()) {
            Some((figure, _)) => Err(format!("publish: the bound of `{figure}` is no number")),
            None => Ok(file),
        }
    }

    fn check_server(&self) -> Result<(), String> {
        let wrong = "server is the URL of the service, as in https://vizard.example";
        let url = Url::parse(&self.server).map_err(|_| wrong.to_owned())?;
        let is_plain_url = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        match (url.scheme(), url.host_str()) {
            ("https", Some(_)) if is_plain_url => Ok(()),
            ("http", Some(host)) if is_plain_url => {
                if self.ca_file.is_some() {
                    return Err("ca_file belongs to a server with https://".into());
                }
                if is_this_machine(host) || self.insecure_server {
                    return Ok(());
                }
                Err(
                    "server: over http:// others can read key and records on their way; take \
                     https://, or say `insecure_server: true` where nobody else reaches that \
                     network"
                        .into(),
                )
            }
            _ => Err(wrong.into()),
        }
    }

    fn check_job(&self) -> Result<(), String> {
        for (field, instead) in [
            ("dataset", "`dataset` beside `job` names it"),
            ("version", "it runs on the version that the upload makes"),
            ("publish", "the section `publish` beside `job` says when"),
            ("seed", "the service draws its own"),
        ] {
            if self.job.contains_key(field) {
                return Err(format!("job.{field} is not taken here: {instead}"));
            }
        }
        let spec = serde_json::from_value::<JobSpec>(self.job(1));
        spec.map(drop).map_err(|error| format!("job: {error}"))
    }

    /// The job as it is posted, on a version of the records.
    pub fn job(&self, version: u64) -> Value {
        let mut job = self.job.clone();
        job.insert("dataset".into(), self.dataset.to_string().into());
        job.insert("version".into(), version.into());
        Value::Object(job)
    }

    /// Reads the API key.
    pub fn key(&self) -> Result<String, Exit> {
        let key = match (&self.key_file, &self.key_env) {
            (Some(path), _) => read_secret(path, "the file of the API key")?,
            (None, Some(name)) => std::env::var(name).unwrap_or_default().trim().to_owned(),
            (None, None) => String::new(),
        };
        if !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Ok(key);
        }
        let place = match &self.key_env {
            // Not its name: somebody may have written the key there.
            Some(_) => "the environment variable of key_env".to_owned(),
            None => "the file of the API key".into(),
        };
        Err(Exit::Usage(format!("{place} holds no API key")))
    }
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATASET: &str = "dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70";

    fn text(server: &str, more: &str) -> String {
        format!(
            "server: {server}\nkey_env: KEY\ndataset: {DATASET}\n\
             records: {{file: a.csv, mode: upsert}}\njob: {{engine: lgb, parameters: {{k: 5}}}}\n\
             {more}\n"
        )
    }

    fn refused(text: &str) -> String {
        PushFile::parse(text).expect_err("it is refused")
    }

    #[test]
    fn a_file_is_yaml_or_json_and_gives_the_job_as_it_is_posted() {
        let file = PushFile::parse(&text("https://v.example", "publish: {}")).expect("it is right");
        let job = file.job(3);
        assert_eq!(job["dataset"], DATASET);
        assert_eq!(job["version"], 3);
        assert_eq!(job["parameters"]["k"], 5);
        let json = serde_json::json!({"server": "http://[::1]:8080/", "key_file": "key",
            "dataset": DATASET, "records": {"file": "a.ndjson.gz", "mode": "append"},
            "job": {"engine": "lgb"}});
        let file = PushFile::parse(&json.to_string()).expect("JSON is YAML");
        assert!(file.publish.is_none());
        let form = file
            .records
            .file
            .and_then(|path| form_of(&path))
            .expect("a form");
        assert_eq!(form.media_type, "application/x-ndjson");
        assert_eq!(form.coding, Some("gzip"));
    }

    #[test]
    fn what_is_unknown_twice_or_contradicts_is_refused_in_a_sentence() {
        let https = "https://v.example";
        for (text, says) in [
            (text(https, "key: vz_1"), "does not belong in this file"),
            (text(https, "timeout: 5"), "unknown field `timeout`"),
            (text(https, "key_env: OTHER"), "duplicate"),
            (text(https, "key_file: key"), "one alone"),
            (text(https, "timeout_s: 0"), "timeout_s is at least 1"),
            (
                text(https, "publish: {if_at_most: {ncp.mean: .inf}}"),
                "`ncp.mean` is no number",
            ),
            (text(https, "publish: {when: {}}"), "unknown field `when`"),
            (text("http://v.example", ""), "insecure_server"),
            (text("ftp://v.example", ""), "server is the URL"),
            (text("https://a:b@v.example", ""), "server is the URL"),
            (
                text("http://127.0.0.1:1", "ca_file: ca.pem"),
                "ca_file belongs",
            ),
            (
                text(https, "").replace("a.csv", "a.xlsx"),
                "records: the name of `file`",
            ),
            (
                text(https, "").replace(", mode: upsert", ""),
                "missing field `mode`",
            ),
            (
                text(https, "").replace("engine: lgb", "engin: lgb"),
                "job: unknown field `engin`",
            ),
            (
                text(https, "").replace("engine: lgb", "engine: lgb, publish: automatic"),
                "job.publish",
            ),
            (
                text(https, "").replace("engine: lgb", "engine: lgb, version: 2"),
                "job.version",
            ),
        ] {
            let said = refused(&text);
            assert!(said.contains(says), "{says}: {said}");
        }
        assert!(PushFile::parse(&text("http://v.example", "insecure_server: true")).is_ok());
    }
}
