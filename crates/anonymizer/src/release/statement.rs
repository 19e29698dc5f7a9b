//! What an engine's releases say in words: against whom their claims hold, and
//! what they do not protect.
//!
//! The one place of these texts. Manifests, `GET /v1/engines` and the verifier
//! all take them from here, by the engine's name, the schema and the policy;
//! no engine can say anything else.

use super::exact::AcceptedExact;
use super::manifest::SeriesMode;
use crate::microdata::{AttributeType, Role, Schema};
use crate::privacy::{BlockForm, History, InGroup, Model, Policy, Recoding, Share};

use Sentence::{Always, Insensitive, Near, OfBare, Under};

/// Against whom the claims of a release of `engine` hold; empty for an engine
/// that nobody knows.
pub fn adversary(engine: &str, policy: &Policy) -> String {
    match policy.model {
        Model::Itemsets { m: 1, .. } if engine == "rmr" => knows_values("up to 1 sensitive value"),
        Model::Itemsets { m, .. } if engine == "rmr" => {
            knows_values(&format!("up to {m} sensitive values"))
        }
        _ => adversary_of(engine),
    }
}

/// The same for whatever parameters.
pub fn adversary_of(engine: &str) -> String {
    match engine {
        "lgb" => KNOWS_FLAGS.into(),
        "personalized" => KNOWS_FREQUENCIES.into(),
        "rmr" => knows_values("up to m sensitive values"),
        "one_to_many" | "arp" | "aip" | "anatomy" | "ng" | "mondrian" | "slicing" => {
            KNOWS_QUASI_IDENTIFIERS.into()
        }
        _ => String::new(),
    }
}

/// What a release of `engine` under this policy does not protect; `accepted`
/// are the attributes that its job publishes although they may identify people,
/// `series` is how it goes on a series, `history` what it keeps there.
pub fn not_protected(
    engine: &str,
    schema: &Schema,
    policy: &Policy,
    (accepted, series, history): (&[AcceptedExact], Option<SeriesMode>, Option<&History>),
) -> Vec<String> {
    let sentences = sentences(engine).into_iter();
    let said = sentences.flat_map(|sentence| sentence.of_release(schema, policy));
    let accepted = accepted.iter().map(|AcceptedExact { attribute, reason }| {
        format!(
            "{attribute} is published as it is although it may identify people; the reason given: \
             {reason}"
        )
    });
    let joins_groups = history.is_some_and(History::joins_groups);
    let of_series: &[&str] = match series {
        Some(SeriesMode::Invariant) => &OF_KEPT_SETS,
        Some(SeriesMode::Nested) if joins_groups => &OF_JOINED_GROUPS,
        Some(SeriesMode::Nested) => &OF_KEPT_GROUPS,
        Some(SeriesMode::Increments) | None => &[],
    };
    let of_series = of_series.iter().map(|&sentence| sentence.to_owned());
    let shows_changes = history.is_some_and(History::shows_changes);
    let of_changes = shows_changes.then(|| OF_VISIBLE_CHANGES.to_owned());
    let mut moved = schema.attributes().iter();
    let moves = moved.any(|attribute| attribute.transform.shift_days.is_some());
    let of_moved = moves.then(|| OF_MOVED_DATES.to_owned());
    said.chain(accepted)
        .chain(of_moved)
        .chain(of_series)
        .chain(of_changes)
        .collect()
}

/// Of releases whose dates are moved by days of each subject.
const OF_MOVED_DATES: &str = "all dates of a person, against somebody who knows one of them: they are \
     moved by the same number of days";

/// Of releases of a series that keeps the sets of values of its subjects.
const OF_KEPT_SETS: [&str; 3] = [
    "who joins, leaves or returns from one release of the series to the next: rows show \
     quasi-identifiers as they are",
    "the truth of every value: counterfeits belong to nobody, and a subject whose value changed to \
     one that is not in the set shown before may be shown in that set again",
    "a subject who joins, against somebody who knows the value of one who left: who joins may take \
     the place of who left, with the same value",
];

/// Of those of them that show changes.
const OF_VISIBLE_CHANGES: &str = "whose value changed to one that is not in the set shown before: such \
     a subject is shown in another set, and may take the place of who left, with the same value";

/// Of releases that join public groups.
const OF_JOINED_GROUPS: [&str; 1] = [
    "more than the earlier releases of the series do, against somebody who has these too: its groups \
     are theirs, joined to larger ones",
];

