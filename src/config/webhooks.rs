//! Where webhooks may be: the operator names origins, and a webhook's URL must
//! be under one of them.
//!
//! Without that, whoever may make a webhook could have the service knock at
//! every address that its machine reaches: the metadata of a cloud, a printer,
//! the database. An origin is a scheme, a host and a port. A URL is read by the
//! rules that the client sends it by (WHATWG), so that what is compared is what
//! is asked: another spelling of a host is the same host, and a host that only
//! looks the same is another.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use reqwest::Url;

/// Most characters of a webhook's URL.
pub const WEBHOOK_URL_CHARACTERS_MAX: usize = 2_000;

/// Why a text is no origin, or no URL of a webhook. Never repeats the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WebhookUrlError {
    /// No URL, or one without a host.
    #[error("it is no URL with a host, as in https://hooks.hospital.org/vizard")]
    Form,
    /// Neither `https`, nor `http` on this machine.
    #[error("it begins with https://; http:// is for 127.0.0.1, [::1] and localhost alone")]
    Scheme,
    /// A name or a password before the host.
    #[error("it holds a user's name or password; messages are signed in place of that")]
    UserInfo,
    /// `#…`.
    #[error("it has a fragment (#…), which no server is ever sent")]
    Fragment,
    /// A character that is read as another, or as none.
    #[error("it holds a space, a control character or a backslash")]
    Characters,
    /// Too long.
    #[error("it is longer than 2000 characters")]
    Long,
    /// More than scheme, host and port.
    #[error("an origin is a scheme, a host and perhaps a port: no path, no query")]
    Path,
    /// Under none of the origins that are allowed.
    #[error("it is under none of the origins that the operator allows (--webhook-origin)")]
    Origin,
    /// No origin is allowed.
    #[error(
        "no webhooks are allowed: the operator names their origins, as in --webhook-origin \
         https://hooks.hospital.org (VIZARD_WEBHOOK_ORIGINS), for vizard serve and vizard work"
    )]
    NoOrigin,
}

/// A URL that may be asked.
fn read(text: &str) -> Result<Url, WebhookUrlError> {
    if text.chars().count() > WEBHOOK_URL_CHARACTERS_MAX {
        return Err(WebhookUrlError::Long);
    }
    // A parser of URLs drops some of them and takes `\` for `/`.
    if text
        .chars()
        .any(|c| c.is_control() || c.is_whitespace() || c == '\\')
    {
        return Err(WebhookUrlError::Characters);
    }
    let url = Url::parse(text).map_err(|_| WebhookUrlError::Form)?;
    let host = url.host_str().filter(|host| !host.is_empty());
    let host = host.ok_or(WebhookUrlError::Form)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(WebhookUrlError::UserInfo);
    }
    if url.fragment().is_some() {
        return Err(WebhookUrlError::Fragment);
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_this_machine(host) => Ok(url),
        _ => Err(WebhookUrlError::Scheme),
    }
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = |address: IpAddr| address.is_loopback();
    host == "localhost" || address.parse().is_ok_and(is_loopback)
}

/// Scheme, host and port under which webhooks may be.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookOrigin(Url);

impl WebhookOrigin {
    /// Whether a URL is under this origin.
    fn holds(&self, url: &Url) -> bool {
        let parts = |url: &Url| {
            let host = url.host_str().map(str::to_owned);
            (url.scheme().to_owned(), host, url.port_or_known_default())
        };
        parts(&self.0) == parts(url)
    }
}

impl FromStr for WebhookOrigin {
    type Err = WebhookUrlError;

    fn from_str(text: &str) -> Result<Self, WebhookUrlError> {
        let url = read(text.trim())?;
        if url.path() == "/" && url.query().is_none() {
            Ok(Self(url))
        } else {
            Err(WebhookUrlError::Path)
        }
    }
}

impl fmt::Debug for WebhookOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.as_str())
    }
}

/// All origins under which webhooks may be; none: there are no webhooks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookOrigins(Vec<WebhookOrigin>);

