//! Where in a JSON resource a value stands.
//!
//! A path is names with a dot between them. Behind a name, `[2]` takes one place
//! of a list, counted from 0, and `[system=http://…]` the first object of a list
//! whose member has this text. A list without such a choice is refused where it
//! has more than one place: which of several addresses is meant is for the
//! mapping to say, never for a guess. Where the last name is `reference`, the
//! value is what FHIR refers to by it: its id, and its type where that is said.

use serde_json::{Number, Value};

/// Names that a path may have.
const STEPS_MAX: usize = 16;
/// The member that refers to another resource.
const REFERENCE: &str = "reference";

/// A path, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// The member of an object.
    Member(String),
    /// The place of a list.
    Place(usize),
    /// The first object of a list whose member has this text.
    Where(String, String),
}

/// A value that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// As it is written.
    pub text: String,
    /// Whether it stands in quotes.
    pub is_string: bool,
    /// Whether it is a number that was read with a fraction or an exponent, or
    /// has more digits than are kept.
    pub is_inexact: bool,
    /// The type of the resource that it refers to, where it says one.
    pub refers_to: Option<String>,
}

impl Path {
    /// Reads a path; the error says how it is wrong.
    pub fn read(text: &str) -> Result<Self, &'static str> {
        let mut steps = Vec::new();
        let mut rest = text;
        loop {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, behind) = rest.split_at(end);
            let is_name = name.chars().all(|one| one.is_alphanumeric() || one == '_');
            if name.is_empty() || !is_name {
                return Err("a name of letters, digits and `_` is due between dots");
            }
            steps.push(Step::Member(name.into()));
            rest = behind;
            while let Some(inside) = rest.strip_prefix('[') {
                let (choice, behind) = inside.split_once(']').ok_or("a `[` is never closed")?;
                steps.push(choice_of(choice)?);
                rest = behind;
            }
            if steps.len() > STEPS_MAX {
                return Err("more than 16 steps");
            }
            match rest.strip_prefix('.') {
                Some(behind) => rest = behind,
                None if rest.is_empty() => return Ok(Self { steps }),
                None => return Err("a dot is due behind `]`"),
            }
        }
    }

    /// Whether the value is the resource's own id.
    pub fn is_own_id(&self) -> bool {
        matches!(&self.steps[..], [Step::Member(name)] if name == "id")
    }

    /// The value in a resource, nothing where it has none there; the error says
    /// how the resource is built otherwise.
    pub fn find(&self, resource: &Value) -> Result<Option<Found>, &'static str> {
        let mut at = resource;
        for step in &self.steps {
            let next = match (step, at) {
                (_, Value::Null) => None,
                (Step::Member(_), Value::Array(_)) => match only(at)? {
                    Some(one) => member(step, one)?,
                    None => None,
                },
                (Step::Member(_), _) => member(step, at)?,
                (Step::Place(place), Value::Array(list)) => list.get(*place),
                (Step::Where(name, text), Value::Array(list)) => {
                    let is_meant =
                        |one: &&Value| one.get(name).and_then(Value::as_str) == Some(text);
                    list.iter().find(is_meant)
                }
                _ => return Err("no list where the mapping chooses of one"),
            };
            match next {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        let Some(value) = only(at)? else {
            return Ok(None);
        };
        let is_reference =
            matches!(self.steps.last(), Some(Step::Member(name)) if name == REFERENCE);
        found(value, is_reference)
    }
}

fn choice_of(choice: &str) -> Result<Step, &'static str> {
    if let Some((name, text)) = choice.split_once('=') {
        let is_name = name.chars().all(|one| one.is_alphanumeric() || one == '_');
        return if name.is_empty() || !is_name || text.is_empty() {
            Err("`[name=text]` needs a name of letters, digits and `_`, and a text")
        } else {
            Ok(Step::Where(name.into(), text.into()))
        };
    }
    let is_number = !choice.is_empty() && choice.bytes().all(|byte| byte.is_ascii_digit());
    match choice.parse() {
        Ok(place) if is_number => Ok(Step::Place(place)),
        _ => Err("a number from 0 or `name=text` is due between `[` and `]`"),
    }
}

/// The value itself, or the only one of a list.
fn only(value: &Value) -> Result<Option<&Value>, &'static str> {
    match value {
        Value::Array(list) => match &list[..] {
            [] => Ok(None),
            [Value::Array(_)] => Err("a list within a list"),
            [one] => Ok(Some(one)),
            _ => Err("a list of several where the mapping chooses none of them"),
        },
        value => Ok(Some(value)),
    }
}

fn member<'v>(step: &Step, value: &'v Value) -> Result<Option<&'v Value>, &'static str> {
    match (step, value) {
        (Step::Member(name), Value::Object(object)) => Ok(object.get(name)),
        (_, Value::Null) => Ok(None),
        _ => Err("no object where the mapping names a member of one"),
    }
}

