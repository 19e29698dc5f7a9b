//! Options of who gets in: the issuer of JWTs, and subject tokens.

use clap::Args;

use super::exit::Exit;
use crate::config::{AccessSettings, ConsentOrigin, OidcSettings, SubjectTokenLimits};
use crate::http::auth::Oidc;

/// Who gets in beside the holders of API keys.
#[derive(Args, Clone, Debug)]
pub struct AccessOptions {
    /// Take JWTs of this issuer (OIDC) as bearer tokens too
    #[arg(long, env = "VIZARD_OIDC_ISSUER", value_name = "URL")]
    oidc_issuer: Option<String>,
    /// Audience that the issuer's JWTs must be made for
    #[arg(long, env = "VIZARD_OIDC_AUDIENCE", value_name = "TEXT")]
    oidc_audience: Option<String>,
    /// The issuer's key set (JWKS) [default: as its discovery document says]
    #[arg(long, env = "VIZARD_OIDC_KEYS", value_name = "FILE|URL")]
    oidc_keys: Option<String>,
    /// Claim that holds the roles; dots lead into objects, as in `realm_access.roles`
    #[arg(long, env = "VIZARD_OIDC_ROLES_CLAIM", value_name = "CLAIM", default_value = OidcSettings::ROLES_CLAIM)]
    oidc_roles_claim: String,
    /// Claim that holds the ids of datasets a JWT is tied to [default: JWTs are tied to none]
    #[arg(long, env = "VIZARD_OIDC_DATASETS_CLAIM", value_name = "CLAIM")]
    oidc_datasets_claim: Option<String>,
    /// How far the issuer's clock may be off, in seconds
    #[arg(long, env = "VIZARD_OIDC_LEEWAY_S", value_name = "SECONDS", default_value_t = OidcSettings::LEEWAY_S)]
    oidc_leeway_s: u64,
    /// How often the issuer's key set is fetched again, in seconds
    #[arg(long, env = "VIZARD_OIDC_REFRESH_S", value_name = "SECONDS", default_value_t = OidcSettings::REFRESH_S)]
    oidc_refresh_s: u64,
    /// Let the issuer's keys travel from another machine without TLS
    #[arg(long, env = "VIZARD_INSECURE_ISSUER")]
    insecure_issuer: bool,
    /// Subjects in one request for subject tokens
    #[arg(long, env = "VIZARD_SUBJECT_TOKENS_MAX", value_name = "N", default_value_t = SubjectTokenLimits::default().subjects_max)]
    subject_tokens_max: usize,
    /// How long a subject token lives where a request does not say, in seconds
    #[arg(long, env = "VIZARD_SUBJECT_TOKEN_LIFETIME_S", value_name = "SECONDS", default_value_t = SubjectTokenLimits::default().lifetime_s)]
    subject_token_lifetime_s: u64,
    /// The longest life of a subject token that a request may ask for, in seconds
    #[arg(long, env = "VIZARD_SUBJECT_TOKEN_LIFETIME_S_MAX", value_name = "SECONDS", default_value_t = SubjectTokenLimits::default().lifetime_s_max)]
    subject_token_lifetime_s_max: u64,
    /// Let browsers call /v1/my-preferences from this origin: a consent form on another host [repeatable]
    #[arg(long, env = "VIZARD_CONSENT_ORIGIN", value_name = "ORIGIN", value_delimiter = ',', value_parser = ConsentOrigin::parse)]
    consent_origin: Vec<ConsentOrigin>,
}

impl AccessOptions {
    /// The settings, if the options fit together.
    pub fn settings(&self) -> Result<AccessSettings, Exit> {
        Ok(AccessSettings {
            oidc: self.oidc()?,
            subject_tokens: self.subject_tokens()?,
            consent_origins: self.consent_origin.clone(),
        })
    }

    fn oidc(&self) -> Result<Option<OidcSettings>, Exit> {
        // An empty variable of the environment says nothing.
        let said = |option: &Option<String>| option.clone().filter(|text| !text.is_empty());
        let (issuer, audience) = match (said(&self.oidc_issuer), said(&self.oidc_audience)) {
            (None, None) if said(&self.oidc_keys).is_none() => return Ok(None),
            (Some(issuer), Some(audience)) => (issuer, audience),
            _ => {
                return Err(Exit::Usage(
                    "JWTs need both --oidc-issuer and --oidc-audience".into(),
                ));
            }
        };
        let settings = OidcSettings {
            insecure: self.insecure_issuer,
            keys: said(&self.oidc_keys),
            roles_claim: self.oidc_roles_claim.clone(),
            datasets_claim: said(&self.oidc_datasets_claim),
            leeway_s: self.oidc_leeway_s,
            refresh_s: self.oidc_refresh_s,
            ..OidcSettings::new(issuer, audience)
        };
        Oidc::check(&settings).map_err(|error| Exit::Usage(error.to_string()))?;
        Ok(Some(settings))
    }

    fn subject_tokens(&self) -> Result<SubjectTokenLimits, Exit> {
        let limits = SubjectTokenLimits {
            subjects_max: self.subject_tokens_max,
            lifetime_s: self.subject_token_lifetime_s,
            lifetime_s_max: self.subject_token_lifetime_s_max,
        };
        if limits.lifetime_s > limits.lifetime_s_max {
            return Err(Exit::Usage(
                "--subject-token-lifetime-s is above --subject-token-lifetime-s-max".into(),
            ));
        }
        Ok(limits)
    }
}
