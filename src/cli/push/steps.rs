//! The steps of a push: upload, job, figures, publication.
//!
//! Upload and job have keys of idempotency that follow from the records and the
//! job, so that a second push of the same files finds what the first one made.
//! The key of a job does not follow from the bounds: a draft whose figures were
//! too far is published by a push that allows more.

use std::time::Duration;

use anyhow::{Context, anyhow};
use serde_json::{Value, json};

use super::super::client::Answer;
use super::super::exit::Exit;
use super::figures;
use super::file::{Publish, PushFile};
use super::records::{Upload, key_of};
use super::server::{Server, end_of_job, is_replayed, sentence, slug, taken};
use super::story::Story;

/// Seconds that one request may wait for the end of a job.
const WAIT_S_MAX: u64 = 60;

/// Jobs that failed before, under keys that follow one another.
const FAILED_BEFORE_MAX: usize = 200;

/// Jobs that are run because terms moved against the draft.
const JOBS_MAX: usize = 3;

/// A push that is ready to go.
pub struct Push {
    /// What is to be done.
    pub file: PushFile,
    /// What is uploaded.
    pub records: Upload,
    /// Who is asked.
    pub server: Server,
}

impl Push {
    /// Uploads, runs, judges and publishes.
    pub async fn run(&self, story: &mut Story) -> Result<(), Exit> {
        let version = self.upload(story).await?;
        let job = self.file.job(version);
        // The records are part of it: a job of another upload is another one.
        let mut key = key_of(&[b"job", &self.records.digest, job.to_string().as_bytes()]);
        for _ in 0..JOBS_MAX {
            let job = self.run_job(story, &job, &mut key).await?;
            let release = job["release"].as_str();
            let release = release.context("the job has no release")?.to_owned();
            story.keep("release", release.as_str());
            let state = self.read(&release, "").await?;
            match (state["state"].as_str(), &self.file.publish) {
                (Some("published"), _) => {
                    story.say(&format!("published already: {release}"));
                    story.keep("outcome", "published");
                    return Ok(());
                }
                (Some("draft"), Some(publish)) => self.judge(story, &release, publish).await?,
                (Some("draft"), None) => {
                    self.check_verification(story, &release).await?;
                    story.say(&format!("draft: {release}; a steward publishes it"));
                    story.keep("outcome", "draft");
                    return Ok(());
                }
                (state, _) => {
                    let state = state.unwrap_or("in no known state");
                    return Err(anyhow!("{release} is {state}").into());
                }
            }
            if self.publish(story, &release).await? {
                return Ok(());
            }
            key = key_of(&[key.as_bytes(), release.as_bytes()]);
        }
        Err(anyhow!("terms moved against each of {JOBS_MAX} drafts").into())
    }

    fn upload_path(&self, dry_run: bool) -> String {
        let records = &self.file.records;
        format!(
            "/v1/datasets/{}/records?mode={}&allow_loss={}{}",
            self.file.dataset,
            records.mode.word(),
            records.allow_loss,
            if dry_run { "&dry_run=true" } else { "" }
        )
    }

    /// Lets the server read the records and keep nothing.
    pub async fn check_records(&self, story: &mut Story) -> Result<(), Exit> {
        let path = self.upload_path(true);
        let answer = self.server.upload(&path, None, &self.records).await?;
        let checked = accepted(story, &self.records.name, &answer)?;
        story.say(&format!(
            "checked: {} records, {} left out; {} in the new version. Nothing was kept",
            checked["records"], checked["dropped"], checked["total_records"]
        ));
        story.keep("upload", checked);
        story.keep("outcome", "checked");
        Ok(())
    }

    /// Uploads the records; the version that they made, now or before.
    async fn upload(&self, story: &mut Story) -> Result<u64, Exit> {
        let path = self.upload_path(false);
        let records = &self.records;
        let key = key_of(&[
            b"upload",
            &records.digest,
            path.as_bytes(),
            records.media_type.as_bytes(),
            records.coding.unwrap_or_default().as_bytes(),
        ]);
        let answer = self.server.upload(&path, Some(&key), records).await?;
        let mut uploaded = accepted(story, &records.name, &answer)?;
        let version = uploaded["version"].as_u64();
        let version = version.context("the upload has no version")?;
        let word = if is_replayed(&answer) {
            "uploaded before"
        } else {
            "uploaded"
        };
        story.say(&format!(
            "{word}: {}, version {version}, {} records, {} left out",
            self.file.dataset, uploaded["records"], uploaded["dropped"]
        ));
        uploaded["repeated"] = is_replayed(&answer).into();
        story.keep("dataset", self.file.dataset.to_string());
        story.keep("upload", uploaded);
        Ok(version)
    }

