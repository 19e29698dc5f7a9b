//! What a figure means for a reader, and what to change if it is bad.
//!
//! Thresholds of re-identification risk: 0.09 for a release to the public
//! (European Medicines Agency, external guidance on policy 0070; Health
//! Canada, guidance on public release of clinical information), 0.2 for a
//! release under contract (a least group of five; El Emam & Malin in Institute
//! of Medicine 2015, Sharing Clinical Trial Data, appendix B).

/// Largest accepted risk of a release to the public.
pub const PUBLIC: f64 = 0.09;
/// Largest accepted risk of a release under contract.
pub const CONTRACT: f64 = 0.2;

/// The sentence on a largest risk.
pub fn on_risk(risk: f64) -> &'static str {
    if risk <= PUBLIC {
        "at most 0.09, the threshold for a public release (EMA policy 0070, Health Canada)."
    } else if risk <= CONTRACT {
        "above 0.09, the threshold for a public release (EMA policy 0070, Health Canada); at most \
         0.2, the usual one under contract (El Emam & Malin 2015)."
    } else {
        "above 0.2, the usual threshold even under contract (El Emam & Malin 2015): some records \
         can be found by who knows their quasi-identifiers. To lower it: an engine that claims k, \
         a larger k, or another role for what is published exactly."
    }
}

/// What to change if a measure is bad; nothing for one that is unknown here.
pub fn on_measure(name: &str) -> &'static str {
    match name {
        "reidentification_risk" => {
            "If it is too high: a larger k; or another role for attributes that are published \
             exactly. The risk is the one of who knows those as well."
        }
        "journalist_risk" => {
            "The risk that somebody with this population table finds whose a record is. If it is \
             too high: a larger k, or coarser hierarchies of the attributes that the table has. \
             Records that are not covered say that the table does not hold everybody: the risk is \
             then the prosecutor's."
        }
        "group_sizes" | "c_dm" => {
            "Small groups lose less and protect less. If they are too large for your questions: a \
             smaller k, fewer quasi-identifiers, or more effort."
        }
        "ncp" | "ncp_published" | "qid_ncp" | "qid_ncp_published" | "sa_ncp" => {
            "0 is nothing lost, 1 is everything. If it is too high: more effort, a smaller k, \
             fewer quasi-identifiers, or finer hierarchies."
        }
        "bucket_range" => {
            "How far the values of a bucket lie apart. If it is too small, near values tell the \
             value: set min_spread (lgb), or a larger l. If it is too large for your questions: a smaller l."
        }
        "leakage" => {
            "The share of a published value among those who may have it. If it is too high: a \
             larger l, or a smaller t."
        }
        "correlation" => {
            "If much is lost: another engine, a smaller k, or the pair in one column of slicing. \
             Do not draw conclusions on pairs that lost much."
        }
        "group_means" => {
            "Middles of cells and means of buckets pull groups towards each other. If means are \
             off by more than your question can bear: compute them where the data is, or a \
             smaller l or k, or the pair in one column of slicing."
        }
        "marginals" | "information_left" => {
            "If the distribution of an attribute changed much: a smaller k, or finer hierarchies."
        }
        "query_error" => {
            "The error of counts with conditions. If it is too high for your questions: a smaller \
             k or l, more effort, or fewer quasi-identifiers."
        }
        "value_shares" | "fingerprints" => {
            "If a share is too high: value_l, or a larger l. If a fingerprint is too rare: a \
             larger k."
        }
        "glp" | "reconstruction" => {
            "If it is too high for your purpose: a larger l makes larger blocks."
        }
        _ => "",
    }
}