impl WebhookOrigins {
    /// These origins.
    pub fn new(origins: Vec<WebhookOrigin>) -> Self {
        Self(origins)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether some are asked over TLS.
    pub fn need_tls(&self) -> bool {
        self.0.iter().any(|origin| origin.0.scheme() == "https")
    }

    /// The URL as it is kept and asked, if a webhook may be there.
    pub fn allow(&self, text: &str) -> Result<Url, WebhookUrlError> {
        if self.is_empty() {
            return Err(WebhookUrlError::NoOrigin);
        }
        let url = read(text)?;
        if self.0.iter().any(|origin| origin.holds(&url)) {
            Ok(url)
        } else {
            Err(WebhookUrlError::Origin)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(texts: &[&str]) -> WebhookOrigins {
        let read = |text: &&str| text.parse().expect("an origin");
        WebhookOrigins::new(texts.iter().map(read).collect())
    }

    fn allowed(text: &str) -> Result<String, WebhookUrlError> {
        let origins = origins(&["https://Hooks.Hospital.org", "https://other.org:8443/"]);
        origins.allow(text).map(String::from)
    }

    #[test]
    fn a_url_under_an_origin_is_kept_in_one_spelling() {
        for (text, kept) in [
            (
                "https://hooks.hospital.org/a?b=c",
                "https://hooks.hospital.org/a?b=c",
            ),
            (
                "HTTPS://HOOKS.Hospital.ORG:443/A",
                "https://hooks.hospital.org/A",
            ),
            ("https://hooks.hospital.org", "https://hooks.hospital.org/"),
            (
                "https://hooks.hospital.org/a/../../b",
                "https://hooks.hospital.org/b",
            ),
            (
                "https://hooks.hospital.org/%2e%2e/b",
                "https://hooks.hospital.org/b",
            ),
            ("https:hooks.hospital.org/a", "https://hooks.hospital.org/a"),
            ("https://other.org:8443/", "https://other.org:8443/"),
        ] {
            assert_eq!(allowed(text).as_deref(), Ok(kept), "{text}");
        }
    }

    #[test]
    fn a_url_that_only_looks_as_if_it_were_under_an_origin_is_refused() {
        use WebhookUrlError::{Characters, Form, Fragment, Origin, Scheme, UserInfo};
        for (text, error) in [
            ("https://evil.org/hooks.hospital.org", Origin),
            ("https://hooks.hospital.org.evil.org/", Origin),
            ("https://evilhooks.hospital.org/", Origin),
            ("https://hooks.hospital.org:8443/", Origin),
            ("https://other.org/", Origin),
            ("https://other.org:443/", Origin),
            ("https://hooks.hospital.org./", Origin),
            // Greek omicron, Cyrillic letters: another host in Punycode.
            ("https://h\u{3bf}oks.hospital.org/", Origin),
            ("https://hooks.h\u{43e}spital.org/", Origin),
            ("https://hooks.hospital.org@evil.org/", UserInfo),
            ("https://user@hooks.hospital.org/", UserInfo),
            ("https://user:secret@hooks.hospital.org/", UserInfo),
            ("https://hooks.hospital.org\\@evil.org/", Characters),
            ("https://hooks.hospital.org\\.evil.org/", Characters),
            ("https://hooks.hospital.org/\n", Characters),
            (" https://hooks.hospital.org/", Characters),
            ("https://hooks.hosp\tital.org/", Characters),
            ("https://hooks.hospital.org/#a", Fragment),
            ("http://hooks.hospital.org/", Scheme),
            ("ftp://hooks.hospital.org/", Scheme),
            ("file:///etc/passwd", Form),
            ("//hooks.hospital.org/", Form),
            ("/a", Form),
            ("", Form),
            ("https://", Form),
            ("https://169.254.169.254/latest/meta-data", Origin),
            ("https://0x7f000001/", Origin),
            ("https://[::ffff:127.0.0.1]/", Origin),
            ("data:text/plain,x", Form),
        ] {
            assert_eq!(allowed(text), Err(error), "{text}");
        }
        let long = format!("https://hooks.hospital.org/{}", "a".repeat(2_000));
        assert_eq!(allowed(&long), Err(WebhookUrlError::Long));
    }

    #[test]
    fn a_full_width_spelling_of_an_allowed_host_is_that_host() {
        let wide = "https://hooks\u{ff0e}hospital.org/a";
        assert_eq!(allowed(wide).as_deref(), Ok("https://hooks.hospital.org/a"));
    }

    #[test]
    fn plain_http_is_for_this_machine_alone() {
        for text in [
            "http://127.0.0.1:9",
            "http://[::1]:9",
            "http://localhost:9",
            "http://127.1:9",
        ] {
            assert!(text.parse::<WebhookOrigin>().is_ok(), "{text}");
        }
        for text in [
            "http://10.0.0.1",
            "http://hooks.hospital.org",
            "http://localhost.evil.org",
        ] {
            let refused = text.parse::<WebhookOrigin>();
            assert_eq!(refused, Err(WebhookUrlError::Scheme), "{text}");
        }
        let here = origins(&["http://127.0.0.1:9"]);
        assert!(here.allow("http://127.0.0.1:9/a").is_ok());
        let other = here.allow("http://127.0.0.1:10/a");
        assert_eq!(other, Err(WebhookUrlError::Origin));
        assert!(!here.need_tls());
    }

    #[test]
    fn an_origin_has_neither_path_nor_query_and_none_allows_nothing() {
        for text in ["https://a.org/hooks", "https://a.org/?a=b"] {
            let refused = text.parse::<WebhookOrigin>();
            assert_eq!(refused, Err(WebhookUrlError::Path), "{text}");
        }
        let none = WebhookOrigins::default().allow("https://a.org/");
        assert_eq!(none, Err(WebhookUrlError::NoOrigin));
    }
}