    /// Runs the job, or finds the one that was run before; one that failed
    /// before is run anew, under the next key.
    async fn run_job(
        &self,
        story: &mut Story,
        job: &Value,
        key: &mut String,
    ) -> Result<Value, Exit> {
        for _ in 0..FAILED_BEFORE_MAX {
            let answer = self.server.post("/v1/jobs", Some(key), job).await?;
            let posted = accepted(story, "the job", &answer)?;
            let id = posted["id"].as_str().context("the job has no id")?;
            story.keep("job", id);
            let ended = self.ended_job(id).await?;
            let is_before = is_replayed(&answer);
            match (ended["state"].as_str(), is_before) {
                (Some("succeeded"), _) => {
                    let before = if is_before { ", run before" } else { "" };
                    story.say(&format!("job: {id} succeeded{before}"));
                    return Ok(ended);
                }
                (Some("failed" | "cancelled"), true) => {
                    *key = key_of(&[key.as_bytes(), id.as_bytes()]);
                }
                _ => {
                    story.say(&format!("job: {id} {}", words(&ended["state"])));
                    story.keep("problem", ended["problem"].clone());
                    return Err(end_of_job(&ended));
                }
            }
        }
        Err(anyhow!("{FAILED_BEFORE_MAX} jobs of this file failed already").into())
    }

    /// Waits for the end of a job, for as long as there is time.
    async fn ended_job(&self, id: &str) -> Result<Value, Exit> {
        loop {
            let wait_s = self.server.left().as_secs().min(WAIT_S_MAX);
            let path = format!("/v1/jobs/{id}?wait={wait_s}");
            let job = self.server.get(&path, Duration::from_secs(wait_s)).await?;
            if !matches!(job["state"].as_str(), Some("queued" | "running")) {
                return Ok(job);
            }
            if wait_s == 0 {
                let what = format!("{id} goes on; it did not end");
                return Err(self.server.too_late(&what));
            }
        }
    }

    async fn read(&self, release: &str, part: &str) -> Result<Value, Exit> {
        let path = format!("/v1/releases/{release}{part}");
        self.server.get(&path, Duration::ZERO).await
    }

    async fn check_verification(&self, story: &Story, release: &str) -> Result<(), Exit> {
        let found = self.read(release, "/verification").await?;
        if found["holds"] == true {
            let claims = found["guarantees"].as_array().map_or(0, Vec::len);
            story.say(&format!("verified: {claims} guarantees hold"));
            return Ok(());
        }
        let checks = ["guarantees", "structure"]
            .iter()
            .flat_map(|part| found[*part].as_array().into_iter().flatten())
            .filter(|check| check["holds"] != true)
            .map(|check| words(&check["kind"]).to_owned());
        Err(Exit::VerificationFailed(checks.collect()))
    }

    /// Holds the report of a draft against the bounds.
    async fn judge(&self, story: &mut Story, release: &str, publish: &Publish) -> Result<(), Exit> {
        self.check_verification(story, release).await?;
        let report = self.read(release, "/report").await?;
        let found = figures::compare(&report, publish);
        for figure in &found {
            let word = if figure.holds { "holds" } else { "too far" };
            story.say(&format!("{word}: {}", figure.sentence()));
        }
        story.keep("figures", json!(found));
        let broken = found.iter().filter(|figure| !figure.holds);
        let broken: Vec<String> = broken.map(figures::Figure::sentence).collect();
        if broken.is_empty() {
            return Ok(());
        }
        story.say(&format!("draft: {release} stays one"));
        Err(Exit::Threshold(broken))
    }

    /// Publishes a draft; whether it did, or terms moved against the draft.
    async fn publish(&self, story: &mut Story, release: &str) -> Result<bool, Exit> {
        let path = format!("/v1/releases/{release}/publish");
        let answer = self.server.post(&path, None, &json!({})).await?;
        match (answer.status, slug(&answer).as_str()) {
            (202, _) => {
                story.say(&format!("draft: {release} awaits another steward"));
                let what = format!("{release} awaits the call of another one");
                Err(Exit::Stewards(what))
            }
            (_, "composition" | "second-steward") => {
                story.say(&format!("draft: {release} stays one"));
                Err(Exit::Stewards(sentence(&answer)))
            }
            (_, "draft-below-floor") => {
                story.say(&format!("draft: {release} stays one"));
                Err(Exit::Threshold(vec![sentence(&answer)]))
            }
            (_, "preferences-moved") => {
                story.say(&format!(
                    "draft: {release} stays one, for terms moved against it"
                ));
                Ok(false)
            }
            _ => {
                accepted(story, release, &answer)?;
                story.say(&format!("published: {release}"));
                story.keep("outcome", "published");
                Ok(true)
            }
        }
    }
}

/// What an answer says; a problem is kept as it is.
fn accepted(story: &mut Story, what: &str, answer: &Answer) -> Result<Value, Exit> {
    if answer.status >= 400 {
        let problem: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        story.keep("problem", problem);
    }
    taken(what, answer)
}

/// A text, or what stands for one that is missing.
fn words(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}
