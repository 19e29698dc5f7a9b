//! Sessions: how a browser shows again who signed in.
//!
//! Somebody signs in once with a token that the API takes; the browser keeps
//! 256 random bits in their place, the store their SHA-256. A session opens
//! pages alone: the API takes none from outside. Pages ask the API inside the
//! process, with [`Session`] in the request's extensions, which nothing that
//! comes over a connection can put there. So a page can do what the token may,
//! and nothing else; a key that was revoked, or an admin key, an issuer or a client
//! of it that the operator changed, ends its sessions with the next request.

use std::net::IpAddr;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use vizard_anonymizer::microdata::{from_hex, to_hex};

use super::bearer::unauthenticated;
use super::gate::Gate;
use super::identify;
use super::oidc::Oidc;
use super::principal::Principal;
use super::role::Role;
use super::standing::Opener;
use super::token::random_digits;
use crate::config::Secret;
use crate::http::observe::RequestId;
use crate::http::problem::{Problem, ProblemKind};
use crate::ids::{DatasetId, KeyId};
use crate::store::{SESSION_LIFETIME, StoreError};

/// Bytes of randomness in a session's secret.
const SECRET_BYTES: usize = 32;
/// How exactly it is noted when something was last asked for.
const SEEN_INTERVAL: TimeDelta = TimeDelta::minutes(1);
/// How long the cookie of a session is good, in seconds.
pub const SESSION_S: i64 = SESSION_LIFETIME.num_seconds();

/// The session in which a page asks: SHA-256 of its secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Session([u8; 32]);

/// A session that was just begun: the only moment at which its secret is known.
pub struct NewSession {
    /// What the browser keeps.
    pub secret: Secret,
}

/// Who signed in, as the store keeps it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Holder {
    /// The operator, with the admin key of this digest, in hexadecimal.
    Operator(String),
    /// The holder of a key, which is read again each time.
    Key(KeyId),
    /// The holder of an issuer's token, with what it said.
    Issuer {
        issuer: String,
        /// The client as which they signed in there; `None`: they showed a token.
        client: Option<String>,
        name: String,
        roles: Vec<Role>,
        datasets: Option<Vec<DatasetId>>,
        until: DateTime<Utc>,
    },
}

impl Session {
    /// The session of a secret, whether or not there is one; `None` for a text
    /// that is no secret.
    pub fn of(secret: &str) -> Option<Self> {
        let is_secret = secret.len() == 2 * SECRET_BYTES
            && secret
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_secret.then(|| Self(Sha256::digest(secret).into()))
    }
}

impl Gate {
    /// Begins a session for who shows a token that the API takes.
    ///
    /// # Errors
    /// What the API would answer to the token: 401, 429 or 503.
    pub async fn sign_in(
        &self,
        bearer: &str,
        (from, request): (IpAddr, Option<RequestId>),
    ) -> Result<NewSession, Problem> {
        self.throttle.token(bearer, from)?;
        let found = identify(self, bearer).await;
        match &found {
            Err(problem) if problem.kind() != ProblemKind::Unauthenticated => {}
            found => self.throttle.note_token(bearer, found.is_ok()),
        }
        self.begin_session(found?, None, request).await
    }

    /// Begins a session for somebody who is known; `client`: as which client of the
    /// issuer they signed in there.
    pub(super) async fn begin_session(
        &self,
        principal: Principal,
        client: Option<&str>,
        request: Option<RequestId>,
    ) -> Result<NewSession, Problem> {
        self.throttle.request(principal.name())?;
        let secret = random_digits::<SECRET_BYTES>().map_err(|_| {
            Problem::new(
                ProblemKind::Unavailable,
                "the system has no randomness to give",
            )
        })?;
        let holder = json!(self.holder(&principal, client));
        let hash = Sha256::digest(&secret).into();
        let act = principal.in_request(request).act();
        self.store.session_begin(act, hash, holder).await?;
        let secret = Secret::new(secret);
        Ok(NewSession { secret })
    }

    fn holder(&self, principal: &Principal, client: Option<&str>) -> Holder {
        match principal.standing().opener {
            Opener::Operator => {
                let digest = self.admin.as_ref().map(|admin| to_hex(admin.digest()));
                Holder::Operator(digest.unwrap_or_default())
            }
            Opener::Key(id) => Holder::Key(id),
            Opener::Until(until) => Holder::Issuer {
                issuer: self.oidc.as_deref().map_or("", Oidc::issuer).to_owned(),
                client: client.map(str::to_owned),
                name: principal.name().to_owned(),
                roles: principal.roles().to_vec(),
                datasets: principal.datasets().map(<[_]>::to_vec),
                until,
            },
        }
    }

