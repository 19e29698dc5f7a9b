//! The stylesheet, the script and the icon of the consent pages, from files
//! compiled into the binary.
//!
//! They are files of their own: a patient's telephone loads no style of tables and
//! no script of uploads.

use std::sync::LazyLock;

use axum::Router;
use axum::routing::get;

use crate::web::pages::assets::{asset, place};

/// The colours and letters of reports, and what these pages have beside them.
const STYLE: &str = concat!(include_str!("../style.css"), include_str!("consent.css"));
const SCRIPT: &str = include_str!("consent.js");
const ICON: &str = include_str!("icon.svg");

/// Where the stylesheet is; another address for another version.
pub static STYLE_PLACE: LazyLock<String> = LazyLock::new(|| place("consent.css", STYLE));
/// Where the script is, likewise.
pub static SCRIPT_PLACE: LazyLock<String> = LazyLock::new(|| place("consent.js", SCRIPT));

/// The files.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route(
            "/assets/consent.svg",
            get(async || asset("image/svg+xml", ICON)),
        )
        .route(
            "/assets/consent.css",
            get(async || asset("text/css; charset=utf-8", STYLE)),
        )
        .route(
            "/assets/consent.js",
            get(async || asset("text/javascript; charset=utf-8", SCRIPT)),
        )
}
