//! What every group must satisfy: the strictest k of its members, and of each
//! sensitive attribute the job's diversity and closeness and the strictest l
//! (or largest share) of its members.

use crate::engine::context::PartOfTable;
use crate::engine::kernel::closeness::Reference;
use crate::engine::kernel::diversity::is_diverse;
use crate::engine::kernel::groups::KOfRows;
use crate::engine::kernel::included::SensitiveColumn;
use crate::engine::kernel::known::known_ends;
use crate::engine::kernel::{Included, PartCondition, is_eligible};
use crate::microdata::{Code, RowClasses};
use crate::privacy::{Diversity, Protection, RecordTerms, Share, T};

/// Conditions of groups among the records that are included. Rows are
/// positions in [`Included::records`].
pub(super) struct Conditions {
    k: KOfRows,
    attributes: Vec<AttributeCondition>,
    /// Rows of one kind have like values and ask for the same; empty where
    /// all are alike.
    kinds: Vec<u32>,
}

/// What the values of one attribute must satisfy.
struct AttributeCondition {
    /// Code of each row; empty where nothing is asked.
    codes: Vec<u32>,
    domain: usize,
    /// The missing value, which counts for no diversity.
    missing: Option<u32>,
    /// l of each row; empty where nobody asks for one.
    l: Vec<u32>,
    /// Largest share of each row; empty where nobody asks for one.
    share: Vec<Share>,
    diversity: Option<Diversity>,
    closeness: Option<(Reference, T)>,
    /// What the known values span at least, and the number of each code.
    min_spread: Option<(f64, Vec<f64>)>,
}

/// Counts of the values of one group, all zero between uses.
#[derive(Default)]
pub(super) struct Counts {
    of_code: Vec<u32>,
    occurring: Vec<u32>,
    sizes: Vec<u64>,
    contents: Vec<(u32, u64)>,
}

impl Conditions {
    /// Takes down what those included ask for, and the distributions of their
    /// values; those of the whole table where they are a part of one.
    pub fn new(included: &Included<'_>, part: Option<PartOfTable<'_>>) -> Self {
        let records = &included.records;
        let k = KOfRows::new(included.requirements, records);
        let attributes = included.sensitive.iter();
        let mut conditions = Self {
            k,
            attributes: attributes
                .map(|attribute| AttributeCondition::new(included, attribute, part))
                .collect(),
            kinds: Vec::new(),
        };
        if conditions.tells_rows_apart() {
            conditions.kinds = conditions.kinds(records.len());
        }
        conditions
    }

    /// The kind of each of `rows` rows.
    fn kinds(&self, rows: usize) -> Vec<u32> {
        let mut kinds = RowClasses::whole(rows);
        kinds.refine(|row| self.k.of_row(row as u32));
        for attribute in &self.attributes {
            if !attribute.asks_nothing() {
                kinds.refine(|row| attribute.codes[row]);
            }
            if !attribute.l.is_empty() {
                kinds.refine(|row| attribute.l[row]);
            }
            if !attribute.share.is_empty() {
                kinds.refine(|row| attribute.share[row]);
            }
        }
        kinds.of_row
    }
}

impl Conditions {
    /// Whether the subject of a row asks for something of values.
    pub fn asks_of_values(&self, row: u32) -> bool {
        let row = row as usize;
        self.attributes.iter().any(|attribute| {
            attribute.l.get(row).is_some_and(|&l| l > 1)
                || attribute
                    .share
                    .get(row)
                    .is_some_and(|&share| share < Share::ALL)
        })
    }
}

impl PartCondition for Conditions {
    type Buffers = Counts;

    fn buffers(&self) -> Counts {
        let widest = self.attributes.iter().map(|attribute| attribute.domain);
        Counts {
            of_code: vec![0; widest.max().unwrap_or(0)],
            ..Counts::default()
        }
    }

    fn least(&self) -> usize {
        self.k.least()
    }

    fn tells_rows_apart(&self) -> bool {
        let asks_nothing = AttributeCondition::asks_nothing;
        !matches!(self.k, KOfRows::Same(_)) || !self.attributes.iter().all(asks_nothing)
    }

    fn kind(&self, row: u32) -> Option<u32> {
        self.kinds.get(row as usize).copied()
    }

    fn holds(&self, rows: &[u32], counts: &mut Counts) -> bool {
        rows.len() >= self.k.of(rows)
            && self
                .attributes
                .iter()
                .all(|attribute| attribute.holds(rows, counts))
    }
}

/// What each of those included asks for; nothing where all ask for `nothing`.
fn unless_all<T: PartialEq>(
    included: &Included<'_>,
    nothing: T,
    asked: impl Fn(&RecordTerms) -> T,
) -> Vec<T> {
    if included.whatever_is_asked(|terms| asked(terms) == nothing) {
        return Vec::new();
    }
    let records = included.records.iter();
    let each: Vec<T> = records
        .map(|&record| asked(included.terms(record)))
        .collect();
    if each.iter().all(|asked| *asked == nothing) {
        Vec::new()
    } else {
        each
    }
}

