//! What may stand in the query of a path, operation by operation.
//!
//! Unknown parameters are refused: a misspelt filter must not look like an
//! answer to it.

use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;
use vizard_anonymizer::microdata::from_hex;
use vizard_anonymizer::release::Format;

use super::page::page_request;
use crate::http::problem::{Problem, ProblemKind};
use crate::ids::DatasetId;
use crate::store::{JobState, PageRequest, ReleaseState};

/// Items on a page unless the client says otherwise.
const LIMIT_DEFAULT: u32 = 50;

fn limit_default() -> u32 {
    LIMIT_DEFAULT
}

/// Which part of a list is wanted.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Items on the page.
    #[serde(default = "limit_default")]
    #[param(required = false, minimum = 1, maximum = 200, default = 50)]
    pub limit: u32,
    /// `next_cursor` of the page before; absent: the newest.
    pub cursor: Option<Uuid>,
}

impl PageQuery {
    /// The page as the store is asked for it.
    pub fn request(&self) -> Result<PageRequest, Problem> {
        page_request(self.limit, self.cursor)
    }
}

/// Characters that a population's name may have.
const POPULATION_CHARACTERS_MAX: usize = 64;

/// How a dataset is created.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DatasetCreateQuery {
    /// Name of the population that it belongs to: datasets whose subject keys
    /// name the same people. Absent: it is one by itself.
    #[param(
        min_length = 1,
        max_length = 64,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"
    )]
    population: Option<String>,
}

impl DatasetCreateQuery {
    /// The population's name, if one is given.
    pub fn population(self) -> Result<Option<String>, Problem> {
        let Some(name) = self.population else {
            return Ok(None);
        };
        let characters = name.chars().count();
        if (1..=POPULATION_CHARACTERS_MAX).contains(&characters)
            && !name.chars().any(char::is_control)
        {
            return Ok(Some(name));
        }
        let detail = format!(
            "a population's name has 1 to {POPULATION_CHARACTERS_MAX} characters and no control character"
        );
        Err(Problem::new(ProblemKind::InvalidQuery, detail))
    }
}

/// Which part of a dataset's terms is wanted.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PreferenceQuery {
    /// Items on the page.
    #[serde(default = "limit_default")]
    #[param(required = false, minimum = 1, maximum = 200, default = 50)]
    pub limit: u32,
    /// `next_cursor` of the page before; absent: the first page. It is as
    /// secret as the subjects are.
    #[param(pattern = "^([0-9a-f]{2})+$")]
    cursor: Option<String>,
}

impl PreferenceQuery {
    /// The limit, and the place to begin at.
    pub fn request(&self) -> Result<(u32, Option<Vec<u8>>), Problem> {
        let limit = page_request(self.limit, None)?.limit;
        Ok((limit, place(self.cursor.as_deref())?))
    }
}

/// The place that a cursor in hexadecimal digits names; a problem where it
/// names none.
fn place(cursor: Option<&str>) -> Result<Option<Vec<u8>>, Problem> {
    let Some(digits) = cursor else {
        return Ok(None);
    };
    let pairs = digits.as_bytes().chunks(2).map(std::str::from_utf8);
    let bytes = pairs.map(|pair| from_hex::<1>(pair.ok()?).map(|[byte]| byte));
    let bytes = bytes.collect::<Option<Vec<u8>>>();
    let place = bytes.filter(|bytes| !bytes.is_empty());
    let detail = "cursor is the next_cursor of an earlier page";
    let unread = || Problem::new(ProblemKind::InvalidQuery, detail);
    place.map(Some).ok_or_else(unread)
}

/// How an upload relates to the records before it.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UploadMode {
    /// They stay.
    #[default]
    Append,
    /// They are in no version made from now on.
    Replace,
    /// Those of subjects that the upload does not name stay.
    Upsert,
}

/// Which hierarchies an upload is read with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UploadHierarchies {
    /// Those that the version before pins; the latest where it pins none.
    #[default]
    Pinned,
    /// The latest revisions.
    Latest,
}

/// How records are uploaded.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UploadQuery {
    /// Whether the records before stay (`append`), or not (`replace`), or those
    /// alone whose subjects the upload does not name (`upsert`).
    #[serde(default)]
    #[param(inline, required = false)]
    pub mode: UploadMode,
    /// Whether records are read with the hierarchies that the version before
    /// pins (`pinned`), or with the latest revisions (`latest`). Where records
    /// before stay, each of these must extend the pinned one: every leaf of that
    /// one is a leaf under the same nodes. What is not pinned yet is read with
    /// the latest.
    #[serde(default)]
    #[param(inline, required = false)]
    pub hierarchies: UploadHierarchies,
    /// Whether more than 5 % of the records may be left out for missing values,
    /// and whether records may be replaced by none.
    #[serde(default)]
    #[param(required = false)]
    pub allow_loss: bool,
    /// Whether the records are only read and checked: nothing is kept.
    #[serde(default)]
    #[param(required = false)]
    pub dry_run: bool,
}

impl UploadQuery {
    /// As the records of one subject are taken.
    pub fn of_one_subject() -> Self {
        Self {
            mode: UploadMode::Upsert,
            hierarchies: UploadHierarchies::Pinned,
            allow_loss: false,
            dry_run: false,
        }
    }
}

/// How a subject is erased.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SubjectEraseQuery {
    /// Whether an exclusion stays in force, with the subject's key, so that the
    /// next upload does not publish them again.
    #[serde(default = "keeps")]
    #[param(required = false, default = true)]
    pub keep_exclusion: bool,
}

fn keeps() -> bool {
    true
}

