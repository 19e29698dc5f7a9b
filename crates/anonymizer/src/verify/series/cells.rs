//! Who has the same history, and what stands in the classes of an attribute.

use rustc_hash::FxHashMap;

use crate::release::candidates::{AttributeCandidates, NO_CLASS};

/// Stands for a subject who is in a release that shows their value to everyone,
/// or has none: who flags a value now may have published it before.
pub const UNPROTECTED: u32 = NO_CLASS - 1;

/// Subjects with the same history.
pub struct Cells {
    /// Cell of each subject.
    pub of_subject: Vec<u32>,
    /// Subjects of each cell.
    pub sizes: Vec<u64>,
    /// A subject of each cell.
    pub member: Vec<usize>,
}

impl Cells {
    pub fn one(subjects: usize) -> Self {
        let of_subject = vec![0; subjects];
        Self::numbered(of_subject)
    }

    pub fn numbered(of_subject: Vec<u32>) -> Self {
        let (mut sizes, mut member) = (Vec::new(), Vec::new());
        for (subject, &cell) in of_subject.iter().enumerate() {
            if cell as usize == sizes.len() {
                sizes.push(0);
                member.push(subject);
            }
            sizes[cell as usize] += 1;
        }
        Self {
            of_subject,
            sizes,
            member,
        }
    }

    /// Parts cells by another number of each subject.
    pub fn parted(self, by: &[u32]) -> Self {
        let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let of_subject = self.of_subject.iter().zip(by).map(|(&cell, &by)| {
            let next = numbers.len() as u32;
            *numbers.entry((cell, by)).or_insert(next)
        });
        Self::numbered(of_subject.collect())
    }

    pub fn len(&self) -> usize {
        self.sizes.len()
    }
}

/// Values with their counts, ascending by value.
pub type Counts = Vec<(u32, u64)>;

/// One attribute in one release.
pub struct Classes<'a> {
    pub shows: &'a AttributeCandidates,
    /// Class of each subject of the series.
    pub class_of: Vec<u32>,
    /// Members of each class.
    pub sizes: Vec<u64>,
    /// What stands in each class, by the numbers of the series' values.
    pub counts: Vec<Counts>,
    /// Whether it is not known who has terms of their own.
    pub has_unknown_terms: bool,
}

impl Classes<'_> {
    /// Whether a class has exactly the values of its members.
    pub fn is_whole(&self, class: usize) -> bool {
        let copies: u64 = self.counts[class].iter().map(|&(_, count)| count).sum();
        self.shows.is_whole && copies == self.sizes[class]
    }

    /// Whether every value of a class is shown equally often.
    pub fn is_even(&self, class: usize) -> bool {
        let counts = &self.counts[class];
        // Values of a class may belong to nobody: counterfeits, and those of
        // people who were erased.
        let is_known = self.shows.is_counted || self.is_whole(class);
        is_known && counts.windows(2).all(|pair| pair[0].1 == pair[1].1)
    }

    /// Class of a subject, where they have one.
    pub fn class(&self, subject: usize) -> Option<usize> {
        let class = self.class_of[subject];
        (class < UNPROTECTED).then_some(class as usize)
    }

    /// Whether an l is all that is claimed of a class, and known of each subject.
    pub fn is_l_alone(&self) -> bool {
        self.shows.is_l_alone && !self.has_unknown_terms
    }
}

/// Subjects of each class.
pub fn sizes(class_of: &[u32]) -> Vec<u64> {
    let mut sizes = Vec::new();
    for &class in class_of.iter().filter(|&&class| class < UNPROTECTED) {
        if class as usize >= sizes.len() {
            sizes.resize(class as usize + 1, 0);
        }
        sizes[class as usize] += 1;
    }
    sizes
}

/// Each value once, ascending.
pub fn summed(mut counts: Counts) -> Counts {
    counts.sort_unstable();
    counts.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        if is_same {
            kept.1 += next.1;
        }
        is_same
    });
    counts
}

/// What is left of a class without another one; `None` where that one has
/// what it has not.
pub fn without(whole: &Counts, part: &Counts) -> Option<Counts> {
    let mut left = whole.clone();
    for &(value, count) in part {
        let at = left
            .binary_search_by_key(&value, |&(value, _)| value)
            .ok()?;
        left[at].1 = left[at].1.checked_sub(count)?;
    }
    left.retain(|&(_, count)| count > 0);
    Some(left)
}
