//! The guarantee `max_leakage`: each subject's own terms hold.
//!
//! For every published record and every class that it is in, the ratio of what
//! is attained to what its terms accept is at most 1. Attained is the largest
//! ratio. It is decided in integers; the figure alone is a float. A family says
//! which classes count, and takes their ratios one by one.

use crate::privacy::Share;

use super::verdict::{Check, Place, Section};

/// A ratio of attained to accepted, and where it occurs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratio {
    pub(super) attained: u128,
    pub(super) accepted: u128,
    pub(super) place: Place,
}

impl Ratio {
    fn get(&self) -> f64 {
        float(self.attained) / float(self.accepted.max(1))
    }

    fn holds(&self) -> bool {
        self.attained <= self.accepted
    }
}

/// The nearest float. Nearly every number has at most 64 bits, and machines
/// convert no larger one themselves.
fn float(number: u128) -> f64 {
    match u64::try_from(number) {
        Ok(number) => number as f64,
        Err(_) => number as f64,
    }
}

/// The largest of the ratios seen, and how many go beyond what is accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worst {
    /// The ratio, and what it is as a number.
    ratio: Option<(Ratio, f64)>,
    exceeded: u64,
}

impl Worst {
    pub(super) fn take(&mut self, ratio: Ratio) {
        self.exceeded += u64::from(!ratio.holds());
        let number = ratio.get();
        if self.ratio.is_none_or(|(_, worst)| number > worst) {
            self.ratio = Some((ratio, number));
        }
    }

    /// An own k among so many subjects.
    pub(super) fn take_k(&mut self, k: u32, subjects: u64, place: Place) {
        self.take(Ratio {
            attained: u128::from(k),
            accepted: u128::from(subjects),
            place,
        });
    }

    /// An own l beside the most frequent value of a class, and its cells.
    pub(super) fn take_l(&mut self, l: u32, (most, size): (u64, u64), place: Place) {
        self.take(Ratio {
            attained: u128::from(most) * u128::from(l),
            accepted: u128::from(size),
            place,
        });
    }

    /// The largest share of one value that a subject accepts, in the same way.
    pub(super) fn take_share(&mut self, share: Share, (most, size): (u64, u64), place: Place) {
        self.take(Ratio {
            attained: u128::from(most) * u128::from(Share::WHOLE_PARTS),
            accepted: u128::from(size) * u128::from(share.parts()),
            place,
        });
    }

    /// The guarantee; `beyond` names the figure of those that go beyond.
    pub(super) fn check(&self, beyond: &'static str) -> Check {
        Check::new(Section::Guarantee, "max_leakage")
            .about("*")
            .claiming(1.0)
            .attaining(
                self.ratio.map(|(_, number)| number),
                self.ratio.map(|(ratio, _)| ratio.place),
            )
            .holding(self.exceeded == 0)
            .with_figure(beyond, self.exceeded as f64)
            .noting("largest ratio of what is attained to what the subject's own terms accept")
    }
}
