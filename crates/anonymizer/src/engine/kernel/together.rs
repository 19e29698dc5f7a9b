//! Everyone together as one group: what the strictest of them asks for, how
//! often values occur, and who of those that left can come back.
//!
//! Subjects whose terms everyone together cannot meet leave strictest first.
//! When the last of them is gone, somebody who left before may fit again: the
//! one whose terms stood in the way is gone too. So whoever fits comes back,
//! the least strict first, equals in random order, until nobody else does.
//! Then nobody is left out whose terms could be met beside all others', and
//! the verifier looks for just that.
//!
//! What must hold is the engine's to say; that no value is too frequent for
//! anybody is the same for all ([`Everyone::keeps_values_with`]).

use std::cmp::Reverse;

use rand::seq::SliceRandom;

use crate::engine::context::RunContext;
use crate::microdata::RecordIndex;
use crate::privacy::{RecordTerms, Requirements, Share};

use super::present::SensitiveColumn;
use super::{Present, is_eligible};

/// Place of the stream that decides between equals who come back.
const BACK: u64 = u64::MAX - 1;

/// Everyone who is present, as one group.
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
    /// The strictest l and share of anybody.
    l: u32,
    share: Share,
}

impl<'a> Everyone<'a> {
    /// Counts those present and their values in these columns.
    pub fn of(present: &Present<'a>, columns: &[SensitiveColumn<'a>]) -> Self {
        let counted = |&of: &SensitiveColumn<'a>| Counted {
            counts: vec![0; of.column.domain.len()],
            most: 0,
            l: 1,
            share: Share::ALL,
            of,
        };
        let mut everyone = Self {
            requirements: present.requirements,
            size: 0,
            k: 1,
            columns: columns.iter().map(counted).collect(),
        };
        present
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

    /// Whether no value is too frequent for anybody with this record there.
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

    /// Brings those of `gone` back to `present` whom `takes` takes, one after
    /// the other, until it takes nobody; `gone` keeps the others. `takes` is
    /// asked once for each in a round, and whom it takes is counted at once.
    pub fn come_back(
        mut self,
        present: &mut Present<'_>,
        gone: &mut Vec<u32>,
        (context, stage): (&RunContext<'_>, u32),
        mut takes: impl FnMut(&Self, u32) -> bool,
    ) {
        let mut order = gone.clone();
        order.sort_unstable();
        order.shuffle(&mut context.stream(stage, BACK));
        order.sort_by_key(|&record| self.strictness(record));
        loop {
            let before = order.len();
            order.retain(|&record| {
                let comes = takes(&self, record);
                if comes {
                    self.add(record);
                    present.records.push(record);
                }
                !comes
            });
            if order.len() == before {
                break;
            }
        }
        present.records.sort_unstable();
        gone.retain(|record| present.records.binary_search(record).is_err());
    }
}
