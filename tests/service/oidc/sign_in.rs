//! Signing in at the issuer in a browser: the way there and back, and who is sent
//! away from it.

mod kept;

use std::time::Duration;

use serde_json::{Value, json};
use vizard::config::{AccessSettings, OidcSettings, Secret, Settings, SignInSettings, WebOrigin};

use crate::api::Server;
use crate::common::client::{Answer, Client};
use crate::common::issuer::AUDIENCE;
use crate::common::login::{LoginServer, Wishes};
use crate::common::postgres::cluster;

const ORIGIN: &str = "https://vizard.example.org";
const SESSION: &str = "__Host-vizard";
const FLOW: &str = "__Host-vizard-flow";

/// Settings of a service whose people sign in at the issuer.
fn settings(issuer: &LoginServer, client: (&str, Option<&str>)) -> Settings {
    let sign_in = SignInSettings {
        client_id: client.0.to_owned(),
        client_secret: client.1.map(Secret::new),
        scopes: "openid profile".to_owned(),
        origin: WebOrigin::parse(ORIGIN).expect("an origin"),
    };
    Settings {
        access: AccessSettings {
            oidc: Some(OidcSettings {
                sign_in: Some(sign_in),
                ..OidcSettings::new(issuer.issuer(), AUDIENCE)
            }),
            ..AccessSettings::default()
        },
        ..Settings::default()
    }
}

/// A browser: cookies by name.
struct Browser {
    client: Client,
    session: String,
    flow: String,
}

impl Browser {
    fn new(server: &Server) -> Self {
        Self::of(server.anyone())
    }

    fn of(client: Client) -> Self {
        Self {
            client,
            session: String::new(),
            flow: String::new(),
        }
    }

    /// Opens a page of the service; one to which another site sent it comes without
    /// the cookie of the session.
    async fn open(&mut self, path: &str, is_sent_by_other: bool) -> Answer {
        let mut cookies = Vec::new();
        if !self.session.is_empty() && !is_sent_by_other {
            cookies.push(format!("{SESSION}={}", self.session));
        }
        if !self.flow.is_empty() {
            cookies.push(format!("{FLOW}={}", self.flow));
        }
        let headers = [("cookie", cookies.join("; "))];
        let headers = if cookies.is_empty() {
            &[][..]
        } else {
            &headers[..]
        };
        let answer = self.client.send_whole("GET", path, headers, "").await;
        for set in answer.headers.get_all("set-cookie") {
            let set = set.to_str().expect("a text");
            let (pair, flags) = set.split_once(';').expect("a cookie has flags");
            let (name, value) = pair.split_once('=').expect("a pair");
            for flag in ["Path=/", "Secure", "HttpOnly", "Max-Age="] {
                assert!(flags.contains(flag) && !flags.contains("Domain"), "{set}");
            }
            match name {
                SESSION => {
                    assert!(flags.contains("SameSite=Strict"), "{set}");
                    self.session = value.to_owned();
                }
                FLOW => {
                    assert!(flags.contains("SameSite=Lax"), "{set}");
                    self.flow = value.to_owned();
                }
                _ => panic!("{set}"),
            }
        }
        answer
    }

    /// Goes to the issuer; where that sends it back to, as a path of the service.
    async fn leave(&mut self, next: &str) -> String {
        let answer = self
            .open(&format!("/signin/issuer?next={next}"), false)
            .await;
        assert_eq!(answer.status, 303, "{}", answer.text());
        let place = answer.header("location").expect("a place").to_owned();
        let (host, path) = place["http://".len()..].split_once('/').expect("a path");
        let issuer = Client::new(host);
        let back = issuer.send("GET", &format!("/{path}")).await;
        let back = back.header("location").expect("a place").to_owned();
        back.strip_prefix(ORIGIN).expect("our own").to_owned()
    }

    async fn come_back(&mut self, path: &str) -> Answer {
        self.open(path, true).await
    }

    /// Whether it gets to a page that asks for an analyst.
    async fn is_in(&mut self) -> bool {
        self.open("/releases", false).await.status == 200
    }
}

