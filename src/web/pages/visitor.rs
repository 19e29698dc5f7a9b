//! Who looks at a page, and whether a form is one of ours.

use std::net::IpAddr;

use axum::Form;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use vizard_anonymizer::microdata::to_hex;

use super::api::Failure;
use super::frame;
use super::site::Site;
use crate::config::Secret;
use crate::http::access::{Access, operation};
use crate::http::auth::{Principal, Role, Session, note_signed_in};
use crate::http::{ProblemKind, RemoteAddress, RequestId};

/// The cookie of a session. The prefix makes browsers refuse one that another
/// host or another path set.
pub const COOKIE: &str = "__Host-vizard";
/// The field of a form that shows that this service made it.
pub const FORM_TOKEN: &str = "form_token";

/// The same where a script sends what is no form.
const TOKEN_HEADER: &str = "x-form-token";
/// What is said where it is not there.
const SIGNED_OUT: &str = "You were signed out, or signed in again, since the page was opened. \
     Go back, load it again, and send it once more.";

/// Who looks at a page.
#[derive(Clone)]
pub struct Visitor {
    /// The session in which they ask, if they signed in.
    pub session: Option<Session>,
    /// Who they are.
    pub principal: Option<Principal>,
    /// Where they ask from.
    pub from: IpAddr,
    /// The id of their request.
    pub request_id: Option<RequestId>,
    /// What they asked for: path and query.
    pub place: String,
    /// The host that they asked, as they named it.
    host: Option<String>,
    form_token: String,
    /// What they show the API instead of a session.
    bearer: Option<Secret>,
}

impl Visitor {
    /// Somebody of whom nothing is known.
    pub fn nobody() -> Self {
        Self {
            session: None,
            principal: None,
            from: IpAddr::from([0, 0, 0, 0]),
            request_id: None,
            place: String::new(),
            host: None,
            form_token: String::new(),
            bearer: None,
        }
    }

    /// Somebody without a session, as a request says where they ask from.
    pub fn without_session(parts: &Parts) -> Self {
        let from = parts.extensions.get::<RemoteAddress>();
        let nobody = Self::nobody();
        Self {
            request_id: parts.extensions.get::<RequestId>().cloned(),
            from: from.map_or(nobody.from, |from| from.0),
            host: host_of(parts),
            ..nobody
        }
    }

    /// The same, who shows the API a bearer token: it alone says what they may.
    #[must_use]
    pub fn showing(&self, token: &str) -> Self {
        Self {
            session: None,
            principal: None,
            form_token: String::new(),
            bearer: Some(Secret::new(token)),
            ..self.clone()
        }
    }