    /// Ends a session, if there is one.
    ///
    /// # Errors
    /// That the store does not answer.
    pub async fn sign_out(
        &self,
        session: Session,
        (from, request): (IpAddr, Option<RequestId>),
    ) -> Result<(), Problem> {
        let principal = match self.in_session(session, from).await {
            Ok(principal) => principal,
            Err(problem) if problem.kind() == ProblemKind::Unauthenticated => return Ok(()),
            Err(problem) => return Err(problem),
        };
        let act = principal.in_request(request).act();
        self.store.session_end(act, session.0).await?;
        Ok(())
    }

    /// Who asks in a session. Sessions that were not found before are counted, as
    /// tokens are.
    ///
    /// # Errors
    /// 401 where it is over, or where what opened it opens nothing any more; 429.
    pub async fn in_session(&self, session: Session, from: IpAddr) -> Result<Principal, Problem> {
        let shown = to_hex(&session.0);
        self.throttle.token(&shown, from)?;
        let found = self.opened(session).await;
        match &found {
            Err(problem) if problem.kind() != ProblemKind::Unauthenticated => {}
            found => self.throttle.note_token(&shown, found.is_ok()),
        }
        Ok(found?.in_session(session.0))
    }

    async fn opened(&self, session: Session) -> Result<Principal, Problem> {
        let row = self.store.session_find(session.0).await?;
        let row = row.ok_or_else(unauthenticated)?;
        if row.found_at - row.seen_at >= SEEN_INTERVAL {
            self.store.session_touch(session.0).await?;
        }
        let holder = serde_json::from_value(row.holder).map_err(|_| unauthenticated())?;
        self.holding(holder).await?.ok_or_else(unauthenticated)
    }

    /// Who signed in, if what they showed still opens anything.
    async fn holding(&self, holder: Holder) -> Result<Option<Principal>, Problem> {
        Ok(match holder {
            Holder::Operator(digest) => {
                let digest = from_hex::<32>(&digest);
                let admin = self.admin.as_ref();
                let is_same = admin.is_some_and(|admin| digest.as_ref() == Some(admin.digest()));
                is_same.then(Principal::operator)
            }
            Holder::Key(id) => match self.store.key_get(id).await {
                Ok(key) if key.is_live() => {
                    self.key_use.note(&self.store, id, self.clock.now());
                    Some(Principal::of(key))
                }
                Ok(_) | Err(StoreError::NotFound { .. }) => None,
                Err(error) => return Err(error.into()),
            },
            Holder::Issuer {
                issuer,
                client,
                name,
                roles,
                datasets,
                until,
            } => {
                // Another issuer, or another client, is not answerable for it.
                let is_behind = |oidc: &Oidc| {
                    oidc.issuer() == issuer
                        && (client.is_none() || oidc.client_id() == client.as_deref())
                };
                let is_believed = self.oidc.as_deref().is_some_and(is_behind);
                let lives = is_believed && self.clock.now() < until;
                lives.then(|| Principal::named(name, roles, datasets, until))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_a_secret_of_256_bits_in_one_spelling() {
        let secret = random_digits::<SECRET_BYTES>().unwrap();
        assert!(Session::of(&secret).is_some());
        for text in [
            "",
            "0",
            &secret[1..],
            &format!("{secret}0"),
            &"G".repeat(64),
            &"A".repeat(64),
        ] {
            assert!(Session::of(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_holder_reads_back_as_it_was_written() {
        let id = KeyId::generate();
        for holder in [
            Holder::Operator("00ff".into()),
            Holder::Key(id),
            Holder::Issuer {
                issuer: "https://id.example".into(),
                client: Some("pages".into()),
                name: "oidc:1".into(),
                roles: vec![Role::Steward],
                datasets: Some(vec![DatasetId::generate()]),
                until: DateTime::UNIX_EPOCH,
            },
        ] {
            let written = serde_json::to_value(&holder).unwrap();
            assert_eq!(serde_json::from_value::<Holder>(written).unwrap(), holder);
        }
    }
}
