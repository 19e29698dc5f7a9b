//! What is named where no release exists: the condition that failed, in
//! counts, and the strongest parameter that holds.

use crate::engine::error::Infeasible;
use crate::engine::kernel::Included;
use crate::engine::kernel::eligibility::{is_within, least_share};
use crate::engine::kernel::included::SensitiveColumn;
use crate::engine::kernel::known::known_ends;
use crate::microdata::{AttributeIndex, Code, CodedColumn, Table};

impl Infeasible {
    /// `condition` fails; `parameter` holds at `strongest` and below it, or
    /// at no value.
    pub fn at_most(
        parameter: &'static str,
        strongest: Option<f64>,
        condition: impl Into<String>,
    ) -> Self {
        Self::of_bound((parameter, "≤"), strongest, condition.into())
    }

    /// `condition` fails; `parameter` holds at `strongest` and above it, or
    /// at no value.
    pub fn at_least(
        parameter: &'static str,
        strongest: Option<f64>,
        condition: impl Into<String>,
    ) -> Self {
        Self::of_bound((parameter, "≥"), strongest, condition.into())
    }

    fn of_bound(
        (parameter, sign): (&'static str, &'static str),
        strongest: Option<f64>,
        condition: String,
    ) -> Self {
        Self {
            attribute: None,
            parameter,
            condition,
            strongest: match strongest {
                Some(value) => format!("{parameter} {sign} {value}"),
                None => format!("no {parameter}"),
            },
            strongest_value: strongest,
            instead: None,
        }
    }

    /// The same of an attribute.
    #[must_use]
    pub fn of(mut self, attribute: impl Into<String>) -> Self {
        self.attribute = Some(attribute.into());
        self
    }

    /// With what to set in place of the parameter.
    #[must_use]
    pub fn or_instead(mut self, instead: Option<&'static str>) -> Self {
        self.instead = instead;
        self
    }

    /// With more words behind the strongest setting.
    #[must_use]
    pub fn strongest_with(mut self, words: &str) -> Self {
        self.strongest += words;
        self
    }
}

/// More subjects would be excluded than may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverBudget {
    /// Subjects whose terms cannot be met.
    pub needed: u64,
    /// Subjects who did not opt out.
    pub of: u64,
}

impl OverBudget {
    /// Whether the share `max_excluded` of `of` subjects is less than
    /// `excluded`.
    pub fn check(excluded: usize, of: usize, max_excluded: f64) -> Result<(), Self> {
        let (needed, of) = (excluded as u64, of as u64);
        if is_within(needed, of, max_excluded) {
            Ok(())
        } else {
            Err(Self { needed, of })
        }
    }

    /// The least `max_excluded` that is enough.
    pub fn least_share(self) -> f64 {
        least_share(self.needed, self.of)
    }

    /// The same as an answer.
    pub fn infeasible(self) -> Infeasible {
        let Self { needed, of } = self;
        let condition = format!(
            "the terms of {needed} of {of} subjects cannot be met, more than may be left out"
        );
        Infeasible::at_least("max_excluded", Some(self.least_share()), condition)
    }
}

/// Name of an attribute.
pub fn name_of(table: &Table, attribute: AttributeIndex) -> String {
    table.schema().attribute(attribute).name.clone()
}

/// The answer where the known values of everyone span less than the least
/// spread that the job asks for; `None` where they span enough or nothing is
/// asked for.
pub fn too_narrow(included: &Included<'_>, sensitive: &SensitiveColumn<'_>) -> Option<Infeasible> {
    let protection = included.requirements.protection(sensitive.index);
    let wanted = protection.min_spread()?;
    let widest = span_of_known(sensitive.column, included.records.iter().copied())?;
    let name = name_of(included.table, sensitive.attribute);
    let condition = format!("{name}: values must span {wanted}; all of them span {widest}");
    (widest < wanted).then(|| Infeasible::at_most("min_spread", Some(widest), condition).of(name))
}

/// The distance of the lowest and the highest known value of `records`, in
/// the attribute's unit.
pub fn span_of_known(column: &CodedColumn, records: impl Iterator<Item = u32>) -> Option<f64> {
    let domain = &column.domain;
    let codes = records.map(|record| column.codes.at(record as usize));
    let (low, high) = known_ends(codes, domain.missing().map(|code| code.0))?;
    Some(domain.number(Code(high)) - domain.number(Code(low)))
}

/// What to set in place of an l that is more than an attribute has values in
/// `records`: t-closeness bounds what is learnt where there are two.
pub fn instead_of_l(
    column: &CodedColumn,
    records: impl IntoIterator<Item = u32>,
    l: u32,
) -> Option<&'static str> {
    let mut seen = vec![false; column.domain.len()];
    for record in records {
        seen[column.codes.at(record as usize) as usize] = true;
    }
    let values = seen.into_iter().filter(|seen| *seen).count();
    (2..l as usize).contains(&values).then_some("t_closeness")
}
