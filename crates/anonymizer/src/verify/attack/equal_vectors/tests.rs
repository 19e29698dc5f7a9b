//! What the attack finds in made-up ways to stand, and how often chance alone
//! is beyond the gate.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;

use super::*;
use crate::privacy::Seed;

/// People by number of vector, own value and class.
struct Made {
    vector: Vec<u32>,
    own: Vec<u32>,
    class: Vec<u32>,
    l: u32,
}

impl Made {
    fn check(&self) -> Check {
        let classes = self.class.iter().max().map_or(0, |&last| last + 1);
        let mut contents: Vec<Vec<u32>> = vec![Vec::new(); classes as usize];
        for (&class, &own) in self.class.iter().zip(&self.own) {
            contents[class as usize].push(own);
        }
        for codes in &mut contents {
            codes.sort_unstable();
            codes.dedup();
        }
        let l = vec![self.l; self.own.len()];
        let standing = Standing {
            vector: &self.vector,
            own: &self.own,
            class: &self.class,
            l: Some(&l),
            home: None,
            shown: Box::new(|class, to| to.extend(&contents[class as usize])),
            codes: 64,
        };
        equal_vectors("s", &standing, true)
    }

    /// As Anatomy deals: one each of the `l` most frequent values, as long as
    /// there are so many. The rows left over are not published.
    fn dealt(vector: &[u32], own: &[u32], l: u32, random: &mut ChaCha12Rng) -> Self {
        let mut of_value: Vec<Vec<usize>> = vec![Vec::new(); 64];
        let mut rows: Vec<usize> = (0..own.len()).collect();
        rows.shuffle(random);
        for row in rows {
            of_value[own[row] as usize].push(row);
        }
        let mut made = Self {
            vector: Vec::new(),
            own: Vec::new(),
            class: Vec::new(),
            l,
        };
        for class in 0.. {
            of_value.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
            if of_value[l as usize - 1].is_empty() {
                break;
            }
            for rows in &mut of_value[..l as usize] {
                let Some(row) = rows.pop() else { continue };
                made.vector.push(vector[row]);
                made.own.push(own[row]);
                made.class.push(class);
            }
        }
        made
    }
}

/// Vectors with values: independent of each other, or each vector with a
/// value of its own that most of its people have.
fn people(random: &mut ChaCha12Rng, correlated: f64) -> (Vec<u32>, Vec<u32>) {
    let (number, values) = (random.random_range(20..600), random.random_range(6..20_u32));
    let vectors = random.random_range(2..number);
    let vector = (0..number).map(|_| random.random_range(0..vectors));
    let vector: Vec<u32> = vector.collect();
    let own = vector.iter().map(|vector| {
        if random.random_bool(correlated) {
            vector % values
        } else {
            random.random_range(0..values)
        }
    });
    let own = own.collect();
    (vector, own)
}

#[test]
fn chance_is_beyond_the_gate_less_than_once_in_a_thousand() {
    let mut random = Seed::of_number(3).stream(0, 0);
    let (mut beyond, mut compared) = (0, 0);
    for case in 0..4_000 {
        let correlated = [0.0, 0.0, 0.3, 0.8][case % 4];
        let (vector, own) = people(&mut random, correlated);
        let l = random.random_range(2..6);
        let check = Made::dealt(&vector, &own, l, &mut random).check();
        compared += usize::from(check.claimed.is_some());
        beyond += usize::from(!check.holds);
    }
    assert!(compared > 2_000, "{compared} compared");
    assert!(beyond <= 4, "{beyond} of {compared} beyond");
}

#[test]
fn classes_that_hold_all_true_values_of_a_vector_are_beyond_the_gate() {
    let mut random = Seed::of_number(4).stream(0, 0);
    // Pairs whose two values have nothing to do with each other, in classes
    // of both values and three others.
    let mut made = Made {
        vector: Vec::new(),
        own: Vec::new(),
        class: Vec::new(),
        l: 5,
    };
    for pair in 0..200_u32 {
        let mut values: Vec<u32> = (0..40).collect();
        values.shuffle(&mut random);
        for one in 0..2 {
            let class = pair * 2 + one;
            let others = &values[2 + 3 * one as usize..][..3];
            // The rows that fill the class up are alone with their vector.
            let alone = (1..5).map(|at| 1_000 + class * 10 + at);
            made.vector.extend(std::iter::once(pair).chain(alone));
            made.own
                .extend([values[one as usize], values[1 - one as usize]]);
            made.own.extend(others);
            made.class.extend([class; 5]);
        }
    }
    let check = made.check();
    assert!(!check.holds, "{check:?}");
    assert!(check.attained > Some(0.45), "{check:?}");
    // The same values dealt without a look at vectors are within.
    let again = Made::dealt(&made.vector, &made.own, 5, &mut random).check();
    assert!(again.holds, "{again:?}");
}

#[test]
fn a_vector_in_one_class_is_not_attacked() {
    let made = Made {
        vector: vec![0, 0, 1],
        own: vec![0, 1, 2],
        class: vec![0, 0, 0],
        l: 3,
    };
    let check = made.check();
    assert_eq!(
        (check.attained, check.claimed, check.holds),
        (None, None, true)
    );
}

#[test]
fn a_guess_is_right_as_often_as_people_have_what_their_classes_share() {
    // Two people of one vector: classes {0, 1} and {0, 2}; one has the 0.
    let made = Made {
        vector: vec![0, 1, 0, 2],
        own: vec![0, 1, 2, 0],
        class: vec![0, 0, 1, 1],
        l: 2,
    };
    let check = made.check();
    assert_eq!(check.attained, Some(0.5));
    assert!(check.holds);
}
