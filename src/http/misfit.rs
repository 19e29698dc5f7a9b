//! By what a schema does not fit what is stored, as a problem says it.

use serde::Serialize;
use utoipa::ToSchema;
use vizard_anonymizer::microdata::SchemaMisfit;

use super::problem::word;

/// One thing by which a schema does not fit what is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct SchemaMisfitView {
    /// The attribute; absent where it is about all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(examples("age"))]
    pub attribute: Option<String>,
    /// What is wrong, one word of a closed list.
    #[schema(examples("type_changed"))]
    pub code: String,
    /// Records or subjects concerned, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

impl From<&SchemaMisfit> for SchemaMisfitView {
    fn from(misfit: &SchemaMisfit) -> Self {
        Self {
            attribute: misfit.attribute.clone(),
            code: word(misfit.code),
            count: misfit.count,
        }
    }
}
