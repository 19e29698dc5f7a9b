//! What a signed token claims, held against the settings and the clock.
//!
//! `iss` and `aud` must be there and be exactly ours, `exp` must be there,
//! `exp` and `nbf` count with the leeway for clocks that are off, `sub` must
//! name somebody. Roles and datasets stand in claims of the operator's choice;
//! words that are no role of ours say nothing: issuers keep others beside them.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use vizard_anonymizer::microdata::to_hex;

use super::Refusal;
use crate::config::OidcSettings;
use crate::http::auth::principal::Principal;
use crate::http::auth::role::Role;
use crate::ids::DatasetId;

/// The claim of a token that is tied to no datasets where datasets are claimed.
const ALL_DATASETS: &str = "*";

/// The claims of a token, by name.
pub(super) type Claims = Map<String, Value>;

/// The holder of a token with these claims, unless one of them does not hold.
pub(super) fn principal(
    claims: &Claims,
    settings: &OidcSettings,
    now: DateTime<Utc>,
) -> Result<Principal, Refusal> {
    if claims.get("iss").and_then(Value::as_str) != Some(&settings.issuer) {
        return Err(Refusal::Issuer);
    }
    if !is_for(claims.get("aud"), &settings.audience) {
        return Err(Refusal::Audience);
    }
    let (now, leeway) = (now.timestamp() as f64, settings.leeway_s as f64);
    let end = match claims.get("exp").and_then(Value::as_f64) {
        Some(end) if now < end + leeway => end + leeway,
        _ => return Err(Refusal::Expired),
    };
    // Past the end of the calendar is never.
    let end = DateTime::from_timestamp(end as i64, 0).unwrap_or(DateTime::<Utc>::MAX_UTC);
    match claims.get("nbf").map(Value::as_f64) {
        None => {}
        Some(Some(start)) if now >= start - leeway => {}
        Some(_) => return Err(Refusal::NotYetValid),
    }
    let subject = claims.get("sub").and_then(Value::as_str);
    let subject = subject.filter(|text| !text.is_empty());
    let name = name_of(&settings.issuer, subject.ok_or(Refusal::Subject)?);
    let mut roles: Vec<Role> = words(find(claims, &settings.roles_claim))
        .filter_map(Role::parse)
        .collect();
    roles.sort_unstable();
    roles.dedup();
    let datasets = settings
        .datasets_claim
        .as_deref()
        .and_then(|claim| datasets(find(claims, claim)));
    Ok(Principal::named(name, roles, datasets, end))
}

/// Whether an ID token was made for this client: the party that it names is the
/// client, and where it is for several audiences it names one (OpenID Connect
/// Core 3.1.3.7).
pub(super) fn is_of_client(claims: &Claims, client_id: &str) -> bool {
    let audience = claims.get("aud").and_then(Value::as_array);
    let is_for_several = audience.is_some_and(|all| all.len() > 1);
    match claims.get("azp") {
        Some(party) => party == client_id,
        None => !is_for_several,
    }
}

/// Whether an ID token says when it was made, and that is not to come (OpenID
/// Connect Core 2).
pub(super) fn is_issued(claims: &Claims, settings: &OidcSettings, now: DateTime<Utc>) -> bool {
    let latest = now.timestamp() as f64 + settings.leeway_s as f64;
    let made = claims.get("iat").and_then(Value::as_f64);
    made.is_some_and(|made| made <= latest)
}

/// Whether an audience is, or holds, the wanted one.
fn is_for(audience: Option<&Value>, wanted: &str) -> bool {
    match audience {
        Some(Value::String(one)) => one == wanted,
        Some(Value::Array(many)) => many.iter().any(|one| one == wanted),
        _ => false,
    }
}

/// How rows and logs name a token's holder: never by what the issuer calls
/// them, which may be a name or an address.
///
/// The same person has the same name here for as long as the issuer calls
/// them the same; who knows both texts can compute it (docs/OPERATING.md).
fn name_of(issuer: &str, subject: &str) -> String {
    let digest = Sha256::digest(format!("{issuer}\n{subject}"));
    format!("oidc:{}", to_hex(&digest[..16]))
}

