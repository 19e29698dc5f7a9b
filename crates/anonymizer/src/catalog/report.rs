//! The report of a release that holds.

use serde_json::Value;

use crate::engine::EngineError;
use crate::microdata::Schema;
use crate::privacy::{BlockForm, Model};
use crate::query::error::{Asking, Drawing};
use crate::query::{self, Workload};
use crate::utility::fit::{FitSeen, FitSums};
use crate::utility::{self, Fit, Measuring, Originals, UtilityReport, Whole};
use crate::verify::{self, Portion, Portions};

/// Whether a schema has the statistic that a report is to tell.
///
/// # Errors
/// `report.fit` is an invalid parameter.
pub fn check_fit(schema: &Schema, fit: Option<&Fit>) -> Result<(), EngineError> {
    let checked = fit.map_or(Ok(()), |fit| fit.check(schema));
    checked.map_err(|mismatch| EngineError::InvalidParameter {
        parameter: "report.fit".into(),
        reason: mismatch.to_string(),
    })
}

/// The report of a release that holds; queries and statistic as the job asks. `watch` is
/// told the share that is done, and says whether the rest is wanted.
pub fn report(
    evidence: &utility::Evidence,
    (queries, fit): (u32, Option<&Fit>),
    watch: &mut dyn FnMut(f64) -> bool,
) -> Value {
    let measured = utility::measure(evidence);
    // Tables that do not fit their originals have failed verification before.
    let Ok(mut report) = measured else {
        return Value::Null;
    };
    // Values drawn anew bound no count of the original.
    let model = &evidence.requirements.policy().model;
    if matches!(
        model,
        Model::Blocks {
            form: BlockForm::Randomized { .. },
            ..
        }
    ) {
        return serde_json::to_value(report).unwrap_or(Value::Null);
    }
    // A release that is no rows of one record each shows no such statistic.
    if let Some(Ok(Some(error))) = fit.map(|fit| utility::fit::measure(evidence, fit)) {
        report.insert("fit", utility::fit::DESCRIPTION, &error);
    }
    let workload = Workload::standard(queries);
    let published = query::error::Published {
        tables: evidence.tables,
        lineage: evidence.lineage,
        cancel: evidence.cancel,
    };
    let error = query::error::measure_watched(evidence.table, published, workload, watch);
    if let Ok(Some(error)) = error {
        report.insert("query_error", QUERY_ERROR, &error);
    }
    serde_json::to_value(report).unwrap_or(Value::Null)
}

/// What the error of queries is.
const QUERY_ERROR: utility::Description = utility::Description {
    title: query::error::TITLE,
    audience: utility::Audience::Steward,
    definition: query::error::DEFINITION,
    source: query::error::SOURCE,
};

/// The same report of a large release, measured portion by portion: each comes by
/// twice, since some figures of a row depend on all others.
pub(super) fn report_of_portions(
    (portions, of): (&Portions, &verify::Evidence),
    evidence: &utility::Evidence,
    asked: (u32, Option<&Fit>),
    watch: &mut dyn FnMut(f64) -> bool,
) -> Value {
    let looked = Looked {
        portions,
        of,
        evidence,
    };
    let measured = looked.measured(asked, watch);
    // Tables that do not fit their originals have failed verification before.
    measured.map_or(Value::Null, |report| {
        serde_json::to_value(report).unwrap_or(Value::Null)
    })
}

/// Looks at a portion; none where it does not fit, or the rest is not wanted.
type Look<'l> =
    dyn FnMut(&Portion, &utility::Evidence, &mut dyn FnMut(f64) -> bool) -> Option<()> + 'l;

/// A large release that is measured.
struct Looked<'a> {
    portions: &'a Portions,
    of: &'a verify::Evidence<'a>,
    evidence: &'a utility::Evidence<'a>,
}

impl Looked<'_> {
    /// None where tables and originals do not fit together, or the rest is not wanted.
    fn measured(
        &self,
        (queries, fit): (u32, Option<&Fit>),
        watch: &mut dyn FnMut(f64) -> bool,
    ) -> Option<UtilityReport> {
        let first = self.evidence.tables.first()?;
        let published = self.evidence.lineage.of(&first.name).unwrap_or_default();
        let originals = Originals::of(self.evidence.table, published);
        let mut whole = Whole::new(originals);
        let mut drawing = Drawing::new(Workload::standard(queries), first.rows() as u64);
        let mut seen = fit.map(|fit| FitSeen::new(fit.clone()));
        self.each(0, watch, &mut |portion, evidence, watch| {
            whole.see(evidence).ok()?;
            if let Some(seen) = &mut seen {
                seen.see(evidence).ok()?;
            }
            let is_wanted = drawing.see(&portion.table, self.published(portion), watch);
            is_wanted.ok()?.then_some(())
        })?;
        let mut measuring = Measuring::new(whole);
        let mut asking = Asking::new(drawing);
        let mut sums = seen.map(FitSums::new);
        self.each(1, watch, &mut |portion, evidence, watch| {
            measuring.add(evidence).ok()?;
            if let Some(sums) = &mut sums {
                sums.add(evidence, measuring.whole()).ok()?;
            }
            let is_wanted = asking.ask(&portion.table, self.published(portion), watch);
            is_wanted.ok()?.then_some(())
        })?;
        let mut report = measuring.finish(self.evidence.population_table);
        if let Some(error) = sums.and_then(FitSums::finish) {
            report.insert("fit", utility::fit::DESCRIPTION, &error);
        }
        report.insert("query_error", QUERY_ERROR, &asking.finish());
        Some(report)
    }

    fn published<'p>(&self, portion: &'p Portion) -> query::error::Published<'p>
    where
        Self: 'p,
    {
        query::error::Published {
            tables: &portion.tables,
            lineage: &portion.lineage,
            cancel: self.evidence.cancel,
        }
    }

    /// Looks at each portion, for the first time (0) or the second (1).
    fn each(
        &self,
        time: u16,
        watch: &mut dyn FnMut(f64) -> bool,
        look: &mut Look<'_>,
    ) -> Option<()> {
        let number = self.portions.number();
        let looks = f64::from(2 * u32::from(number));
        for at in 0..number {
            self.evidence.cancel.heed();
            let portion = self.portions.portion(self.of, at);
            let evidence = utility::Evidence {
                table: &portion.table,
                requirements: &portion.requirements,
                tables: &portion.tables,
                lineage: &portion.lineage,
                ..*self.evidence
            };
            let before = f64::from(u32::from(time) * u32::from(number) + u32::from(at));
            look(&portion, &evidence, &mut |share| {
                watch((before + share) / looks)
            })?;
        }
        Some(())
    }
}
