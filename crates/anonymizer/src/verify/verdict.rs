//! The verdict: one entry a check, each with the value that was attained.
//!
//! A failed check is data, never an error: whatever the published tables
//! hold, a verdict comes back. `verification.json` (releases.md) is a verdict
//! serialized: `holds`, then the `guarantees` (what the manifest claims), the
//! `structure` (what every release must be) and the `attacks` (what an
//! adversary attains, with a bound where a claim rests on it).
//!
//! Entries name attributes and published group, bucket and row numbers and
//! counts; never a value, a subject key or a record of the source.

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeStruct, Serializer};
use std::collections::BTreeMap;

use super::attack::guesses::Compared;

/// Which part of the verdict an entry belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// A claim of the manifest, re-derived.
    Guarantee,
    /// What every release must be.
    Structure,
    /// What an attack attains.
    Attack,
}

/// What a check says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The figure is within its bound.
    Holds,
    /// It is not.
    DoesNotHold,
    /// Nothing bounds the figure: the publisher has to look at it.
    NoBound,
}

/// Where in the release a check came out worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Number of a group, as published.
    Group(u64),
    /// Number of a bucket of the entry's attribute, as published.
    Bucket(u64),
    /// Row of a published table, from 1.
    Row(u64),
}

/// One entry of a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Section of `verification.json`.
    pub section: Section,
    /// Name of the check; stable.
    pub kind: &'static str,
    /// Attribute concerned, where one is.
    pub attribute: Option<String>,
    /// What is claimed or demanded; none where nothing bounds the figure.
    pub claimed: Option<f64>,
    /// What the published tables attain; none where nothing was there to
    /// measure (or where they are too broken to measure, see `note`).
    pub attained: Option<f64>,
    /// Whether it is good enough. Figures without a bound always are.
    pub holds: bool,
    /// Where it came out worst.
    pub worst: Option<Place>,
    /// Further figures of the same check, by name.
    pub figures: Vec<(&'static str, f64)>,
    /// What a reader must know about the figure.
    pub note: Option<&'static str>,
    /// Of how many things the means among the figures are; not written.
    pub(super) weight: f64,
    /// What an attack that is not a figure of single classes found; not written.
    pub(super) compared: Option<Box<Compared>>,
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut entry = to.serialize_map(None)?;
        entry.serialize_entry("kind", self.kind)?;
        if let Some(attribute) = &self.attribute {
            entry.serialize_entry("attribute", attribute)?;
        }
        if let Some(claimed) = self.claimed {
            entry.serialize_entry("claimed", &claimed)?;
        }
        entry.serialize_entry("attained", &self.attained)?;
        entry.serialize_entry("holds", &self.holds)?;
        entry.serialize_entry("state", &self.state())?;
        if let Some(worst) = self.worst {
            entry.serialize_entry("worst", &worst)?;
        }
        if !self.figures.is_empty() {
            let figures: BTreeMap<&str, f64> = self.figures.iter().copied().collect();
            entry.serialize_entry("figures", &figures)?;
        }
        if let Some(note) = self.note {
            entry.serialize_entry("note", note)?;
        }
        entry.end()
    }
}

impl Check {
    /// What the entry says. An attack whose figure nothing bounds does not
    /// "hold": it has no bound.
    pub fn state(&self) -> State {
        match (self.holds, self.section, self.claimed) {
            (false, _, _) => State::DoesNotHold,
            (true, Section::Attack, None) if self.attained.is_some() => State::NoBound,
            (true, _, _) => State::Holds,
        }
    }

    /// An entry that holds and has no figure yet.
    pub(super) fn new(section: Section, kind: &'static str) -> Self {
        Self {
            section,
            kind,
            attribute: None,
            claimed: None,
            attained: None,
            holds: true,
            worst: None,
            figures: Vec::new(),
            note: None,
            weight: 0.0,
            compared: None,
        }
    }

