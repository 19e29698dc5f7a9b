//! The stylesheet and the scripts, from files compiled into the binary.

use std::sync::LazyLock;

use axum::Router;
use axum::http::{HeaderName, header};
use axum::response::IntoResponse;
use axum::routing::get;
use sha2::{Digest, Sha256};
use vizard_anonymizer::microdata::to_hex;

/// One style for reports and pages, and what pages have beside it.
const STYLE: &str = concat!(include_str!("../style.css"), include_str!("pages.css"));
const ICON: &str = include_str!("icon.svg");
const SCRIPT: &str = include_str!("pages.js");

/// Digits of a digest that tell one version of a file from another.
const VERSION_DIGITS: usize = 12;

/// Where the stylesheet is; another address for another version.
pub static STYLE_PLACE: LazyLock<String> = LazyLock::new(|| place("style.css", STYLE));
/// Where the script is, likewise.
pub static SCRIPT_PLACE: LazyLock<String> = LazyLock::new(|| place("pages.js", SCRIPT));

/// Where a file of this text is; another address for another text.
pub fn place(name: &str, text: &str) -> String {
    let digest = to_hex(Sha256::digest(text).as_slice());
    let version = digest.get(..VERSION_DIGITS).unwrap_or_default();
    format!("/assets/{name}?v={version}")
}

pub(super) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route(
            "/assets/icon.svg",
            get(async || asset("image/svg+xml", ICON)),
        )
        .route(
            "/assets/style.css",
            get(async || asset("text/css; charset=utf-8", STYLE)),
        )
        .route(
            "/assets/pages.js",
            get(async || asset("text/javascript; charset=utf-8", SCRIPT)),
        )
}

/// A file, which may be kept: what changes has another address.
pub fn asset(kind: &'static str, text: &'static str) -> impl IntoResponse {
    let told: [(HeaderName, &str); 4] = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "public, max-age=86400"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ];
    (told, text)
}
