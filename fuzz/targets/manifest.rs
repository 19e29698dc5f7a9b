//! Manifests: any JSON is a manifest that is read again as it was written, and
//! on which the verifier has a verdict, or is none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vizard_anonymizer::release::Manifest;
use vizard_fuzz::releases::releases;

fuzz_target!(init: vizard_fuzz::begin(), |bytes: &[u8]| {
    vizard_fuzz::plant(bytes);
    let Ok(manifest) = serde_json::from_slice::<Manifest>(bytes) else {
        return;
    };
    let written = serde_json::to_value(&manifest).expect("a manifest can be written");
    assert_eq!(serde_json::from_value::<Manifest>(written).expect("and read"), manifest);
    for release in releases() {
        let verdict = release.verify(&manifest, &release.tables);
        assert!(!verdict.holds() || manifest.engine == release.manifest.engine);
    }
});
