//! Equal vectors: people who cannot be told apart stand in several classes
//! (blocks, buckets, groups of rows), each beside the values that it shows.
//! Anyone who knows how the classes were made compares them: the adversary
//! guesses, evenly, one of the values that all classes of a vector show.
//!
//! Figures: the vectors in at least two classes, the people who show one of
//! which there is a guess, and the share of guesses that are right; and the
//! same of those vectors whose classes have fewer than l values in common.
//!
//! The gate is for releases that claim a largest share of 1 in l. If values
//! are dealt to the rows of a class without a look at their vectors, a guess is
//! right with a chance of at most 1/l of the subject, so right guesses are at
//! most Σ 1/l over the people, and three standard deviations. What
//! the *data* say beyond that no dealing hides: people with equal vectors who
//! share a value stand in classes that share it. So the same classes are dealt
//! out again, each value's people over that value's places ([`dealt`]), and a
//! release may tell what that tells: the bound is the larger of both. An engine
//! that looks at the vectors when it deals is beyond it. Engines that first
//! make blocks of like people, and deal inside these, are compared with such
//! dealings: which blocks there are is what the data say, too.
//!
//! Decided in integers, in units of 2⁻²⁰ of a person: right guesses are rounded
//! up, what is allowed down. Beside 1/l the variance is the larger of Σ p,
//! which bounds that of guesses in classes of distinct values, and Σ over
//! vectors of (right − expected)², for people who are guessed together; beside
//! what dealing again tells it is Σ over vectors of right² of a deal.

use super::dealt;
use super::guesses::{Compared, Found, Guesses, ONE};
use crate::verify::classes::Classes;
use crate::verify::verdict::{Check, Section};
use crate::verify::view::NONE;

/// Times that the classes are dealt out to compare with.
const DEALS: u64 = 4;
/// Standard deviations that chance is given, squared.
const DEVIATIONS_SQUARED: i128 = 9;
/// Values looked at, over all classes of all vectors, after which tables are
/// too broken to be worth more.
const STEPS_MAX: u64 = 1 << 28;

/// Adds the different codes that a class shows.
pub type ShownCodes<'s> = Box<dyn Fn(u32, &mut Vec<u32>) + 's>;

/// People with the classes that they stand in; row beside row.
pub struct Standing<'s> {
    /// What is known of each person, numbered; [`NONE`] for no person.
    pub vector: &'s [u32],
    /// Code of the own value.
    pub own: &'s [u32],
    /// Position of the class; [`NONE`] for none.
    pub class: &'s [u32],
    /// What each subject asks for: no value for more than 1 in so many; none
    /// where nobody asks.
    pub l: Option<&'s [u32]>,
    /// The block of like people that each was dealt from, where the engine
    /// makes such blocks by what is known of people; dealing again stays inside
    /// them.
    pub home: Option<&'s [u32]>,
    /// Adds the different codes that a class shows.
    pub shown: ShownCodes<'s>,
    /// Number of codes of the attribute.
    pub codes: usize,
}

impl<'s> Standing<'s> {
    /// People, row by row, of whom `vector` and the own value are known, in the
    /// classes of an attribute; nobody asks for anything.
    pub fn of(classes: Classes<'s>, vector: &'s [u32], own: &'s [u32]) -> Self {
        Self {
            vector,
            own,
            class: &classes.members.class_of_row,
            l: None,
            home: None,
            shown: Box::new(move |class, to| {
                let contents = classes.contents(class as usize).iter();
                to.extend(contents.map(|&(code, _)| code));
            }),
            codes: classes.domain.len(),
        }
    }
}

/// The entry of one attribute; with `is_bounded` it can fail.
pub fn equal_vectors(name: &str, standing: &Standing, is_bounded: bool) -> Check {
    entry(compared(standing, is_bounded), name)
}

/// What the attack finds, and what it finds when everyone is dealt out again.
fn compared(standing: &Standing, is_bounded: bool) -> Compared {
    let rows = dealt::by_vector(standing);
    let found = look(standing, &rows, standing.class);
    let mut again = Found::default();
    if found.vectors > 0 {
        let by_value = dealt::by_value(standing);
        for deal in 0..DEALS {
            let class = dealt::again(standing, &by_value, deal);
            again.add(&look(standing, &rows, &class));
        }
    }
    Compared {
        found,
        again,
        is_bounded,
    }
}

/// The entry of an attribute, with what it was made from.
pub fn entry(compared: Compared, name: &str) -> Check {
    let check = Check::new(Section::Attack, "equal_vectors").about(name);
    let check = if compared.found.vectors == 0 {
        let check = check.attaining(None, None).with_figure("vectors", 0.0);
        check.noting("no two classes hold people who cannot be told apart")
    } else {
        with_figures(check, &compared)
    };
    Check {
        compared: Some(Box::new(compared)),
        ..check
    }
}

