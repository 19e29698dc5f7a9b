//! Guarantees as sentences: what `vizard demo` prints of a manifest.

use super::Guarantee;

impl Guarantee {
    /// What is claimed, as one sentence without a full stop.
    pub fn sentence(&self) -> String {
        match self {
            Self::KAnonymity { k, scope } => {
                format!(
                    "every row looks like at least {} others ({scope})",
                    less_one(*k)
                )
            }
            Self::LDiversity { attribute, l } if attribute == "*" => {
                format!("no set of values belongs to more than 1 in {l} people of a group")
            }
            Self::LDiversity { attribute, l } => format!(
                "{attribute}: no value has more than 1 in {l} of the values it is published with"
            ),
            Self::DistinctLDiversity { attribute, l } => {
                format!("{attribute}: every group has at least {l} different values")
            }
            Self::EntropyLDiversity { attribute, l } => format!(
                "{attribute}: the values of every group are as mixed as {l} equally frequent ones"
            ),
            Self::RecursiveLDiversity { attribute, c, l } => format!(
                "{attribute}: in every group the most frequent value occurs less than {c} times as \
                 often as all values from rank {l} on together"
            ),
            Self::TCloseness {
                attribute,
                t,
                max_posterior,
            } => format!(
                "{attribute}: what is published together differs from the whole table by at most \
                 {t}, and no value has more than {max_posterior} of it"
            ),
            Self::MinSpread {
                attribute,
                min_spread,
            } => format!("{attribute}: values published together span at least {min_spread}"),
            Self::FingerprintK { k } => {
                format!("at least {k} people have every published set of values")
            }
            Self::ValueL { l } => {
                format!("no value shown as it is belongs to more than 1 in {l} people of a group")
            }
            Self::KmAnonymity { k, m } => format!(
                "whoever knows up to {m} of a person's values still finds at least {k} people"
            ),
            Self::RandomizedResponse {
                attribute,
                retention,
                max_posterior,
            } => format!(
                "{attribute}: a value is the true one with probability {retention}, else drawn; no \
                 value is likelier than {max_posterior}"
            ),
            Self::RingDiversity { attribute, l } => format!(
                "{attribute}: the rows that may be a person's have at least {l} different values"
            ),
            Self::MaxLeakage { attribute, scope } if attribute == "*" => {
                format!("the bound on leakage holds for {scope}")
            }
            Self::MaxLeakage { attribute, scope } => {
                format!("{attribute}: the bound on leakage holds for {scope}")
            }
        }
    }
}

/// How many others a record is among.
fn less_one(k: u32) -> u32 {
    k.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guarantee_is_said_in_words() {
        let k_anonymity = Guarantee::KAnonymity {
            k: 5,
            scope: "quasi-identifiers as published".into(),
        };
        let diversity = Guarantee::LDiversity {
            attribute: "cost".into(),
            l: 3,
        };
        assert_eq!(
            k_anonymity.sentence(),
            "every row looks like at least 4 others (quasi-identifiers as published)"
        );
        assert_eq!(
            diversity.sentence(),
            "cost: no value has more than 1 in 3 of the values it is published with"
        );
    }
}
