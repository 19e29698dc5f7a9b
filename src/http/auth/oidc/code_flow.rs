//! Signing in at the issuer: OpenID Connect's authorization code flow with PKCE.
//!
//! A browser is sent to the issuer with a random `state`, `nonce` and the digest
//! of a random verifier, and keeps the three in a cookie of ten minutes, which
//! only this host can set (`__Host-`) and no script reads. So no process has to
//! remember anything, and any process behind a proxy can finish what another
//! one began. Who comes back with a `state` that is not in their cookie was sent
//! by somebody else; a code is of no use without the verifier; and an ID token
//! without the nonce is of another sign-in.
//!
//! The cookie is `SameSite=Lax`, because it has to come along when the issuer
//! sends the browser back. Codes, tokens and what the cookie holds are in no
//! log and no error.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use reqwest::{Client, StatusCode, Url};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::Mutex;

use super::source::{Issuer, SourceError, address, client, discovery, is_open, text_of};
use crate::config::{OidcSettings, Secret, SignInSettings};
use crate::http::auth::token::random_digits;

/// Where the issuer sends browsers back to.
pub const CALLBACK: &str = "/signin/callback";
/// How long somebody may take at the issuer, in seconds.
pub const FLOW_S: i64 = 600;
/// Bytes of each random part.
const RANDOM_BYTES: usize = 32;
/// Characters of a code; issuers' own have some hundred.
const CODE_CHARACTERS_MAX: usize = 4096;

/// Why a sign-in ended without anybody signed in: words for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowRefusal {
    /// The issuer said no, or the person did.
    Denied,
    /// There is no cookie, or not of this sign-in.
    State,
    /// There is no code.
    Code,
    /// Another issuer answered.
    Issuer,
    /// The issuer does not answer.
    Silent,
    /// The issuer does not take the code.
    Refused,
    /// The issuer's answer is none.
    Answer,
    /// The ID token is of another sign-in.
    Nonce,
    /// The ID token is not believed.
    Token,
}

/// What a browser keeps while somebody is at the issuer.
pub struct Pending {
    state: String,
    nonce: String,
    verifier: String,
}

impl Pending {
    fn begin() -> Result<Self, rand::rngs::SysError> {
        Ok(Self {
            state: random_digits::<RANDOM_BYTES>()?,
            nonce: random_digits::<RANDOM_BYTES>()?,
            verifier: random_digits::<RANDOM_BYTES>()?,
        })
    }

    /// The text of the cookie.
    fn text(&self) -> String {
        format!("{}.{}.{}", self.state, self.nonce, self.verifier)
    }

