//! A running server on either store, and short ways to use it.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use vizard::clock::{Clock, SystemClock};
use vizard::config::{Secret, Settings, WebhookOrigins};
use vizard::http::auth::Oidc;
use vizard::http::{AppState, serve};
use vizard::store::{Store, StoreOptions, open};
use vizard::worker::{self, WorkerSettings};

use crate::common::client::{Answer, Client};
use crate::common::postgres::cluster;

/// Makes one test on each store of every async function over a `Server`.
macro_rules! on_both {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                super::$test($crate::api::Server::sqlite().await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                // Where PostgreSQL is missing the cluster says that it skips.
                if let Some(server) = $crate::api::Server::postgres().await {
                    super::$test(server).await;
                }
            })+
        }
    };
}
pub(crate) use on_both;

const ADMIN_KEY: &str = "an-admin-key-of-more-than-32-characters";

/// A running server; stopped when dropped.
pub struct Server {
    pub store: Arc<Store>,
    /// Address of its store.
    pub url: String,
    /// Ends the server.
    pub shutdown: CancellationToken,
    /// Ends when the server has.
    pub serving: JoinHandle<()>,
    client: Client,
    _folder: Option<TempDir>,
}

impl Server {
    /// On SQLite.
    pub async fn sqlite() -> Self {
        Self::sqlite_with(Self::settings()).await
    }

    /// Settings that allow webhooks where nobody listens: at [`story::RECEIVER`].
    fn settings() -> Settings {
        let origin = "http://127.0.0.1:9".parse().expect("an origin");
        Settings {
            webhook_origins: WebhookOrigins::new(vec![origin]),
            ..Settings::default()
        }
    }

    /// On SQLite, with settings of its own.
    pub async fn sqlite_with(settings: Settings) -> Self {
        Self::sqlite_by(settings, Arc::new(SystemClock)).await
    }

    /// On SQLite, with settings and a clock of its own; the store has the system's.
    pub async fn sqlite_by(settings: Settings, clock: Arc<dyn Clock>) -> Self {
        let folder = TempDir::new().expect("a folder for the store");
        let url = format!("sqlite:{}", folder.path().join("vizard.db").display());
        let mut server = Self::start(&url, settings, clock).await;
        server._folder = Some(folder);
        server
    }

    /// On the SQLite store that the settings name.
    pub async fn sqlite_at(settings: &Settings) -> Self {
        Self::start(
            &settings.store_url(),
            settings.clone(),
            Arc::new(SystemClock),
        )
        .await
    }

    /// On PostgreSQL, in a database of its own; `None` where there is none.
    pub async fn postgres() -> Option<Self> {
        Self::postgres_with(Self::settings()).await
    }

    /// On PostgreSQL, with settings of its own.
    pub async fn postgres_with(settings: Settings) -> Option<Self> {
        let url = cluster()?.fresh_database();
        Some(Self::postgres_at(&url, settings).await)
    }

    /// On a PostgreSQL database, which others may use at the same time.
    pub async fn postgres_at(url: &str, settings: Settings) -> Self {
        Self::start(url, settings, Arc::new(SystemClock)).await
    }

