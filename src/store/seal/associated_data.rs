//! Where sealed bytes belong.
//!
//! The associated data of a seal is not stored, but computed again from the row
//! when its bytes are opened. Bytes that were moved, from
//! one position, version, release or dataset to another, or from one column to
//! another, have other associated data and do not open.
//!
//! The encoding is injective: a word that names the kind, then fields of fixed
//! length, then at most one field of variable length.

use uuid::Uuid;

use crate::ids::{DatasetId, JobId, ReidentificationId, ReleaseId, WebhookId};

/// Begins all associated data; another way of sealing gets another number.
const FORMAT: &[u8] = b"vizard seal 1";

/// What a data key is for. Its word is kept in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Purpose {
    /// Chunks of a dataset, the lineage of its releases, and seeds of its jobs.
    Records,
    /// Subjects and their terms, with their history, who has a token, why
    /// stewards asked for somebody, the dataset's secret and its population table.
    Preferences,
    /// Pieces, report, verification and figures of one release.
    Release,
}

impl Purpose {
    const ALL: [Self; 3] = [Self::Records, Self::Preferences, Self::Release];

    /// The word kept in the database.
    pub(in crate::store) fn as_str(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::Preferences => "preferences",
            Self::Release => "release",
        }
    }

    /// The purpose that a word names.
    pub(in crate::store) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == word)
    }
}

/// What one sealed value is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum AssociatedData<'a> {
    /// A chunk of records.
    Chunk {
        dataset: DatasetId,
        epoch: u64,
        position: u32,
    },
    /// A subject's document; `lookup` is what stands in the column `subject`.
    Preference {
        dataset: DatasetId,
        version: u64,
        lookup: &'a [u8],
    },
    /// The subject to whom a token was given.
    SubjectToken {
        dataset: DatasetId,
        token_hash: &'a [u8; 32],
    },
    /// The population table of a dataset.
    PopulationTable(DatasetId),
    /// The secret of a dataset.
    DatasetSecret(DatasetId),
    /// The seed of a job.
    JobSeed(JobId),
    /// The lineage of a release.
    Lineage(ReleaseId),
    /// What a release shows of each subject.
    Candidates(ReleaseId),
    /// The report of a release.
    Report(ReleaseId),
    /// The verification of a release.
    Verification(ReleaseId),
    /// The figures of a release that an exploration made.
    Measures(ReleaseId),
    /// Why a steward asked who stands behind a row.
    Reidentification(ReidentificationId),
    /// A piece of a release's table.
    Piece {
        release: ReleaseId,
        table: u32,
        position: u32,
    },
    /// A wrapped data key of `owner`, a dataset or a release.
    DataKey {
        dataset: DatasetId,
        owner: Uuid,
        purpose: Purpose,
        master_key: &'a str,
    },
    /// A wrapped secret of a webhook.
    WebhookSecret {
        webhook: WebhookId,
        master_key: &'a str,
    },
}

impl AssociatedData<'_> {
    /// The bytes that a seal at this place is bound to.
    pub(super) fn associated_data(&self) -> Vec<u8> {
        match *self {
            AssociatedData::Chunk {
                dataset,
                epoch,
                position,
            } => Data::new("chunk", dataset.uuid())
                .number(epoch)
                .number(position.into()),
            AssociatedData::Preference {
                dataset,
                version,
                lookup,
            } => Data::new("preference", dataset.uuid())
                .number(version)
                .rest(lookup),
            AssociatedData::SubjectToken {
                dataset,
                token_hash,
            } => Data::new("subject token", dataset.uuid()).rest(token_hash),
            AssociatedData::PopulationTable(dataset) => {
                Data::new("population table", dataset.uuid())
            }
            AssociatedData::DatasetSecret(dataset) => Data::new("dataset secret", dataset.uuid()),
            AssociatedData::JobSeed(job) => Data::new("job seed", job.uuid()),
            AssociatedData::Lineage(release) => Data::new("lineage", release.uuid()),
            AssociatedData::Candidates(release) => Data::new("candidates", release.uuid()),
            AssociatedData::Report(release) => Data::new("report", release.uuid()),
            AssociatedData::Verification(release) => Data::new("verification", release.uuid()),
            AssociatedData::Measures(release) => Data::new("measures", release.uuid()),
            AssociatedData::Reidentification(id) => Data::new("reidentification", id.uuid()),
            AssociatedData::Piece {
                release,
                table,
                position,
            } => Data::new("piece", release.uuid())
                .number(table.into())
                .number(position.into()),
            AssociatedData::DataKey {
                dataset,
                owner,
                purpose,
                master_key,
            } => Data::new(purpose.as_str(), dataset.uuid())
                .rest(owner.as_bytes())
                .rest(master_key.as_bytes()),
            AssociatedData::WebhookSecret {
                webhook,
                master_key,
            } => Data::new("webhook secret", webhook.uuid()).rest(master_key.as_bytes()),
        }
        .0
    }
}

/// Associated data being written.
struct Data(Vec<u8>);

impl Data {
    /// Kinds are words without NUL: the byte after one ends it.
    fn new(kind: &str, of: Uuid) -> Self {
        let mut data = FORMAT.to_vec();
        data.push(0);
        data.extend(kind.as_bytes());
        data.push(0);
        data.extend(of.as_bytes());
        Self(data)
    }

    fn number(mut self, number: u64) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn rest(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }
}
