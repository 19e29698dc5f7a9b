//! `vizard demo`: the whole story on the bundled sample, over HTTP.
//!
//! Starts the service, makes one key per role, uploads records with the
//! uploader's, sends preferences with the consent system's, runs and publishes
//! with the steward's, downloads with the analyst's; then goes on serving.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use hyper::body::Bytes;
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::Purposes;
use vizard_anonymizer::release::Guarantee;

use super::client::Client;
use super::exit::Exit;
use super::listen::ListenOptions;
use super::options::{StoreOption, WorkerOptions};
use super::policy_options::PolicyOptions;
use super::telemetry::TelemetryOptions;
use super::{sample, serve};
use crate::config::{Limits, Settings, TextsByLanguage};
use crate::http::auth::{KeyWish, OPERATOR, Role, create_key};
use crate::store::{Act, Store};

/// How long the demo waits for its job.
const JOB_PATIENCE: Duration = Duration::from_secs(300);

/// Options of `vizard demo`.
#[derive(Args, Debug)]
pub struct Options {
    /// Address to listen on; another port is taken where this one is in use
    #[arg(
        long,
        env = "VIZARD_LISTEN",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8080"
    )]
    listen: String,
    #[command(flatten)]
    store: StoreOption,
    #[command(flatten)]
    worker: WorkerOptions,
    #[command(flatten)]
    policy: PolicyOptions,
    #[command(flatten)]
    telemetry: TelemetryOptions,
    /// End after the story instead of serving on
    #[arg(long)]
    once: bool,
}

/// Tells the story, then serves until SIGTERM.
pub fn run(options: Options) -> Result<(), Exit> {
    // Lines about requests would stand between the lines of the story.
    options.telemetry.start("warn")?.run(demo(&options))
}

async fn demo(options: &Options) -> Result<(), Exit> {
    let server = serve::Server::start(serve::Plan {
        listen: ListenOptions::plain(options.listen.clone())
            .resolve()
            .await?,
        any_port: true,
        admin_key: serve::chosen_admin_key()?,
        store: options.store.clone(),
        worker: (options.policy).ruling(options.worker.settings(1)),
        access: crate::config::AccessSettings::default(),
        limits: Limits::default(),
        idempotency_retention_s: Settings::default().idempotency_retention_s,
        anchor: None,
        purposes: Purposes::default(),
        consent_texts: TextsByLanguage::default(),
    })
    .await?;
    let folder = options.store.data.join("demo");
    let told = story(&server.address, server.store.as_ref(), &folder).await;
    if options.once || told.is_err() {
        server.stop().await?;
        return told.map_err(Into::into);
    }
    println!(
        "\nThe service goes on at http://{0} (API at http://{0}/docs). Stop it with Ctrl-C.",
        server.address
    );
    let ended = server.until_signal().await;
    // The terminal has just printed ^C.
    println!();
    ended
}

async fn story(address: &str, store: &Store, folder: &Path) -> Result<()> {
    let key = async |name: &str, role| {
        let wish = KeyWish::new(format!("demo {name}"), [role]);
        let (_, token) = create_key(store, |_| Act::by(OPERATOR), wish).await?;
        Ok::<_, anyhow::Error>(token.expose().to_owned())
    };
    let server = Client::plain(address)?;
    let uploader = server.with_token(&key("uploader", Role::Uploader).await?);
    let consent = server.with_token(&key("consent system", Role::Consent).await?);
    let steward_token = key("steward", Role::Steward).await?;
    let steward = server.with_token(&steward_token);
    let analyst_token = key("analyst", Role::Analyst).await?;
    let analyst = server.with_token(&analyst_token);

    println!("1. Upload: a made-up hospital table, in the hands of the uploader");
    let dataset = upload(&uploader).await?;
    println!("2. Consent: what subjects ask for, in the hands of the consent system");
    let path = format!("/v1/datasets/{dataset}/preferences");
    let given = consent
        .send(
            Method::POST,
            &path,
            "text/csv",
            Bytes::from_static(sample::PREFERENCES),
        )
        .await?
        .json()?;
    println!("   {} subjects gave terms of their own", given["accepted"]);
    println!("3. Job: the steward runs the engine; every claim is checked on the published bytes");
    let release = run_job(&steward, &dataset).await?;
    let drafts = analyst.get("/v1/releases").await?.json()?;
    let hidden = drafts["items"]
        .as_array()
        .is_none_or(|items| items.iter().all(|item| item["id"] != release.as_str()));
    println!(
        "   draft {release}; an analyst {} it",
        if hidden { "cannot see" } else { "CAN SEE" }
    );
    println!("4. Publish: the steward has read the report and lets it out");
    steward
        .post(&format!("/v1/releases/{release}/publish"), &json!({}))
        .await?;
    println!("5. Download: in the hands of the analyst");
    download(&analyst, &steward, &release, folder).await?;
    println!("\n   the same with curl (keys of this demo):");
    println!(
        "   curl -H 'Authorization: Bearer {analyst_token}' http://{address}/v1/releases/{release}"
    );
    println!(
        "   curl -H 'Authorization: Bearer {analyst_token}' 'http://{address}/v1/releases/{release}/tables/microdata?format=ndjson'"
    );
    println!(
        "   curl -H 'Authorization: Bearer {steward_token}' http://{address}/v1/releases/{release}/report"
    );
    println!("\n   in a browser: http://{address}/signin, as the steward with this key:");
    println!("   {steward_token}");
    Ok(())
}