    /// What they show the API, as it stands in a header.
    pub fn bearer(&self) -> Option<HeaderValue> {
        let token = self.bearer.as_ref()?.expose();
        let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The host that they asked, as they named it.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// What every form of theirs carries; another site can't know it.
    pub fn form_token(&self) -> &str {
        &self.form_token
    }

    /// An error unless a script of one of their pages sent the request.
    pub fn sent_by_page(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let given = headers
            .get(TOKEN_HEADER)
            .map_or(&[][..], HeaderValue::as_bytes);
        if is_own(headers, self.host.as_deref()) && self.is_form_token(given) {
            return Ok(());
        }
        Err(Failure::form(StatusCode::FORBIDDEN, SIGNED_OUT))
    }

    fn is_form_token(&self, given: &[u8]) -> bool {
        let wanted = self.form_token.as_bytes();
        !wanted.is_empty() && bool::from(given.ct_eq(wanted))
    }

    /// Where they ask from, and in which request.
    pub fn asking(&self) -> (IpAddr, Option<RequestId>) {
        (self.from, self.request_id.clone())
    }

    /// Whether they hold a role.
    pub fn has(&self, role: Role) -> bool {
        self.principal.as_ref().is_some_and(|one| one.has(role))
    }

    /// Whether they hold a role that an operation asks for.
    pub fn may(&self, method: &Method, path: &str) -> bool {
        let (Some(principal), Some(operation)) = (&self.principal, operation(method, path)) else {
            return false;
        };
        match operation.access {
            Access::Public | Access::AnyKey => true,
            Access::Roles(roles) => principal.has_any(roles),
            Access::SubjectToken | Access::Receipt => false,
        }
    }

    /// The page, or what is shown in its place: the way to sign in where the
    /// API asks who it is.
    pub fn answer(&self, page: Result<frame::Page, Failure>) -> Response {
        match page {
            Ok(page) => page.drawn(self),
            Err(failure) if failure.status == StatusCode::UNAUTHORIZED => {
                let place = query_text("next", &self.place);
                Redirect::to(&format!("/signin?{place}")).into_response()
            }
            Err(failure) => {
                let mut response = frame::failure(&failure).drawn(self);
                *response.status_mut() = failure.status;
                response
            }
        }
    }
}

/// One field as it stands in a query.
pub fn query_text(name: &str, value: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair(name, value);
    query.finish()
}

/// The secret of the session that the headers show; none where there are two.
pub fn secret_of(headers: &HeaderMap) -> Option<&str> {
    cookie_of(headers, COOKIE)
}

/// The cookie of a name; none where there are two.
pub fn cookie_of<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let pairs = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let mut ours = pairs.filter(|(own, _)| *own == name);
    let (_, value) = ours.next()?;
    ours.next().is_none().then_some(value)
}

/// What the forms of a session carry: nobody gets from it to the secret.
fn form_token_of(secret: &str) -> String {
    let mut digest = Sha256::new();
    digest.update("vizard form\n");
    digest.update(secret);
    to_hex(digest.finalize().as_slice())
}

impl FromRequestParts<Site> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, Response> {
        let place = parts.uri.path_and_query();
        let secret = secret_of(&parts.headers);
        let mut visitor = Self {
            // Where a form was sent to is no place to go back to.
            place: place
                .filter(|_| parts.method == Method::GET)
                .map_or_else(|| "/".into(), ToString::to_string),
            ..Self::without_session(parts)
        };
        let Some((secret, session)) = secret.and_then(|one| Some((one, Session::of(one)?))) else {
            return Ok(visitor);
        };
        match site.gate().in_session(session, visitor.from).await {
            Ok(principal) => {
                note_signed_in(&parts.extensions);
                visitor.session = Some(session);
                visitor.principal = Some(principal);
                visitor.form_token = form_token_of(secret);
                Ok(visitor)
            }
            // It is over: a page that needs one says so.
            Err(problem) if problem.kind() == ProblemKind::Unauthenticated => Ok(visitor),
            Err(problem) => Err(problem.into_response()),
        }
    }
}

/// The fields of a form that a page of this service sent.
pub struct Posted(Vec<(String, String)>);

impl Posted {
    /// The fields that an address proposes for a form.
    pub fn of_query(query: &str) -> Self {
        let fields = form_urlencoded::parse(query.as_bytes());
        Self(fields.into_owned().collect())
    }

    /// A field, of several of one name the last; empty where it is not there.
    pub fn text(&self, name: &str) -> &str {
        self.texts(name).next_back().unwrap_or_default()
    }

    /// All fields of a name, as of boxes that are ticked.
    pub fn texts(&self, name: &str) -> impl DoubleEndedIterator<Item = &str> {
        let fields = self.0.iter().filter(move |(field, _)| field == name);
        fields.map(|(_, text)| text.as_str())
    }

    /// An error unless the form carries what this visitor's forms do.
    pub fn checked(&self, visitor: &Visitor) -> Result<(), Failure> {
        if visitor.is_form_token(self.text(FORM_TOKEN).as_bytes()) {
            return Ok(());
        }
        Err(Failure::form(StatusCode::FORBIDDEN, SIGNED_OUT))
    }
}

