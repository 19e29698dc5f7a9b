//! A subject's own terms, read and set with their token, and the receipts of them.
//!
//! Who holds a token learns what may be chosen and what they chose: words and
//! roles of the schema, never a record, nor whether there is one. Terms that do
//! not fit change nothing. A receipt's code proves later that a choice was kept
//! and takes consent back, as easily as it was given, also when the token's time
//! is over.

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::microdata::{
    Attribute, Hierarchy, HierarchySet, HierarchySource, NodeIndex, Role, Schema, Wording,
};

use super::preferences::read;
use crate::http::auth::{ReceiptBearer, SubjectBearer, SubjectText};
use crate::http::described::TermsDocument;
use crate::http::extract::{JsonBody, NoBody};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::http::upload::load_hierarchies;
use crate::ids::ReleaseId;
use crate::store::{DatasetRow, ReceiptOutcome, ReceiptRelease};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(get_my_preferences, put_my_preferences))
        .routes(routes!(get_my_receipt))
        .routes(routes!(withdraw_my_preferences))
}

/// Among how many people somebody may be hidden, as a consent form offers it.
const STEPS: [u32; 4] = [2, 5, 10, 20];

/// Nodes of a hierarchy that are named at most.
const NODES_MAX: usize = 100;

/// What may be chosen, and what was.
#[derive(Serialize, ToSchema)]
struct MyChoicesView {
    /// Who asks, and what for.
    dataset: MyDatasetView,
    /// Until when the token can be used.
    expires_at: DateTime<Utc>,
    /// The terms in force; `null`: the subject gave none.
    #[schema(value_type = Option<TermsDocument>)]
    terms: Option<Value>,
    /// What holds for subjects who give none.
    #[schema(value_type = TermsDocument)]
    without_terms: Value,
    /// What is kept of a person, in the schema's order; ignored attributes are not kept.
    attributes: Vec<MyAttributeView>,
    /// Numbers of people among whom a form may offer to hide: `n` is
    /// `"max_reidentification": 1/n`.
    steps: [u32; 4],
}

/// The dataset, in words.
#[derive(Serialize, ToSchema)]
struct MyDatasetView {
    /// Its name, for programs.
    name: String,
    /// What it is called, by language; may be empty.
    #[schema(value_type = BTreeMap<String, String>)]
    title: Wording,
    /// What the data are wanted for, by language; may be empty.
    #[schema(value_type = BTreeMap<String, String>)]
    purpose: Wording,
    /// Who answers questions, by language; may be empty.
    #[schema(value_type = BTreeMap<String, String>)]
    contact: Wording,
}

/// What is published of an attribute.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum PublishedWord {
    /// Its values as they are.
    AsItIs,
    /// Its values, made coarser.
    Coarsened,
    /// Its values, so that nobody can tell whose each is.
    Hidden,
    /// Nothing.
    Never,
}

/// An attribute, in words, and what a subject may ask for.
#[derive(Serialize, ToSchema)]
struct MyAttributeView {
    /// Its name, which terms use.
    name: String,
    /// What people call it, by language; may be empty.
    #[schema(value_type = BTreeMap<String, String>)]
    title: Wording,
    /// What it says, by language; may be empty.
    #[schema(value_type = BTreeMap<String, String>)]
    description: Wording,
    /// What is published of it where the subject says nothing.
    published: PublishedWord,
    /// Whether the subject may name it in `sensitive`.
    may_hide: bool,
    /// How many values its hierarchy has; `null` where it has none, or is no tree.
    values: Option<usize>,
    /// Nodes that a subject may name in `guard`: those below the root, up to 100.
    /// Deeper ones may be named too.
    guards: Vec<String>,
}

/// Terms that were just set, and proof of it.
#[derive(Serialize, ToSchema)]
struct MyPreferencesView {
    /// What the subject asks for.
    #[schema(value_type = TermsDocument)]
    terms: Value,
    /// Code of the receipt. It is shown only here; later it tells whether the
    /// choice was kept, and takes consent back.
    #[schema(examples("vr_2f91c0a7d4e83b56071c9de2a4b8f613"))]
    receipt: String,
    /// When the terms were set.
    made_at: DateTime<Utc>,
}

/// Whether a choice is in force.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ReceiptState {
    /// It is.
    InForce,
    /// Another one replaced it, or it was taken out of force.
    Replaced,
}