async fn upload(uploader: &Client) -> Result<String> {
    let spec: Value =
        serde_json::from_slice(sample::SPEC).context("the bundled specification is not JSON")?;
    let dataset = uploader.post("/v1/datasets", &spec["schema"]).await?;
    let id = dataset["id"]
        .as_str()
        .context("the dataset has no id")?
        .to_owned();
    for (name, content) in sample::HIERARCHIES {
        let path = format!("/v1/datasets/{id}/hierarchies/{name}");
        uploader
            .send(Method::PUT, &path, "text/csv", Bytes::from_static(content))
            .await?
            .json()?;
    }
    let path = format!("/v1/datasets/{id}/records");
    let version = uploader
        .send(
            Method::POST,
            &path,
            "text/csv",
            Bytes::from_static(sample::RECORDS),
        )
        .await?
        .json()?;
    println!(
        "   {id}: version {}, {} records, {} hierarchies",
        version["version"],
        version["records"],
        sample::HIERARCHIES.len()
    );
    Ok(id)
}

async fn run_job(steward: &Client, dataset: &str) -> Result<String> {
    let spec: Value =
        serde_json::from_slice(sample::SPEC).context("the bundled specification is not JSON")?;
    let mut posted = spec["job"].clone();
    posted["dataset"] = json!(dataset);
    let job = steward.post("/v1/jobs", &posted).await?;
    let id = job["id"].as_str().context("the job has no id")?.to_owned();
    let deadline = tokio::time::Instant::now() + JOB_PATIENCE;
    while tokio::time::Instant::now() < deadline {
        let job = steward.get(&format!("/v1/jobs/{id}")).await?.json()?;
        match job["state"].as_str() {
            Some("succeeded") => {
                return Ok(job["release"]
                    .as_str()
                    .context("the job has no release")?
                    .to_owned());
            }
            Some("queued" | "running") => tokio::time::sleep(Duration::from_millis(100)).await,
            _ => bail!(
                "the job ended as {}: {}",
                job["state"],
                job["problem"]["detail"]
            ),
        }
    }
    bail!("the job did not end in time")
}

async fn download(analyst: &Client, steward: &Client, release: &str, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).context("the demo's folder cannot be made")?;
    let view = analyst
        .get(&format!("/v1/releases/{release}"))
        .await?
        .json()?;
    for guarantee in view["manifest"]["guarantees"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let claimed = Guarantee::deserialize(guarantee).context("a claim cannot be read")?;
        println!("   verified: {}", claimed.sentence());
    }
    for table in view["manifest"]["tables"].as_array().into_iter().flatten() {
        let name = table["name"].as_str().context("a table has no name")?;
        let answer = analyst
            .get(&format!("/v1/releases/{release}/tables/{name}?format=csv"))
            .await?;
        let path = folder.join(format!("{name}.csv"));
        std::fs::write(&path, &answer.body)?;
        println!("   {} rows in {}", table["rows"], path.display());
    }
    std::fs::write(
        folder.join("manifest.json"),
        serde_json::to_vec_pretty(&view["manifest"])?,
    )?;
    for (path, file) in [
        ("report", "report.json"),
        ("verification", "verification.json"),
    ] {
        let document = steward
            .get(&format!("/v1/releases/{release}/{path}"))
            .await?
            .json()?;
        std::fs::write(folder.join(file), serde_json::to_vec_pretty(&document)?)?;
    }
    let page = steward
        .get_page(&format!("/v1/releases/{release}/report"))
        .await?;
    let path = folder.join("report.html");
    std::fs::write(&path, &page.body)?;
    println!("   report with pictures (steward): {}", path.display());
    Ok(())
}
