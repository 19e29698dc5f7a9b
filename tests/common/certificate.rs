//! Certificates for tests: self-signed, made when they are needed.
//!
//! A certificate is a few nested lists, so it is written down here as such
//! (X.509 in DER) and signed by the library that the service uses: a private
//! key in the repository, or another crate with its own parser, would be more
//! to explain than these lines.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const UTC_TIME: u8 = 0x17;
const UTF8: u8 = 0x0c;

/// 1.2.840.10045.4.3.2, ECDSA with SHA-256.
const ECDSA_WITH_SHA256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
/// 1.2.840.10045.2.1 on 1.2.840.10045.3.1.7, a key on the curve P-256.
const KEY_ON_P256: &[u8] = &[
    6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7,
];
/// 2.5.4.3, the common name.
const COMMON_NAME: &[u8] = &[6, 3, 0x55, 4, 3];
/// 2.5.29.17, other names of the subject.
const OTHER_NAMES: &[u8] = &[6, 3, 0x55, 0x1d, 0x11];

/// A certificate with its private key.
pub struct Certificate {
    /// The certificate, DER.
    pub der: Vec<u8>,
    key: Vec<u8>,
}

impl Certificate {
    /// A certificate for the address 127.0.0.1, of the given common name.
    pub fn of_this_machine(name: &str) -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref()).expect("its own form");
        let described = described(name, pair.public_key().as_ref());
        let signature = pair.sign(&random, &described).expect("a signature");
        let parts = [
            described,
            element(SEQUENCE, &[ECDSA_WITH_SHA256]),
            element(BIT_STRING, &[&[0], signature.as_ref()]),
        ];
        Self {
            der: element(SEQUENCE, &[&parts.concat()]),
            key: key.as_ref().to_vec(),
        }
    }

    /// Writes certificate and key as PEM files, the key for its owner alone.
    pub fn write(&self, certificate: &Path, key: &Path) {
        std::fs::write(key, pem("PRIVATE KEY", &self.key)).expect("written");
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(key, private).expect("set");
        std::fs::write(certificate, pem("CERTIFICATE", &self.der)).expect("written");
    }
}

/// What is signed: who, from when to when, with which key.
fn described(name: &str, public: &[u8]) -> Vec<u8> {
    let name = element(UTF8, &[name.as_bytes()]);
    let name = element(SET, &[&element(SEQUENCE, &[COMMON_NAME, &name])]);
    let name = element(SEQUENCE, &[&name]);
    let from = element(UTC_TIME, &[b"240101000000Z"]);
    let until = element(UTC_TIME, &[b"490101000000Z"]);
    // An address is the seventh form of a name.
    let address = element(SEQUENCE, &[&[0x87, 4, 127, 0, 0, 1]]);
    let other = element(
        SEQUENCE,
        &[OTHER_NAMES, &element(OCTET_STRING, &[&address])],
    );
    let parts = [
        element(0xa0, &[&element(INTEGER, &[&[2]])]),
        element(INTEGER, &[&[1]]),
        element(SEQUENCE, &[ECDSA_WITH_SHA256]),
        name.clone(),
        element(SEQUENCE, &[&from, &until]),
        name,
        element(
            SEQUENCE,
            &[
                &element(SEQUENCE, &[KEY_ON_P256]),
                &element(BIT_STRING, &[&[0], public]),
            ],
        ),
        element(0xa3, &[&element(SEQUENCE, &[&other])]),
    ];
    element(SEQUENCE, &[&parts.concat()])
}

/// One element of DER: tag, length, content.
fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let length = u16::try_from(content.len()).expect("short");
    let [high, low] = length.to_be_bytes();
    let mut der = vec![tag];
    match length {
        0..=127 => der.push(low),
        128..=255 => der.extend([0x81, low]),
        _ => der.extend([0x82, high, low]),
    }
    der.extend(content);
    der
}

fn pem(what: &str, der: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in der.chunks(3) {
        let mut bits = 0_u32;
        for at in 0..3 {
            bits = bits << 8 | u32::from(three.get(at).copied().unwrap_or(0));
        }
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= three.len() {
                letter.into()
            } else {
                '='
            });
        }
    }
    let lines: Vec<_> = text
        .as_bytes()
        .chunks(64)
        .map(String::from_utf8_lossy)
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN {what}-----\n{lines}\n-----END {what}-----\n")
}
