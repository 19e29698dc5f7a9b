//! Query parameters that an operation does not have are refused, whatever it
//! does: `?dry_run=true` on an erasure must not erase.
//!
//! The names are those of openapi.yaml, so that nothing is described that is
//! not read, and nothing read that is not described.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::{OpenApi, RefOr};

use super::problem::{Problem, ProblemKind};

/// The names of the query parameters of each operation, by path and method.
#[derive(Clone)]
pub(super) struct QueryNames(Arc<HashMap<(String, Method), BTreeSet<String>>>);

impl QueryNames {
    /// Those of a description.
    pub(super) fn of(api: OpenApi) -> Self {
        let mut names = HashMap::new();
        for (path, item) in api.paths.paths {
            let operations = [
                (Method::GET, item.get),
                (Method::PUT, item.put),
                (Method::POST, item.post),
                (Method::DELETE, item.delete),
            ];
            for (method, operation) in operations {
                let parameters = operation.and_then(|operation| operation.parameters);
                names.insert((path.clone(), method), in_query(parameters));
            }
        }
        Self(Arc::new(names))
    }
}

fn in_query(parameters: Option<Vec<RefOr<Parameter>>>) -> BTreeSet<String> {
    let parameters = parameters.into_iter().flatten();
    let own = parameters.filter_map(|parameter| match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    });
    let own = own.filter(|parameter| parameter.parameter_in == ParameterIn::Query);
    own.map(|parameter| parameter.name).collect()
}

/// Lets a request through whose query names no other parameters.
pub(super) async fn refuse_unknown(
    State(names): State<QueryNames>,
    path: MatchedPath,
    request: Request,
    next: Next,
) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let given = query.split('&').filter(|pair| !pair.is_empty());
    let mut given = given.map(|pair| pair.split('=').next().unwrap_or_default());
    let method = match request.method() {
        &Method::HEAD => Method::GET,
        method => method.clone(),
    };
    let none = BTreeSet::new();
    let known = names.0.get(&(path.as_str().to_owned(), method));
    let known = known.unwrap_or(&none);
    // Names are plain words: one that is written in another way is another one.
    match given.find(|name| !known.contains(*name)) {
        None => next.run(request).await,
        Some(_) => Problem::new(ProblemKind::InvalidQuery, says(known)).into_response(),
    }
}

/// What may stand in the query.
fn says(known: &BTreeSet<String>) -> String {
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    if names.is_empty() {
        "a query parameter is unknown: this operation has none".into()
    } else {
        format!(
            "a query parameter is unknown: this operation has {}",
            names.join(", ")
        )
    }
}
