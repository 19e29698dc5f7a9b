//! The buckets of one attribute, and how rows are linked to them.

use std::borrow::Cow;

use crate::microdata::Codes;
use crate::release::cell::Cell;
use crate::release::table::{Cells, Content, PublishedTable};

use super::JoinError;
use crate::release::layout::{BUCKET_SUFFIX, BUCKETS, GROUP_BUCKETS, MICRODATA};

/// The buckets of one attribute: runs of (value, count), bucket b (from 0,
/// published as b + 1) from `starts[b]` to `starts[b + 1]`.
#[derive(Clone, Debug)]
pub struct Buckets<'a> {
    starts: Vec<u32>,
    values: Vec<u32>,
    counts: Vec<u32>,
    sizes: Vec<u32>,
    cells: Cow<'a, [Cell]>,
    link: Link,
}

/// How rows are linked to buckets.
#[derive(Clone, Debug)]
pub enum Link {
    /// The bucket of each row, published number; 0 for none.
    Row(Vec<u32>),
    /// The group of each row whose cell is empty (position from 0, `u32::MAX`
    /// for none), and per group a run of (bucket from 0, cells in it).
    Group {
        /// Position of each row's group.
        group_of: Vec<u32>,
        /// Where each group's run begins; one more entry than groups.
        starts: Vec<u32>,
        /// Buckets of the runs.
        buckets: Vec<u32>,
        /// Cells of the group in that bucket.
        counts: Vec<u32>,
    },
}

impl<'a> Buckets<'a> {
    /// Number of buckets.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is no bucket.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// The values of bucket `bucket` (from 0) with their counts.
    pub fn run(&self, bucket: usize) -> impl Iterator<Item = (&Cell, u32)> {
        self.coded_run(bucket)
            .map(|(value, count)| (&self.cells[value as usize], count))
    }

    /// The same with positions in [`Buckets::cells`].
    pub fn coded_run(&self, bucket: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let range = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
        let values = self.values[range.clone()].iter().copied();
        values.zip(self.counts[range].iter().copied())
    }

    /// The distinct values (of all attributes of the table `buckets`).
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Number of cells of each bucket.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// How rows are linked.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Where row `row` finds its value, if its cell is in a bucket: a bucket
    /// (from 0) with one bucket a row, a group (from 0) otherwise.
    #[inline]
    pub fn pool_of(&self, row: usize) -> Option<u32> {
        match &self.link {
            Link::Row(bucket_of) => bucket_of[row].checked_sub(1),
            Link::Group { group_of, .. } => Some(group_of[row]).filter(|&group| group != u32::MAX),
        }
    }

    /// Number of pools that [`Buckets::pool_of`] points into.
    pub fn pools(&self) -> usize {
        match &self.link {
            Link::Row(_) => self.len(),
            Link::Group { starts, .. } => starts.len() - 1,
        }
    }

