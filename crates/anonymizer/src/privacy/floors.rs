//! The operator's floors: what no steward's job may go below.
//!
//! Given for the whole service, and for single datasets; the stricter of the
//! two holds. Which jobs are below them is decided in `job`.

use serde::{Deserialize, Serialize};

use super::parameter::{K, L, Lift, Share, T};

/// Floors, each of which may be absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floors {
    /// Least k.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k_min: Option<K>,
    /// Least l of every sensitive attribute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l_min: Option<L>,
    /// Largest t.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t_max: Option<T>,
    /// Largest re-identification risk of a record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_max: Option<Share>,
    /// Largest lift of the attack inference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lift_max: Option<Lift>,
    /// Names of the engines that are allowed; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engines: Option<Vec<String>>,
}

impl Floors {
    /// The floors of a service whose operator says nothing: k = 1 is refused.
    pub fn of_service() -> Self {
        Self {
            k_min: Some(K::NONE.one_more()),
            ..Self::default()
        }
    }
}
