//! A request of somebody who is known by a code alone: its fields, its language,
//! and the API as the holder of the code.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Form;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use serde_json::Value;

use super::code::Code;
use super::language;
use super::offer::Offer;
use super::texts::Texts;
use super::words::Words;
use crate::web::pages::api::{Api, Failure};
use crate::web::pages::visitor::Visitor;

/// The field of a code.
pub const CODE: &str = "code";
/// The field of a button that does what the page before has asked about.
pub const CONFIRM: &str = "confirm";
/// The field that says in which language a page is.
pub const LANGUAGE: &str = "lang";
/// The field of a button that changes the language.
pub const SWITCH: &str = "switch";

/// What the pages are made with.
#[derive(Clone)]
pub struct Consent {
    api: Arc<Api>,
    texts: Arc<Texts>,
}

impl Consent {
    /// The API inside the process, and the texts.
    pub fn new(api: Arc<Api>, texts: Texts) -> Self {
        Self {
            api,
            texts: Arc::new(texts),
        }
    }
}

/// A request.
pub struct Asked {
    /// What the page says.
    pub words: Words,
    /// The fields of its form.
    pub fields: BTreeMap<String, String>,
    api: Arc<Api>,
    visitor: Visitor,
}

impl Asked {
    fn of(consent: Consent, parts: &Parts, fields: BTreeMap<String, String>) -> Self {
        let query = parts.uri.query().unwrap_or_default();
        let mut query = form_urlencoded::parse(query.as_bytes());
        let in_query = query.find(|(name, _)| name == LANGUAGE);
        let in_query = in_query.map(|(_, tag)| tag.into_owned());
        let field = |name: &str| fields.get(name).map(String::as_str);
        let asked = [field(SWITCH), field(LANGUAGE), in_query.as_deref()];
        let language = language::chosen(&consent.texts, &asked, &parts.headers);
        Self {
            words: Words::of(consent.texts, language),
            fields,
            api: consent.api,
            visitor: Visitor::without_session(parts),
        }
    }

    /// A field; empty where it is not there.
    pub fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// Whether a button of this name was pressed.
    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// The host that was asked, as the browser named it.
    pub fn host(&self) -> &str {
        self.visitor.host().unwrap_or_default()
    }

    /// A document, as the holder of a code.
    pub async fn get(&self, code: &Code, path: &str) -> Result<Value, Failure> {
        self.api
            .get(&self.visitor.showing(&code.text()), path)
            .await
    }

    /// What may be chosen, as the holder of a code.
    pub async fn offer(&self, code: &Code) -> Result<Offer, Failure> {
        let offer = self.get(code, "/v1/my-preferences").await?;
        serde_json::from_value(offer).map_err(|_| Failure::not_found())
    }

    /// Puts terms, as the holder of a code.
    pub async fn put(&self, code: &Code, path: &str, terms: &Value) -> Result<Value, Failure> {
        let visitor = self.visitor.showing(&code.text());
        self.api.put(&visitor, path, terms).await
    }

    /// Asks for something to be done, as the holder of a code.
    pub async fn post(&self, code: &Code, path: &str) -> Result<Value, Failure> {
        let visitor = self.visitor.showing(&code.text());
        self.api.post(&visitor, path, None).await
    }
}

impl FromRequest<Consent> for Asked {
    type Rejection = std::convert::Infallible;

    /// A body that is no form has no fields: it is refused as one without a code.
    async fn from_request(request: Request, consent: &Consent) -> Result<Self, Self::Rejection> {
        let (parts, body) = request.into_parts();
        let request = Request::from_parts(parts.clone(), body);
        let form = Form::<Vec<(String, String)>>::from_request(request, consent).await;
        let fields = form.map(|Form(fields)| fields.into_iter().collect());
        Ok(Self::of(
            consent.clone(),
            &parts,
            fields.unwrap_or_default(),
        ))
    }
}

/// A request that brings no form.
pub struct Opened(pub Asked);

impl FromRequestParts<Consent> for Opened {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        consent: &Consent,
    ) -> Result<Self, Self::Rejection> {
        Ok(Self(Asked::of(consent.clone(), parts, BTreeMap::new())))
    }
}
