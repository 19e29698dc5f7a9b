//! What a browser is told of every page: nobody keeps it, frames it or opens it
//! beside another site's.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Says so in an answer's headers; `referrer` says how much of the address other
/// requests tell.
pub(super) fn tell(headers: &mut HeaderMap, referrer: &'static str) {
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, referrer),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
