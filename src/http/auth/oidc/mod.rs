//! JWTs of one issuer (OpenID Connect) as bearer tokens.
//!
//! A token is believed if a key of the issuer's own set signed it in one of
//! four ways (`key_set`), if its header asks for nothing that we do not do,
//! and if its claims are for us and of now (`claims`). The keys come from
//! `source` and are kept fresh by `cache`. Why a token was refused goes to the
//! log as a word of a closed list, never with anything of the token itself; the
//! client hears the same of every refusal.

mod cache;
mod claims;
mod code_flow;
mod key_set;
mod source;

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use jsonwebtoken::{Validation, decode, decode_header};
use tokio_util::sync::CancellationToken;

use super::bearer::unauthenticated;
use super::principal::Principal;
use crate::clock::Clock;
use crate::config::OidcSettings;
use crate::http::problem::{Problem, ProblemKind};
use cache::KeyCache;
use claims::Claims;
use code_flow::CodeFlow;
pub use code_flow::{Begun, CALLBACK, FLOW_S, FlowRefusal, Pending, Returned};
use source::Source;
pub use source::SourceError;

/// What the header of a token may say that it is, in lower case.
const TYPES: [&str; 3] = ["jwt", "at+jwt", "application/at+jwt"];

/// Why a token is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Form,
    Algorithm,
    Type,
    Critical,
    UnknownKey,
    Signature,
    Issuer,
    Audience,
    Expired,
    NotYetValid,
    Subject,
}

/// Believes the tokens of one issuer.
pub struct Oidc {
    settings: OidcSettings,
    keys: KeyCache,
    clock: Arc<dyn Clock>,
    /// Where people sign in themselves, if they may.
    flow: Option<CodeFlow>,
}

impl Oidc {
    /// Begins to believe an issuer; keeps its keys fresh until `shutdown`.
    ///
    /// An address or a file that cannot be read is an error, and so is an address
    /// of another machine without TLS, unless the settings allow it; a key
    /// server that does not answer yet is waited for.
    pub async fn start(
        settings: OidcSettings,
        clock: Arc<dyn Clock>,
        shutdown: CancellationToken,
    ) -> Result<Self, SourceError> {
        let source = Source::of(&settings)?;
        let flow = CodeFlow::of(&settings)?;
        if source.is_open() {
            tracing::warn!(
                "the issuer's key set comes over plain HTTP: who is on the way can change it"
            );
        }
        let refresh = Duration::from_secs(settings.refresh_s);
        let keys = KeyCache::start(source, Arc::clone(&clock), refresh, shutdown).await?;
        Ok(Self {
            settings,
            keys,
            clock,
            flow,
        })
    }

    /// Looks whether the settings can be used, before anything is begun.
    ///
    /// # Errors
    /// As of `start`, but for what only reading the keys can tell.
    pub fn check(settings: &OidcSettings) -> Result<(), SourceError> {
        Source::of(settings)?;
        CodeFlow::of(settings).map(drop)
    }

    /// Whether a bearer token has the form of a JWT.
    pub(super) fn is_jwt(bearer: &str) -> bool {
        bearer.bytes().filter(|&byte| byte == b'.').count() == 2
    }

    /// The holder of a token, or 401; 503 if its key is not known and nobody
    /// can be asked for it.
    pub(super) async fn principal(&self, bearer: &str) -> Result<Principal, Problem> {
        match self.believed(bearer).await {
            Ok(Ok(principal)) => Ok(principal),
            Ok(Err(reason)) => {
                tracing::info!(?reason, "a JWT was refused");
                Err(unauthenticated())
            }
            Err(cache::Unreachable) => Err(Problem::new(
                ProblemKind::Unavailable,
                "the issuer's key server does not answer",
            )),
        }
    }

    async fn believed(
        &self,
        bearer: &str,
    ) -> Result<Result<Principal, Refusal>, cache::Unreachable> {
        let signed = self.signed(bearer).await?;
        let now = self.clock.now();
        Ok(signed.and_then(|signed| claims::principal(&signed, &self.settings, now)))
    }

