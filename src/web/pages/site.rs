//! What pages are made with.

use std::sync::Arc;

use axum::extract::FromRef;

use super::api::Api;
use crate::http::AppState;
use crate::http::auth::Gate;

/// What pages are made with.
#[derive(Clone)]
pub struct Site {
    app: AppState,
    api: Arc<Api>,
}

impl Site {
    /// Of a server.
    pub fn of(state: &AppState) -> Self {
        Self {
            app: state.clone(),
            api: Arc::new(Api::of(state)),
        }
    }

    /// What lets people in.
    pub fn gate(&self) -> &Gate {
        self.app.gate()
    }
}

impl FromRef<Site> for Arc<Api> {
    fn from_ref(site: &Site) -> Self {
        Self::clone(&site.api)
    }
}
