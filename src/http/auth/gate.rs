//! What it takes to let a request in: who may, how often, and who hears of it.

use std::sync::Arc;

use super::{AdminDigest, KeyUse, Oidc};
use crate::clock::Clock;
use crate::config::Settings;
use crate::http::refusals::Refusals;
use crate::http::throttle::Throttle;
use crate::store::Store;

/// Lets requests in: cheap to clone, shared by all of them.
#[derive(Clone)]
pub struct Gate {
    pub(super) store: Arc<Store>,
    pub(super) clock: Arc<dyn Clock>,
    /// The operator's own admin key, if there is one.
    pub(super) admin: Option<AdminDigest>,
    /// Believes the JWTs of an issuer, if one was named.
    pub(super) oidc: Option<Arc<Oidc>>,
    /// How often clients may ask.
    pub(super) throttle: Arc<Throttle>,
    /// Requests that were refused, on their way to the audit log.
    pub(in crate::http) refusals: Arc<Refusals>,
    /// When each key was last noted as used.
    pub(super) key_use: Arc<KeyUse>,
}

impl Gate {
    /// The gate of a server.
    pub fn new(store: Arc<Store>, clock: Arc<dyn Clock>, settings: &Settings) -> Self {
        Self {
            admin: settings.admin_key.as_ref().map(AdminDigest::of),
            oidc: None,
            throttle: Arc::new(Throttle::new(&settings.limits)),
            refusals: Arc::default(),
            key_use: Arc::default(),
            store,
            clock,
        }
    }

    /// The same, with JWTs of an issuer as bearer tokens too.
    #[must_use]
    pub fn with_oidc(mut self, oidc: Oidc) -> Self {
        self.oidc = Some(Arc::new(oidc));
        self
    }
}
