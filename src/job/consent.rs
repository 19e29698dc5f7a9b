//! Whether a draft still gives everyone what they ask for.
//!
//! A job pins the preferences at its start; until the release is published
//! subjects may have withdrawn or asked for more. Publishing is then refused.
//! The comparison is conservative: terms now against terms then, both joined
//! with the job's policy, whatever the draft happens to give beyond them.

use std::collections::HashSet;

use serde_json::Value;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::microdata::{Schema, Terms};
use vizard_anonymizer::privacy::{Policy, RecordTerms};
use vizard_anonymizer::release::LineageReader;

use super::{JobFailure, JobSpec};

/// One subject's document then and now; `None` where there is none.
pub struct TermsChange<'a> {
    /// Key of the subject.
    pub subject: &'a str,
    /// In force when the job pinned the preferences.
    pub old: Option<&'a Value>,
    /// In force now.
    pub new: Option<&'a Value>,
}

/// What a job promised to everybody, to be held against later terms.
pub struct JobPromise {
    schema: Schema,
    policy: Policy,
}

impl JobPromise {
    /// Of a job on records of this schema.
    pub fn of(spec: &JobSpec, schema: Schema) -> Result<Self, JobFailure> {
        let engine = Engine::parse(&spec.engine, &spec.parameters, &schema)?;
        let policy = engine.policy(&schema)?;
        Ok(Self { schema, policy })
    }

    /// What the columns of the records are.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What was promised.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether what it made may be published in spite of `changes`.
    ///
    /// `lineage` is the CSV kept with the release (`table,row,subject`); changes
    /// of subjects that the draft does not hold say nothing. A document or a
    /// lineage that cannot be read refuses.
    pub fn allows<'a>(
        &self,
        changes: impl IntoIterator<Item = TermsChange<'a>>,
        lineage: &[u8],
    ) -> bool {
        let stricter: HashSet<String> = self.stricter(changes).map(str::to_owned).collect();
        stricter.is_empty() || held(lineage, &stricter) == Some(0)
    }

    /// The subjects whose terms ask for more than was promised, or cannot be read.
    pub fn stricter<'a>(
        &self,
        changes: impl IntoIterator<Item = TermsChange<'a>>,
    ) -> impl Iterator<Item = &'a str> {
        let all = changes.into_iter();
        let stricter = all.filter(|change| asks_for_more(&self.schema, &self.policy, change));
        stricter.map(|change| change.subject)
    }
}

/// How many of the subjects a lineage holds; `None` where it cannot be read.
pub fn held(lineage: &[u8], subjects: &HashSet<String>) -> Option<u64> {
    let mut reader = LineageReader::new(lineage).ok()?;
    let mut held = HashSet::new();
    while let Some(row) = reader.next().ok()? {
        // A subject may have rows in several tables.
        held.extend(subjects.get(row.subject));
    }
    Some(held.len() as u64)
}

fn asks_for_more(schema: &Schema, policy: &Policy, change: &TermsChange) -> bool {
    let (Ok(old), Ok(new)) = (terms(change.old), terms(change.new)) else {
        return true;
    };
    let old = RecordTerms::of_subject(schema, policy, old.as_ref());
    RecordTerms::of_subject(schema, policy, new.as_ref()).asks_more_than(&old)
}

fn terms(document: Option<&Value>) -> Result<Option<Terms>, serde_json::Error> {
    document.map(serde::Deserialize::deserialize).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use vizard_anonymizer::privacy::{InBucket, K, L, Model, Share, Spread, T};

    fn promise() -> JobPromise {
        let schema: Schema = serde_json::from_value(json!({
            "name": "s", "subject_key": "id", "attributes": [
                {"name": "id", "role": "identifier"},
                {"name": "age", "role": "semi_sensitive", "type": "integer"},
                {"name": "sex", "role": "semi_sensitive", "type": "categorical"},
                {"name": "pay", "role": "sensitive", "type": "integer"}]
        }))
        .unwrap();
        let diversity = InBucket::Diversity {
            l: L::new(5).unwrap(),
            min_spread: Spread::Nothing,
        };
        let closeness = InBucket::Closeness {
            t: T::new(0.2).unwrap(),
            max_posterior: Share::new(0.8).unwrap(),
        };
        let protections = schema
            .protectable()
            .into_iter()
            .zip([diversity, closeness, diversity])
            .collect();
        let policy = Policy {
            model: Model::Bucketized { protections },
            k: K::new(5).unwrap(),
            apply_preferences: true,
        };
        JobPromise { schema, policy }
    }

    fn allowed(old: Option<Value>, new: Option<Value>) -> bool {
        let change = TermsChange {
            subject: "a",
            old: old.as_ref(),
            new: new.as_ref(),
        };
        promise().allows(
            [change],
            b"table,row,subject\nmicrodata,1,b\nmicrodata,2,a\n",
        )
    }

    #[test]
    fn what_the_policy_gives_already_may_be_asked_for() {
        assert!(allowed(None, Some(json!({"max_leakage": 0.2}))));
        assert!(!allowed(None, Some(json!({"max_leakage": 0.19}))));
        assert!(allowed(None, Some(json!({"max_reidentification": 0.2}))));
        assert!(!allowed(None, Some(json!({"max_reidentification": 0.199}))));
        assert!(allowed(None, Some(json!({"max_leakage": {"sex": 0.8}}))));
        assert!(!allowed(None, Some(json!({"max_leakage": {"sex": 0.799}}))));
        assert!(allowed(None, Some(json!({"sensitive": ["pay"]}))));
        assert!(!allowed(None, Some(json!({"sensitive": ["age"]}))));
    }

    #[test]
    fn asking_for_less_is_no_reason_to_refuse() {
        let strict =
            json!({"sensitive": ["age", "sex"], "max_leakage": 0.1, "max_reidentification": 0.05});
        assert!(allowed(Some(strict.clone()), None));
        assert!(!allowed(None, Some(strict)));
    }

    #[test]
    fn an_exclusion_refuses_only_where_the_draft_holds_the_subject() {
        assert!(!allowed(None, Some(json!({"exclude": true}))));
        let document = json!({"exclude": true});
        let change = TermsChange {
            subject: "z",
            old: None,
            new: Some(&document),
        };
        assert!(promise().allows([change], b"table,row,subject\nmicrodata,1,a\n"));
    }

    #[test]
    fn subjects_of_a_lineage_are_counted_once_and_a_broken_one_not_at_all() {
        let lineage = b"table,row,subject\nst,1,a\nst,2,\"b,c\"\nqit,1,a\nqit,2,d\n";
        let asked = ["a", "b,c", "z"].map(str::to_owned).into();
        assert_eq!(held(lineage, &asked), Some(2));
        assert_eq!(held(b"table,row,subject\nst,1\n", &asked), None);
    }

    #[test]
    fn a_document_that_cannot_be_read_refuses() {
        assert!(!allowed(None, Some(json!({"max_leakage": 7}))));
    }
}
