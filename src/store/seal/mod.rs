//! Encryption at rest: the one place between the operations and the bytes.
//!
//! Every dataset has random keys of its own (`data_key`), and every release
//! another. They are kept in the table `dataset_key`, each wrapped by a master
//! key that is never in the database (`master_keys`). What is personal is
//! sealed before a statement sees it and opened after: chunks, lineage and
//! seeds of jobs by the key of the records, subjects, their terms and the
//! dataset's secret and population table by the key of the preferences, pieces, report and verification by the key of the release.
//!
//! A seal binds bytes to where they belong (`associated_data`): flipped, cut,
//! extended, moved to another row or another dataset, they do not open.
//! `data_key_access` is what operations hold: either a data key, or nothing where the dataset was made
//! without a master key. Destroying a data key is erasing what it sealed, in
//! the free pages of the database and in its log as well.
//!
//! `http` and `worker` know nothing of this.

mod associated_data;
mod data_key;
mod data_key_access;
mod envelope;
mod master_keys;
mod webhook_secret;
mod wrapped;

pub(super) use associated_data::{AssociatedData, Purpose};
pub(super) use data_key_access::{
    DataKeyAccess, create_dataset_keys, create_release_key, destroy_keys_of_dataset, of,
    renew_records_key,
};
pub(super) use envelope::SealError;
pub use master_keys::{MasterKeyError, MasterKeys};
pub(super) use webhook_secret::{
    check_webhook_secrets, draw_webhook_secret, keep_webhook_secrets, open_webhook_secret,
    rewrap_webhook_secrets,
};
pub(super) use wrapped::{check_master_keys, rewrap};