    async fn start(url: &str, mut settings: Settings, clock: Arc<dyn Clock>) -> Self {
        let store = open(StoreOptions::new(url), Arc::new(SystemClock))
            .await
            .expect("it opens");
        settings.admin_key = Some(Secret::new(ADMIN_KEY));
        let shutdown = CancellationToken::new();
        let metrics = vizard::telemetry::metrics().expect("no other recorder");
        let oidc = settings.access.oidc.clone();
        let (own, end) = (clock.clone(), shutdown.clone());
        let mut state = AppState::new(store.clone(), own, settings, metrics, end).with_pages(
            vizard::web::report_page,
            vizard::web::exploration_page,
            vizard::web::pages,
        );
        if let Some(issuer) = oidc {
            let believed = Oidc::start(issuer, clock, shutdown.clone()).await;
            state = state.with_oidc(believed.expect("the issuer's keys can be had"));
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        Self {
            store,
            url: url.to_owned(),
            shutdown,
            serving: tokio::spawn(serve(listener, state)),
            client: Client::new(&address),
            _folder: None,
        }
    }

    /// What stays of bytes that were erased and not sealed, and whether that is
    /// all that an erasure can be.
    pub fn remains(&self) -> (Value, Value) {
        if self.url.starts_with("sqlite:") {
            (json!("nothing"), json!(true))
        } else {
            (json!("until_overwritten"), json!(false))
        }
    }

    /// Takes jobs up, as long as the server runs.
    pub fn work(&self) {
        self.work_with(|_| {});
    }

    /// Takes jobs up, with settings of its own.
    pub fn work_with(&self, change: impl FnOnce(&mut WorkerSettings)) {
        let mut settings = WorkerSettings::new("test".into(), 2);
        change(&mut settings);
        settings.heartbeat_interval = Duration::from_millis(50);
        settings.poll_interval = Duration::from_millis(50);
        tokio::spawn(worker::run(
            self.store.clone(),
            settings,
            self.shutdown.clone(),
        ));
    }

    /// A client without a token.
    pub fn anyone(&self) -> Client {
        self.client.clone()
    }

    /// A client with the operator's own key.
    pub fn operator(&self) -> Client {
        self.client.with(ADMIN_KEY)
    }

    /// A client with a new key of these roles.
    pub async fn key(&self, roles: &[&str]) -> Client {
        self.key_for(roles, Value::Null).await
    }

    /// A client with a new key of these roles, tied to datasets.
    pub async fn key_for(&self, roles: &[&str], datasets: Value) -> Client {
        let request = json!({"name": "a test", "roles": roles, "datasets": datasets});
        let made = self
            .operator()
            .call("create_key")
            .json(&request)
            .send()
            .await
            .expect(201);
        self.client.with(made["token"].as_str().expect("a token"))
    }

    /// Publishes a release, whatever is public of the same people: where that
    /// takes two, another steward publishes it after this one.
    pub async fn publish(&self, steward: &Client, release: &str) -> Answer {
        let body = json!({"acknowledge_composition": true, "reason": "a test"});
        let publish = async |client: &Client| {
            let call = client.call("publish_release").at("id", release);
            call.json(&body).send().await
        };
        let first = publish(steward).await;
        if first.status == 202 {
            publish(&self.key(&["steward"]).await).await
        } else {
            first
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

/// The table, terms and hierarchy that the tests tell their story with.
pub mod story {
    use super::{Client, Duration, Value, Write, json};

    /// Where nobody listens.
    pub const RECEIVER: &str = "http://127.0.0.1:9/hook";

    /// What a webhook there asks for.
    pub fn webhook() -> Value {
        json!({"url": RECEIVER, "events": ["job.failed"]})
    }

    /// A schema with every role.
    pub fn schema() -> Value {
        json!({
            "name": "wards", "subject_key": "patient",
            "attributes": [
                {"name": "patient", "role": "identifier"},
                {"name": "age", "role": "semi_sensitive", "type": "integer"},
                {"name": "sex", "role": "semi_sensitive", "type": "categorical"},
                {"name": "ward", "role": "quasi_identifier", "type": "categorical", "hierarchy": "ward"},
                {"name": "cost", "role": "sensitive", "type": "integer"}
            ]
        })
    }

    /// The same as the service keeps it: with the rules for subject keys.
    pub fn kept_schema() -> Value {
        let mut schema = schema();
        schema["subject_key_normalization"] = json!(["nfc", "zero_width", "trim"]);
        schema
    }

    pub const HIERARCHY: &str = "red;warm;*\norange;warm;*\nblue;cold;*\nviolet;cold;*\n";

    /// CSV of records `from..to`; equal numbers give equal records.
    pub fn records(from: u32, to: u32) -> String {
        let mut text = String::from("patient,age,sex,ward,cost\n");
        for at in from..to {
            let sex = ["F", "M"][(at % 2) as usize];
            let ward = ["red", "orange", "blue", "violet"][(at * 7 / 3 % 4) as usize];
            let (age, cost) = (20 + at * 13 % 60, 100 + at * 37 % 900);
            writeln!(text, "p{at},{age},{sex},{ward},{cost}").expect("a String");
        }
        text
    }

    /// Creates the dataset and puts its hierarchy; its id.
    pub async fn dataset(uploader: &Client) -> String {
        let made = uploader
            .call("create_dataset")
            .json(&schema())
            .send()
            .await
            .expect(201);
        let id = made["id"].as_str().expect("an id").to_owned();
        put_hierarchy(uploader, &id, ("ward", HIERARCHY)).await;
        id
    }

    /// Puts a hierarchy of a dataset's own; its digest.
    pub async fn put_hierarchy(
        uploader: &Client,
        id: &str,
        (name, csv): (&str, &'static str),
    ) -> Value {
        let put = uploader.call("put_dataset_hierarchy").at("id", id);
        let put = put.at("name", name).query("new_version", true);
        let put = put.body("text/csv", csv).send().await;
        put.expect(201)["digest"].clone()
    }

    /// A dataset with 120 records.
    pub async fn filled_dataset(uploader: &Client) -> String {
        let id = dataset(uploader).await;
        upload(uploader, &id, records(0, 120)).await.expect(201);
        id
    }

    /// Uploads CSV.
    pub async fn upload(uploader: &Client, id: &str, csv: String) -> crate::common::client::Answer {
        uploader
            .call("upload_records")
            .at("id", id)
            .body("text/csv", csv)
            .send()
            .await
    }

    /// What a job on the dataset asks for.
    pub fn job(dataset: &str) -> Value {
        json!({"dataset": dataset, "engine": "lgb", "parameters": {"k": 2, "l": 2},
            "report": {"queries": 20}})
    }

    /// Two settings of one engine, both kept.
    pub fn exploration(dataset: &str) -> Value {
        json!({"dataset": dataset, "engines": [{"engine": "lgb", "parameters": {"l": 2}}],
            "k": [2, 4], "report": {"queries": 20}})
    }

    /// Begins an exploration; its id.
    pub async fn explore(steward: &Client, asked: &Value) -> String {
        let begun = steward.call("create_exploration").json(asked).send().await;
        let begun = begun.expect(202);
        assert_eq!(begun["state"], "running");
        begun["id"].as_str().expect("an id").to_owned()
    }

    /// The exploration, once all of its settings have ended.
    pub async fn explored(steward: &Client, id: &str) -> Value {
        for _ in 0..600 {
            let call = steward.call("get_exploration").at("id", id);
            let found = call.send().await.expect(200);
            if found["state"] != "running" {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the exploration does not end");
    }

    /// The attack of a kind on an attribute in the verification of a release; null
    /// where there is none.
    pub async fn attack(steward: &Client, release: &str, (kind, attribute): (&str, &str)) -> Value {
        let call = steward.call("get_release_verification").at("id", release);
        let verification = call.send().await.expect(200);
        let mut attacks = verification["attacks"].as_array().expect("a list").iter();
        let attack =
            attacks.find(|attack| attack["kind"] == kind && attack["attribute"] == attribute);
        attack.cloned().unwrap_or_default()
    }

    /// Queues a job; its id.
    pub async fn queue(steward: &Client, spec: &Value) -> String {
        let queued = steward
            .call("create_job")
            .json(spec)
            .send()
            .await
            .expect(202);
        assert_eq!(queued["state"], "queued");
        queued["id"].as_str().expect("an id").to_owned()
    }

    /// Waits until a job has ended.
    pub async fn ended(steward: &Client, job: &str) -> Value {
        for _ in 0..1_200 {
            let view = steward
                .call("get_job")
                .at("id", job)
                .send()
                .await
                .expect(200);
            if !matches!(view["state"].as_str(), Some("queued" | "running")) {
                return view;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the job did not end in time");
    }

    /// Runs a job to its release; needs a worker.
    pub async fn release(steward: &Client, spec: &Value) -> String {
        let job = queue(steward, spec).await;
        let view = ended(steward, &job).await;
        assert_eq!(view["state"], "succeeded", "{view}");
        view["release"].as_str().expect("a release").to_owned()
    }
}
