//! The people of a release dealt out again: every class keeps the values that
//! it holds, and each value's people are spread over that value's places at
//! random, whatever is known of them; inside their block of like people, where
//! the engine deals inside such blocks.
//!
//! What an attack attains then is what the data say, not how the engine dealt.
//! The draws are the verifier's own and the same every time.

use rand::seq::SliceRandom;

use crate::privacy::{ProtectedIndex, Seed};

use super::equal_vectors::{Standing, stands};

/// Of which number the verifier's own draws are.
const SEED: u64 = 16;
/// Stream of the draws.
const STAGE: u32 = 1;

/// The blocks of like people that rows were dealt from, for each sensitive
/// attribute whose engine makes such blocks.
#[derive(Debug, Default)]
pub struct Homes(Vec<(ProtectedIndex, Vec<u32>)>);

impl Homes {
    /// Adds those of an attribute; row beside row.
    pub fn add(&mut self, index: ProtectedIndex, home: Vec<u32>) {
        self.0.push((index, home));
    }

    /// Those of an attribute.
    pub fn of(&self, index: ProtectedIndex) -> Option<&[u32]> {
        let found = self.0.iter().find(|&&(other, _)| other == index);
        found.map(|(_, home)| home.as_slice())
    }
}

/// Rows of people who stand in a class, vector by vector.
pub(super) fn by_vector(standing: &Standing) -> Vec<u32> {
    sorted(standing, standing.vector)
}

fn sorted(standing: &Standing, by: &[u32]) -> Vec<u32> {
    let rows = 0..standing.vector.len() as u32;
    let mut rows: Vec<u32> = rows.filter(|&row| stands(standing, row)).collect();
    rows.sort_by_key(|&row| by[row as usize]);
    rows
}

/// The same rows by block of like people, then value by value.
pub(super) fn by_value(standing: &Standing) -> Vec<u32> {
    let mut rows = sorted(standing, standing.own);
    rows.sort_by_key(|&row| home(standing, row));
    rows
}

fn home(standing: &Standing, row: u32) -> u32 {
    standing.home.map_or(0, |home| home[row as usize])
}

/// Class of each row when everyone is dealt out again; `rows` are those of
/// [`by_value`].
pub(super) fn again(standing: &Standing, rows: &[u32], deal: u64) -> Vec<u32> {
    let mut random = Seed::of_number(SEED).stream(STAGE, deal);
    let mut class = standing.class.to_vec();
    let mut places: Vec<u32> = Vec::new();
    let dealt_as = |row: u32| (home(standing, row), standing.own[row as usize]);
    for people in rows.chunk_by(|&a, &b| dealt_as(a) == dealt_as(b)) {
        places.clear();
        places.extend(people.iter().map(|&row| standing.class[row as usize]));
        places.shuffle(&mut random);
        for (&row, &place) in people.iter().zip(&places) {
            class[row as usize] = place;
        }
    }
    class
}
