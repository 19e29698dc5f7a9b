//! One subject's terms in a row, sealed or not.
//!
//! Where preferences are sealed, the column `subject` holds a lookup that only
//! the dataset's key can compute, and the column `document` holds subject and
//! document together. The seal names the preference version: terms of another
//! time, of another subject or of another dataset do not open in their place.

use serde_json::Value;

use crate::ids::DatasetId;
use crate::store::StoreError;
use crate::store::seal::{AssociatedData, DataKeyAccess, Purpose, of};
use crate::store::session::{Row, Session};

/// Reads and writes terms of one dataset.
pub(super) struct SealedTerms {
    dataset: DatasetId,
    access: DataKeyAccess,
}

impl SealedTerms {
    /// Of a dataset; look this up before the rows that it is to read.
    pub(super) async fn of(session: &mut Session, dataset: DatasetId) -> Result<Self, StoreError> {
        let access = of(session, dataset.uuid(), Purpose::Preferences).await?;
        Ok(Self { dataset, access })
    }

    /// What stands in the column `subject`.
    pub(super) fn subject(&self, subject: &str) -> Vec<u8> {
        self.access.kept_subject(subject)
    }

    /// What stands in the columns `subject` and `document`.
    pub(super) fn kept(
        &self,
        version: u64,
        subject: &str,
        document: &Value,
    ) -> Result<(Vec<u8>, String), StoreError> {
        let lookup = self.subject(subject);
        let text = match self.access {
            DataKeyAccess::Plain => document.to_string(),
            DataKeyAccess::Sealed(_) | DataKeyAccess::Destroyed => {
                Value::from_iter([Value::from(subject), document.clone()]).to_string()
            }
        };
        let text = self
            .access
            .kept_text(&self.associated(version, &lookup), text)?;
        Ok((lookup, text))
    }

    /// Subject and document of a row, by the columns of document and version;
    /// `None` where the document is null.
    pub(super) fn read(
        &self,
        row: &Row,
        (document, version): (&'static str, &'static str),
    ) -> Result<Option<(String, Value)>, StoreError> {
        if row.text_or_null(document)?.is_none() {
            return Ok(None);
        }
        let lookup = row.bytes("subject")?;
        let subject_damaged = || row.inconsistent("subject");
        if let DataKeyAccess::Plain = self.access {
            let subject = String::from_utf8(lookup).map_err(|_| subject_damaged())?;
            return Ok(Some((subject, row.json(document)?)));
        }
        let associated = self.associated(row.count(version)?, &lookup);
        let text = self.access.text(&associated, (row, document))?;
        let (subject, terms): (String, Value) =
            serde_json::from_str(&text).map_err(|_| row.inconsistent(document))?;
        if self.subject(&subject) == lookup {
            Ok(Some((subject, terms)))
        } else {
            Err(subject_damaged())
        }
    }

    fn associated<'a>(&self, version: u64, lookup: &'a [u8]) -> AssociatedData<'a> {
        AssociatedData::Preference {
            dataset: self.dataset,
            version,
            lookup,
        }
    }
}
