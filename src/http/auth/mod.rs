//! Who calls: tokens, principals, and the one place that lets them in.
//!
//! [`authorize`] runs before every operation of the table in `access`: it
//! reads the bearer token (or finds the session, where a page asks), finds the
//! key or believes the JWT, compares roles,
//! and hands the handler a [`Principal`]. What a principal may see beyond that — datasets
//! its key is tied to, drafts — is asked of the principal by the handlers and
//! answered with 404, never 403.

mod bearer;
mod gate;
mod issue;
mod issuer_sign_in;
mod oidc;
mod principal;
mod role;
mod session;
mod standing;
mod subject_token;
mod token;

pub use gate::Gate;
pub use issue::{AdminKey, KEY_LIFETIME_S_MAX, KeyError, KeyWish, create_key, ensure_admin_key};
pub use oidc::{Begun, CALLBACK, FLOW_S, Oidc, Returned, SourceError};
pub use principal::{OPERATOR, Principal};
pub use role::Role;
pub use session::{NewSession, SESSION_S, Session};
pub use subject_token::{ReceiptBearer, SubjectBearer, SubjectText};
pub use token::NewToken;

pub(super) use principal::KeyUse;
pub(super) use standing::{STANDING_INTERVAL, Standing};
pub(super) use token::AdminDigest;

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Extensions, HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::access::{self, Access};
use super::connection::Connection;
use super::observe::RequestId;
use super::problem::{Problem, ProblemKind};
use super::throttle::RemoteAddress;
use crate::config::Secret;
use bearer::{bearer, unauthenticated};
use sha2::{Digest, Sha256};
use subject_token::SUBJECT;
use token::Token;
use vizard_anonymizer::microdata::to_hex;

/// How it names who showed no token that is accepted.
const NOBODY: &str = "nobody";

/// Lets a request through to its handler, or answers 401 or 403.
///
/// Runs on matched routes only. A route that the table of operations does not
/// name is answered as if it were not there: forgetting one fails closed.
pub async fn authorize(
    State(gate): State<Gate>,
    path: MatchedPath,
    mut request: Request,
    next: Next,
) -> Response {
    let method = match request.method() {
        &Method::HEAD => &Method::GET,
        method => method,
    };
    let Some(operation) = access::operation(method, path.as_str()) else {
        return Problem::not_found("path").into_response();
    };
    let roles = match operation.access {
        Access::Public => return next.run(request).await,
        Access::SubjectToken | Access::Receipt => {
            let response = with_subject(&gate, operation.access, request, next).await;
            gate.refusals
                .note((SUBJECT, operation.id), response.status());
            return response;
        }
        Access::AnyKey => Role::ALL,
        Access::Roles(roles) => roles,
    };
    let from = address_of(&request);
    let session = request.extensions().get::<Session>().copied();
    let found = match session {
        Some(session) => gate.in_session(session, from).await,
        None => authenticate(&gate, request.headers(), from).await,
    };
    let authenticated = match found {
        Ok(principal) => gate.throttle.request(principal.name()).map(|()| principal),
        Err(problem) => Err(problem),
    };
    let actor = match &authenticated {
        Ok(principal) => principal.name().to_owned(),
        Err(_) => NOBODY.to_owned(),
    };
    let response = match authenticated {
        Err(problem) => problem.into_response(),
        Ok(principal) if !principal.has_any(roles) => {
            let words: Vec<_> = roles.iter().map(|role| role.as_str()).collect();
            let mut detail = format!("one of these roles is needed: {}", words.join(", "));
            if let Some(instead) = operation.instead() {
                detail = format!("{detail}; {instead}");
            }
            Problem::new(ProblemKind::Forbidden, detail).into_response()
        }
        Ok(principal) => {
            note_signed_in(request.extensions());
            let id = RequestId::of(&request);
            request.extensions_mut().insert(principal.in_request(id));
            next.run(request).await
        }
    };
    let by = (actor.as_str(), operation.id);
    gate.refusals.note(by, response.status());
    response
}

/// Where a request came from.
fn address_of(request: &Request) -> IpAddr {
    let from = request.extensions().get::<RemoteAddress>();
    from.map_or(IpAddr::from([0, 0, 0, 0]), |address| address.0)
}

/// Lets the holder of a subject token or of a receipt's code through to the
/// operations that are theirs.
async fn with_subject(gate: &Gate, access: Access, mut request: Request, next: Next) -> Response {
    match admit_subject(gate, access, &mut request).await {
        Err(problem) => problem.into_response(),
        Ok(()) => {
            note_signed_in(request.extensions());
            next.run(request).await
        }
    }
}

/// Notes in a request whose token or code it shows.
async fn admit_subject(gate: &Gate, access: Access, request: &mut Request) -> Result<(), Problem> {
    let from = address_of(request);
    let id = RequestId::of(request);
    let bearer = bearer(request.headers()).ok_or_else(unauthenticated)?;
    let bearer = Secret::new(bearer);
    let text = bearer.expose();
    // Anyone who guesses is held up before the store is asked.
    gate.throttle.token(text, from)?;
    let shown = (text, id);
    let found = if access == Access::Receipt {
        let holder = ReceiptBearer::of_code(&gate.store, shown).await;
        holder.map(|holder| drop(request.extensions_mut().insert(holder)))
    } else {
        let holder = SubjectBearer::of_token(&gate.store, shown).await;
        holder.map(|holder| drop(request.extensions_mut().insert(holder)))
    };
    match &found {
        Err(problem) if problem.kind() != ProblemKind::Unauthenticated => {}
        found => gate.throttle.note_token(text, found.is_ok()),
    }
    found?;
    // Who has a good one may not ask without end either.
    let holder = to_hex(Sha256::digest(text).as_slice());
    gate.throttle.request(&format!("{SUBJECT} {holder}"))
}

/// Tells the connection that its client showed a token that was accepted.
pub fn note_signed_in(extensions: &Extensions) {
    if let Some(connection) = extensions.get::<Arc<Connection>>() {
        connection.sign_in();
    }
}

/// Who shows a token; tokens that were not accepted before are counted.
async fn authenticate(
    gate: &Gate,
    headers: &HeaderMap,
    from: IpAddr,
) -> Result<Principal, Problem> {
    let bearer = bearer(headers).ok_or_else(unauthenticated)?;
    gate.throttle.token(bearer, from)?;
    let found = identify(gate, bearer).await;
    match &found {
        Err(problem) if problem.kind() != ProblemKind::Unauthenticated => {}
        found => gate.throttle.note_token(bearer, found.is_ok()),
    }
    found
}

/// Whose token it is.
async fn identify(gate: &Gate, bearer: &str) -> Result<Principal, Problem> {
    if gate.admin.as_ref().is_some_and(|admin| admin.is(bearer)) {
        return Ok(Principal::operator());
    }
    if let Some(oidc) = gate.oidc.as_ref().filter(|_| Oidc::is_jwt(bearer)) {
        return oidc.principal(bearer).await;
    }
    let token = Token::read(bearer).ok_or_else(unauthenticated)?;
    let key = match gate.store.key_get(token.key).await {
        Ok(key) => key,
        Err(crate::store::StoreError::NotFound { .. }) => return Err(unauthenticated()),
        Err(error) => return Err(error.into()),
    };
    if !token.opens(&key) {
        return Err(unauthenticated());
    }
    gate.key_use.note(&gate.store, key.id, gate.clock.now());
    Ok(Principal::of(key))
}
