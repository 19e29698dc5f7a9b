//! Signatures of messages, after the specification of Standard Webhooks.
//!
//! What is signed is `id.timestamp.body`: a receiver that looks at all three
//! can neither be told another body, nor an old message again. With two secrets
//! there are two signatures, for as long as receivers change over.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The signature of one secret: `v1,` and base64.
pub fn sign(secret: &[u8], id: &str, timestamp: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let mut signed = hmac::Context::with_key(&key);
    for part in [id, ".", &timestamp.to_string(), ".", body] {
        signed.update(part.as_bytes());
    }
    format!("v1,{}", STANDARD.encode(signed.sign().as_ref()))
}

/// The header `webhook-signature`: a signature for each secret.
pub fn signatures<'a>(
    secrets: impl IntoIterator<Item = &'a [u8]>,
    id: &str,
    timestamp: i64,
    body: &str,
) -> String {
    let signed = secrets
        .into_iter()
        .map(|secret| sign(secret, id, timestamp, body));
    signed.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const BODY: &str = "{\"test\": 2432232314}";
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn secret() -> Vec<u8> {
        STANDARD.decode(SECRET).expect("base64")
    }

    #[test]
    fn the_example_of_the_specification_has_its_signature() {
        assert_eq!(sign(&secret(), ID, 1_614_265_330, BODY), SIGNATURE);
    }

    #[test]
    fn every_part_is_signed_and_every_secret_signs() {
        let secret = secret();
        assert_ne!(sign(&secret, "msg_p", 1_614_265_330, BODY), SIGNATURE);
        assert_ne!(sign(&secret, ID, 1_614_265_331, BODY), SIGNATURE);
        assert_ne!(sign(&secret, ID, 1_614_265_330, "{}"), SIGNATURE);
        let other = [7; 32];
        assert_ne!(sign(&other, ID, 1_614_265_330, BODY), SIGNATURE);
        let both = signatures([&other[..], &secret], ID, 1_614_265_330, BODY);
        let own = sign(&other, ID, 1_614_265_330, BODY);
        assert_eq!(both, format!("{own} {SIGNATURE}"));
    }
}
