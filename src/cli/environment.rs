//! The environment: variables called `VIZARD_…` that nothing reads.
//!
//! A variable whose name is misspelt leaves a setting at its default, and
//! nothing says so. The names that count are those of the options of all
//! commands, so that no second list can fall behind.

use std::collections::BTreeSet;

use clap::Command;

/// Names that are read without an option.
const WITHOUT_OPTION: [&str; 4] = [
    "VIZARD_ADMIN_KEY",
    "VIZARD_MASTER_KEY",
    "VIZARD_FAILPOINT",
    "VIZARD_CLOCK_SHIFT_FILE",
];

/// Beginnings of names that others set: tests and scripts of this project,
/// Compose, and Kubernetes for a service called `vizard`.
const OF_OTHERS: [&str; 8] = [
    "VIZARD_TEST_",
    "VIZARD_PROPERTY_",
    "VIZARD_FAULTS_",
    "VIZARD_FUZZ_",
    "VIZARD_IDS",
    "VIZARD_TAG",
    "VIZARD_PORT",
    "VIZARD_SERVICE_",
];

/// The variables of the environment that begin with `VIZARD_` and that no
/// option of `program` reads, each with the nearest name that one does.
pub fn unknown_variables(program: &Command) -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let known = known(program);
    let mut unknown: Vec<String> = names.filter(|name| is_unknown(name, &known)).collect();
    unknown.sort();
    let told = unknown.iter().map(|name| match nearest(name, &known) {
        Some(near) => format!("{name} (did you mean {near}?)"),
        None => name.clone(),
    });
    told.collect()
}

fn known(program: &Command) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = WITHOUT_OPTION.map(str::to_owned).into();
    for command in program.get_subcommands() {
        let variables = command
            .get_arguments()
            .filter_map(|argument| argument.get_env());
        names.extend(variables.map(|name| name.to_string_lossy().into_owned()));
    }
    names
}

fn is_unknown(name: &str, known: &BTreeSet<String>) -> bool {
    let of_others = OF_OTHERS
        .iter()
        .any(|beginning| name.starts_with(beginning));
    name.starts_with("VIZARD_") && !of_others && !known.contains(name)
}

/// The known name that differs in the fewest letters, if these are few.
fn nearest<'a>(name: &str, known: &'a BTreeSet<String>) -> Option<&'a String> {
    let scored = known.iter().map(|other| (distance(name, other), other));
    let (letters, near) = scored.min()?;
    (letters <= 3).then_some(near)
}

/// Letters to put in, take out or change until one text is the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, letter) in one.bytes().enumerate() {
        let mut corner = row[0];
        row[0] = above + 1;
        for (left, beside) in other.bytes().enumerate() {
            let changed = corner + usize::from(letter != beside);
            corner = row[left + 1];
            row[left + 1] = changed.min(corner + 1).min(row[left] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_variable_is_told_with_the_nearest_one() {
        let known = known(&crate::cli::program());
        for name in ["VIZARD_WORKES", "VIZARD_STOER"] {
            assert!(is_unknown(name, &known), "{name}");
        }
        for name in [
            "VIZARD_WORKERS",
            "VIZARD_ADMIN_KEY",
            "VIZARD_PORT_8080_TCP",
            "HOME",
        ] {
            assert!(!is_unknown(name, &known), "{name}");
        }
        let near = |name| nearest(name, &known).map(String::as_str);
        assert_eq!(near("VIZARD_WORKES"), Some("VIZARD_WORKERS"));
        assert_eq!(near("VIZARD_STOER"), Some("VIZARD_STORE"));
        assert_eq!(near("VIZARD_SOMETHING_ELSE"), None);
    }

    #[test]
    fn distances_are_counted_in_letters() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
