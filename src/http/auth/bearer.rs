//! The bearer token of a request, and the one answer to those that open nothing.

use axum::http::{HeaderMap, header};

use crate::http::problem::{Problem, ProblemKind};

/// Bytes of a bearer token; a longer one is nobody's, and is not looked at.
const BEARER_BYTES_MAX: usize = 16 << 10;

/// The one answer to every token that opens nothing.
pub(super) fn unauthenticated() -> Problem {
    Problem::new(ProblemKind::Unauthenticated, "no valid bearer token")
}

/// The bearer token that the headers show.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim())
        .filter(|token| token.len() <= BEARER_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::auth::Oidc;
    use crate::http::near::{self, cases, near};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn a_bearer_token_is_what_stands_behind_its_scheme(
            text in near(&["Bearer vz_0199_5e", "bearer  a.b.c ", "Basic dXNlcjpwYXNz"]),
        ) {
            let Some(headers) = near::header(header::AUTHORIZATION, &text) else { return Ok(()) };
            if let Some(token) = bearer(&headers) {
                prop_assert!(text[..7].eq_ignore_ascii_case("bearer "));
                prop_assert_eq!(token, text[7..].trim());
            } else {
                let is_scheme = |head: &str| head.eq_ignore_ascii_case("bearer ");
                prop_assert!(!text.is_ascii() || !text.get(..7).is_some_and(is_scheme));
            }
            for token in [bearer(&headers), Some(text.as_str())].into_iter().flatten() {
                let parts = token.split('.').count();
                prop_assert_eq!(Oidc::is_jwt(token), parts == 3);
            }
        }
    }
}
