//! What is kept of a sign-in at the issuer: by the browser on the way, by the store
//! in a session, and by the log nothing.

use std::os::unix::fs::PermissionsExt as _;
use vizard::config::{Limits, SignInSettings};

use super::{Browser, FLOW, LoginServer, ORIGIN, Server, Settings, expect_refused, on_both};
use crate::common::issuer::AUDIENCE;
use crate::common::program::Program;
use crate::place::{Place, places};

const PUBLIC: (&str, Option<&str>) = ("public", None);

#[tokio::test]
async fn what_a_browser_kept_on_the_way_opens_nothing_a_second_time() {
    for (_issuer, server) in on_both(PUBLIC).await {
        let mut browser = Browser::new(&server);
        let back = browser.leave("%2F").await;
        let kept = browser.flow.clone();
        assert_eq!(browser.come_back(&back).await.status, 200);
        let session = browser.session.clone();
        browser.flow = kept;
        expect_refused(&browser.come_back(&back).await, 401);
        assert!(browser.flow.is_empty() && browser.session == session);
    }
}

#[tokio::test]
async fn a_session_that_began_meanwhile_is_over_where_the_issuer_is_on_the_same_site() {
    for (_issuer, server) in on_both(PUBLIC).await {
        let mut browser = Browser::new(&server);
        let first = browser.leave("%2F").await;
        let kept = browser.flow.clone();
        let second = browser.leave("%2F").await;
        assert_eq!(browser.come_back(&second).await.status, 200);
        let meanwhile = browser.session.clone();
        browser.flow = kept;
        // Sent by a host of the same site: the cookie of the session comes along.
        assert_eq!(browser.open(&first, false).await.status, 200);
        assert!(browser.is_in().await && browser.session != meanwhile);
        browser.session = meanwhile;
        assert!(!browser.is_in().await, "the one before is over");
    }
}

#[tokio::test]
async fn a_place_that_no_cookie_can_hold_is_forgotten_and_the_sign_in_works() {
    for (_issuer, server) in on_both(PUBLIC).await {
        let mut browser = Browser::new(&server);
        for (letters, is_kept) in [(2_500, true), (4_000, false)] {
            let place = format!("/releases?x={}", "y".repeat(letters));
            let asked = place.replace('?', "%3F").replace('=', "%3D");
            let back = browser.leave(&asked).await;
            let bytes = FLOW.len() + browser.flow.len();
            assert!(bytes <= 4_096, "browsers take no cookie of {bytes} bytes");
            let answer = browser.come_back(&back).await;
            let place = if is_kept { place.as_str() } else { "/" };
            let refresh = format!("0; url={place}");
            assert_eq!(answer.header("refresh"), Some(refresh.as_str()));
            assert!(browser.is_in().await);
        }
    }
}

/// A server on a store that others had before.
async fn serve(place: &Place, settings: &Settings) -> Server {
    if place.url.starts_with("sqlite:") {
        let store = Some(place.url.clone());
        let settings = settings.clone();
        Server::sqlite_at(&Settings { store, ..settings }).await
    } else {
        Server::postgres_at(&place.url, settings.clone()).await
    }
}

async fn end(mut server: Server) {
    server.shutdown.cancel();
    (&mut server.serving).await.expect("it ends well");
    server.store.close().await.expect("it closes");
}

#[tokio::test]
async fn sessions_end_with_the_client_and_the_issuer_that_the_operator_had_named() {
    let issuer = LoginServer::start(PUBLIC).await;
    let other = LoginServer::start(PUBLIC).await;
    let settings = super::settings(&issuer, PUBLIC);
    let changed = |change: fn(&mut Option<SignInSettings>)| {
        let mut settings = settings.clone();
        change(&mut settings.access.oidc.as_mut().expect("an issuer").sign_in);
        settings
    };
    let another_client = changed(|sign_in| {
        sign_in.as_mut().expect("a client").client_id = "another".to_owned();
    });
    for place in places() {
        let server = serve(&place, &settings).await;
        let mut browser = Browser::new(&server);
        let back = browser.leave("%2F").await;
        assert_eq!(browser.come_back(&back).await.status, 200);
        assert!(browser.is_in().await);
        end(server).await;
        for (what, settings, is_in) in [
            ("nothing changed", settings.clone(), true),
            ("another client", another_client.clone(), false),
            ("no client", changed(|sign_in| *sign_in = None), false),
            ("another issuer", super::settings(&other, PUBLIC), false),
        ] {
            let server = serve(&place, &settings).await;
            let mut later = Browser::new(&server);
            later.session = browser.session.clone();
            assert_eq!(later.is_in().await, is_in, "{what}");
            end(server).await;
        }
    }
}

#[tokio::test]
async fn an_address_that_begins_or_ends_sign_ins_without_end_is_held_up() {
    let limits = Limits {
        token_attempts_per_s_max: 1,
        token_attempts_burst_max: 5,
        ..Limits::default()
    };
    for path in ["/signin/issuer", "/signin/callback?code=x&state=y"] {
        let issuer = LoginServer::start(PUBLIC).await;
        let settings = super::settings(&issuer, PUBLIC);
        let server = Server::sqlite_with(Settings { limits, ..settings }).await;
        let mut browser = Browser::new(&server);
        let mut told = Vec::new();
        for _ in 0..10 {
            told.push(browser.open(path, true).await.status);
        }
        assert!(told[0] != 429 && told.contains(&429), "{path}: {told:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_has_nothing_of_a_sign_in_but_a_word_of_why_it_was_refused() {
    let secret = "a/secret";
    let issuer = LoginServer::start(("a client", Some(secret))).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("client");
    std::fs::write(&file, secret).expect("it can be written");
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&file, private).expect("its owner's alone");
    let name = issuer.issuer();
    let arguments = [
        ["--oidc-issuer", &name],
        ["--oidc-audience", AUDIENCE],
        ["--oidc-client-id", "a client"],
        ["--oidc-client-secret-file", file.to_str().expect("a text")],
        ["--public-url", ORIGIN],
    ];
    let environment = [("VIZARD_LOG", "trace"), ("VIZARD_LOG_JSON", "true")];
    let server = Program::serve(arguments.as_flattened(), &environment);
    let mut browser = Browser::of(server.client());
    let mut secrets = vec![secret.to_owned(), "eve@example.org".to_owned()];
    for is_refused in [false, true] {
        let back = browser.leave("%2Freleases").await;
        // State, nonce and verifier.
        let kept = browser.flow.split_once(':').expect("two parts").0;
        secrets.extend(kept.split('.').map(str::to_owned));
        let from = back.find("code=code-").expect("a code") + "code=".len();
        secrets.extend(back[from..].split('&').next().map(str::to_owned));
        let back = if is_refused {
            back.replace("state=", "state=0")
        } else {
            back
        };
        let answer = browser.come_back(&back).await;
        assert_eq!(answer.status, if is_refused { 401 } else { 200 });
        secrets.push(browser.session.clone());
    }
    let (_, lines) = server.terminate();
    let log = lines.join("\n");
    assert!(log.contains("\"TRACE\""), "it logged at TRACE: {log}");
    assert!(log.contains("/signin/callback"), "the pages were logged");
    assert!(log.contains("\"State\""), "the log says why");
    // How every JWT begins.
    assert!(!log.contains("eyJ"), "the log tells a token");
    assert_eq!(secrets.len(), 12);
    for secret in secrets {
        assert!(!log.contains(&secret), "the log tells {secret}");
    }
}