    /// The claims of a token that a key of the issuer signed, not yet held against
    /// anything.
    async fn signed(&self, bearer: &str) -> Result<Result<Claims, Refusal>, cache::Unreachable> {
        let Ok(header) = decode_header(bearer) else {
            // Also where the header names `none`, or nothing that is known.
            return Ok(Err(Refusal::Form));
        };
        if !key_set::ALGORITHMS.contains(&header.alg) {
            return Ok(Err(Refusal::Algorithm));
        }
        let is_ours = |word: &String| TYPES.contains(&word.to_ascii_lowercase().as_str());
        if !header.typ.as_ref().is_none_or(is_ours) {
            return Ok(Err(Refusal::Type));
        }
        // Extensions that must be understood: there is none that we do.
        if header.crit.is_some() {
            return Ok(Err(Refusal::Critical));
        }
        let key = self.keys.find(header.kid.as_deref(), header.alg).await?;
        let Some(key) = key else {
            return Ok(Err(Refusal::UnknownKey));
        };
        // The library checks the signature alone; claims are held against our
        // own clock and settings.
        let mut signature_alone = Validation::new(header.alg);
        signature_alone.required_spec_claims.clear();
        signature_alone.validate_exp = false;
        signature_alone.validate_aud = false;
        let Ok(token) = decode::<Claims>(bearer, &key, &signature_alone) else {
            return Ok(Err(Refusal::Signature));
        };
        Ok(Ok(token.claims))
    }

    /// Whose tokens are believed.
    pub(super) fn issuer(&self) -> &str {
        &self.settings.issuer
    }

    /// As which client of the issuer people sign in, if they may.
    pub(super) fn client_id(&self) -> Option<&str> {
        self.flow.as_ref().map(CodeFlow::client_id)
    }

    /// The host at which people sign in, if they may.
    pub fn sign_in_host(&self) -> Option<&str> {
        self.flow.as_ref().map(CodeFlow::host)
    }

    /// Begins a sign-in at the issuer.
    pub(super) async fn begin(&self) -> Result<Begun, FlowRefusal> {
        let flow = self.flow.as_ref().ok_or(FlowRefusal::State)?;
        flow.begin(self.clock.now()).await
    }

    /// Who came back from the issuer, for so long as a sign-in lasts.
    ///
    /// Roles and datasets are those of the access token where the API would take
    /// it, so that a page can do what that token may: many issuers put roles
    /// there alone. Otherwise they are those of the ID token.
    pub(super) async fn finish(
        &self,
        pending: &Pending,
        returned: &Returned,
        lasts: TimeDelta,
    ) -> Result<Principal, FlowRefusal> {
        let flow = self.flow.as_ref().ok_or(FlowRefusal::State)?;
        let now = self.clock.now();
        let tokens = flow.finish(pending, returned, now).await?;
        let signed = self.signed(&tokens.id_token).await;
        let signed = signed.map_err(|cache::Unreachable| FlowRefusal::Silent)?;
        let id = signed.map_err(|_| FlowRefusal::Token)?;
        let own = OidcSettings {
            audience: flow.client_id().to_owned(),
            ..self.settings.clone()
        };
        let person = claims::principal(&id, &own, now).map_err(|_| FlowRefusal::Token)?;
        if !claims::is_of_client(&id, flow.client_id()) || !claims::is_issued(&id, &own, now) {
            return Err(FlowRefusal::Token);
        }
        let nonce = id.get("nonce").and_then(serde_json::Value::as_str);
        if !nonce.is_some_and(|nonce| pending.is_nonce(nonce)) {
            return Err(FlowRefusal::Nonce);
        }
        let access = tokens.access_token.filter(|token| Self::is_jwt(token));
        let shown = match access {
            Some(token) => self.believed(&token).await.ok().and_then(Result::ok),
            None => None,
        };
        // Of the same person: tokens of two people are of nobody.
        let shown = shown.filter(|shown| shown.name() == person.name());
        let holder = shown.unwrap_or(person);
        let end = now.checked_add_signed(lasts).unwrap_or(now);
        Ok(holder.until(end))
    }
}
