//! `bucket_link: "group"`: the release says how many cells of each group are
//! in which bucket, not which cells.
//!
//! No lineage says more, so the verifier assigns the cells of a group to the
//! places that the group has, as kindly as can be: the strictest terms to the
//! bucket that serves them best. Since buckets that serve strict terms serve
//! weaker ones too, terms that fall short under this assignment fall short
//! under every one: the check is exact for l and for the largest share. For
//! the contents it shows what must hold of any assignment: places and cells
//! of each group agree in number, places and size of each bucket too, the
//! totals of each value agree, each cell finds its value in a bucket of its
//! group, and each value of a bucket finds a cell in one of its groups.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::microdata::AttributeIndex;
use crate::privacy::{InBucket, ProtectedIndex};

use crate::verify::buckets::attributes_named;
use crate::verify::classes::Counts;
use crate::verify::classes::Members;
use crate::verify::evidence::Evidence;
use crate::verify::meaning::{Meaning, dictionary, numbers};
use crate::verify::shape::GROUP_BUCKETS;
use crate::verify::verdict::{Failures, Place};
use crate::verify::view::{AttributeView, NONE, View};

/// Cells of one group in one bucket of an attribute.
#[derive(Clone, Copy, Debug)]
struct Link {
    group: u64,
    /// Position of the bucket.
    bucket: u32,
    cells: u64,
}

/// Members by the kindest assignment, and what no assignment can mend.
/// `None` if `group_buckets` cannot be read.
pub(super) fn by_group(
    evidence: &Evidence,
    (view, protections): (&View, &[(AttributeIndex, InBucket)]),
    buckets: &[Counts],
) -> Option<(Vec<Members>, Failures)> {
    let (links, mut failures) = read(evidence, view, buckets)?;
    let mut all = Vec::new();
    for (((index, attribute), buckets), links) in view.protected().zip(buckets).zip(&links) {
        let cells = cells_by_group(view, attribute);
        check_counts(&mut failures, attribute.name, buckets, links, &cells);
        check_values(&mut failures, view, attribute, (buckets, links, &cells));
        let demand = Demand {
            view,
            index,
            protection: protections[index.at()].1,
        };
        let assigned = assign(&demand, buckets, (links, &cells));
        all.push(Members::of(assigned, buckets.len()));
    }
    Some((all, failures))
}

/// The sound rows of `group_buckets` by attribute.
fn read(
    evidence: &Evidence,
    view: &View,
    buckets: &[Counts],
) -> Option<(Vec<Vec<Link>>, Failures)> {
    let published = evidence.published(GROUP_BUCKETS)?;
    let rows = published.rows();
    let column = |name| {
        let column = published.column(name)?;
        (column.cells.len() == rows).then_some(column)
    };
    let group = numbers(column("group")?)?;
    let bucket = numbers(column("bucket")?)?;
    let count = numbers(column("count")?)?;
    let (codes, names) = dictionary(column("attribute")?)?;
    let named = attributes_named(view, names);
    let mut failures = Failures::none();
    let mut links = vec![Vec::new(); buckets.len()];
    let mut seen = FxHashSet::default();
    for row in 0..rows {
        let link = named[codes.at(row) as usize].and_then(|protected| {
            let bucket = buckets[protected.at()].position(bucket[row])?;
            let possible = (1..=view.rows() as u64).contains(&count[row]);
            let new = seen.insert((protected, group[row], bucket));
            let link = Link {
                group: group[row],
                bucket,
                cells: count[row],
            };
            (possible && new).then_some((protected, link))
        });
        match link {
            Some((protected, link)) => links[protected.at()].push(link),
            None => failures.add_at(GROUP_BUCKETS, Place::Row(row as u64 + 1)),
        }
    }
    Some((links, failures))
}

/// The rows of each published group whose cell is in a bucket.
fn cells_by_group(view: &View, attribute: &AttributeView) -> BTreeMap<u64, Vec<u32>> {
    let mut cells: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for row in 0..view.rows() {
        if *attribute.cells.meaning(row) == Meaning::Empty {
            cells.entry(view.group[row]).or_default().push(row as u32);
        }
    }
    cells
}