/// Of releases of a series that keeps the groups of its subjects.
const OF_KEPT_GROUPS: [&str; 2] = [
    "who joins or leaves from one release of the series to the next, down to groups: a group that \
     lost rows lost at least k of them, and those who left are among these",
    "who is new, against somebody who knows who was in an earlier release: each cohort stands in \
     groups of its own",
];

/// The same for whatever schema and parameters: each sentence that some
/// release of `engine` says.
pub fn not_protected_of(engine: &str) -> Vec<String> {
    let sentences = sentences(engine).into_iter();
    sentences.map(Sentence::of_engine).collect()
}

const KNOWS_QUASI_IDENTIFIERS: &str = "knows every quasi-identifier value of everyone and who is in \
     the table; knows no sensitive value";
const KNOWS_FLAGS: &str = "knows every quasi-identifier value of everyone, who is in the table and \
     which values each subject treats as sensitive; knows no sensitive value";
const KNOWS_FREQUENCIES: &str = "knows every quasi-identifier value of everyone, who is in the \
     table, and how frequent each sensitive value is; knows no sensitive value";

fn knows_values(how_many: &str) -> String {
    format!(
        "knows every quasi-identifier value of everyone, who is in the table, and {how_many} of a \
         person"
    )
}

/// One thing that is not protected.
#[derive(Clone, Copy)]
enum Sentence {
    /// In every release of the engine.
    Always(&'static str),
    /// In releases under such a policy.
    Under(fn(&Policy) -> bool, &'static str),
    /// In releases of datasets with insensitive attributes.
    Insensitive(&'static str),
    /// In releases of a sensitive number or date that has no least spread.
    Near(&'static str),
    /// Of each attribute whose values nothing protects inside a group; the
    /// attribute's name stands between the two parts.
    OfBare(&'static str, &'static str),
}

impl Sentence {
    fn of_release(self, schema: &Schema, policy: &Policy) -> Vec<String> {
        let is_said = match self {
            Self::Always(_) => true,
            Self::Under(applies, _) => applies(policy),
            Self::Insensitive(_) => {
                let mut attributes = schema.attributes().iter();
                attributes.any(|attribute| attribute.role == Role::Insensitive)
            }
            Self::Near(_) => is_near(schema, policy),
            Self::OfBare(before, behind) => return of_bare(schema, policy, (before, behind)),
        };
        if is_said {
            vec![self.of_engine()]
        } else {
            Vec::new()
        }
    }

    fn of_engine(self) -> String {
        match self {
            Self::Always(text)
            | Self::Under(_, text)
            | Self::Insensitive(text)
            | Self::Near(text) => text.into(),
            Self::OfBare(before, behind) => format!("{before} an attribute {behind}"),
        }
    }
}

/// Whether some number or date is protected without a least spread.
fn is_near(schema: &Schema, policy: &Policy) -> bool {
    policy.protections().any(|(index, protection)| {
        let is_category = schema.attribute(index).kind == Some(AttributeType::Categorical);
        !is_category && protection.min_spread().is_none()
    })
}

fn of_bare(schema: &Schema, policy: &Policy, (before, behind): (&str, &str)) -> Vec<String> {
    let Model::Generalized { protections, .. } = &policy.model else {
        return Vec::new();
    };
    let bare = InGroup::default();
    let unprotected = protections
        .iter()
        .filter(|(_, protection)| *protection == bare);
    let names = unprotected.map(|&(index, _)| &schema.attribute(index).name);
    names
        .map(|name| format!("{before} {name} {behind}"))
        .collect()
}

fn sentences(engine: &str) -> Vec<Sentence> {
    match engine {
        "lgb" => [&LGB[..], &COMMON].concat(),
        "one_to_many" => [&ONE_TO_MANY[..], &COMMON].concat(),
        "rmr" => [&RMR[..], &COMMON].concat(),
        "arp" => [&ARP[..], &COMMON].concat(),
        "aip" | "anatomy" => [&LISTED[..], &COMMON].concat(),
        "ng" => [&RING[..], &COMMON].concat(),
        "mondrian" => [&MONDRIAN[..], &COMMON].concat(),
        "personalized" => [&PERSONALIZED[..], &COMMON].concat(),
        "slicing" => [&SLICING[..], &COMMON].concat(),
        _ => Vec::new(),
    }
}

/// What no engine protects.
const COMMON: [Sentence; 4] = [
    Near(
        "sensitive numbers and dates that differ and are yet near: one without a least spread may \
            be told to within little",
    ),
    Always(
        "singling out: a published cell together with a sensitive value, or with one of its ends, \
            may isolate exactly one person",
    ),
    Always("inference from models learned on the release or elsewhere"),
    Always("comparison with other releases about the same people"),
];

const LGB: [Sentence; 5] = [
    Always("correlation between sensitive attributes of one row"),
    SHARE,
    Always(
        "minimality: what someone who knows the algorithm infers from which groups and buckets \
            were formed",
    ),
    Always(
        "who asked for something may be told from the group they are in, from a masked or \
            bucketized cell, or from not being there; on Adult, where 3 % asked for a k of their \
            own, 39 % of those picked from one release with a search had asked, and 58 % from three",
    ),
    INSENSITIVE,
];

const ONE_TO_MANY: [Sentence; 6] = [
    Always(
        "somebody who knows, beside all quasi-identifiers, sensitive values of a person; on \
            INFORMS (k = 10, l = 5) one such value left one row for a third of the people, and two \
            for a half",
    ),
    Always("single values that many fingerprints of a group share, unless value_l bounds them"),
    Always("how many records a subject has, as far as the size of the fingerprint tells"),
    SHARE,
    MINIMALITY_OF_GROUPS,
    ASKED_BY_GROUP,
];

const RMR: [Sentence; 5] = [
    Always(
        "values that all who share a cluster, or a combination of values in it, have in common, \
            for subjects who asked for no max_leakage",
    ),
    Always("adversaries who know more sensitive values of a person than m"),
    SHARE_OF_LEAKAGE,
    MINIMALITY_OF_GROUPS,
    ASKED_BY_GROUP,
];

/// What blocks do not protect, whatever their form; `arp` publishes all but
/// rings.
const ARP: [Sentence; 11] = [
    Under(shows_rows_exactly, IDENTITY),
    Under(is_listed, CORRELATION),
    Under(
        is_randomized,
        "sensitive values are not those of their rows: each was kept with the \
           retention named, else drawn from the values of its group",
    ),
    Under(
        is_sliced,
        "identity: values stand as they are, so a rare combination in one column is \
           recognized; it tells nothing of sensitive values",
    ),
    Under(shows_exactly, PRESENCE_TEXT),
    Always(OTHERS_IN_A_BLOCK),
    SHARE,
    MINIMALITY_OF_BLOCKS,
    ASKED_BY_BLOCK,
    Under(
        joins_blocks,
        "a k of one's own makes blocks larger; on Adult, where 3 % asked for one, 9 % of those \
           picked from one release had asked, and 41 % from three",
    ),
    INSENSITIVE,
];

/// Of `aip` and `anatomy`.
const LISTED: [Sentence; 8] = [
    Always(IDENTITY),
    Always(CORRELATION),
    Always(PRESENCE_TEXT),
    Always(OTHERS_IN_A_BLOCK),
    SHARE,
    MINIMALITY_OF_BLOCKS,
    ASKED_BY_BLOCK,
    INSENSITIVE,
];

const RING: [Sentence; 6] = [
    Always(
        "whoever takes every row of a group that covers a person for equally likely theirs may \
            give one value more than 1 in l: which rows were made to cover them is not published",
    ),
    Always(OTHERS_IN_A_BLOCK),
    SHARE,
    MINIMALITY_OF_BLOCKS,
    ASKED_BY_GROUP,
    INSENSITIVE,
];

const MONDRIAN: [Sentence; 7] = [
    OfBare(
        "values of",
        "that a whole group shares, for subjects who gave no max_leakage",
    ),
    Always("values of a group that differ and yet mean much the same"),
    Always("the sensitive values of one record together, for someone who knows one of them"),
    SHARE,
    MINIMALITY_OF_GROUPS,
    ASKED_BY_COMPANY,
    INSENSITIVE,
];

const PERSONALIZED: [Sentence; 7] = [
    Always(
        "what the choice of a node tells of how far the members of a group had to be generalized; \
            of releases of six people 12 % told somebody's value so",
    ),
    Under(
        is_by_the_paper,
        "a value published by a node beside a more specific one under it: it was \
           generalized because both were the same, so that a reader may tell which value it was",
    ),
    Under(
        bounds_leakage,
        "whoever's value no group can keep within max_leakage is left out, so absence may tell of \
         a value",
    ),
    SHARE_OF_LEAKAGE,
    MINIMALITY_OF_GROUPS,
    ASKED_BY_COMPANY,
    INSENSITIVE,
];

const SLICING: [Sentence; 9] = [
    Always(
        "identity: the values of a column stand as they were, so that rare combinations in a \
            column without sensitive attributes can be recognized",
    ),
    Always("correlation between attributes of one column"),
    Always("joint inference from the quasi-identifiers of everyone in a bucket"),
    Always(PRESENCE_TEXT),
    SHARE,
    Always(
        "minimality: what someone who knows the algorithm infers from which columns and buckets \
            were formed",
    ),
    Always(
        "who asked for something may be told from the bucket they are in, or from not being there",
    ),
    Always(
        "when somebody leaves whose own terms cannot be met, others may have to leave for the \
         values that remain, so absence may tell of a value",
    ),
    INSENSITIVE,
];

const IDENTITY: &str = "identity: rows show quasi-identifiers as they are, so whoever knows them \
     finds the row of a person who asked for no max_reidentification";
const CORRELATION: &str =
    "correlation between sensitive attributes of one row, for whoever knows one of them";
const OTHERS_IN_A_BLOCK: &str = "adversaries who know sensitive values of other people in a block";
const PRESENCE_TEXT: &str = "presence: the tables show quasi-identifiers as they are, so whoever \
     knows them sees who is in the release";

const SHARE: Sentence =
    Always("1/l is a share of the published values, not a bound on what can be inferred");
const SHARE_OF_LEAKAGE: Sentence =
    Always("max_leakage is a share of the published values, not a bound on what can be inferred");
const MINIMALITY_OF_GROUPS: Sentence =
    Always("minimality: what someone who knows the algorithm infers from which groups were formed");
const MINIMALITY_OF_BLOCKS: Sentence =
    Always("minimality: what someone who knows the algorithm infers from which blocks were formed");
const ASKED_BY_GROUP: Sentence = Always(
    "who asked for something may be told from the group they are in, or from not being there",
);
const ASKED_BY_COMPANY: Sentence = Always(
    "who asked for something: of those whose group looks as if they had, about the share \
        askers_share_max did; and somebody may be told from not being there",
);
const ASKED_BY_BLOCK: Sentence = Always(
    "who asked for something may be told from the block they are in, or from not being there",
);
const INSENSITIVE: Sentence = Insensitive(
    "insensitive attributes: the tables show them as they are, so whoever knows them may see who \
     is in the release",
);

fn form(policy: &Policy) -> Option<BlockForm> {
    match policy.model {
        Model::Blocks { form, .. } => Some(form),
        _ => None,
    }
}

fn is_listed(policy: &Policy) -> bool {
    matches!(
        form(policy),
        Some(BlockForm::Distinct | BlockForm::Eligible)
    )
}

fn is_randomized(policy: &Policy) -> bool {
    matches!(form(policy), Some(BlockForm::Randomized { .. }))
}

fn is_sliced(policy: &Policy) -> bool {
    form(policy) == Some(BlockForm::Sliced)
}

/// Blocks are joined until they have as many records as members ask for.
fn joins_blocks(policy: &Policy) -> bool {
    matches!(
        form(policy),
        Some(BlockForm::Generalized | BlockForm::Sliced)
    )
}

/// Whole rows of quasi-identifiers stand as they are.
fn shows_rows_exactly(policy: &Policy) -> bool {
    is_listed(policy) || is_randomized(policy)
}

/// Quasi-identifiers stand as they are, in rows or in columns.
fn shows_exactly(policy: &Policy) -> bool {
    shows_rows_exactly(policy) || is_sliced(policy)
}

/// Leakage is bounded for everyone, not for those alone who ask for it.
fn bounds_leakage(policy: &Policy) -> bool {
    matches!(policy.model, Model::Personalized { max_leakage, .. } if max_leakage < Share::ALL)
}

fn is_by_the_paper(policy: &Policy) -> bool {
    let paper = Recoding::Paper;
    matches!(policy.model, Model::Personalized { recoding, .. } if recoding == paper)
}