    /// A structural check by its number of failures: none are allowed.
    pub(super) fn structure(kind: &'static str, failures: &Failures) -> Self {
        Self {
            claimed: Some(0.0),
            attained: Some(failures.count as f64),
            holds: failures.count == 0,
            attribute: failures.attribute.clone(),
            worst: failures.place,
            note: failures.note,
            ..Self::new(Section::Structure, kind)
        }
    }

    /// An entry about a file beside the tables, which the reader of files
    /// looks at: whether it is what it must be.
    pub fn of_file(kind: &'static str, holds: bool, note: &'static str) -> Self {
        let mut failures = Failures::none();
        if !holds {
            failures.add(note);
        }
        Self::structure(kind, &failures).noting(note)
    }

    /// An entry about something that the tables are too broken to show.
    pub(super) fn not_examined(section: Section, kind: &'static str) -> Self {
        Self {
            holds: false,
            note: Some("not examined: the tables it needs are missing or broken"),
            ..Self::new(section, kind)
        }
    }

    #[must_use]
    pub(super) fn about(mut self, attribute: &str) -> Self {
        self.attribute = Some(attribute.to_owned());
        self
    }

    #[must_use]
    pub(super) fn claiming(mut self, claimed: f64) -> Self {
        self.claimed = Some(claimed);
        self
    }

    #[must_use]
    pub(super) fn attaining(mut self, attained: Option<f64>, worst: Option<Place>) -> Self {
        self.attained = attained;
        self.worst = worst;
        self
    }

    #[must_use]
    pub(super) fn holding(mut self, holds: bool) -> Self {
        self.holds = holds;
        self
    }

    #[must_use]
    pub(super) fn noting(mut self, note: &'static str) -> Self {
        self.note = Some(note);
        self
    }

    /// The same, with means of so many things.
    #[must_use]
    pub(super) fn weighing(mut self, things: u64) -> Self {
        self.weight = things as f64;
        self
    }

    #[must_use]
    pub(super) fn with_figure(mut self, name: &'static str, figure: f64) -> Self {
        self.figures.push((name, figure));
        self
    }
}

/// Counts what a structural check finds wrong, and keeps the first place.
#[derive(Clone, Debug, Default)]
pub(super) struct Failures {
    pub(super) count: u64,
    pub(super) attribute: Option<String>,
    pub(super) place: Option<Place>,
    pub(super) note: Option<&'static str>,
}

impl Failures {
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// One failure about the release as a whole.
    pub(super) fn add(&mut self, note: &'static str) {
        self.count += 1;
        self.note.get_or_insert(note);
    }

    /// One failure at a place of an attribute.
    pub(super) fn add_at(&mut self, attribute: &str, place: Place) {
        if self.count == 0 {
            self.attribute = Some(attribute.to_owned());
            self.place = Some(place);
        }
        self.count += 1;
    }

    /// Joins the failures of two parts of one check; the first keeps its place.
    #[must_use]
    pub(super) fn and(mut self, other: Self) -> Self {
        if self.count == 0 {
            return other;
        }
        self.count += other.count;
        self.note = self.note.or(other.note);
        self
    }
}

/// What a verification found.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// All entries, by section.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// Whether every check holds: only then may the release be stored.
    pub fn holds(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(|check| check.holds)
    }

    /// The entries that do not hold.
    pub fn failed(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.holds)
    }

    /// Kinds of the checks that do not hold, each once, in order.
    pub fn failed_kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> = self.failed().map(|check| check.kind.to_owned()).collect();
        kinds.dedup();
        kinds
    }

    /// The entries of one section, in order.
    pub fn section(&self, section: Section) -> impl Iterator<Item = &Check> {
        self.checks
            .iter()
            .filter(move |check| check.section == section)
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let part = |section| self.section(section).collect::<Vec<_>>();
        let mut document = to.serialize_struct("Verdict", 4)?;
        document.serialize_field("holds", &self.holds())?;
        document.serialize_field("guarantees", &part(Section::Guarantee))?;
        document.serialize_field("structure", &part(Section::Structure))?;
        document.serialize_field("attacks", &part(Section::Attack))?;
        document.end()
    }
}