/// What a public release made of a choice.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum KeptWord {
    /// It was checked against the choice, and kept to it.
    Kept,
    /// It was public before the choice was made.
    MadeBefore,
    /// Another choice, or none, was in force then.
    Replaced,
    /// Its job applied no subject's own terms but exclusions.
    NotApplied,
}

impl From<ReceiptOutcome> for KeptWord {
    fn from(kept: ReceiptOutcome) -> Self {
        match kept {
            ReceiptOutcome::Kept => Self::Kept,
            ReceiptOutcome::MadeBefore => Self::MadeBefore,
            ReceiptOutcome::Replaced => Self::Replaced,
            ReceiptOutcome::NotApplied => Self::NotApplied,
        }
    }
}

/// What became of a choice.
#[derive(Serialize, ToSchema)]
struct ReceiptView {
    /// When it was made.
    made_at: DateTime<Utc>,
    /// Whether it is in force.
    state: ReceiptState,
    /// When another one replaced it; `null` too where it was taken out of force.
    replaced_at: Option<DateTime<Utc>>,
    /// The public releases, oldest first.
    releases: Vec<ReceiptReleaseView>,
}

/// One public release beside a choice.
#[derive(Serialize, ToSchema)]
struct ReceiptReleaseView {
    /// The release.
    id: ReleaseId,
    /// Since when it is public.
    published_at: DateTime<Utc>,
    /// What became of the choice in it.
    result: KeptWord,
}

impl From<ReceiptRelease> for ReceiptReleaseView {
    fn from(release: ReceiptRelease) -> Self {
        Self {
            id: release.id,
            published_at: release.published_at,
            result: release.kept.into(),
        }
    }
}

/// Read what one may choose
///
/// What is asked for and by whom, what may be chosen, and the holder's terms in
/// force. A reading that the audit log tells of, without the subject. A token
/// that never was, or whose time is over, is answered the same: 401.
#[utoipa::path(
    get, path = "/v1/my-preferences", operation_id = "get_my_preferences", tag = "preferences",
    responses((status = 200, description = "What may be chosen, and what was.", body = MyChoicesView)),
)]
async fn get_my_preferences(
    State(state): State<AppState>,
    bearer: SubjectBearer,
) -> Result<Json<MyChoicesView>, Problem> {
    let dataset = state.store.dataset_get(bearer.row.dataset).await;
    let dataset = dataset.map_err(SubjectBearer::problem)?;
    let (schema, hierarchies) = form(&state, &dataset).await?;
    let terms = state.store.subject_token_terms(bearer.act(), bearer.hash);
    let terms = terms.await.map_err(SubjectBearer::problem)?;
    let without_terms = schema.default_preference().map(serde_json::to_value);
    let without_terms = without_terms.transpose().map_err(|_| Problem::internal())?;
    let all = schema.attributes().iter();
    let wording = schema.wording().clone();
    Ok(Json(MyChoicesView {
        dataset: MyDatasetView {
            name: schema.name().to_owned(),
            title: wording.title,
            purpose: wording.purpose,
            contact: wording.contact,
        },
        expires_at: bearer.row.expires_at,
        terms: terms.map(|row| row.document),
        without_terms: without_terms.unwrap_or_else(|| json!({})),
        attributes: all.map(|one| described(one, &hierarchies)).collect(),
        steps: STEPS,
    }))
}

/// Schema and hierarchies of a dataset.
async fn form(state: &AppState, dataset: &DatasetRow) -> Result<(Schema, HierarchySet), Problem> {
    let schema = super::stored_schema(dataset)?;
    let (store, pinned) = (state.store.as_ref(), &dataset.hierarchies);
    let found = load_hierarchies(store, dataset.id, &schema, pinned, true).await?;
    Ok((schema, found.set))
}

fn described(attribute: &Attribute, hierarchies: &HierarchySet) -> MyAttributeView {
    let named = attribute.hierarchy.as_ref();
    let tree = named.and_then(|name| match hierarchies.get(name)? {
        HierarchySource::Tree(tree) => Some(tree.as_ref()),
        HierarchySource::Intervals(_) => None,
    });
    let guards = tree.filter(|_| attribute.is_protectable());
    MyAttributeView {
        name: attribute.name.clone(),
        title: attribute.title.clone(),
        description: attribute.description.clone(),
        published: match attribute.role {
            Role::Insensitive => PublishedWord::AsItIs,
            Role::QuasiIdentifier | Role::SemiSensitive => PublishedWord::Coarsened,
            Role::Sensitive => PublishedWord::Hidden,
            Role::Identifier | Role::Ignore => PublishedWord::Never,
        },
        may_hide: attribute.role == Role::SemiSensitive,
        values: tree.map(Hierarchy::leaf_count),
        guards: guards.map(below_root).unwrap_or_default(),
    }
}