/// How a schema is changed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SchemaPutQuery {
    /// Whether hierarchies that the latest version pins stay as they are
    /// (`pinned`), or become their latest revisions (`latest`), which every
    /// stored value must be a leaf of.
    #[serde(default)]
    #[param(inline, required = false)]
    pub hierarchies: UploadHierarchies,
}

/// How a hierarchy is put.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HierarchyPutQuery {
    /// Whether other content may become the name's new revision.
    #[serde(default)]
    #[param(required = false)]
    pub new_version: bool,
}

/// Which hierarchy is wanted, and how much of it.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HierarchyGetQuery {
    /// Digest of an older revision; absent: the latest.
    pub digest: Option<String>,
    /// Whether to answer with the content as it was put.
    #[serde(default)]
    #[param(required = false)]
    pub content: bool,
}

/// Which hierarchy is reviewed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HierarchyReviewQuery {
    /// Digest of an older revision; absent: the latest.
    pub digest: Option<String>,
}

/// Which hierarchy is reviewed, and against what.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DatasetHierarchyReviewQuery {
    /// Digest of an older revision; absent: the latest.
    pub digest: Option<String>,
    /// Name of an attribute; absent: those whose schema names the hierarchy.
    pub attribute: Option<String>,
}

/// Which part of a list of hierarchies is wanted.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HierarchyListQuery {
    /// Items on the page.
    #[serde(default = "limit_default")]
    #[param(required = false, minimum = 1, maximum = 200, default = 50)]
    pub limit: u32,
    /// `next_cursor` of the page before; absent: the first page.
    #[param(pattern = "^([0-9a-f]{2})+$")]
    cursor: Option<String>,
}

impl HierarchyListQuery {
    /// The limit, and the name to go on behind.
    pub fn request(self) -> Result<(u32, Option<String>), Problem> {
        let limit = page_request(self.limit, None)?.limit;
        // Any bytes are a place among names. PostgreSQL's text has no NUL, nor
        // has a name.
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace('\0', "");
        Ok((limit, place(self.cursor.as_deref())?.map(text)))
    }
}

/// Which rows of the audit log are wanted.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Items on the page.
    #[serde(default = "limit_default")]
    #[param(required = false, minimum = 1, maximum = 200, default = 50)]
    pub limit: u32,
    /// `next_cursor` of the page before; absent: the newest.
    pub cursor: Option<u64>,
    /// Only rows about this dataset.
    pub dataset: Option<DatasetId>,
    /// Only rows of this actor.
    pub actor: Option<String>,
    /// Only rows of this action.
    pub action: Option<String>,
}

/// What the chain must go through.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditVerifyQuery {
    /// `anchor` of an earlier answer, kept elsewhere: `POSITION:HASH`.
    #[param(pattern = "^[0-9]{1,18}:[0-9A-Fa-f]{64}$")]
    pub anchor: Option<String>,
}

/// Which jobs are wanted.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct JobQuery {
    /// Items on the page.
    #[serde(default = "limit_default")]
    #[param(required = false, minimum = 1, maximum = 200, default = 50)]
    pub limit: u32,
    /// `next_cursor` of the page before; absent: the newest.
    pub cursor: Option<Uuid>,
    /// Only jobs in this state.
    pub state: Option<JobState>,
    /// Only jobs on this dataset.
    pub dataset: Option<DatasetId>,
}

/// Which explorations are wanted.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExplorationQuery {
    /// Items on the page.
    #[serde(default = "limit_default")]
    #[param(required = false, minimum = 1, maximum = 200, default = 50)]
    pub limit: u32,
    /// `next_cursor` of the page before; absent: the newest.
    pub cursor: Option<Uuid>,
    /// Only explorations of this dataset.
    pub dataset: Option<DatasetId>,
}

/// How long an answer about a job may wait for the job's end.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct JobWaitQuery {
    /// Seconds; the answer comes as soon as the job has ended.
    #[serde(default)]
    #[param(required = false, minimum = 0, maximum = 60, default = 0)]
    pub wait: u64,
}

/// Which releases are wanted.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ReleaseQuery {
    /// Items on the page.
    #[serde(default = "limit_default")]
    #[param(required = false, minimum = 1, maximum = 200, default = 50)]
    pub limit: u32,
    /// `next_cursor` of the page before; absent: the newest.
    pub cursor: Option<Uuid>,
    /// Only releases in this state; others than published are for stewards.
    pub state: Option<ReleaseState>,
    /// Only releases of this dataset.
    pub dataset: Option<DatasetId>,
}

/// The format of a table, in openapi.yaml's words.
#[derive(ToSchema)]
#[schema(as = TableFormat, rename_all = "kebab-case")]
#[allow(
    dead_code,
    reason = "describes `release::Format`, which knows nothing of OpenAPI"
)]
enum FormatWord {
    Csv,
    Ndjson,
    Parquet,
    Arrow,
    ArrowFile,
}

/// How a table is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TableQuery {
    /// The format; absent: what `Accept` says, else CSV.
    #[param(value_type = Option<FormatWord>, inline)]
    pub format: Option<Format>,
    /// Whether cells of CSV that a spreadsheet would run are made harmless by
    /// a `'` before them.
    #[serde(default)]
    #[param(required = false)]
    pub spreadsheet_safe: bool,
}

/// How an inspection is asked for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct InspectionQuery {
    /// Name of the dataset that is proposed.
    #[serde(default = "unnamed")]
    #[param(
        required = false,
        min_length = 1,
        max_length = 64,
        pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$",
        example = "admissions"
    )]
    pub name: String,
}

fn unnamed() -> String {
    "dataset".into()
}