impl AttributeCondition {
    fn new(
        included: &Included<'_>,
        attribute: &SensitiveColumn<'_>,
        part: Option<PartOfTable<'_>>,
    ) -> Self {
        let column = attribute.column;
        let at = attribute.index.at();
        let (diversity, closeness, min_spread) =
            match included.requirements.protection(attribute.index) {
                Protection::InGroup {
                    diversity,
                    closeness,
                    min_spread,
                } => (diversity, closeness, min_spread.get()),
                _ => (None, None, None),
            };
        let records = included.records.iter();
        let codes = records.map(|&record| column.codes.at(record as usize));
        let mut condition = Self {
            domain: column.domain.len(),
            missing: column.domain.missing().map(|code| code.0),
            codes: Vec::new(),
            l: unless_all(included, 1, |terms| terms.l[at]),
            share: unless_all(included, Share::ALL, |terms| terms.max_share[at]),
            diversity,
            min_spread: min_spread.map(|least| {
                let codes = (0..column.domain.len()).map(Code::from_usize);
                (
                    least,
                    codes.map(|code| column.domain.number(code)).collect(),
                )
            }),
            closeness: closeness.map(|t| {
                let domain = &column.domain;
                let reference = match part {
                    None => Reference::new(domain, codes.clone()),
                    Some(part) => {
                        let counts = part.whole.published(attribute.attribute);
                        Reference::of_counts(domain, counts.to_vec())
                    }
                };
                (reference, t)
            }),
        };
        if !condition.asks_nothing() {
            condition.codes = codes.collect();
        }
        condition
    }

    /// Whether every set of rows holds.
    fn asks_nothing(&self) -> bool {
        self.l.is_empty()
            && self.share.is_empty()
            && self.diversity.is_none()
            && self.closeness.is_none()
            && self.min_spread.is_none()
    }

    fn holds(&self, rows: &[u32], counts: &mut Counts) -> bool {
        if self.asks_nothing() {
            return true;
        }
        for &row in rows {
            let code = self.codes[row as usize];
            let count = &mut counts.of_code[code as usize];
            if *count == 0 {
                counts.occurring.push(code);
            }
            *count += 1;
        }
        let of_code = |&code: &u32| u64::from(counts.of_code[code as usize]);
        counts.sizes.clear();
        counts.sizes.extend(counts.occurring.iter().map(of_code));
        let most = counts.sizes.iter().copied().max().unwrap_or(0);
        let size = rows.len() as u64;
        let holds = self.keeps_terms(rows, most, size)
            && self.is_diverse(counts)
            && self.spans(counts)
            && self.is_close(counts, size);
        for code in counts.occurring.drain(..) {
            counts.of_code[code as usize] = 0;
        }
        holds
    }

    /// Whether the known values are diverse; none at all say nothing.
    fn is_diverse(&self, counts: &mut Counts) -> bool {
        let Some(diversity) = self.diversity else {
            return true;
        };
        if let Some(missing) = self.missing
            && let Some(at) = counts.occurring.iter().position(|&code| code == missing)
        {
            counts.sizes.swap_remove(at);
        }
        counts.sizes.is_empty() || is_diverse(diversity, &mut counts.sizes)
    }

    /// Whether the known values span enough; none at all say nothing.
    fn spans(&self, counts: &Counts) -> bool {
        let Some((least, numbers)) = &self.min_spread else {
            return true;
        };
        let ends = known_ends(counts.occurring.iter().copied(), self.missing);
        ends.is_none_or(|(low, high)| numbers[high as usize] - numbers[low as usize] >= *least)
    }

    /// Whether no value is too frequent for a member's own terms.
    fn keeps_terms(&self, rows: &[u32], most: u64, size: u64) -> bool {
        let strictest = if self.l.is_empty() {
            None
        } else {
            rows.iter().map(|&row| self.l[row as usize]).max()
        };
        let smallest = if self.share.is_empty() {
            None
        } else {
            rows.iter().map(|&row| self.share[row as usize]).min()
        };
        is_eligible(most, size, strictest.unwrap_or(1))
            && smallest.is_none_or(|share| share.allows(most, size))
    }

    fn is_close(&self, counts: &mut Counts, size: u64) -> bool {
        let Some((reference, t)) = &self.closeness else {
            return true;
        };
        counts.occurring.sort_unstable();
        counts.contents.clear();
        let of_code = counts.occurring.iter();
        let of_code = of_code.map(|&code| (code, u64::from(counts.of_code[code as usize])));
        counts.contents.extend(of_code);
        reference.is_within(*t, &counts.contents, size)
    }
}