fn below_root(tree: &Hierarchy) -> Vec<String> {
    let below = tree.node(NodeIndex::ROOT).children.iter();
    let labels = below.map(|&node| tree.node(node).label.clone());
    labels.take(NODES_MAX).collect()
}

/// Set one's own terms
///
/// They replace the subject's earlier terms. The token stays good until its time
/// is over, so that they can be changed or taken back; each change is an entry
/// of the audit log. The answer holds the code of a receipt.
#[utoipa::path(
    put, path = "/v1/my-preferences", operation_id = "put_my_preferences", tag = "preferences",
    request_body = TermsDocument,
    responses((status = 200, description = "The terms in force, and a receipt.", body = MyPreferencesView)),
)]
async fn put_my_preferences(
    State(state): State<AppState>,
    bearer: SubjectBearer,
    JsonBody(document): JsonBody<Value>,
) -> Result<Json<MyPreferencesView>, Problem> {
    if document.get("subject").is_some() {
        let detail = "the token says whose terms these are";
        return Err(Problem::new(ProblemKind::InvalidBody, detail));
    }
    let (id, subject) = (bearer.row.dataset, bearer.row.subject.clone());
    let dataset = state.store.dataset_get(id).await;
    let dataset = dataset.map_err(SubjectBearer::problem)?;
    let preference = read(&state, &dataset, subject, document).await?;
    let terms = serde_json::to_value(&preference.terms).map_err(|_| Problem::internal())?;
    let receipt = SubjectText::Receipt.generate();
    let receipt = receipt.map_err(|_| Problem::internal())?;
    let (act, token) = (bearer.act(), bearer.hash);
    let used = state
        .store
        .subject_token_use(act, token, terms.clone(), receipt.hash);
    let made_at = used.await.map_err(SubjectBearer::problem)?;
    Ok(Json(MyPreferencesView {
        terms,
        receipt: receipt.text.expose().to_owned(),
        made_at,
    }))
}

/// Read what became of one's choice
///
/// With the code of a receipt. It tells when the choice was made, whether it is
/// in force, and for each public release whether it was kept: never whose it is,
/// what was chosen, or whether there is a record. A code that never was, or whose
/// terms were erased, is answered the same: 401.
#[utoipa::path(
    get, path = "/v1/my-preferences/receipt", operation_id = "get_my_receipt", tag = "preferences",
    responses((status = 200, description = "What became of the choice.", body = ReceiptView)),
)]
async fn get_my_receipt(bearer: ReceiptBearer) -> Json<ReceiptView> {
    let row = bearer.row;
    let state = if row.is_in_force {
        ReceiptState::InForce
    } else {
        ReceiptState::Replaced
    };
    let releases = row.releases.into_iter().map(ReceiptReleaseView::from);
    Json(ReceiptView {
        made_at: row.made_at,
        state,
        replaced_at: row.replaced_at,
        releases: releases.collect(),
    })
}

/// Take one's consent back
///
/// With the code of a receipt, of whatever choice and however old: the subject
/// is in no release made from now on. The answer holds the code of a new receipt.
#[utoipa::path(
    post, path = "/v1/my-preferences/withdrawal", operation_id = "withdraw_my_preferences", tag = "preferences",
    responses((status = 200, description = "The terms in force, and a receipt.", body = MyPreferencesView)),
)]
async fn withdraw_my_preferences(
    State(state): State<AppState>,
    bearer: ReceiptBearer,
    NoBody: NoBody,
) -> Result<Json<MyPreferencesView>, Problem> {
    let receipt = SubjectText::Receipt.generate();
    let receipt = receipt.map_err(|_| Problem::internal())?;
    let withdrawn = state
        .store
        .receipt_withdraw(bearer.act(), bearer.hash, receipt.hash);
    let made_at = withdrawn.await.map_err(ReceiptBearer::problem)?;
    Ok(Json(MyPreferencesView {
        terms: json!({"exclude": true}),
        receipt: receipt.text.expose().to_owned(),
        made_at,
    }))
}
