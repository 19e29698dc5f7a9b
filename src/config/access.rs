//! Settings of who gets in: the issuer of JWTs, and subject tokens.

use super::Secret;

/// Settings of access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessSettings {
    /// Whose JWTs are taken beside API keys; `None`: nobody's.
    pub oidc: Option<OidcSettings>,
    /// How many subject tokens are given out at once, and for how long.
    pub subject_tokens: SubjectTokenLimits,
    /// From where browsers may call what subjects call.
    pub consent_origins: Vec<WebOrigin>,
}

/// Where pages are, as a browser names it: scheme, host and port alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebOrigin(String);

impl WebOrigin {
    /// Reads an origin: `https://host`, with a port where it is not the usual one;
    /// `http://` for this machine alone.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url: reqwest::Url = text.parse().map_err(|_| Self::ADVICE.to_owned())?;
        let is_here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_here);
        let origin = url.origin().ascii_serialization();
        if is_safe && origin == text.trim_end_matches('/') {
            Ok(Self(origin))
        } else {
            Err(Self::ADVICE.to_owned())
        }
    }

    const ADVICE: &str = "an origin is https://host or https://host:port, without a path; http:// is \
         for this machine alone";

    /// The origin.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whose JWTs are taken, and how they are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OidcSettings {
    /// The issuer: `iss` of a token is exactly this.
    pub issuer: String,
    /// The audience: `aud` of a token is, or holds, exactly this.
    pub audience: String,
    /// File or URL of the key set (JWKS); `None`: as the issuer's discovery document says.
    pub keys: Option<String>,
    /// Claim that holds the roles; dots lead into objects.
    pub roles_claim: String,
    /// Claim that holds the ids of the datasets a token is tied to; `None`: tokens are tied to none.
    pub datasets_claim: Option<String>,
    /// How far the issuer's clock may be off, in seconds.
    pub leeway_s: u64,
    /// How often the key set is fetched again, in seconds.
    pub refresh_s: u64,
    /// Whether the key set may come from another machine over plain HTTP.
    pub insecure: bool,
    /// How people sign in at the issuer themselves; `None`: they do not.
    pub sign_in: Option<SignInSettings>,
}

/// How people sign in at the issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInSettings {
    /// What the issuer knows this service by.
    pub client_id: String,
    /// What it shows the issuer; `None`: it is a public client.
    pub client_secret: Option<Secret>,
    /// What it asks for: words between spaces, `openid` among them.
    pub scopes: String,
    /// Where browsers reach this service.
    pub origin: WebOrigin,
}

impl SignInSettings {
    /// What is asked for, unless said otherwise.
    pub const SCOPES: &str = "openid";
}

impl OidcSettings {
    /// Claim that holds the roles, unless said otherwise.
    pub const ROLES_CLAIM: &str = "roles";
    /// How far clocks may be off, unless said otherwise, in seconds.
    pub const LEEWAY_S: u64 = 30;
    /// How often the key set is fetched again, unless said otherwise, in seconds.
    pub const REFRESH_S: u64 = 600;

    /// Settings for an issuer and an audience; all else as by default.
    pub fn new(issuer: impl Into<String>, audience: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            audience: audience.into(),
            keys: None,
            roles_claim: Self::ROLES_CLAIM.into(),
            datasets_claim: None,
            leeway_s: Self::LEEWAY_S,
            refresh_s: Self::REFRESH_S,
            insecure: false,
            sign_in: None,
        }
    }
}

/// Limits of subject tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubjectTokenLimits {
    /// Subjects in one request for tokens.
    pub subjects_max: usize,
    /// How long a token lives where the request does not say, in seconds.
    pub lifetime_s: u64,
    /// The longest life that a request may ask for, in seconds.
    pub lifetime_s_max: u64,
}

impl Default for SubjectTokenLimits {
    fn default() -> Self {
        const DAY_S: u64 = 24 * 60 * 60;
        Self {
            subjects_max: 1_000,
            lifetime_s: 14 * DAY_S,
            lifetime_s_max: 90 * DAY_S,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port_alone() {
        for good in [
            "https://consent.example.org",
            "https://consent.example.org:8443",
            "http://localhost:3000",
            "http://127.0.0.1:3000",
        ] {
            let origin = WebOrigin::parse(good).map(|origin| origin.as_str().to_owned());
            assert_eq!(origin.as_deref(), Ok(good));
        }
        for bad in [
            "*",
            "null",
            "consent.example.org",
            "http://consent.example.org",
            "https://consent.example.org/form",
            "https://user@consent.example.org",
            "https://consent.example.org:443",
            "ftp://consent.example.org",
        ] {
            assert!(WebOrigin::parse(bad).is_err(), "{bad}");
        }
    }
}
