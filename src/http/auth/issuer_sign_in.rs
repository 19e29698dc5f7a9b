//! Signing in at the issuer: from its word to a session.
//!
//! What the issuer says is decided in `oidc`; here it becomes a session as any
//! other, under the same rates. Whatever went wrong, the person hears the same;
//! the log has a word of a closed list.

use std::net::IpAddr;

use super::bearer::unauthenticated;
use super::gate::Gate;
use super::oidc::{Begun, FlowRefusal, Oidc, Pending, Returned};
use super::session::NewSession;
use crate::http::observe::RequestId;
use crate::http::problem::{Problem, ProblemKind};
use crate::store::SESSION_LIFETIME;

impl Gate {
    /// The host of the issuer at which people sign in, if they may.
    pub fn issuer_host(&self) -> Option<&str> {
        self.oidc.as_deref().and_then(Oidc::sign_in_host)
    }

    /// Begins a sign-in at the issuer.
    ///
    /// # Errors
    /// 401 where nobody signs in there, 429, 503 where the issuer does not answer.
    pub async fn begin_at_issuer(&self, from: IpAddr) -> Result<Begun, Problem> {
        let oidc = self.oidc.as_ref().ok_or_else(unauthenticated)?;
        self.throttle.token(BEGINNING, from)?;
        oidc.begin().await.map_err(refused)
    }

    /// Begins a session for who comes back from the issuer, with what their browser
    /// kept.
    ///
    /// # Errors
    /// 401 for whatever does not fit, 429, 503 where the issuer does not answer.
    pub async fn finish_at_issuer(
        &self,
        kept: Option<&str>,
        returned: &Returned,
        (from, request): (IpAddr, Option<RequestId>),
    ) -> Result<NewSession, Problem> {
        let oidc = self.oidc.as_ref().ok_or_else(unauthenticated)?;
        self.throttle.token(BEGINNING, from)?;
        let pending = kept.and_then(Pending::read);
        let pending = pending.ok_or_else(|| refused(FlowRefusal::State))?;
        let finished = oidc.finish(&pending, returned, SESSION_LIFETIME).await;
        self.begin_session(finished.map_err(refused)?, oidc.client_id(), request)
            .await
    }
}

/// What is counted in place of a token: there is none yet.
const BEGINNING: &str = "sign-in";

fn refused(reason: FlowRefusal) -> Problem {
    tracing::info!(?reason, "a sign-in at the issuer was refused");
    match reason {
        FlowRefusal::Silent => Problem::new(ProblemKind::Unavailable, "the issuer does not answer"),
        _ => unauthenticated(),
    }
}
