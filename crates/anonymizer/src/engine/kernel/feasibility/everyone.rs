//! Everyone together as one group: what the strictest of them asks for, how
//! often values occur, and who of those excluded can be included again.
//!
//! Subjects whose terms everyone together cannot meet are excluded, the
//! strictest first. When the last of them is excluded, one who was excluded
//! before may fit again, because the subject in the way is excluded too. So
//! those who fit are included again, the least strict first, equals in random
//! order, until nobody else fits. Then no subject is excluded whose terms could
//! be met beside all others', and the verifier looks for just that.
//!
//! Engines decide what must hold. That no value is too frequent for any
//! subject is the same for all ([`Everyone::keeps_values_with`]).

use std::cmp::Reverse;

use rand::seq::SliceRandom;

use crate::engine::context::RunContext;
use crate::microdata::RecordIndex;
use crate::privacy::{RecordTerms, Requirements, Share};

use crate::engine::kernel::included::SensitiveColumn;
use crate::engine::kernel::{Included, is_eligible};

/// Place of the stream that decides between equals who are included again.
const AGAIN: u64 = u64::MAX - 1;

/// Everyone who is included, as one group.
#[derive(Clone, Debug)]
pub struct Everyone<'a> {
    requirements: &'a Requirements,
    size: u64,
    k: u32,
    columns: Vec<Counted<'a>>,
}

/// One sensitive attribute of everyone.
#[derive(Clone, Debug)]
struct Counted<'a> {
    of: SensitiveColumn<'a>,
    counts: Vec<u64>,
    most: u64,
    /// The strictest l and share of all.
    l: u32,
    share: Share,
}

impl<'a> Everyone<'a> {
    /// Counts those included and their values in these columns.
    pub fn of(included: &Included<'a>, columns: &[SensitiveColumn<'a>]) -> Self {
        let counted = |&of: &SensitiveColumn<'a>| Counted {
            counts: vec![0; of.column.domain.len()],
            most: 0,
            l: 1,
            share: Share::ALL,
            of,
        };
        let mut everyone = Self {
            requirements: included.requirements,
            size: 0,
            k: 1,
            columns: columns.iter().map(counted).collect(),
        };
        included
            .records
            .iter()
            .for_each(|&record| everyone.add(record));
        everyone
    }

    fn terms(&self, record: u32) -> &'a RecordTerms {
        self.requirements.of(RecordIndex(record))
    }

    /// Number of records with one more.
    pub fn size_with_one(&self) -> u64 {
        self.size + 1
    }

    /// The strictest own k of everyone and this record.
    pub fn k_with(&self, record: u32) -> u32 {
        self.k.max(self.terms(record).own.k)
    }

    /// The strictest l of everyone and this record, of any column.
    pub fn l_with(&self, record: u32) -> u32 {
        let own = self.terms(record);
        let columns = self.columns.iter();
        let asked = columns.map(|column| column.l.max(own.l[column.of.index.at()]));
        asked.max().unwrap_or(1)
    }

    /// Whether no value is too frequent for any subject once this record is
    /// included.
    pub fn keeps_values_with(&self, record: u32) -> bool {
        let own = self.terms(record);
        let size = self.size_with_one();
        self.columns.iter().all(|column| {
            let at = column.of.index.at();
            let code = column.of.column.codes.at(record as usize);
            let most = column.most.max(column.counts[code as usize] + 1);
            is_eligible(most, size, column.l.max(own.l[at]))
                && column.share.min(own.max_share[at]).allows(most, size)
        })
    }

    fn add(&mut self, record: u32) {
        let own = self.terms(record);
        self.size += 1;
        self.k = self.k.max(own.own.k);
        for column in &mut self.columns {
            let at = column.of.index.at();
            let code = column.of.column.codes.at(record as usize);
            let count = &mut column.counts[code as usize];
            *count += 1;
            column.most = column.most.max(*count);
            column.l = column.l.max(own.l[at]);
            column.share = column.share.min(own.max_share[at]);
        }
    }

    /// By own k, then by l, then by share: the least strict is the smallest.
    fn strictness(&self, record: u32) -> (u32, u32, Reverse<Share>) {
        let own = self.terms(record);
        let columns = || self.columns.iter().map(|column| column.of.index.at());
        let l = columns().map(|at| own.l[at]).max();
        let share = columns().map(|at| own.max_share[at]).min();
        (
            own.own.k,
            l.unwrap_or(1),
            Reverse(share.unwrap_or(Share::ALL)),
        )
    }

    /// Includes those of `excluded` again whom `fits` accepts, one after the
    /// other, until it accepts nobody; `excluded` keeps the others. `fits` is
    /// asked once for each in a round; those who fit are counted at once.
    pub fn include_again(
        mut self,
        included: &mut Included<'_>,
        excluded: &mut Vec<u32>,
        (context, stage): (&RunContext<'_>, u32),
        mut fits: impl FnMut(&Self, u32) -> bool,
    ) {
        let mut order = excluded.clone();
        order.sort_unstable();
        order.shuffle(&mut context.stream(stage, AGAIN));
        order.sort_by_key(|&record| self.strictness(record));
        loop {
            let before = order.len();
            order.retain(|&record| {
                let is_included = fits(&self, record);
                if is_included {
                    self.add(record);
                    included.records.push(record);
                }
                !is_included
            });
            if order.len() == before {
                break;
            }
        }
        included.records.sort_unstable();
        excluded.retain(|record| included.records.binary_search(record).is_err());
    }
}