/// The host that a request names: with HTTP/2 it stands in the address.
fn host_of(parts: &Parts) -> Option<String> {
    let named = parts.headers.get(header::HOST);
    let named = named.and_then(|host| host.to_str().ok());
    let authority = parts.uri.authority().map(|host| host.as_str());
    authority.or(named).map(str::to_owned)
}

/// Whether a page of this host sent the request, as the browser says: nothing
/// that it says may speak against it, and it has to say something.
fn is_own(headers: &HeaderMap, host: Option<&str>) -> bool {
    let text = |name: &str| {
        let value = headers.get(name)?;
        Some(value.to_str().unwrap_or("null"))
    };
    let site = text("sec-fetch-site").map(|site| site == "same-origin");
    let origin = text("origin").map(|origin| {
        let named = origin.split_once("://").map(|(_, authority)| authority);
        named.is_some() && named == host
    });
    match (site, origin) {
        (None, None) => false,
        (site, origin) => site.unwrap_or(true) && origin.unwrap_or(true),
    }
}

impl FromRequest<Site> for Posted {
    type Rejection = Response;

    async fn from_request(request: Request, site: &Site) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let visitor = Visitor::from_request_parts(&mut parts, site).await?;
        if !is_own(&parts.headers, visitor.host.as_deref()) {
            let failure = Failure::form(
                StatusCode::FORBIDDEN,
                "It was not sent from a page of this service.",
            );
            return Err(visitor.answer(Err(failure)));
        }
        let request = Request::from_parts(parts, body);
        match Form::<Vec<(String, String)>>::from_request(request, site).await {
            Ok(Form(fields)) => Ok(Self(fields)),
            Err(rejection) => {
                let failure = Failure::form(rejection.status(), "It has another form.");
                Err(visitor.answer(Err(failure)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            let name = axum::http::HeaderName::from_static(name);
            (name, HeaderValue::from_static(value))
        });
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value);
        }
        headers
    }

    #[test]
    fn two_cookies_of_one_name_are_none() {
        let one = headers(&[("cookie", "a=b; __Host-vizard=5e; c=d")]);
        assert_eq!(secret_of(&one), Some("5e"));
        for two in [
            headers(&[("cookie", "__Host-vizard=5e; __Host-vizard=5f")]),
            headers(&[
                ("cookie", "__Host-vizard=5e"),
                ("cookie", "__Host-vizard=5e"),
            ]),
            headers(&[("cookie", "vizard=5e")]),
        ] {
            assert_eq!(secret_of(&two), None);
        }
    }

    #[test]
    fn a_form_comes_from_this_host_or_is_refused() {
        let host = Some("vizard.example:8443");
        let own = [
            headers(&[("origin", "https://vizard.example:8443")]),
            headers(&[("sec-fetch-site", "same-origin")]),
            headers(&[
                ("origin", "https://vizard.example:8443"),
                ("sec-fetch-site", "same-origin"),
            ]),
        ];
        assert!(own.iter().all(|own| is_own(own, host)));
        for other in [
            headers(&[]),
            headers(&[("origin", "null")]),
            headers(&[("origin", "https://vizard.example")]),
            headers(&[("origin", "https://evil.example")]),
            headers(&[("sec-fetch-site", "same-site")]),
            headers(&[("sec-fetch-site", "none")]),
            headers(&[
                ("sec-fetch-site", "cross-site"),
                ("origin", "https://vizard.example:8443"),
            ]),
            headers(&[
                ("sec-fetch-site", "same-origin"),
                ("origin", "https://evil.example"),
            ]),
        ] {
            assert!(!is_own(&other, host), "{other:?}");
        }
        assert!(!is_own(&own[0], None));
    }

    #[test]
    fn the_token_of_forms_is_another_for_another_session() {
        assert_ne!(form_token_of("5e"), form_token_of("5f"));
        assert_ne!(form_token_of("5e"), to_hex(Sha256::digest("5e").as_slice()));
    }
}
