//! Content codings: gzip and zstd, of bodies that come and of tables that go.
//!
//! What comes is inflated while it is read, at constant memory; a body that
//! grows too much is refused as soon as that is known. What goes is deflated
//! piece by piece, as `Accept-Encoding` has it.

mod deflate;

pub use deflate::Deflater;
pub use vizard_anonymizer::microdata::packing::{ContentCoding, Growth, InflateFault, Inflater};

use std::io::Read;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use super::negotiate::wish;
use super::problem::{Problem, ProblemKind};
use crate::config::Limit;

/// What is wrong with a packed body, of which so much may be unpacked.
pub fn packing_problem(fault: InflateFault, bytes_max: Limit) -> Problem {
    match fault {
        InflateFault::Ratio(most) => {
            let detail = format!(
                "unpacked, it grows to more than inflation_ratio_max, {most} times its size"
            );
            Problem::new(ProblemKind::LimitExceeded, detail)
        }
        InflateFault::Bytes(_) => Problem::body_too_large(bytes_max),
        InflateFault::Broken(coding) => Problem::new(
            ProblemKind::UndecodableBody,
            format!("it is not whole, or not {}", coding.as_str()),
        ),
    }
}

/// Unpacks a body that is in memory, to at most `bytes_max` bytes.
pub fn unpack(
    body: &[u8],
    coding: ContentCoding,
    ratio_max: u64,
    bytes_max: Limit,
) -> Result<Vec<u8>, Problem> {
    let growth = Growth {
        ratio_max,
        bytes_max: bytes_max.value,
    };
    let mut inflater = Inflater::new(body, coding, growth).map_err(|_| Problem::internal())?;
    let fault = inflater.fault();
    let mut unpacked = Vec::new();
    match inflater.read_to_end(&mut unpacked) {
        Ok(_) => Ok(unpacked),
        Err(_) => Err(match fault.get() {
            Some(&fault) => packing_problem(fault, bytes_max),
            None => Problem::internal(),
        }),
    }
}

/// What is offered, best first among what a client likes equally.
const OFFERED: [ContentCoding; 3] = [
    ContentCoding::Zstd,
    ContentCoding::Gzip,
    ContentCoding::Identity,
];

/// How a request's body is packed; a problem if in a way not read here.
pub fn of_body(headers: &HeaderMap) -> Result<ContentCoding, Problem> {
    let unsupported = || {
        let detail = "content codings read here: gzip, zstd; one of them, once";
        Problem::new(ProblemKind::UnsupportedMediaType, detail)
    };
    let mut given = headers.get_all(header::CONTENT_ENCODING).iter();
    let Some(first) = given.next() else {
        return Ok(ContentCoding::Identity);
    };
    if given.next().is_some() {
        return Err(unsupported());
    }
    let name = first.to_str().map_err(|_| unsupported())?.trim();
    match name.to_ascii_lowercase().as_str() {
        "identity" => Ok(ContentCoding::Identity),
        "gzip" | "x-gzip" => Ok(ContentCoding::Gzip),
        "zstd" => Ok(ContentCoding::Zstd),
        _ => Err(unsupported()),
    }
}

/// How a client would like an answer best, of what is offered. A client that
/// says nothing, or refuses everything, gets it unpacked.
pub fn accepted(headers: &HeaderMap) -> ContentCoding {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    let wishes: Vec<(String, u16)> = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(wish)
        .collect();
    let quality = |coding: ContentCoding| {
        let named = |name: &str| wishes.iter().find(|(wish, _)| wish == name);
        let nothing_said = if coding == ContentCoding::Identity {
            1
        } else {
            0
        };
        named(coding.as_str())
            .or_else(|| named("*"))
            .map_or(nothing_said, |&(_, quality)| quality)
    };
    let mut best = ContentCoding::Identity;
    let mut most = 0;
    for coding in OFFERED {
        if quality(coding) > most {
            (best, most) = (coding, quality(coding));
        }
    }
    best
}

/// The header that names a coding; none for what is not packed.
pub fn content_encoding(coding: ContentCoding) -> Option<(HeaderName, HeaderValue)> {
    let value = HeaderValue::from_static(coding.as_str());
    (coding != ContentCoding::Identity).then_some((header::CONTENT_ENCODING, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, values: &[&'static str]) -> HeaderMap {
        let values = values.iter().map(|value| value.parse().expect("a value"));
        values.map(|value| (name.clone(), value)).collect()
    }

    #[test]
    fn a_body_is_packed_once_in_a_known_way_or_not_at_all() {
        let coding = |values: &[&'static str]| of_body(&headers(header::CONTENT_ENCODING, values));
        assert_eq!(coding(&[]).unwrap(), ContentCoding::Identity);
        assert_eq!(coding(&["identity"]).unwrap(), ContentCoding::Identity);
        assert_eq!(coding(&["GZip"]).unwrap(), ContentCoding::Gzip);
        assert_eq!(coding(&["zstd"]).unwrap(), ContentCoding::Zstd);
        for refused in [&["br"][..], &["gzip, zstd"], &["gzip", "gzip"], &[""]] {
            let problem = coding(refused).expect_err("is not read here");
            assert_eq!(problem.kind(), ProblemKind::UnsupportedMediaType);
        }
    }

    #[test]
    fn an_answer_is_packed_as_the_client_likes_best() {
        let of = |value: &'static str| accepted(&headers(header::ACCEPT_ENCODING, &[value]));
        assert_eq!(accepted(&HeaderMap::new()), ContentCoding::Identity);
        for (value, coding) in [
            ("gzip", ContentCoding::Gzip),
            ("gzip, deflate, br, zstd", ContentCoding::Zstd),
            ("gzip;q=0.5, zstd;q=0.1", ContentCoding::Gzip),
            ("*", ContentCoding::Zstd),
            ("zstd;q=0, *;q=0.3", ContentCoding::Gzip),
            ("br", ContentCoding::Identity),
            ("identity;q=0", ContentCoding::Identity),
            ("gzip;q=x", ContentCoding::Identity),
        ] {
            assert_eq!(of(value), coding, "{value}");
        }
    }
}
