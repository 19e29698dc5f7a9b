//! Whoever is cancelled gives no verdict and no report, whatever the engine.

use vizard_anonymizer::privacy::{CancelFlag, Cancelled};
use vizard_anonymizer::query::{Workload, error};

use super::ignored::{engines, released};

#[test]
fn a_verifier_that_is_cancelled_gives_no_verdict() {
    for (engine, parameters, multiplicity) in engines() {
        let case = released(engine, &parameters, multiplicity, false);
        let verdict = case.cancel.run(|| case.verdict());
        assert!(verdict.expect("nobody asked").holds(), "{engine}");
        case.cancel.cancel();
        let verdict = case.cancel.run(|| case.verdict());
        assert_eq!(verdict.err(), Some(Cancelled), "{engine}");
    }
}

#[test]
fn measures_that_are_cancelled_give_no_report() {
    for (engine, parameters, multiplicity) in engines() {
        let case = released(engine, &parameters, multiplicity, false);
        let report = case.cancel.run(|| case.report().map(drop));
        assert_eq!(report, Ok(Ok(())), "{engine}");
        case.cancel.cancel();
        let report = case.cancel.run(|| case.report().map(drop));
        assert_eq!(report, Err(Cancelled), "{engine}");
    }
}

#[test]
fn queries_that_are_cancelled_give_no_figures() {
    let (engine, parameters, multiplicity) = engines().into_iter().next().expect("an engine");
    let case = released(engine, &parameters, multiplicity, false);
    let measured = |cancel: &CancelFlag| {
        let published = error::Published {
            tables: &case.tables,
            lineage: &case.lineage,
            cancel,
        };
        let workload = Workload::standard(50);
        let figures = || error::measure_watched(&case.table, published, workload, &mut |_| true);
        cancel.run(|| figures().is_ok_and(|figures| figures.is_some()))
    };
    assert_eq!(measured(CancelFlag::never()), Ok(true));
    case.cancel.cancel();
    assert_eq!(measured(&case.cancel), Err(Cancelled));
}
