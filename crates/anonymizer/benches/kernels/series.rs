//! A release beside eleven others of the same people.

use divan::Bencher;
use divan::counter::ItemsCount;
use vizard_anonymizer::release::candidates::{AttributeCandidates, Candidates, Identity};
use vizard_anonymizer::verify::series;

/// Releases, the last one among them.
const RELEASES: u32 = 12;
/// People of a bucket, each with another value.
const L: u32 = 5;
/// Values, in sets of `L`.
const VALUES: u32 = 50;

/// What the release of one week shows: a hundredth of the people left before
/// it, others came, and everyone keeps their set of values.
fn shown(people: u32, week: u32) -> Vec<u8> {
    let churn = people / 100 / L * L;
    let first = week * churn;
    let present = first..first + people;
    // Neighbours have the same set; in each week others share a bucket.
    let class_of = present.clone().map(|person| (person - first) / L);
    let sets = VALUES / L;
    let classes = (0..people.div_ceil(L)).map(|class| {
        let set = (first / L + class) % sets;
        (set * L..(set + 1) * L).map(|value| (value, 1)).collect()
    });
    let candidates = Candidates {
        subjects: present.map(|person| format!("MRN-{person:09}")).collect(),
        attributes: vec![AttributeCandidates {
            name: "diagnosis".into(),
            l: L,
            stands_in_rows: false,
            is_l_alone: true,
            is_whole: true,
            is_counted: true,
            values: (0..VALUES).map(|value| format!("I{value:02}.0")).collect(),
            classes: classes.collect(),
            class_of: class_of.collect(),
        }],
        identity: Identity::Exact,
        is_complete: true,
        has_own_terms: false,
        shows_changes: false,
        joins_groups: false,
        terms: Vec::new(),
        terms_of: Vec::new(),
        transformed: Vec::new(),
        rows: Vec::new(),
    };
    candidates.to_bytes().expect("memory")
}

/// From the bytes that are kept of each release to the verdict.
#[divan::bench(args = [50_000, 500_000], sample_count = 3, sample_size = 1)]
fn releases_of_twelve_weeks(bencher: Bencher, people: u32) {
    let kept: Vec<Vec<u8>> = (0..RELEASES).map(|week| shown(people, week)).collect();
    let subjects = u64::from(people) * u64::from(RELEASES);
    bencher.counter(ItemsCount::new(subjects)).bench(|| {
        let read = kept.iter().map(|kept| Candidates::from_bytes(kept));
        let read: Vec<Candidates> = read.collect::<Result<_, _>>().expect("kept bytes");
        let others: Vec<&Candidates> = read[..read.len() - 1].iter().collect();
        let found = series(&read[read.len() - 1], &others);
        assert!(found.is_safe(), "{found:?}");
    });
}
