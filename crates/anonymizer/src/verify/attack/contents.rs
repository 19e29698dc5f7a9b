//! Attacks that read the values of single classes.
//!
//! - Homogeneity: a class that one value fills gives that value away. Figure:
//!   the largest share of a value in a class.
//! - Similarity: values that differ but lie close give their neighbourhood
//!   away. Figure: the least spread of a class as a share of what the whole
//!   attribute spans (range, branches of the root, or values).
//! - Skewness (Li et al. 2007): a class that differs from the whole tells more
//!   than the whole. Figure: the largest distance, as in `closeness`.
//!
//! A family adds the bound of its claim, where it has one.

use crate::verify::classes::Classes;
use crate::verify::closeness::Reference;
use crate::verify::diversity::{known_to_within, spread, spread_share};
use crate::verify::verdict::{Check, Section};

/// The entry of an attack, and the mean of its figure over classes.
pub struct Attacked {
    /// The entry without the mean.
    pub check: Check,
    /// The mean; none where there are no classes.
    pub mean: Option<f64>,
}

impl Attacked {
    /// The entry with the mean, where there is one.
    pub fn with_mean(self) -> Check {
        match self.mean {
            Some(mean) => self.check.with_figure("mean", mean),
            None => self.check,
        }
    }
}

/// The worst figure of a class; `sign` is 1 where the largest is the worst, −1
/// where the least is.
fn attacked(
    kind: &'static str,
    classes: &Classes,
    sign: f64,
    figure: impl Fn(usize) -> f64,
) -> Attacked {
    let mut worst: Option<(f64, usize)> = None;
    let mut sum = 0.0;
    for class in 0..classes.len() {
        let figure = figure(class);
        sum += figure;
        if worst.is_none_or(|(most, _)| figure * sign > most * sign) {
            worst = Some((figure, class));
        }
    }
    let check = Check::new(Section::Attack, kind)
        .about(classes.name)
        .weighing(classes.len() as u64)
        .attaining(
            worst.map(|(figure, _)| figure),
            worst.map(|(_, class)| classes.place(class)),
        );
    Attacked {
        check,
        mean: worst.map(|_| sum / classes.len() as f64),
    }
}

/// Largest share of one value in a class.
pub fn homogeneity(classes: &Classes) -> Attacked {
    attacked("homogeneity", classes, 1.0, |class| {
        let (most, size) = classes.largest(class);
        most as f64 / size.max(1) as f64
    })
}

/// Least spread of a class, as a share of what the attribute spans.
pub fn similarity(classes: &Classes) -> Attacked {
    let share = spread_share(classes.domain);
    let found = attacked("similarity", classes, -1.0, |class| {
        share(classes.contents(class))
    });
    let spans = (0..classes.len()).map(|class| spread(classes.domain, classes.contents(class)));
    Attacked {
        check: known_to_within(found.check, classes.domain, spans),
        mean: found.mean,
    }
}

/// Largest distance of a class from the values of all classes.
pub fn skewness(classes: &Classes) -> Attacked {
    let reference = Reference::of(classes);
    attacked("skewness", classes, 1.0, |class| {
        reference.distance(classes.contents(class)).get()
    })
}
