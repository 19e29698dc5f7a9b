//! Rows that seeds have not taken yet, with their codes close together: each
//! choice of levels reads all of them.
//!
//! Attributes that have few values together are read as one: a choice reckons
//! the key of each of those once, and every row looks one key up instead of
//! one an attribute.

use crate::engine::kernel::Rows;

use super::levels::{Choice, Level};

/// Values of attributes that are read as one; their keys stay in the fastest
/// cache.
const JOINT_VALUES_MAX: usize = 2048;
/// Rows whose keys are made together.
const BLOCK: usize = 1024;

/// Rows in no group.
pub(super) struct Unassigned {
    /// The rows, ascending.
    pub rows: Vec<u32>,
    columns: Vec<Column>,
}

/// Attributes that are read as one.
struct Column {
    attributes: Vec<usize>,
    /// Codes of each attribute for every value of all of them together. Empty
    /// for a single attribute, whose values are its codes.
    codes: Vec<Vec<u32>>,
    /// Value of each row.
    of_rows: Vec<u32>,
    /// Key of each value at the levels chosen last.
    keys: Vec<u64>,
}

impl Unassigned {
    /// These rows, ascending; `levels` are those of each attribute.
    pub fn of(codes: &Rows, rows: &[u32], levels: &[Vec<Level>]) -> Self {
        let domain = |at: usize| levels[at][0].loss.len();
        let mut joint: Vec<(usize, Vec<usize>)> = Vec::new();
        for at in 0..codes.width() {
            let fits = |values: usize| values.saturating_mul(domain(at)) <= JOINT_VALUES_MAX;
            match joint.iter_mut().find(|(values, _)| fits(*values)) {
                Some((values, attributes)) => {
                    *values *= domain(at);
                    attributes.push(at);
                }
                None => joint.push((domain(at), vec![at])),
            }
        }
        let column = |(_, attributes)| Column::of(codes, rows, attributes, &domain);
        Self {
            columns: joint.into_iter().map(column).collect(),
            rows: rows.to_vec(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Leaves out the rows at the positions that are taken.
    pub fn keep(&mut self, taken: &[bool]) {
        let columns = self.columns.iter_mut().map(|column| &mut column.of_rows);
        for column in columns.chain([&mut self.rows]) {
            let mut taken = taken.iter();
            column.retain(|_| taken.next().is_none_or(|taken| !taken));
        }
    }

    /// Mean loss of each level of each attribute. Forgets values that no row
    /// has any more.
    pub fn means(&mut self, levels: &[Vec<Level>]) -> Vec<Vec<f32>> {
        let mut means: Vec<Vec<f32>> = vec![Vec::new(); levels.len()];
        let rows = self.len() as f64;
        for column in &mut self.columns {
            let counts = column.forget();
            for (at, &attribute) in column.attributes.iter().enumerate() {
                let of_level = |level: &Level| (column.loss(at, level, &counts) / rows) as f32;
                means[attribute] = levels[attribute].iter().map(of_level).collect();
            }
        }
        means
    }

    /// The key of each row's names at the chosen levels.
    pub fn keys(&mut self, choice: &Choice, levels: &[Vec<Level>], keys: &mut Vec<u64>) {
        let level = |attribute: usize| &levels[attribute][choice[attribute] as usize];
        for column in &mut self.columns {
            column.choose(level);
        }
        let read: Vec<(&[u64], &[u32])> = self
            .columns
            .iter()
            .map(|column| (column.keys_at(level), column.of_rows.as_slice()))
            .filter(|(of_values, _)| !of_values.is_empty())
            .collect();
        keys.clear();
        keys.resize(self.rows.len(), 0);
        for (block, keys) in keys.chunks_mut(BLOCK).enumerate() {
            for (of_values, values) in &read {
                for (key, &value) in keys.iter_mut().zip(&values[block * BLOCK..]) {
                    *key ^= of_values[value as usize];
                }
            }
        }
    }
}

impl Column {
    fn of(
        codes: &Rows,
        rows: &[u32],
        attributes: Vec<usize>,
        domain: &impl Fn(usize) -> usize,
    ) -> Self {
        let value = |&row: &u32| {
            let codes = attributes
                .iter()
                .map(|&at| (codes.cell(row, at), domain(at)));
            codes.fold(0, |value, (code, domain)| value * domain as u32 + code)
        };
        let of_rows = rows.iter().map(value).collect();
        let all: usize = attributes.iter().map(|&at| domain(at)).product();
        let mut behind = all;
        let mut codes = Vec::new();
        for &at in attributes.iter().filter(|_| attributes.len() > 1) {
            behind /= domain(at);
            let code = |value: usize| (value / behind % domain(at)) as u32;
            codes.push((0..all).map(code).collect());
        }
        Self {
            attributes,
            codes,
            of_rows,
            keys: Vec::new(),
        }
    }

    /// Numbers the values anew that rows have; how many rows have each. Nothing
    /// for a single attribute.
    fn forget(&mut self) -> Vec<u32> {
        let mut counts = vec![0; self.codes.first().map_or(0, Vec::len)];
        if self.codes.is_empty() {
            return counts;
        }
        for &value in &self.of_rows {
            counts[value as usize] += 1;
        }
        let mut next = 0;
        let numbers = counts.iter().map(|&count| {
            next += u32::from(count > 0);
            next.saturating_sub(1)
        });
        let numbers: Vec<u32> = numbers.collect();
        for value in &mut self.of_rows {
            *value = numbers[*value as usize];
        }
        for codes in &mut self.codes {
            let mut counts = counts.iter();
            codes.retain(|_| counts.next().is_some_and(|&count| count > 0));
        }
        counts.retain(|&count| count > 0);
        counts
    }

    /// Loss of all rows at a level of one of the attributes.
    fn loss(&self, at: usize, level: &Level, counts: &[u32]) -> f64 {
        let loss = |code: u32| f64::from(level.loss[code as usize]);
        let Some(codes) = self.codes.get(at) else {
            return self.of_rows.iter().map(|&code| loss(code)).sum();
        };
        let losses = codes.iter().zip(counts);
        losses
            .map(|(&code, &count)| f64::from(count) * loss(code))
            .sum()
    }

    /// Reckons the key of each value.
    fn choose<'a>(&mut self, level: impl Fn(usize) -> &'a Level) {
        self.keys.clear();
        for (&attribute, codes) in self.attributes.iter().zip(&self.codes) {
            let of_codes = &level(attribute).keys;
            if !of_codes.is_empty() {
                self.keys.resize(codes.len(), 0);
                for (key, &code) in self.keys.iter_mut().zip(codes) {
                    *key ^= of_codes[code as usize];
                }
            }
        }
    }

    /// The key of each value; nothing where all have one name.
    fn keys_at<'a>(&'a self, level: impl Fn(usize) -> &'a Level) -> &'a [u64] {
        match self.attributes.as_slice() {
            [one] => &level(*one).keys,
            _ => &self.keys,
        }
    }
}