/// What an attack does, in a sentence, and what to change if it attains too much.
pub fn on_attack(kind: &str) -> &'static str {
    match kind {
        "linkage" => {
            "Somebody knows all quasi-identifiers of a person and looks for their row: chance to \
             take the right one. To bound it: an engine that claims k, or a larger k."
        }
        "linkage_exact" => {
            "The same, with the attributes that are published exactly. To bound it: give them \
             another role, or a hierarchy and a quasi-identifier's role."
        }
        "homogeneity" | "value_shares" => {
            "The largest share of one value where a person is. To lower it: a larger l."
        }
        "similarity" => {
            "How close the values are to each other where they are closest, as a share of the \
             whole range; known_to_within says it in the attribute's unit (days for dates). Near 0 \
             means that a person's value is almost known: set a least spread (min_spread) where the \
             engine has it, or a larger l."
        }
        "skewness" => {
            "How far a bucket differs from everybody. Near 1 means that it tells much: set t."
        }
        "joint_knowledge" => {
            "Somebody knows one sensitive value of a person and looks in which rows it is \
             possible: rows that are left, and the share of persons with fewer than k of them. To \
             raise it: fewer sensitive attributes, or a larger l."
        }
        "group_leakage" => {
            "Chance to link a person to their value from group and bucket. To lower it: a larger l."
        }
        "equal_vectors" | "vector_posterior" => {
            "Somebody compares the buckets of people who look alike and takes what they have in \
             common: share of right guesses. To lower it: a larger l, or fewer quasi-identifiers."
        }
        "inference" => {
            "Somebody knows all quasi-identifiers, learns from the release how values go with them, \
             and guesses every person's value: share of right guesses of the better of two models. \
             population says what statistics of other people tell without the release, lift how \
             much the release adds to that and to what 1 in l allows. To lower it: a larger l, or \
             fewer quasi-identifiers."
        }
        "minimality" => {
            "Somebody knows how groups are made and runs the engine on tables that fit the release: \
             share of right guesses, of people whose class came again; counting says what the counts \
             of each class tell without that, told how many people have a value that it makes \
             likelier, largest_gain by how much at most. To lower it: a larger k, a lower effort, or \
             an engine of buckets."
        }
        "terms_visible" => {
            "Somebody guesses who asked for more protection from the look of the groups: share of \
             right guesses. To lower it: askers_share_max."
        }
        "matching_groups" | "collision" => {
            "Somebody looks for groups that match what they know. To lower it: a larger k."
        }
        _ => on_attack_with_more(kind),
    }
}

/// The same of attacks of somebody who knows more than quasi-identifiers, or how
/// cells are made.
fn on_attack_with_more(kind: &str) -> &'static str {
    match kind {
        "background_knowledge" => {
            "Somebody knows more than quasi-identifiers: one or two values that the person does not \
             have (without), the values of one or two others of the class (neighbours), or one or \
             two other sensitive values of the person (known): the largest chance of a person's \
             value, and the share of people whose value can be certain. To lower it: a larger l; \
             fewer sensitive attributes in rows."
        }
        "known_items" => {
            "Somebody knows all quasi-identifiers and one or two items of a person, and counts the \
             rows that fit: share of people for whom one row is left. To lower it: a larger k of \
             groups, or rmr, which bounds it."
        }
        "downcoding" => {
            "Cells are as narrow as their group allows, so somebody has each end: share of \
             generalized cells of which a finer one is certain, without saying whose. right_values \
             says how many values somebody gets right by that, statistics how many the most \
             frequent value of each cell. To lower it: a larger k."
        }
        "singling_out" => {
            "Somebody describes one person by a group's cells and the rarest end of one of them: \
             share of groups in which exactly one person is like that; by_chance is the share if \
             nobody knew that cells are narrow. with_value: by the cells and a value that stands \
             once in the group. To lower it: a larger k."
        }
        "composition" => {
            "Somebody has all earlier public releases of the same people: share of people in both \
             whose value is certain. To lower it: a series that keeps sets or groups, or only new \
             people."
        }
        "difference" => {
            "Somebody compares this release with the latest public one: people who are in one of \
             them alone, and whose values are told to too few. To lower it: wait for more changes, \
             or a series that keeps sets or groups."
        }
        _ => "",
    }
}
