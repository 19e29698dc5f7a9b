//! The memory of a client that believes only what it was answered.
//!
//! Every acknowledged change is written down here. At most one change at a
//! time is *open*: sent, and not answered. After a fault the server is asked
//! for everything: what was acknowledged must be there as it was, and of what
//! was open either the whole or nothing. Then it is known which.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};
use vizard::ids::DatasetId;
use vizard_anonymizer::microdata::{ChunkColumn, Schema, decode_chunk};

use super::place::Place;
use super::ward::{Answered, Person, Ward, is_over, records, schema};

/// A version, as an upload was acknowledged, or as one in the open would be.
#[derive(Clone, Debug)]
pub struct Version {
    pub mode: &'static str,
    /// Numbers of the subjects in the version.
    pub subjects: BTreeSet<u64>,
    /// Records that this upload brought.
    pub records: u64,
}

/// A change that was sent and not answered.
#[derive(Clone, Debug)]
enum Open {
    Upload(Version),
    Terms(BTreeMap<String, Value>),
    Job,
    Publish,
}

/// What one client knows of one dataset.
pub struct Acknowledged {
    pub ward: Ward,
    pub versions: Vec<Version>,
    pub terms: BTreeMap<String, Value>,
    jobs: BTreeSet<String>,
    published: BTreeSet<String>,
    tables: BTreeMap<String, Vec<(String, String)>>,
    open: Option<Open>,
    next_subject: u64,
}

impl Acknowledged {
    /// Nothing yet.
    pub fn nothing(ward: Ward) -> Self {
        Self {
            ward,
            versions: Vec::new(),
            terms: BTreeMap::new(),
            jobs: BTreeSet::new(),
            published: BTreeSet::new(),
            tables: BTreeMap::new(),
            open: None,
            next_subject: 0,
        }
    }

    /// Jobs that were acknowledged.
    pub fn jobs(&self) -> usize {
        self.jobs.len()
    }

    /// Releases whose publishing was acknowledged.
    pub fn published(&self) -> usize {
        self.published.len()
    }

    /// Uploads `count` records of new subjects.
    pub async fn upload(
        &mut self,
        person: &Person,
        mode: &'static str,
        count: u64,
    ) -> Answered<()> {
        let first = self.next_subject;
        self.next_subject += count;
        let mut version = Version {
            mode,
            subjects: (first..first + count).collect(),
            records: count,
        };
        if let (Some(before), "append") = (self.versions.last(), mode) {
            version.subjects.extend(&before.subjects);
        }
        self.open = Some(Open::Upload(version.clone()));
        let answer = person.upload(mode, records(first, count)).await?;
        assert_eq!(answer["version"], self.versions.len() + 1);
        assert_eq!(answer["total_records"], version.subjects.len());
        self.versions.push(version);
        self.open = None;
        Ok(())
    }

    /// Sets the terms of one subject.
    pub async fn put_terms(&mut self, person: &Person, subject: u64, share: f64) -> Answered<()> {
        let (subject, terms) = (format!("p{subject}"), json!({"max_leakage": share}));
        let open = BTreeMap::from([(subject.clone(), terms.clone())]);
        self.open = Some(Open::Terms(open));
        let answer = person.put_terms(&subject, &terms).await?;
        assert_eq!(answer["terms"], terms);
        self.terms.insert(subject, terms);
        self.open = None;
        Ok(())
    }

    /// Sets the terms of many subjects by one import.
    pub async fn import_terms(
        &mut self,
        person: &Person,
        subjects: u64,
        share: f64,
    ) -> Answered<()> {
        let mut text = String::from("subject,max_leakage\n");
        let mut open = BTreeMap::new();
        for subject in 0..subjects {
            text += &format!("p{subject},{share}\n");
            open.insert(format!("p{subject}"), json!({"max_leakage": share}));
        }
        self.open = Some(Open::Terms(open.clone()));
        let answer = person.import_terms(text).await?;
        assert_eq!(answer["accepted"], subjects);
        self.terms.extend(open);
        self.open = None;
        Ok(())
    }

    /// Queues a job on the latest version.
    pub async fn post_job(&mut self, person: &Person) -> Answered<()> {
        self.open = Some(Open::Job);
        self.jobs.insert(person.post_job("manual", 0).await?);
        self.open = None;
        Ok(())
    }

    /// Publishes one draft, if there is one.
    pub async fn publish_one(&mut self, person: &Person) -> Answered<()> {
        let known = self.tables.keys();
        let draft = known.into_iter().find(|id| !self.published.contains(*id));
        let Some(draft) = draft.cloned() else {
            return Ok(());
        };
        self.open = Some(Open::Publish);
        let answer = person.publish(&draft).await?;
        assert_eq!(answer["state"], "published");
        self.published.insert(draft);
        self.open = None;
        Ok(())
    }

    /// Holds everything that was acknowledged against what `person` is told;
    /// jobs must be over after `job_time_max`.
    pub async fn check(&mut self, person: &Person, job_time_max: Duration) -> Answered<()> {
        self.check_versions(person).await?;
        self.check_terms(person).await?;
        self.check_jobs(person, job_time_max).await?;
        self.check_releases(person).await?;
        let audit = person.get("/v1/audit/verify").await?;
        assert_eq!(audit["valid"], true, "{audit}");
        self.open = None;
        Ok(())
    }