/// The value at a path of claims. Dots lead into objects; names that hold dots
/// themselves are found too, the longest first.
fn find<'a>(claims: &'a Claims, path: &str) -> Option<&'a Value> {
    if let Some(value) = claims.get(path) {
        return Some(value);
    }
    path.rmatch_indices('.').find_map(|(at, _)| {
        let inner = claims.get(&path[..at])?.as_object()?;
        find(inner, &path[at + 1..])
    })
}

/// The words of a claim: an array of texts, or one text of words between spaces.
fn words(claim: Option<&Value>) -> impl Iterator<Item = &str> {
    let (one, many) = match claim {
        Some(Value::String(text)) => (text.as_str(), &[][..]),
        Some(Value::Array(many)) => ("", many.as_slice()),
        _ => ("", &[][..]),
    };
    let of_array = many.iter().filter_map(Value::as_str);
    one.split_ascii_whitespace().chain(of_array)
}

/// The datasets that a claim ties to; `None`: it says `*`, all. A missing claim
/// and words that are no ids tie to nothing: a mistake must not open more.
fn datasets(claim: Option<&Value>) -> Option<Vec<DatasetId>> {
    if words(claim).any(|word| word == ALL_DATASETS) {
        return None;
    }
    Some(words(claim).filter_map(|word| word.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::near::{cases, near};
    use proptest::prelude::*;
    use serde_json::json;

    fn claims(value: Value) -> Claims {
        value.as_object().expect("an object").clone()
    }

    fn settings() -> OidcSettings {
        OidcSettings::new("https://id.example", "vizard")
    }

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
    }

    fn refusal(change: Value) -> Option<Refusal> {
        let mut whole = claims(
            json!({"iss": "https://id.example", "aud": ["other", "vizard"],
            "sub": "a", "exp": 1_800_000_060, "nbf": 1_800_000_000}),
        );
        whole.extend(claims(change));
        whole.retain(|_, value| !value.is_null());
        principal(&whole, &settings(), at(0)).err()
    }

    #[test]
    fn claims_that_are_not_ours_are_refused() {
        assert_eq!(refusal(json!({})), None);
        assert_eq!(refusal(json!({"aud": "vizard"})), None);
        for issuer in [
            json!(null),
            json!("https://id.example/"),
            json!(["https://id.example"]),
        ] {
            assert_eq!(refusal(json!({"iss": issuer})), Some(Refusal::Issuer));
        }
        for audience in [
            json!(null),
            json!("vizard2"),
            json!(["other"]),
            json!({"vizard": 1}),
        ] {
            assert_eq!(refusal(json!({"aud": audience})), Some(Refusal::Audience));
        }
        for subject in [json!(null), json!(""), json!(7)] {
            assert_eq!(refusal(json!({"sub": subject})), Some(Refusal::Subject));
        }
    }

    #[test]
    fn an_id_token_for_several_names_the_client_that_asked() {
        for (claimed, is_ours) in [
            (json!({"aud": "vizard"}), true),
            (json!({"aud": ["vizard"]}), true),
            (json!({"aud": ["vizard", "other"]}), false),
            (json!({"aud": ["vizard", "other"], "azp": "vizard"}), true),
            (json!({"aud": "vizard", "azp": "other"}), false),
            (json!({"aud": "vizard", "azp": null}), false),
        ] {
            assert_eq!(
                is_of_client(&claims(claimed.clone()), "vizard"),
                is_ours,
                "{claimed}"
            );
        }
    }

    #[test]
    fn an_id_token_says_when_it_was_made_and_that_is_not_to_come() {
        let start = 1_800_000_000;
        for (made, is_issued_then) in [
            (json!(start), true),
            (json!(start + 30), true),
            (json!(start + 31), false),
            (json!("today"), false),
            (json!(null), false),
        ] {
            let claims = claims(json!({"iat": made}));
            assert_eq!(
                is_issued(&claims, &settings(), at(0)),
                is_issued_then,
                "{claims:?}"
            );
        }
        assert!(!is_issued(&Claims::new(), &settings(), at(0)));
    }

    #[test]
    fn time_is_counted_with_the_leeway_and_no_second_more() {
        let start = 1_800_000_000;
        assert_eq!(refusal(json!({"exp": start - 29})), None);
        for end in [json!(start - 30), json!(null), json!("never"), json!({})] {
            assert_eq!(refusal(json!({"exp": end})), Some(Refusal::Expired));
        }
        assert_eq!(refusal(json!({"nbf": null})), None);
        assert_eq!(refusal(json!({"nbf": start + 30})), None);
        for begin in [json!(start + 31), json!("tomorrow")] {
            assert_eq!(refusal(json!({"nbf": begin})), Some(Refusal::NotYetValid));
        }
    }

    #[test]
    fn a_claim_is_found_by_its_path_even_where_names_hold_dots() {
        let claims = claims(json!({
            "roles": "top", "realm_access": {"roles": "nested"},
            "https://a.example/roles": "by address",
            "resource_access": {"my.client": {"roles": "dotted"}},
        }));
        let at = |path| find(&claims, path).and_then(Value::as_str);
        assert_eq!(at("roles"), Some("top"));
        assert_eq!(at("realm_access.roles"), Some("nested"));
        assert_eq!(at("https://a.example/roles"), Some("by address"));
        assert_eq!(at("resource_access.my.client.roles"), Some("dotted"));
        assert_eq!(at("realm_access.role"), None);
        assert_eq!(at("roles.top"), None);
    }

    #[test]
    fn roles_come_as_an_array_or_as_words_and_unknown_ones_say_nothing() {
        let mut settings = settings();
        settings.roles_claim = "access.roles".into();
        let roles = |value: Value| {
            let claims = claims(
                json!({"iss": "https://id.example", "aud": "vizard", "sub": "a",
                "exp": 1_800_000_060, "access": {"roles": value}}),
            );
            let principal = principal(&claims, &settings, at(0)).expect("it holds");
            let has = |role: &&Role| principal.has(**role);
            Role::ALL.iter().filter(has).count()
        };
        assert_eq!(roles(json!(["offline_access", "analyst", "steward", 7])), 2);
        assert_eq!(roles(json!("analyst uma_authorization consent")), 2);
        assert_eq!(roles(json!(["Analyst", "owner"])), 0);
        assert_eq!(roles(json!({"analyst": true})), 0);
    }

    #[test]
    fn a_missing_or_broken_claim_of_datasets_ties_to_nothing() {
        let id = "dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70";
        assert_eq!(datasets(None), Some(Vec::new()));
        assert_eq!(datasets(Some(&json!({"all": true}))), Some(Vec::new()));
        assert_eq!(
            datasets(Some(&json!(["job_x", id]))).map(|ids| ids.len()),
            Some(1)
        );
        assert_eq!(datasets(Some(&json!("*"))), None);
    }

    #[test]
    fn a_holder_is_named_the_same_every_time_and_not_by_their_name() {
        let name = name_of("https://id.example", "eve@example.org");
        assert_eq!(name, name_of("https://id.example", "eve@example.org"));
        assert_ne!(name, name_of("https://other.example", "eve@example.org"));
        assert!(
            !name.contains("eve") && name.len() == "oidc:".len() + 32,
            "{name}"
        );
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn any_claims_are_ours_and_of_now_or_refused(text in near(&[
            r#"{"iss":"https://id.example","aud":["vizard"],"sub":"a","exp":1800000060,"nbf":1800000000}"#,
            r#"{"iss":"https://id.example","aud":"vizard","sub":"a","exp":1800000001.5,"roles":["analyst"]}"#,
        ])) {
            let Ok(claims) = serde_json::from_str::<Claims>(&text) else { return Ok(()) };
            if principal(&claims, &settings(), at(0)).is_ok() {
                prop_assert_eq!(&claims["iss"], "https://id.example");
                prop_assert!(claims["aud"].to_string().contains("\"vizard\""));
                prop_assert!(claims["exp"].as_f64().is_some_and(|end| end > 1_799_999_970.0));
                let begins = claims.get("nbf").map_or(Some(0.0), Value::as_f64);
                prop_assert!(begins.is_some_and(|begin| begin <= 1_800_000_030.0));
                prop_assert!(claims["sub"].as_str().is_some_and(|name| !name.is_empty()));
            }
        }
    }
}
