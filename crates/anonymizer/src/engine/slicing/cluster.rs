//! Clusters of attributes that go together ([Slicing] section 4.1): k-medoids
//! (PAM, Kaufman & Rousseeuw 1990) on the distance 1 − φ².
//!
//! Sensitive attributes take part, so that each is in one cluster with what
//! tells most about it. That is also what endangers it: beside a combination
//! of quasi-identifiers that decides a sensitive value no l holds. So (*ours*)
//! the quasi-identifiers of a sensitive attribute's cluster are taken into its
//! column one by one, the most telling first, each only where a release still
//! exists; the others go to the nearest cluster without a sensitive attribute,
//! or to a column of their own where there is none.

use rayon::prelude::*;

use crate::engine::kernel::Included;
use crate::engine::kernel::contingency::{Categories, phi_squared};
use crate::engine::kernel::sliced_table::Slices;
use crate::microdata::{AttributeIndex, Role};
use crate::privacy::Slicing;

/// Attributes with the distance of each pair.
struct Attributes {
    all: Vec<AttributeIndex>,
    is_sensitive: Vec<bool>,
    distances: Vec<f64>,
}

impl Attributes {
    fn of(included: &Included<'_>, slicing: &Slicing) -> Self {
        let schema = included.table.schema();
        let linked = schema
            .select(|attribute| matches!(attribute.role, Role::QuasiIdentifier | Role::Sensitive));
        let aside =
            |at: &AttributeIndex| slicing.generalize.contains(at) || slicing.drop.contains(at);
        let coded = linked.into_iter().filter(|at| !aside(at));
        let coded = coded.filter_map(|at| Some((at, included.table.coded(at)?)));
        let coded: Vec<_> = coded.collect();
        let categories: Vec<Categories> = coded
            .par_iter()
            .map(|(_, column)| Categories::of(column, &included.records))
            .collect();
        let number = coded.len();
        let distances = (0..number * number).into_par_iter().map(|pair| {
            let (one, other) = (pair / number, pair % number);
            if one == other {
                0.0
            } else {
                // The same sum for both orders.
                1.0 - phi_squared(&categories[one.min(other)], &categories[one.max(other)])
            }
        });
        let distances = distances.collect();
        let sensitive = |at: &AttributeIndex| schema.attribute(*at).role == Role::Sensitive;
        Self {
            is_sensitive: coded.iter().map(|(at, _)| sensitive(at)).collect(),
            all: coded.iter().map(|&(at, _)| at).collect(),
            distances,
        }
    }

    fn distance(&self, one: usize, other: usize) -> f64 {
        self.distances[one * self.all.len() + other]
    }

    /// Σ over attributes of the distance to their nearest medoid.
    fn cost(&self, medoids: &[usize]) -> f64 {
        let nearest = |at: usize| {
            let distances = medoids.iter().map(|&medoid| self.distance(at, medoid));
            distances.fold(f64::INFINITY, f64::min)
        };
        (0..self.all.len()).map(nearest).sum()
    }

    /// Medoids: taken one by one where they save most, then exchanged while
    /// that saves. The first of equals is taken.
    fn medoids(&self, clusters: usize) -> Vec<usize> {
        let mut medoids: Vec<usize> = Vec::new();
        while medoids.len() < clusters.min(self.all.len()) {
            let others = (0..self.all.len()).filter(|at| !medoids.contains(at));
            let with = |at: usize| [&medoids[..], &[at]].concat();
            let best = others
                .map(with)
                .min_by(|one, other| self.cost(one).total_cmp(&self.cost(other)));
            match best {
                Some(best) => medoids = best,
                None => break,
            }
        }
        let mut cost = self.cost(&medoids);
        loop {
            let exchanges =
                (0..medoids.len()).flat_map(|out| (0..self.all.len()).map(move |into| (out, into)));
            let exchanges = exchanges.filter(|(_, into)| !medoids.contains(into));
            let exchanged = exchanges.map(|(out, into)| {
                let mut changed = medoids.clone();
                changed[out] = into;
                (self.cost(&changed), changed)
            });
            let best = exchanged.min_by(|one, other| one.0.total_cmp(&other.0));
            match best {
                // Beyond what rounding does, so that the loop ends.
                Some((lower, changed)) if lower < cost - 1e-12 => {
                    (cost, medoids) = (lower, changed);
                }
                _ => return medoids,
            }
        }
    }
}

/// A quasi-identifier that may join a sensitive attribute's column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guest {
    attribute: AttributeIndex,
    /// Column of the sensitive attribute, and where it is otherwise.
    host: usize,
    home: usize,
}

/// Columns found.
#[derive(Debug)]
pub(super) struct Found {
    columns: Vec<Vec<AttributeIndex>>,
    /// Those that are not in their sensitive attribute's column yet, the most
    /// telling first.
    pub guests: Vec<Guest>,
}

impl Found {
    /// Finds so many clusters, with the sensitive attributes by themselves.
    pub fn new(included: &Included<'_>, slicing: &Slicing, clusters: u32) -> Self {
        let attributes = Attributes::of(included, slicing);
        let medoids = attributes.medoids(clusters as usize);
        let nearest = |at: usize, among: &[usize]| {
            let among = among.iter().copied();
            among.min_by(|&one, &other| {
                let [one, other] = [one, other].map(|to| attributes.distance(at, medoids[to]));
                one.total_cmp(&other)
            })
        };
        let every: Vec<usize> = (0..medoids.len()).collect();
        let cluster_of: Vec<usize> = (0..attributes.all.len())
            .map(|at| nearest(at, &every).unwrap_or(0))
            .collect();
        let is_host = |cluster: usize| {
            let mut members = cluster_of.iter().zip(&attributes.is_sensitive);
            members.any(|(&of, &sensitive)| of == cluster && sensitive)
        };
        let homes: Vec<usize> = every.iter().copied().filter(|&at| !is_host(at)).collect();
        let mut columns = vec![Vec::new(); medoids.len() + 1];
        let mut guests = Vec::new();
        for (at, &attribute) in attributes.all.iter().enumerate() {
            let cluster = cluster_of[at];
            if attributes.is_sensitive[at] || !is_host(cluster) {
                columns[cluster].push(attribute);
                continue;
            }
            let home = nearest(at, &homes).unwrap_or(medoids.len());
            columns[home].push(attribute);
            let sensitive = (0..attributes.all.len())
                .filter(|&other| cluster_of[other] == cluster && attributes.is_sensitive[other]);
            let distance = sensitive.map(|other| attributes.distance(at, other));
            let distance = distance.fold(f64::INFINITY, f64::min);
            let guest = Guest {
                attribute,
                host: cluster,
                home,
            };
            guests.push((distance, guest));
        }
        guests.sort_by(|one, other| one.0.total_cmp(&other.0));
        Self {
            columns,
            guests: guests.into_iter().map(|(_, guest)| guest).collect(),
        }
    }

    /// With a guest in its sensitive attribute's column.
    pub fn with(&self, guest: Guest) -> Self {
        let mut columns = self.columns.clone();
        columns[guest.home].retain(|&attribute| attribute != guest.attribute);
        columns[guest.host].push(guest.attribute);
        Self {
            columns,
            guests: Vec::new(),
        }
    }

    /// The columns, in schema order of their first attributes.
    pub fn slices(&self, generalized: &[AttributeIndex]) -> Slices {
        let mut columns = self.columns.clone();
        columns.retain(|column| !column.is_empty());
        columns.iter_mut().for_each(|column| column.sort_unstable());
        columns.sort();
        Slices {
            columns,
            generalized: generalized.to_vec(),
        }
    }
}
