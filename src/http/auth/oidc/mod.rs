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
mod key_set;
mod source;

use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::{Validation, decode, decode_header};
use tokio_util::sync::CancellationToken;

use super::bearer::unauthenticated;
use super::principal::Principal;
use crate::clock::Clock;
use crate::config::OidcSettings;
use crate::http::problem::{Problem, ProblemKind};
use cache::KeyCache;
use claims::Claims;
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
        })
    }

    /// Looks whether the settings can be used, before anything is begun.
    ///
    /// # Errors
    /// As of `start`, but for what only reading the keys can tell.
    pub fn check(settings: &OidcSettings) -> Result<(), SourceError> {
        Source::of(settings).map(drop)
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
        Ok(claims::principal(
            &token.claims,
            &self.settings,
            self.clock.now(),
        ))
    }
}