fn with_figures(check: Check, compared: &Compared) -> Check {
    let (found, again) = (&compared.found, &compared.again);
    let kinds = [(&found.common, &again.common), (&found.few, &again.few)];
    let holds = kinds.iter().all(|(found, again)| is_within(found, again));
    let bound = most_allowed(&found.common, &again.common);
    let check = if compared.is_bounded && found.common.people > 0 {
        check.claiming(bound).holding(holds)
    } else {
        check
    };
    let check = check
        .attaining(found.common.rate(), None)
        .with_figure("vectors", found.vectors as f64)
        .with_figure("people", found.common.people as f64)
        .with_figure("people_with_few_in_common", found.few.people as f64)
        .with_figure("right_with_few_in_common", found.few.rate().unwrap_or(0.0))
        .with_figure("right_if_dealt_again", again.common.rate().unwrap_or(0.0));
    if found.steps > STEPS_MAX {
        check.noting("vectors beyond the limit of steps were not looked at")
    } else {
        check.noting(
            "share of right guesses of a value that all classes of equal quasi-identifiers show; \
             bound: 1 in l or what the same classes tell if dealt out at random, and chance",
        )
    }
}

/// What right guesses may be, in units, and their variance, in units squared:
/// the larger of what is promised to the people guessed and of what dealing
/// again tells. Whole numbers of people are compared, not shares: an engine
/// that looks at vectors makes more people guessed, too.
fn allowed(found: &Guesses, again: &Guesses) -> (i128, i128) {
    let told = again.right / DEALS;
    if told > found.allowed {
        let squares = again
            .vectors
            .iter()
            .map(|&(_, right)| i128::from(right).pow(2));
        let deals = i128::from(DEALS);
        let of_one_deal = squares.sum::<i128>() / deals;
        // What is told is a mean of some deals, with a variance of its own.
        (i128::from(told), of_one_deal + of_one_deal / deals)
    } else {
        let promised = (found.allowed, found.people);
        (i128::from(found.allowed), found.variance(promised))
    }
}

/// Whether right guesses are within what is allowed and three deviations of
/// chance.
fn is_within(found: &Guesses, again: &Guesses) -> bool {
    let (allowed, variance) = allowed(found, again);
    let excess = i128::from(found.right) - allowed;
    excess <= 0 || excess * excess <= DEVIATIONS_SQUARED * variance
}

/// The bound as a share of the people.
fn most_allowed(found: &Guesses, again: &Guesses) -> f64 {
    let (allowed, variance) = allowed(found, again);
    let deviations = (DEVIATIONS_SQUARED as f64 * variance as f64).sqrt();
    let most = (allowed as f64 + deviations) / ONE as f64;
    (most / found.people.max(1) as f64).min(1.0)
}

/// Guesses for every vector whose people stand in several classes.
fn look(standing: &Standing, rows: &[u32], class: &[u32]) -> Found {
    let mut found = Found::default();
    let mut seen_in = vec![0_u32; standing.codes];
    let mut have = vec![0_u64; standing.codes];
    let (mut classes, mut shown): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    for people in rows.chunk_by(|&a, &b| vector(standing, a) == vector(standing, b)) {
        classes.clear();
        classes.extend(people.iter().map(|&row| class[row as usize]));
        classes.sort_unstable();
        classes.dedup();
        if classes.len() < 2 || found.steps > STEPS_MAX {
            continue;
        }
        shown.clear();
        for &class in &classes {
            let before = shown.len();
            (standing.shown)(class, &mut shown);
            shown[before..]
                .iter()
                .for_each(|&code| seen_in[code as usize] += 1);
        }
        found.steps += shown.len() as u64;
        for &row in people {
            have[standing.own[row as usize] as usize] += 1;
        }
        let (mut common, mut right) = (0_u64, 0_u64);
        for &code in &shown {
            if seen_in[code as usize] as usize == classes.len() {
                common += 1;
                right += have[code as usize];
            }
            seen_in[code as usize] = 0;
        }
        for &row in people {
            have[standing.own[row as usize] as usize] = 0;
        }
        found.vectors += 1;
        if common == 0 {
            continue;
        }
        let number = people.len() as u64;
        let right = (right * ONE).div_ceil(common);
        let asked = people
            .iter()
            .map(|&row| standing.l.map_or(1, |l| l[row as usize].max(1)));
        let allowed = asked.clone().map(|l| ONE / u64::from(l)).sum();
        found.common.add(number, right, allowed);
        if common < u64::from(asked.max().unwrap_or(1)) {
            found.few.add(number, right, allowed);
        }
    }
    found
}

/// What is known of the person of a row.
fn vector(standing: &Standing, row: u32) -> u32 {
    standing.vector[row as usize]
}

/// Whether a row is a person who stands in a class.
pub(super) fn stands(standing: &Standing, row: u32) -> bool {
    let at = row as usize;
    standing.vector[at] != NONE
        && standing.class[at] != NONE
        && (standing.own[at] as usize) < standing.codes
}

#[cfg(test)]
#[path = "equal_vectors/tests.rs"]
mod tests;