fn found(value: &Value, is_reference: bool) -> Result<Option<Found>, &'static str> {
    let plain = |text: String, is_string, is_inexact| Found {
        text,
        is_string,
        is_inexact,
        refers_to: None,
    };
    Ok(match value {
        Value::Null => None,
        Value::String(text) if is_reference => {
            let (refers_to, id) = referred(text);
            Some(Found {
                refers_to: refers_to.map(str::to_owned),
                ..plain(id.to_owned(), true, false)
            })
        }
        Value::String(text) => Some(plain(text.clone(), true, false)),
        Value::Bool(truth) => Some(plain(truth.to_string(), true, false)),
        Value::Number(number) => Some(plain(number.to_string(), false, is_inexact(number))),
        Value::Array(_) | Value::Object(_) => {
            return Err("neither a string nor a number nor a truth value");
        }
    })
}

fn is_inexact(number: &Number) -> bool {
    !number.is_i64() && !number.is_u64()
}

/// Type and id of what a reference of FHIR refers to: `Patient/1`, also with
/// `/_history/2` behind it, or `urn:uuid:…`, which says no type. Behind an address
/// the type has that address before it: another server's patients have the same ids.
fn referred(reference: &str) -> (Option<&str>, &str) {
    let reference = reference.trim();
    if let Some(id) = reference.strip_prefix("urn:uuid:") {
        return (None, id);
    }
    let reference = match reference.split_once("/_history/") {
        Some((before, _)) => before,
        None => reference,
    };
    match reference.rsplit_once('/') {
        Some((kind, id)) => (Some(kind), id),
        None => (None, reference),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(path: &str, resource: &Value) -> Result<Option<String>, &'static str> {
        let found = Path::read(path).unwrap().find(resource)?;
        Ok(found.map(|found| found.text))
    }

    #[test]
    fn a_path_finds_members_places_and_objects_by_their_text() {
        let resource = json!({"id": "7", "n": 3, "dead": false, "none": null, "empty": [],
            "address": [{"postalCode": "01067"}, {"postalCode": "04103", "line": ["a", "b"]}],
            "code": {"coding": [{"system": "x.y/z:1", "code": "A"}, {"system": "b", "code": "B"}]}});
        for (path, value) in [
            ("id", Some("7")),
            ("n", Some("3")),
            ("dead", Some("false")),
            ("none", None),
            ("none.more[3].x", None),
            ("empty", None),
            ("empty.x", None),
            ("nothing.at.all", None),
            ("address[0].postalCode", Some("01067")),
            ("address[1].line[1]", Some("b")),
            ("address[2].postalCode", None),
            ("code.coding[system=x.y/z:1].code", Some("A")),
            ("code.coding[system=b].code", Some("B")),
            ("code.coding[system=c].code", None),
        ] {
            let found = text(path, &resource).unwrap();
            assert_eq!(found.as_deref(), value, "{path}");
        }
    }

    #[test]
    fn what_is_built_otherwise_is_refused_and_never_guessed() {
        let resource = json!({"id": {"a": 1}, "text": "t", "list": [1, 2], "deep": [[1]]});
        for path in [
            "id", "text.a", "text[0]", "list", "list.a", "deep", "id[a=b]",
        ] {
            assert!(text(path, &resource).is_err(), "{path}");
        }
        assert_eq!(text("list[1]", &resource), Ok(Some("2".into())));
    }

    #[test]
    fn a_path_of_another_syntax_is_refused() {
        for path in [
            "",
            ".",
            "a.",
            ".a",
            "a..b",
            "a[",
            "a[]",
            "a[x]",
            "a[-1]",
            "a[+1]",
            "a[0]b",
            "a[=b]",
            "a[b=]",
            "a b",
            "[0]",
            "a[99999999999999999999]",
            "a]",
            "a[b.c=d]",
        ] {
            assert!(Path::read(path).is_err(), "{path}");
        }
        assert!(Path::read(&"a.".repeat(20)).is_err());
    }

    #[test]
    fn a_reference_is_the_id_that_it_refers_to() {
        for (reference, kind, id) in [
            ("Patient/123", Some("Patient"), "123"),
            (
                "https://a.example/fhir/Patient/1-2.3",
                Some("https://a.example/fhir/Patient"),
                "1-2.3",
            ),
            ("Patient/123/_history/4", Some("Patient"), "123"),
            ("urn:uuid:61ebe359-bfdc", None, "61ebe359-bfdc"),
            ("Group/9", Some("Group"), "9"),
            ("123", None, "123"),
            ("", None, ""),
        ] {
            let resource = json!({"subject": {"reference": reference}});
            let path = Path::read("subject.reference").unwrap();
            let found = path.find(&resource).unwrap().unwrap();
            assert_eq!((found.refers_to.as_deref(), &*found.text), (kind, id));
        }
    }

    #[test]
    fn a_number_that_lost_digits_says_so() {
        let resource = json!({"a": 12, "b": 1.5});
        let large: Value = serde_json::from_str(r#"{"a": 123456789012345678901}"#).unwrap();
        let inexact = |path: &str, of: &Value| {
            let found = Path::read(path).unwrap().find(of).unwrap().unwrap();
            found.is_inexact
        };
        assert!(!inexact("a", &resource));
        assert!(inexact("b", &resource) && inexact("a", &large));
    }
}