    /// The same with cells of its own: it outlives the tables that it was read from.
    pub fn into_owned(self) -> Buckets<'static> {
        Buckets {
            starts: self.starts,
            values: self.values,
            counts: self.counts,
            sizes: self.sizes,
            cells: Cow::Owned(self.cells.into_owned()),
            link: self.link,
        }
    }

    /// Reads the buckets of an attribute; `None` where it has neither a bucket
    /// column nor buckets of groups.
    pub(super) fn of(
        attribute: &str,
        microdata: &PublishedTable,
        buckets: Option<&'a PublishedTable>,
        group_buckets: Option<&PublishedTable>,
    ) -> Result<Option<Self>, JoinError> {
        let column = microdata.columns.iter().find(|column| {
            column.content == Content::Bucket
                && column.name.strip_suffix(BUCKET_SUFFIX) == Some(attribute)
        });
        let groups = group_buckets.map(|table| (table, attribute_code(table, attribute)));
        if column.is_none() && !matches!(groups, Some((_, Some(_)))) {
            return Ok(None);
        }
        let Some(buckets) = buckets else {
            return Err(JoinError::new(BUCKETS, "is not in the release"));
        };
        let mut joined = Self::read(attribute, buckets, BUCKETS, Content::Bucket)?;
        joined.link = match (column, groups) {
            (Some(column), _) => joined.row_link(numbers(MICRODATA, &column.cells)?)?,
            (None, Some((table, Some(code)))) => {
                joined.group_link(attribute, microdata, table, code)?
            }
            (None, _) => return Ok(None),
        };
        Ok(Some(joined))
    }

    /// Reads the contents of an attribute's buckets from the table `name`,
    /// numbered by its column of `number`; rows are not linked yet.
    pub(super) fn read(
        attribute: &str,
        table: &'a PublishedTable,
        name: &str,
        number: Content,
    ) -> Result<Self, JoinError> {
        let named = attribute_code(table, attribute);
        let (names, bucket_of, count_of) = (
            codes(name, table, Content::Attribute)?,
            content_numbers(name, table, number)?,
            content_numbers(name, table, Content::Count)?,
        );
        let column = content(name, table, Content::Value)?;
        let Cells::Dictionary {
            codes: value_of,
            cells,
        } = column
        else {
            return Err(JoinError::new(name, "values are numbers"));
        };
        let lengths = [bucket_of.len(), count_of.len(), value_of.len()];
        if lengths.iter().any(|&length| length != names.len()) {
            return Err(JoinError::new(name, "columns differ in length"));
        }
        let rows: Vec<usize> = (0..names.len())
            .filter(|&row| Some(names.at(row)) == named)
            .collect();
        let most = rows.iter().map(|&row| bucket_of[row]).max().unwrap_or(0);
        if most > rows.len() as u64 || rows.iter().any(|&row| bucket_of[row] == 0) {
            return Err(JoinError::new(name, "buckets are not numbered from 1"));
        }
        let mut starts = vec![0_u32; most as usize + 1];
        for &row in &rows {
            starts[bucket_of[row] as usize] += 1;
        }
        accumulate(&mut starts);
        let mut next = starts.clone();
        let mut joined = Self {
            values: vec![0; rows.len()],
            counts: vec![0; rows.len()],
            sizes: vec![0; most as usize],
            starts,
            cells: Cow::Borrowed(cells),
            link: Link::Row(Vec::new()),
        };
        for &row in &rows {
            let bucket = bucket_of[row] as usize - 1;
            let place = next[bucket] as usize;
            next[bucket] += 1;
            let count = u32::try_from(count_of[row])
                .ok()
                .and_then(|count| Some((count, joined.sizes[bucket].checked_add(count)?)));
            let (Some((count, size)), true) = (count, (value_of.at(row) as usize) < cells.len())
            else {
                return Err(JoinError::new(name, "a count or a value is out of bounds"));
            };
            joined.values[place] = value_of.at(row);
            joined.counts[place] = count;
            joined.sizes[bucket] = size;
        }
        if joined.sizes.contains(&0) {
            return Err(JoinError::new(name, "a bucket has no cell"));
        }
        Ok(joined)
    }

    /// Links rows to the buckets that they name.
    pub(super) fn linked(mut self, bucket_of: &[u64]) -> Result<Self, JoinError> {
        self.link = self.row_link(bucket_of)?;
        Ok(self)
    }

    fn row_link(&self, bucket_of: &[u64]) -> Result<Link, JoinError> {
        if bucket_of.iter().any(|&bucket| bucket > self.len() as u64) {
            return Err(JoinError::new(
                MICRODATA,
                "a row names a bucket that is not there",
            ));
        }
        Ok(Link::Row(
            bucket_of.iter().map(|&bucket| bucket as u32).collect(),
        ))
    }

    fn group_link(
        &self,
        attribute: &str,
        microdata: &PublishedTable,
        table: &PublishedTable,
        code: u32,
    ) -> Result<Link, JoinError> {
        let groups = content_numbers(MICRODATA, microdata, Content::Group)?;
        let most = groups.iter().copied().max().unwrap_or(0);
        let names = codes(GROUP_BUCKETS, table, Content::Attribute)?;
        let group_of = content_numbers(GROUP_BUCKETS, table, Content::Group)?;
        let bucket_of = content_numbers(GROUP_BUCKETS, table, Content::Bucket)?;
        let count_of = content_numbers(GROUP_BUCKETS, table, Content::Count)?;
        let lengths = [group_of.len(), bucket_of.len(), count_of.len()];
        if lengths.iter().any(|&length| length != names.len()) {
            return Err(JoinError::new(GROUP_BUCKETS, "columns differ in length"));
        }
        let rows: Vec<usize> = (0..names.len())
            .filter(|&row| names.at(row) == code)
            .collect();
        let fits = |row: &usize| {
            (1..=most).contains(&group_of[*row])
                && (1..=self.len() as u64).contains(&bucket_of[*row])
                && (1..=u64::from(u32::MAX)).contains(&count_of[*row])
        };
        if most > groups.len() as u64 || !rows.iter().all(fits) {
            return Err(JoinError::new(GROUP_BUCKETS, "a number is out of bounds"));
        }
        let mut starts = vec![0_u32; most as usize + 1];
        for &row in &rows {
            starts[group_of[row] as usize] += 1;
        }
        accumulate(&mut starts);
        let mut next = starts.clone();
        let mut buckets = vec![0; rows.len()];
        let mut counts = vec![0; rows.len()];
        for &row in &rows {
            let place = &mut next[group_of[row] as usize - 1];
            buckets[*place as usize] = bucket_of[row] as u32 - 1;
            counts[*place as usize] = count_of[row] as u32;
            *place += 1;
        }
        let group_of = empty_rows(attribute, microdata)?
            .zip(groups)
            .map(|(empty, &group)| if empty { group as u32 - 1 } else { u32::MAX })
            .collect();
        Ok(Link::Group {
            group_of,
            starts,
            buckets,
            counts,
        })
    }
}

