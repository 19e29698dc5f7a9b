//! Settings of who gets in: the issuer of JWTs, and one-time subject tokens.

/// Settings of access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessSettings {
    /// Whose JWTs are taken beside API keys; `None`: nobody's.
    pub oidc: Option<OidcSettings>,
    /// How many subject tokens are given out at once, and for how long.
    pub subject_tokens: SubjectTokenLimits,
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
        }
    }
}

/// Limits of one-time subject tokens.
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
