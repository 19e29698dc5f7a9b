//! Why a rule makes no tree, and the label of every root.

/// The label of every root.
pub const ROOT_LABEL: &str = "*";

/// The reason why a rule makes no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The tree would have more nodes than are allowed.
    #[error("the rule makes more nodes than are allowed: give fewer values or a smaller range")]
    TooManyNodes,
    /// The rule contradicts itself. The sentence says how to mend it.
    #[error("{0}")]
    Unfit(String),
}

impl RuleError {
    pub(super) fn unfit(sentence: impl Into<String>) -> Self {
        Self::Unfit(sentence.into())
    }
}