    async fn check_versions(&mut self, person: &Person) -> Answered<()> {
        let told = person.get(&person.dataset_path()).await?;
        let mut told = told["versions"].as_array().expect("a list").clone();
        told.reverse();
        if let (Some(Open::Upload(open)), true) = (&self.open, told.len() > self.versions.len()) {
            self.versions.push(open.clone());
        }
        assert_eq!(told.len(), self.versions.len(), "{told:?}");
        for (told, known) in told.iter().zip(&self.versions) {
            assert_eq!(told["mode"], known.mode, "{told}");
            assert_eq!(told["records"], known.records, "{told}");
            assert_eq!(told["total_records"], known.subjects.len(), "{told}");
        }
        Ok(())
    }

    async fn check_terms(&mut self, person: &Person) -> Answered<()> {
        let told = person.get(&person.dataset_path()).await?;
        let mut in_force = BTreeMap::new();
        let known: BTreeSet<&String> = match &self.open {
            Some(Open::Terms(open)) => self.terms.keys().chain(open.keys()).collect(),
            _ => self.terms.keys().collect(),
        };
        for subject in known {
            if let Some(terms) = person.terms(subject).await? {
                in_force.insert(subject.clone(), terms["terms"].clone());
            }
        }
        assert_eq!(told["preferences"]["subjects"], in_force.len());
        if let Some(Open::Terms(open)) = &self.open {
            let mut arrived = self.terms.clone();
            arrived.extend(open.clone());
            if in_force == arrived {
                self.terms = arrived;
            }
        }
        assert!(
            in_force == self.terms,
            "terms were lost, or half of a change is in force"
        );
        Ok(())
    }

    async fn check_jobs(&mut self, person: &Person, within: Duration) -> Answered<()> {
        let told: BTreeSet<String> = ids(&person.all("/v1/jobs").await?);
        assert!(told.is_superset(&self.jobs), "a job is lost");
        let unknown = told.len() - self.jobs.len();
        let open = usize::from(matches!(self.open, Some(Open::Job)));
        assert!(unknown <= open, "{unknown} jobs that nobody posted");
        self.jobs = told;
        for job in &self.jobs {
            let over = person.job_when(job, within, is_over).await?;
            match over["state"].as_str() {
                Some("succeeded") => assert!(over["release"].is_string(), "{over}"),
                // A job that killed its workers: counted, ended, and said so.
                Some("failed") => {
                    let exhausted = "urn:vizard:problem:attempts-exhausted";
                    assert_eq!(over["problem"]["type"], exhausted, "{over}");
                    assert_eq!(over["attempts"], 5, "{over}");
                    assert!(over["release"].is_null(), "{over}");
                }
                _ => panic!("nobody ended it: {over}"),
            }
        }
        Ok(())
    }

    async fn check_releases(&mut self, person: &Person) -> Answered<()> {
        let jobs = person.all("/v1/jobs").await?;
        let made: BTreeSet<String> = jobs
            .iter()
            .filter_map(|job| job["release"].as_str().map(str::to_owned))
            .collect();
        let told = person.all("/v1/releases").await?;
        assert_eq!(made, ids(&told), "one release a job, and none without");
        let of_jobs: BTreeSet<&str> = told.iter().filter_map(|one| one["job"].as_str()).collect();
        assert_eq!(of_jobs.len(), told.len(), "two releases of one job");
        let open = usize::from(matches!(self.open, Some(Open::Publish)));
        let mut published = BTreeSet::new();
        for release in &told {
            let id = release["id"].as_str().expect("an id").to_owned();
            if release["state"] == "published" {
                published.insert(id.clone());
            }
            // Read whole when it is new, and again while it is the latest.
            if !self.tables.contains_key(&id) || made.last() == Some(&id) {
                let digests = person.table_digests(&id).await?;
                let before = self.tables.insert(id, digests.clone());
                assert!(before.is_none_or(|before| before == digests), "other bytes");
            }
        }
        assert!(
            published.is_superset(&self.published),
            "no longer published"
        );
        assert!(published.len() <= self.published.len() + open);
        self.published = published;
        Ok(())
    }

    /// Reads the records themselves, which no route does: every version holds
    /// the subjects that it was acknowledged with, chunk by chunk.
    pub async fn check_records(&self, place: &Place) {
        let store = place.look_inside().await;
        let dataset: DatasetId = self.ward.dataset.parse().expect("an id");
        let schema: Schema = serde_json::from_value(schema()).expect("a schema");
        for (number, version) in (1..).zip(&self.versions) {
            let mut subjects = BTreeSet::new();
            let chunks = store.version_chunk_list(dataset, number).await;
            for chunk in chunks.expect("chunks") {
                let bytes = store.chunk_get(dataset, number, chunk.position).await;
                let chunk = decode_chunk(bytes.expect("as it was written"), &schema);
                let chunk = chunk.expect("a chunk");
                let Some(ChunkColumn::Text(keys)) = chunk.columns.first() else {
                    panic!("the first column is the subject");
                };
                let numbers = keys.iter().map(|key| key[1..].parse::<u64>());
                subjects.extend(numbers.map(|number| number.expect("p and a number")));
            }
            assert_eq!(subjects, version.subjects, "version {number}");
        }
        store.close().await.expect("it closes");
    }

    /// Reads every table of every release once more: each has its bytes.
    pub async fn check_all_tables(&self, person: &Person) -> Answered<()> {
        for (release, before) in &self.tables {
            assert_eq!(&person.table_digests(release).await?, before);
        }
        Ok(())
    }
}

fn ids(list: &[Value]) -> BTreeSet<String> {
    let ids = list.iter().map(|one| one["id"].as_str().expect("an id"));
    ids.map(str::to_owned).collect()
}