/// Both stores, one after the other.
async fn on_both(client: (&'static str, Option<&'static str>)) -> Vec<(LoginServer, Server)> {
    let mut both = Vec::new();
    let issuer = LoginServer::start(client).await;
    let server = Server::sqlite_with(settings(&issuer, client)).await;
    both.push((issuer, server));
    if let Some(cluster) = cluster() {
        let issuer = LoginServer::start(client).await;
        let own = settings(&issuer, client);
        let server = Server::postgres_at(&cluster.fresh_database(), own).await;
        both.push((issuer, server));
    }
    both
}

/// Nobody was let in, and the page says nothing of why.
fn expect_refused(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert!(answer.text().contains("role=\"alert\""));
    let sets: Vec<_> = answer.headers.get_all("set-cookie").iter().collect();
    let gives = |set: &&axum::http::HeaderValue| {
        let set = set.to_str().expect("a text");
        set.starts_with(&format!("{SESSION}=")) && !set.contains("Max-Age=0")
    };
    assert!(!sets.iter().any(gives), "{sets:?}");
}

#[tokio::test]
async fn somebody_signs_in_at_the_issuer_and_goes_on_from_where_they_were() {
    for client in [("a client", Some("a/secret")), ("public", None)] {
        for (_issuer, server) in on_both(client).await {
            let mut browser = Browser::new(&server);
            let page = browser.open("/signin?next=%2Freleases", false).await.text();
            assert!(
                page.contains("href=\"/signin/issuer?next=%2Freleases\""),
                "{page}"
            );
            assert!(page.contains("Sign in at 127.0.0.1"), "{page}");
            let back = browser.leave("%2Freleases%3Fstate%3Dpublished").await;
            let answer = browser.come_back(&back).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let refresh = answer.header("refresh");
            assert_eq!(refresh, Some("0; url=/releases?state=published"));
            assert!(browser.flow.is_empty(), "what was kept on the way is gone");
            assert!(browser.is_in().await);
            let first = browser.session.clone();

            // The same once more opens nothing: the cookie is gone, and the code was used.
            let again = browser.come_back(&back).await;
            expect_refused(&again, 401);
            // A new sign-in is a new session.
            let back = browser.leave("%2F").await;
            browser.come_back(&back).await;
            assert!(browser.is_in().await && browser.session != first);
            browser.session = first;
            assert!(!browser.is_in().await, "the one before is over");
        }
    }
}

#[tokio::test]
async fn a_way_back_that_nobody_of_this_browser_began_is_refused() {
    for (_issuer, server) in on_both(("public", None)).await {
        // Somebody else's code, in a browser that began nothing, or something else.
        let mut other = Browser::new(&server);
        let theirs = other.leave("%2F").await;
        let mut browser = Browser::new(&server);
        expect_refused(&browser.come_back(&theirs).await, 401);
        browser.leave("%2F").await;
        expect_refused(&browser.come_back(&theirs).await, 401);
        // The own state with somebody else's code: the verifier is another one.
        let own = browser.leave("%2F").await;
        let code = |path: &str| {
            let from = path.find("code=").expect("a code");
            path[from..].split('&').next().expect("a field").to_owned()
        };
        let mixed = own.replace(&code(&own), &code(&theirs));
        expect_refused(&browser.come_back(&mixed).await, 401);
        for bad in [
            "/signin/callback",
            "/signin/callback?code=x",
            "/signin/callback?error=access_denied",
        ] {
            browser.leave("%2F").await;
            expect_refused(&browser.come_back(bad).await, 401);
        }
        // The person says no; another issuer answers; the code is missing or endless.
        let changes: [fn(&str) -> String; 5] = [
            |path: &str| path.replace("code=", "error=access_denied&other="),
            |path: &str| path.replace("iss=http://", "iss=https://"),
            |path: &str| path.replace("code=", "other="),
            |path: &str| path.replace("code=", &format!("code={}", "x".repeat(4_100))),
            |path: &str| path.replace("state=", "state=0"),
        ];
        for change in changes {
            let own = browser.leave("%2F").await;
            expect_refused(&browser.come_back(&change(&own)).await, 401);
            assert!(!browser.is_in().await);
        }
        // Nobody is led to another place.
        let own = browser.leave("https%3A%2F%2Fevil.example").await;
        let answer = browser.come_back(&own).await;
        assert_eq!(answer.header("refresh"), Some("0; url=/"));
    }
}