/// Places of each group and of each bucket against the cells they are for.
fn check_counts(
    failures: &mut Failures,
    name: &str,
    buckets: &Counts,
    links: &[Link],
    cells: &BTreeMap<u64, Vec<u32>>,
) {
    let mut of_group: BTreeMap<u64, u64> = BTreeMap::new();
    let mut of_bucket = vec![0_u64; buckets.len()];
    for link in links {
        *of_group.entry(link.group).or_default() += link.cells;
        of_bucket[link.bucket as usize] += link.cells;
    }
    for (at, (&places, &size)) in of_bucket.iter().zip(&buckets.sizes).enumerate() {
        if places != size {
            failures.add_at(name, Place::Bucket(at as u64 + 1));
        }
    }
    let missing = cells
        .iter()
        .filter(|(group, rows)| of_group.get(*group).copied().unwrap_or(0) != rows.len() as u64);
    let unknown = of_group.keys().filter(|group| !cells.contains_key(*group));
    let wrong = missing.map(|(group, _)| *group).chain(unknown.copied());
    wrong.for_each(|group| failures.add_at(name, Place::Group(group)));
}

/// Values of each group and of each bucket against each other.
fn check_values(
    failures: &mut Failures,
    view: &View,
    attribute: &AttributeView,
    (buckets, links, cells): (&Counts, &[Link], &BTreeMap<u64, Vec<u32>>),
) {
    let mut totals = vec![0_u64; attribute.domain.len()];
    let mut codes_of_group: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    for (&group, rows) in cells {
        let codes = rows
            .iter()
            .filter_map(|&row| view.source(attribute, row as usize));
        for code in codes {
            totals[code as usize] += 1;
            codes_of_group.entry(group).or_default().insert(code);
        }
    }
    if totals != buckets.totals {
        failures.add("the values of all buckets are not those of all cells in buckets");
    }
    let none = BTreeSet::new();
    let mut found_by_bucket: FxHashSet<(u32, u32)> = FxHashSet::default();
    let mut found_by_group: FxHashSet<(u64, u32)> = FxHashSet::default();
    for link in links {
        let codes = codes_of_group.get(&link.group).unwrap_or(&none);
        for &code in codes
            .iter()
            .filter(|&&code| buckets.count(link.bucket as usize, code) > 0)
        {
            found_by_bucket.insert((link.bucket, code));
            found_by_group.insert((link.group, code));
        }
    }
    for at in 0..buckets.len() {
        let orphan = |&&(code, _): &&(u32, u64)| !found_by_bucket.contains(&(at as u32, code));
        if buckets.contents(at).iter().any(|entry| orphan(&entry)) {
            failures.add_at(attribute.name, Place::Bucket(at as u64 + 1));
        }
    }
    let homeless = codes_of_group.iter().filter(|(group, codes)| {
        codes
            .iter()
            .any(|&code| !found_by_group.contains(&(**group, code)))
    });
    homeless.for_each(|(&group, _)| failures.add_at(attribute.name, Place::Group(group)));
}

/// Bucket of each row's cell: strictest terms first to the bucket that
/// serves them best.
fn assign(
    demand: &Demand,
    buckets: &Counts,
    (links, cells): (&[Link], &BTreeMap<u64, Vec<u32>>),
) -> Vec<u32> {
    let mut places: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for link in links {
        let room = cells.get(&link.group).map_or(0, Vec::len);
        let taken = places.entry(link.group).or_default();
        let add = (link.cells as usize).min(room.saturating_sub(taken.len()));
        taken.extend(std::iter::repeat_n(link.bucket, add));
    }
    let mut assigned = vec![NONE; demand.view.rows()];
    for (group, rows) in cells {
        let mut rows = rows.clone();
        rows.sort_by(|&a, &b| demand.of(b as usize).total_cmp(&demand.of(a as usize)));
        let mut open = places.remove(group).unwrap_or_default();
        open.sort_by(|&a, &b| service(buckets, b).total_cmp(&service(buckets, a)));
        for (&row, &bucket) in rows.iter().zip(&open) {
            assigned[row as usize] = bucket;
        }
    }
    assigned
}

/// What the terms of rows ask of their buckets.
struct Demand<'a> {
    view: &'a View<'a>,
    index: ProtectedIndex,
    protection: InBucket,
}

impl Demand<'_> {
    /// At least this many values, evenly.
    fn of(&self, row: usize) -> f64 {
        let Some(terms) = self.view.terms(row) else {
            return 0.0;
        };
        let at = self.index.at();
        match self.protection {
            InBucket::Diversity { .. } => f64::from(terms.l[at]),
            InBucket::Closeness { .. } => 1.0 / terms.max_share[at].get(),
        }
    }
}

/// What a bucket serves, in the same measure: size over largest count.
fn service(buckets: &Counts, at: u32) -> f64 {
    let at = at as usize;
    buckets.sizes[at] as f64 / buckets.largest_count(at).max(1) as f64
}