/// Turns counts at 1.. into starts of runs; `starts[0]` is 0.
fn accumulate(starts: &mut [u32]) {
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
}

/// Whether each row's cell of the attribute is empty.
fn empty_rows<'a>(
    attribute: &str,
    microdata: &'a PublishedTable,
) -> Result<impl Iterator<Item = bool> + use<'a>, JoinError> {
    match microdata.column(attribute).map(|column| &column.cells) {
        Some(Cells::Dictionary { codes, cells }) => Ok(codes
            .iter()
            .map(|code| cells.get(code as usize) == Some(&Cell::Empty))),
        _ => Err(JoinError::new(MICRODATA, "an attribute has no cells")),
    }
}

/// Code of the attribute's name in the table's column of attributes.
fn attribute_code(table: &PublishedTable, attribute: &str) -> Option<u32> {
    let column = table
        .columns
        .iter()
        .find(|column| column.content == Content::Attribute)?;
    let Cells::Dictionary { cells, .. } = &column.cells else {
        return None;
    };
    let at = cells
        .iter()
        .position(|cell| matches!(cell, Cell::Label(label) if label == attribute))?;
    Some(at as u32)
}

pub(super) fn content<'a>(
    name: &str,
    table: &'a PublishedTable,
    wanted: Content,
) -> Result<&'a Cells, JoinError> {
    let column = table.columns.iter().find(|column| column.content == wanted);
    match column {
        Some(column) => Ok(&column.cells),
        None => Err(JoinError::new(name, "a column is missing")),
    }
}

pub(super) fn numbers<'a>(name: &str, cells: &'a Cells) -> Result<&'a [u64], JoinError> {
    match cells {
        Cells::Numbers(numbers) => Ok(numbers),
        Cells::Dictionary { .. } => Err(JoinError::new(name, "a column is not of numbers")),
    }
}

fn content_numbers<'a>(
    name: &str,
    table: &'a PublishedTable,
    wanted: Content,
) -> Result<&'a [u64], JoinError> {
    numbers(name, content(name, table, wanted)?)
}

fn codes<'a>(
    name: &str,
    table: &'a PublishedTable,
    wanted: Content,
) -> Result<&'a Codes, JoinError> {
    match content(name, table, wanted)? {
        Cells::Dictionary { codes, .. } => Ok(codes),
        Cells::Numbers(_) => Err(JoinError::new(name, "a column is of numbers")),
    }
}
