//! The specification of a job beside its schema: any JSON is both, or what is
//! wrong with one of them; what is accepted is read again as it was written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::microdata::Schema;

fuzz_target!(init: vizard_fuzz::begin(), |bytes: &[u8]| {
    vizard_fuzz::plant(bytes);
    let Ok(document) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    let Ok(schema) = serde_json::from_value::<Schema>(document["schema"].clone()) else {
        return;
    };
    let written = serde_json::to_value(&schema).expect("a schema can be written");
    assert_eq!(serde_json::from_value::<Schema>(written).expect("and read"), schema);
    let job = &document["job"];
    let name = job["engine"].as_str().unwrap_or_default();
    if let Ok(engine) = Engine::parse(name, &job["parameters"], &schema) {
        assert!(engine.policy(&schema).is_ok(), "its policy was checked");
        // What is written into the manifest is read as the same engine.
        let again = Engine::parse(name, engine.parameters(), &schema);
        assert_eq!(again.expect("parameters that were written can be read"), engine);
    }
});
