//! The report of a release, which is the same in portions.

use vizard_anonymizer::microdata::PopulationTable;
use vizard_anonymizer::utility::{self, EvidenceError, UtilityReport};

use crate::case::Case;
use crate::measures::portions as in_portions;
use crate::portions;

impl Case {
    /// The report of utility and risk.
    pub fn report(&self) -> Result<UtilityReport, EvidenceError> {
        self.report_beside(None)
    }

    /// The same beside those among whom its people could be; it is the same whether
    /// the release is measured as a whole or portion by portion.
    pub fn report_beside(
        &self,
        population_table: Option<&PopulationTable>,
    ) -> Result<UtilityReport, EvidenceError> {
        let evidence = self.evidence(population_table);
        let whole = utility::measure(&evidence)?;
        if portions::are_compared(&self.ordered.engine) {
            let portions = in_portions::cut(&evidence, 4, self.rows() as u64);
            in_portions::agree(&whole, &in_portions::report(&evidence, &portions));
        }
        Ok(whole)
    }

    /// What measures look at.
    pub fn evidence<'a>(
        &'a self,
        population_table: Option<&'a PopulationTable>,
    ) -> utility::Evidence<'a> {
        utility::Evidence {
            table: &self.table,
            requirements: &self.requirements,
            manifest: &self.manifest,
            tables: &self.tables,
            lineage: &self.lineage,
            population_table,
            cancel: &self.cancel,
        }
    }
}
