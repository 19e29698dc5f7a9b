//! The operations, by resource.

mod given;
mod made;

use super::{Access, Operation};
use crate::http::auth::Role::{Admin, Analyst, Auditor, Consent, Steward, Uploader};
use crate::http::problem::ProblemKind;

const fn at(
    id: &'static str,
    method: &'static str,
    path: &'static str,
    access: Access,
    own: &'static [ProblemKind],
) -> Operation {
    Operation {
        id,
        method,
        path,
        access,
        own,
    }
}

const ADMIN: Access = Access::Roles(&[Admin]);
const ANALYST: Access = Access::Roles(&[Analyst, Steward]);
const AUDITOR: Access = Access::Roles(&[Auditor]);
const CONSENT: Access = Access::Roles(&[Consent]);
const STEWARD: Access = Access::Roles(&[Steward]);
/// Who runs jobs, and who runs what is told of them.
const TELLER: Access = Access::Roles(&[Admin, Steward]);
const UPLOADER: Access = Access::Roles(&[Uploader, Steward]);

/// All operations, by resource.
pub const OPERATIONS: &[Operation] = &both();

const fn both() -> [Operation; given::ALL.len() + made::ALL.len()] {
    let mut all = [given::ALL[0]; given::ALL.len() + made::ALL.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < given::ALL.len() {
            given::ALL[at]
        } else {
            made::ALL[at - given::ALL.len()]
        };
        at += 1;
    }
    all
}
