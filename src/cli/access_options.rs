//! Options of who gets in: the issuer of JWTs, and subject tokens.

use std::path::PathBuf;

use clap::Args;

use super::exit::Exit;
use crate::config::{
    AccessSettings, OidcSettings, Secret, SignInSettings, SubjectTokenLimits, WebOrigin,
    read_secret_file,
};
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
    /// Let people sign in at the issuer in a browser, as this client of it; needs --public-url
    #[arg(long, env = "VIZARD_OIDC_CLIENT_ID", value_name = "TEXT")]
    oidc_client_id: Option<String>,
    /// File with the secret that the client shows the issuer [default: it is a public client]
    #[arg(long, env = "VIZARD_OIDC_CLIENT_SECRET_FILE", value_name = "FILE")]
    oidc_client_secret_file: Option<PathBuf>,
    /// What a sign-in asks the issuer for
    #[arg(long, env = "VIZARD_OIDC_SCOPES", value_name = "WORDS", default_value = SignInSettings::SCOPES)]
    oidc_scopes: String,
    /// Where browsers reach this service, as in `https://vizard.example.org`
    #[arg(long, env = "VIZARD_PUBLIC_URL", value_name = "ORIGIN")]
    public_url: Option<String>,
    /// Subjects in one request for subject tokens
    #[arg(long, env = "VIZARD_SUBJECT_TOKENS_MAX", value_name = "N", default_value_t = SubjectTokenLimits::default().subjects_max)]
    subject_tokens_max: usize,
    /// How long a subject token lives where a request does not say, in seconds
    #[arg(long, env = "VIZARD_SUBJECT_TOKEN_LIFETIME_S", value_name = "SECONDS", default_value_t = SubjectTokenLimits::default().lifetime_s)]
    subject_token_lifetime_s: u64,
    /// The longest life of a subject token that a request may ask for, in seconds
    #[arg(long, env = "VIZARD_SUBJECT_TOKEN_LIFETIME_S_MAX", value_name = "SECONDS", default_value_t = SubjectTokenLimits::default().lifetime_s_max)]
    subject_token_lifetime_s_max: u64,
    /// Let browsers call /v1/my-preferences from this origin: a consent form on another host; may be named several times
    #[arg(long, env = "VIZARD_CONSENT_ORIGIN", value_name = "ORIGIN", value_delimiter = ',', value_parser = WebOrigin::parse)]
    consent_origin: Vec<WebOrigin>,
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
            (None, None) if said(&self.oidc_keys).is_none() => {
                return match said(&self.oidc_client_id) {
                    None => Ok(None),
                    Some(_) => Err(Exit::Usage("--oidc-client-id needs --oidc-issuer".into())),
                };
            }
            (Some(issuer), Some(audience)) => (issuer, audience),
            _ => {
                return Err(Exit::Usage(
                    "JWTs need both --oidc-issuer and --oidc-audience".into(),
                ));
            }
        };
        let settings = OidcSettings {
            sign_in: self.sign_in()?,
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

    /// How people sign in at the issuer, if they may.
    fn sign_in(&self) -> Result<Option<SignInSettings>, Exit> {
        let usage = |text: &str| Exit::Usage(text.to_owned());
        let said = |option: &Option<String>| option.clone().filter(|text| !text.is_empty());
        let Some(client_id) = said(&self.oidc_client_id) else {
            return Ok(None);
        };
        let url = said(&self.public_url);
        let url = url.ok_or_else(|| usage("--oidc-client-id needs --public-url"))?;
        let origin = WebOrigin::parse(&url);
        let origin = origin.map_err(|advice| usage(&format!("--public-url: {advice}")))?;
        if !self.oidc_scopes.split(' ').any(|word| word == "openid") {
            return Err(usage("--oidc-scopes has to name openid"));
        }
        let file = self.oidc_client_secret_file.as_deref();
        let secret = file.filter(|file| !file.as_os_str().is_empty());
        let secret = secret.map(|file| match read_secret_file(file) {
            Ok(text) if !text.trim().is_empty() => Ok(Secret::new(text.trim())),
            Ok(_) => Err(usage("--oidc-client-secret-file: the file is empty")),
            Err(error) => Err(usage(&format!("--oidc-client-secret-file: it {error}"))),
        });
        Ok(Some(SignInSettings {
            client_id,
            client_secret: secret.transpose()?,
            scopes: self.oidc_scopes.clone(),
            origin,
        }))
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
