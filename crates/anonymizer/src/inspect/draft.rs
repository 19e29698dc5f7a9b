//! One column on its way to a proposal.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::columns::Column;
use super::forms::{Cells, Prior, cells_of};
use super::inspection::SensitiveCount;
use super::names::{Meaning, meaning_of};
use super::roles::{Known, are_codes, role_of};
use crate::microdata::normalize::class;
use crate::microdata::{AttributeType, DEFAULT_FORMS, Role};

/// One column on its way to a proposal.
pub(super) struct Draft<'c> {
    pub name: &'c str,
    pub column: &'c Column,
    pub cells: Cells,
    pub meaning: Option<Meaning>,
    pub role: Role,
    pub reasons: Vec<String>,
    /// Words for a missing value that only this column has.
    pub missing_values: Vec<String>,
    pub hierarchy: bool,
}

impl<'c> Draft<'c> {
    pub fn new(name: &'c str, column: &'c Column, prior: Prior) -> Self {
        let meaning = meaning_of(name);
        let mut cells = cells_of(column, prior);
        let mut reasons = std::mem::take(&mut cells.reasons);
        let is_number = matches!(
            cells.kind,
            Some(AttributeType::Integer | AttributeType::Decimal)
        );
        if is_number
            && column.given.can_be_text()
            && let Some(why) = are_codes(column, &cells, meaning)
        {
            cells.kind = Some(AttributeType::Categorical);
            cells.format = Default::default();
            reasons.push(why);
        }
        Self {
            name,
            column,
            meaning,
            role: Role::QuasiIdentifier,
            reasons,
            missing_values: Vec::new(),
            hierarchy: false,
            cells,
        }
    }

    pub fn take_role(&mut self, records: u64, is_key: bool) {
        let (role, reasons) = role_of(&Known {
            name: self.name,
            column: self.column,
            cells: &self.cells,
            meaning: self.meaning,
            records,
            is_key,
        });
        self.role = role;
        self.reasons.extend(reasons);
        self.take_given();
    }

    /// Reads past what an upload takes for no cells, or for none of such a role.
    fn take_given(&mut self) {
        let given = self.column.given;
        if let Some(why) = given.unread() {
            self.role = Role::Ignore;
            self.cells.kind = None;
            self.reasons = vec![why.into()];
            return;
        }
        let is_text = self.cells.kind == Some(AttributeType::Categorical);
        if (self.role == Role::Identifier || is_text) && !given.can_be_text() {
            self.role = Role::Ignore;
            let why =
                "ignored: an upload takes numbers with a fraction, days and times for no text";
            self.reasons.push(why.into());
        }
    }

    pub fn is_published(&self) -> bool {
        !matches!(self.role, Role::Identifier | Role::Ignore)
    }

    /// How its values are spread, as a job counts them: the spellings of one
    /// value together, and words for a missing value as missing.
    pub fn sensitive_count(&self) -> Option<SensitiveCount> {
        if self.role != Role::Sensitive {
            return None;
        }
        let forms = match self.cells.kind {
            Some(AttributeType::Categorical) => DEFAULT_FORMS,
            _ => &[],
        };
        let mut missing = self.cells.missing;
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (text, count) in &self.column.values {
            if self.cells.missing_words.contains(text) {
                continue;
            }
            match class(text, forms) {
                Some(class) => *counts.entry(class).or_default() += count,
                None => missing += count,
            }
        }
        let distinct = if self.column.is_full {
            self.column.distinct().0
        } else {
            counts.len() as u64
        };
        Some(SensitiveCount {
            attribute: self.name.to_owned(),
            most_frequent: counts.into_values().max().unwrap_or_default(),
            missing,
            distinct,
        })
    }
}

impl Draft<'_> {
    pub fn document(&self) -> Value {
        let mut document = json!({"name": self.name, "role": self.role});
        if self.is_published() {
            document["type"] = json!(self.cells.kind);
            if self.hierarchy {
                document["hierarchy"] = json!(self.name);
            }
            if !self.missing_values.is_empty() {
                document["missing_values"] = json!(self.missing_values);
            }
            let format = json!(self.cells.format);
            if format.as_object().is_some_and(|format| !format.is_empty()) {
                document["format"] = format;
            }
        }
        document
    }
}
