//! openapi.yaml as the tests hold answers against it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// One operation as it is described.
#[derive(Clone, Debug)]
pub struct Described {
    /// Its method, in capitals.
    pub method: String,
    /// Its path with parameters in braces.
    pub path: String,
    operation: Value,
}

impl Described {
    /// What the description says under a name; null if nothing.
    pub fn described(&self, name: &str) -> &Value {
        &self.operation[name]
    }
}

/// The description of the whole service.
pub struct Description {
    operations: BTreeMap<String, Described>,
    components: Value,
}

impl Description {
    /// What this program says of itself.
    pub fn of_this_program() -> Self {
        let document = vizard::http::openapi::document();
        let document = serde_json::to_value(document).expect("a document of texts");
        let mut operations = BTreeMap::new();
        for (path, item) in document["paths"].as_object().expect("paths") {
            for (method, operation) in item.as_object().expect("operations") {
                let id = operation["operationId"]
                    .as_str()
                    .expect("every operation has an id");
                let described = Described {
                    method: method.to_uppercase(),
                    path: path.clone(),
                    operation: operation.clone(),
                };
                let before = operations.insert(id.to_owned(), described);
                assert!(before.is_none(), "{id} is described twice");
            }
        }
        let components = document["components"].clone();
        Self {
            operations,
            components,
        }
    }

    /// Names of all operations, in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.operations.keys().map(String::as_str)
    }

    /// The operation called `id`.
    pub fn operation(&self, id: &str) -> &Described {
        self.operations
            .get(id)
            .unwrap_or_else(|| panic!("no operation is called {id}"))
    }

    /// Panics unless the answer is one that the operation is described with.
    pub fn check(&self, id: &str, status: u16, media_type: Option<&str>, body: &[u8]) {
        let response = &self.operation(id).operation["responses"][status.to_string()];
        let shown = String::from_utf8_lossy(&body[..body.len().min(600)]).into_owned();
        assert!(
            response.is_object(),
            "{id} answers {status}, which is not described: {shown}"
        );
        let Some(content) = response["content"].as_object() else {
            assert!(
                body.is_empty(),
                "{id} answers {status} with a body: {shown}"
            );
            return;
        };
        let media_type = media_type.unwrap_or_else(|| panic!("{id} {status}: no media type"));
        let described = content.get(media_type);
        let described =
            described.unwrap_or_else(|| panic!("{id} {status}: {media_type} is not described"));
        if !matches!(media_type, "application/json" | "application/problem+json") {
            return;
        }
        let body: Value = serde_json::from_slice(body)
            .unwrap_or_else(|error| panic!("{id} {status}: {error}: {shown}"));
        self.validate(&described["schema"], &body, &format!("{id} {status}"));
        if media_type == "application/problem+json" {
            let slug = body["type"].as_str().and_then(|urn| urn.rsplit(':').next());
            let slug = slug.expect("a problem has a type");
            let known = described["examples"].get(slug).is_some();
            assert!(
                known,
                "{id} {status} answers {slug}, which is not described"
            );
            assert_eq!(body["status"], status);
        }
    }

    /// Panics unless `body` has the shape of `schema`.
    pub fn validate(&self, schema: &Value, body: &Value, what: &str) {
        let mut schema = schema.clone();
        schema["components"] = self.components.clone();
        let validator = jsonschema::validator_for(&schema).expect("the schema is one");
        let errors: Vec<String> = validator
            .iter_errors(body)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{what}: {}\n{body}", errors.join("; "));
    }

    /// A described shape, by name.
    pub fn shape(&self, name: &str) -> Value {
        assert!(
            self.components["schemas"][name].is_object(),
            "no shape is called {name}"
        );
        json!({"$ref": format!("#/components/schemas/{name}")})
    }
}