    /// What a cookie's text says; `None` where it is no such text.
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let mut part = || {
            let part = parts.next()?;
            let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            let is_own = part.len() == 2 * RANDOM_BYTES && part.bytes().all(is_digit);
            is_own.then(|| part.to_owned())
        };
        let (state, nonce, verifier) = (part()?, part()?, part()?);
        parts.next().is_none().then_some(Self {
            state,
            nonce,
            verifier,
        })
    }

    /// Whether an ID token was made for this sign-in.
    pub fn is_nonce(&self, given: &str) -> bool {
        self.nonce.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

/// A sign-in that was just begun.
pub struct Begun {
    /// Where the browser goes.
    pub place: Url,
    /// What it keeps.
    pub cookie: Secret,
}

/// What the issuer sent a browser back with.
#[derive(Default)]
pub struct Returned {
    /// The code.
    pub code: Option<String>,
    /// Its `state`.
    pub state: Option<String>,
    /// Which issuer says it (RFC 9207), where it says so.
    pub issuer: Option<String>,
    /// Why there is no code.
    pub error: Option<String>,
}

/// The tokens of a sign-in.
#[derive(Deserialize)]
pub(super) struct Tokens {
    /// Who it is.
    pub id_token: String,
    /// What the API would be shown.
    #[serde(default)]
    pub access_token: Option<String>,
}

/// Where the issuer does what.
#[derive(Clone)]
struct Endpoints {
    authorization: Url,
    token: Url,
}

/// Sends people to the issuer and takes them back.
pub(super) struct CodeFlow {
    settings: SignInSettings,
    issuer: Issuer,
    document: Url,
    client: Client,
    refresh: Duration,
    known: Mutex<Option<(DateTime<Utc>, Endpoints)>>,
}

impl CodeFlow {
    /// For an issuer, if people may sign in there.
    pub fn of(settings: &OidcSettings) -> Result<Option<Self>, SourceError> {
        let Some(sign_in) = settings.sign_in.clone() else {
            return Ok(None);
        };
        let (document, issuer) = discovery(settings)?;
        if is_open(&document) && !settings.insecure {
            return Err(SourceError::Plain);
        }
        Ok(Some(Self {
            client: client(&document)?,
            settings: sign_in,
            issuer,
            document,
            refresh: Duration::from_secs(settings.refresh_s),
            known: Mutex::default(),
        }))
    }

    /// What the ID token is made for.
    pub fn client_id(&self) -> &str {
        &self.settings.client_id
    }

    /// The issuer's host, for people.
    pub fn host(&self) -> &str {
        self.document.host_str().unwrap_or_default()
    }

    fn redirect_uri(&self) -> String {
        format!("{}{CALLBACK}", self.settings.origin.as_str())
    }

    /// Begins a sign-in.
    pub async fn begin(&self, now: DateTime<Utc>) -> Result<Begun, FlowRefusal> {
        let pending = Pending::begin().map_err(|_| FlowRefusal::State)?;
        let mut place = self.endpoints(now).await?.authorization;
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&pending.verifier));
        place.query_pairs_mut().extend_pairs([
            ("response_type", "code"),
            ("client_id", &self.settings.client_id),
            ("redirect_uri", &self.redirect_uri()),
            ("scope", &self.settings.scopes),
            ("state", &pending.state),
            ("nonce", &pending.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        let cookie = Secret::new(pending.text());
        Ok(Begun { place, cookie })
    }

    /// Gets the tokens of a sign-in.
    pub async fn finish(
        &self,
        pending: &Pending,
        returned: &Returned,
        now: DateTime<Utc>,
    ) -> Result<Tokens, FlowRefusal> {
        let state = returned.state.as_deref().unwrap_or_default();
        if !bool::from(pending.state.as_bytes().ct_eq(state.as_bytes())) {
            return Err(FlowRefusal::State);
        }
        let names_another = |name: &String| *name != self.issuer.name;
        if returned.issuer.as_ref().is_some_and(names_another) {
            return Err(FlowRefusal::Issuer);
        }
        if returned.error.is_some() {
            return Err(FlowRefusal::Denied);
        }
        let code = returned.code.as_deref();
        let code = code.filter(|code| (1..=CODE_CHARACTERS_MAX).contains(&code.len()));
        let code = code.ok_or(FlowRefusal::Code)?;
        let endpoint = self.endpoints(now).await?.token;
        self.exchange(endpoint, code, pending).await
    }

    async fn exchange(
        &self,
        endpoint: Url,
        code: &str,
        pending: &Pending,
    ) -> Result<Tokens, FlowRefusal> {
        let form = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([
                ("grant_type", "authorization_code"),
                ("code", code),
                ("redirect_uri", &self.redirect_uri()),
                ("code_verifier", &pending.verifier),
                ("client_id", &self.settings.client_id),
            ])
            .finish();
        let mut request = self
            .client
            .post(endpoint)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "application/json")
            .body(form);
        if let Some(secret) = &self.settings.client_secret {
            // RFC 6749, 2.3.1: both are encoded as in a form before.
            let encoded =
                |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let id = encoded(&self.settings.client_id);
            request = request.basic_auth(id, Some(encoded(secret.expose())));
        }
        let answer = request.send().await.map_err(|_| FlowRefusal::Silent)?;
        match answer.status() {
            StatusCode::OK => {}
            status if status.is_client_error() => return Err(FlowRefusal::Refused),
            _ => return Err(FlowRefusal::Silent),
        }
        let text = text_of(answer).await.map_err(|_| FlowRefusal::Answer)?;
        serde_json::from_slice(&text).map_err(|_| FlowRefusal::Answer)
    }

    /// Where the issuer does what, as its discovery document says; asked again
    /// now and then, by one request at a time.
    async fn endpoints(&self, now: DateTime<Utc>) -> Result<Endpoints, FlowRefusal> {
        let mut known = self.known.lock().await;
        let fresh = TimeDelta::from_std(self.refresh).unwrap_or(TimeDelta::MAX);
        if let Some((at, endpoints)) = known.as_ref()
            && (TimeDelta::zero()..fresh).contains(&(now - *at))
        {
            return Ok(endpoints.clone());
        }
        let answer = self.client.get(self.document.clone()).send().await;
        let answer = answer.map_err(|_| FlowRefusal::Silent)?;
        if answer.status() != StatusCode::OK {
            return Err(FlowRefusal::Silent);
        }
        let text = text_of(answer).await.map_err(|_| FlowRefusal::Silent)?;
        let endpoints = endpoints_of(&text, &self.issuer, &self.document);
        let endpoints = endpoints.ok_or(FlowRefusal::Issuer)?;
        *known = Some((now, endpoints.clone()));
        Ok(endpoints)
    }
}

/// The addresses that a discovery document names: the issuer's own document, none
/// of them less well encrypted than it.
fn endpoints_of(document: &[u8], owner: &Issuer, from: &Url) -> Option<Endpoints> {
    #[derive(Deserialize)]
    struct Discovery {
        issuer: String,
        authorization_endpoint: String,
        token_endpoint: String,
    }
    let document: Discovery = serde_json::from_slice(document).ok()?;
    if document.issuer != owner.name {
        return None;
    }
    let place = |text: &str| {
        let url = address(text, "").ok()?;
        let is_downgrade = from.scheme() == "https" && url.scheme() != "https";
        let is_refused = is_downgrade || (is_open(&url) && !owner.insecure);
        (!is_refused).then_some(url)
    };
    Some(Endpoints {
        authorization: place(&document.authorization_endpoint)?,
        token: place(&document.token_endpoint)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_reads_back_as_it_was_written_and_nothing_else_is_taken() {
        let pending = Pending::begin().expect("randomness");
        let text = pending.text();
        let read = Pending::read(&text).expect("it is one");
        assert_eq!(read.text(), text);
        assert!(read.is_nonce(&pending.nonce) && !read.is_nonce(&pending.state));
        let other = Pending::begin().expect("randomness");
        assert!(!read.is_nonce(&other.nonce));
        for bad in [
            "",
            "..",
            &text[1..],
            &format!("{text}.00"),
            &text.to_uppercase(),
            &text.replace('.', "-"),
        ] {
            assert!(Pending::read(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_discovery_document_is_the_issuers_own_and_leads_to_no_plain_address() {
        let found = |issuer: &str, endpoint: &str, from: &str| {
            let document = serde_json::json!({"issuer": issuer,
                "authorization_endpoint": endpoint, "token_endpoint": endpoint});
            let from = Url::parse(from).expect("an address");
            let owner = Issuer {
                name: from.origin().ascii_serialization(),
                insecure: false,
            };
            endpoints_of(document.to_string().as_bytes(), &owner, &from).is_some()
        };
        let own = "https://id.example";
        assert!(found(own, "https://id.example/token", own));
        assert!(found(own, "https://login.example/token", own));
        assert!(!found(
            "https://other.example",
            "https://id.example/token",
            own
        ));
        assert!(!found(own, "http://id.example/token", own));
        assert!(!found(own, "http://127.0.0.1/token", own));
        assert!(!found(own, "javascript:alert(1)", own));
        let here = "http://127.0.0.1:9";
        assert!(found(here, "http://127.0.0.1:8/token", here));
        assert!(!found(here, "http://id.example/token", here));
    }
}
