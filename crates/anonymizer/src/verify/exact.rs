//! Attributes that are published as they are: whether one of them names people
//! by its form, and how far they let a record stand out.
//!
//! `direct_identifiers`: no attribute but those that the job accepts has values
//! that name a person. `linkage_exact`: the attack of who knows, beside the
//! quasi-identifiers, every insensitive attribute; its bound is each record's
//! own k, with the accepted attributes taken for unknown.

use super::evidence::Evidence;
use super::verdict::{Check, Failures, Place, Section};
use crate::microdata::{DirectIdentifier, Multiplicity, Role, Schema, Table, direct_identifier};
use crate::privacy::{BlockForm, Model, Requirements};
use crate::release::exact::StandsOut;
use crate::release::{AcceptedExact, Exposure, Lineage, PublishedExactly, PublishedTable};

/// What the tables of a release show as it is.
pub fn published_exactly(
    tables: &[PublishedTable],
    requirements: &Requirements,
    schema: &Schema,
) -> PublishedExactly {
    let draws_values = matches!(
        requirements.policy().model,
        Model::Blocks {
            form: BlockForm::Randomized { .. } | BlockForm::Ring,
            ..
        }
    );
    crate::release::published_exactly(tables, schema, draws_values)
}

/// The attributes whose values name people by their form, but those accepted.
pub fn direct_identifiers<'a>(
    table: &'a Table,
    accepted: &[AcceptedExact],
) -> Vec<(&'a str, DirectIdentifier)> {
    let schema = table.schema();
    let published = schema.publishable().into_iter();
    let found = published.filter_map(|index| {
        let name = schema.attribute(index).name.as_str();
        let is_accepted = accepted.iter().any(|one| one.attribute == name);
        let form = (!is_accepted).then(|| direct_identifier(table, index))?;
        Some((name, form?))
    });
    found.collect()
}

/// The k that each row of the first table needs: its record's own, the job's
/// where the row has no record. Empty where no insensitive attribute stands in
/// the rows of single records.
pub fn k_of_rows(
    table: &Table,
    requirements: &Requirements,
    lineage: &Lineage,
    tables: &[PublishedTable],
) -> Vec<u32> {
    let schema = table.schema();
    let mut attributes = schema.attributes().iter();
    let has_insensitive = attributes.any(|attribute| attribute.role == Role::Insensitive);
    let Some(first) = tables.first().filter(|_| {
        has_insensitive
            && schema.multiplicity() == Multiplicity::One
            && requirements.records() == table.records()
    }) else {
        return Vec::new();
    };
    let floor = requirements.policy().k.get();
    let subjects = lineage.of(&first.name).unwrap_or_default();
    let k = (0..first.rows()).map(|row| {
        // With one record a subject, a subject's position is the record's.
        let subject = subjects.get(row).filter(|one| one.at() < table.records());
        let own = subject.map(|one| requirements.of(crate::microdata::RecordIndex(one.0)).k);
        own.map_or(floor, |own| own.max(floor))
    });
    k.collect()
}

/// The insensitive attributes to accept, or to give another role.
pub fn stands_out(
    schema: &Schema,
    tables: &[PublishedTable],
    k: &[u32],
    accepted: &[AcceptedExact],
) -> Vec<StandsOut> {
    let exposure = Exposure::of(tables, schema, k);
    let accepted: Vec<&str> = accepted.iter().map(|one| one.attribute.as_str()).collect();
    exposure.map_or_else(Vec::new, |exposure| exposure.stands_out(&accepted))
}

/// Both checks.
pub(super) fn checks(evidence: &Evidence) -> Vec<Check> {
    let accepted = evidence.ordered.accept_exact;
    let mut failures = Failures::none();
    for (name, _) in direct_identifiers(evidence.table, accepted) {
        failures.add("values of an attribute name people by their form");
        failures.attribute.get_or_insert_with(|| name.to_owned());
    }
    let mut checks = vec![Check::structure("direct_identifiers", &failures)];
    checks.extend(linkage_exact(evidence));
    checks
}

/// `linkage_exact`; none where no row shows an insensitive attribute.
fn linkage_exact(evidence: &Evidence) -> Option<Check> {
    let (table, requirements) = (evidence.table, evidence.requirements);
    let k = k_of_rows(table, requirements, evidence.lineage, evidence.tables);
    let exposure = Exposure::of(evidence.tables, table.schema(), &k)?;
    let insensitive = exposure.insensitive();
    if insensitive.is_empty() {
        return None;
    }
    let accepted = evidence.ordered.accept_exact;
    let is_open = |name: &&str| accepted.iter().all(|one| one.attribute != *name);
    let open: Vec<&str> = insensitive.iter().copied().filter(is_open).collect();
    let sizes = exposure.sizes(&insensitive);
    let smallest = (0..sizes.len()).min_by_key(|&row| sizes[row]);
    let risk = smallest.map(|row| 1.0 / f64::from(sizes[row]));
    let mean = sizes.iter().map(|&size| 1.0 / f64::from(size)).sum::<f64>();
    let below = sizes.iter().zip(&k).filter(|(size, k)| size < k).count();
    let check = Check::new(Section::Attack, "linkage_exact")
        .attaining(risk, smallest.map(|row| Place::Row(row as u64 + 1)))
        .holding(open.is_empty() || exposure.below_k(&open) == 0)
        .with_figure("prosecutor_mean", mean / sizes.len().max(1) as f64)
        .with_figure("records_below_k", below as f64);
    let floor = k.iter().max().copied().unwrap_or(1);
    Some(
        if accepted
            .iter()
            .any(|one| insensitive.contains(&one.attribute.as_str()))
        {
            check.noting("the job accepts that attributes published as they are identify people")
        } else if floor > 1 {
            check.claiming(1.0 / f64::from(requirements.policy().k.get()))
        } else {
            check
                .noting("the job claims no k: attributes published as they are may identify people")
        },
    )
}