#[tokio::test]
async fn a_token_of_another_sign_in_or_of_another_client_is_refused() {
    for (issuer, server) in on_both(("public", None)).await {
        let mut browser = Browser::new(&server);
        let with = |claims: Value| Wishes {
            claims,
            ..Wishes::default()
        };
        for wishes in [
            with(json!({"nonce": null})),
            with(json!({"nonce": "0".repeat(64)})),
            with(json!({"aud": AUDIENCE})),
            with(json!({"aud": ["public", "other"]})),
            with(json!({"azp": "other"})),
            with(json!({"iss": "https://other.example"})),
            with(json!({"exp": 1})),
            with(json!({"exp": null})),
            with(json!({"iat": null})),
            with(json!({"iat": 4_000_000_000_u32})),
            with(json!({"sub": null})),
            Wishes {
                foreign_key: true,
                ..Wishes::default()
            },
            Wishes {
                answer: Some((400, r#"{"error": "invalid_grant"}"#.into())),
                ..Wishes::default()
            },
            Wishes {
                answer: Some((200, "no JSON".into())),
                ..Wishes::default()
            },
            Wishes {
                answer: Some((200, "x".repeat(2 << 20))),
                ..Wishes::default()
            },
        ] {
            issuer.wish(wishes.clone());
            let back = browser.leave("%2F").await;
            expect_refused(&browser.come_back(&back).await, 401);
            assert!(!browser.is_in().await);
        }
        for (status, delay) in [(500, 0), (302, 0), (200, 8)] {
            issuer.wish(Wishes {
                answer: Some((status, String::new())),
                delay: Duration::from_secs(delay),
                ..Wishes::default()
            });
            let back = browser.leave("%2F").await;
            expect_refused(&browser.come_back(&back).await, 503);
        }
        issuer.wish(with(json!({"aud": ["public", "other"], "azp": "public"})));
        let back = browser.leave("%2F").await;
        assert_eq!(browser.come_back(&back).await.status, 200);
        assert!(browser.is_in().await);
    }
}

#[tokio::test]
async fn rights_are_those_of_the_access_token_where_the_api_takes_it() {
    for (issuer, server) in on_both(("public", None)).await {
        let mut browser = Browser::new(&server);
        let mut audits = async |claims: Value, access: Option<Value>| {
            issuer.wish(Wishes {
                claims,
                access_token: access.map(|claims| issuer.token(&claims)),
                ..Wishes::default()
            });
            let back = browser.leave("%2F").await;
            assert_eq!(browser.come_back(&back).await.status, 200);
            browser.open("/audit", false).await.status == 200
        };
        let access = |audience: &str, person: &str| {
            let mut claims = issuer.claims(audience);
            claims["roles"] = json!(["auditor"]);
            claims["sub"] = json!(person);
            Some(claims)
        };
        let eve = "eve@example.org";
        assert!(!audits(json!({}), None).await, "an analyst reads no log");
        assert!(audits(json!({"roles": ["auditor"]}), None).await);
        assert!(audits(json!({}), access(AUDIENCE, eve)).await);
        assert!(!audits(json!({}), access("another API", eve)).await);
        assert!(!audits(json!({}), access(AUDIENCE, "mallory")).await);
        // Who holds no role here is signed in, and gets nowhere.
        assert!(!audits(json!({"roles": ["owner"]}), None).await);
    }
}

#[tokio::test]
async fn without_a_client_of_the_issuer_nobody_is_sent_there() {
    let server = Server::sqlite().await;
    let mut browser = Browser::new(&server);
    let page = browser.open("/signin", false).await.text();
    assert!(!page.contains("/signin/issuer"), "{page}");
    for path in ["/signin/issuer", "/signin/callback?code=x&state=y"] {
        expect_refused(&browser.open(path, false).await, 401);
    }
}

#[tokio::test]
async fn an_issuer_that_does_not_answer_is_told_and_named_nowhere() {
    let issuer = LoginServer::start(("public", None)).await;
    let mut settings = settings(&issuer, ("public", None));
    let oidc = settings.access.oidc.as_mut().expect("an issuer");
    // Nobody listens there.
    oidc.issuer = "http://127.0.0.1:9".to_owned();
    oidc.keys = Some(format!("{}/keys", issuer.issuer()));
    let server = Server::sqlite_with(settings).await;
    let mut browser = Browser::new(&server);
    expect_refused(&browser.open("/signin/issuer", false).await, 503);
}
