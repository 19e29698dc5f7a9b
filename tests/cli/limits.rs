//! Limits have one name each: the field, the option, the environment variable
//! and the line in docs/OPERATING.md.

use std::collections::BTreeMap;
use std::path::Path;

use vizard::config::Limits;

use super::vizard;

/// Option of each limit: its name with dashes, its variable, its default.
fn options() -> BTreeMap<String, (String, String)> {
    let help = String::from_utf8(vizard(&["serve", "--help"]).stdout).expect("text");
    let (_, limits) = help
        .split_once("\nLimits:\n")
        .expect("a heading of their own");
    let is_heading = |line: &&str| line.starts_with(char::is_alphabetic);
    let own: Vec<&str> = limits
        .lines()
        .take_while(|line| !is_heading(line))
        .collect();
    // The text is wrapped to the width of a terminal.
    let words: Vec<&str> = own
        .iter()
        .flat_map(|line| line.split_whitespace())
        .collect();
    let mut options = BTreeMap::new();
    for option in words.join(" ").split(" --") {
        let value = |key: &str| {
            let (_, rest) = option.split_once(key)?;
            Some(rest.split(['=', ']']).next().unwrap_or_default().to_owned())
        };
        let name = option.trim_start_matches("--").split(' ').next();
        if let (Some(name), Some(variable), Some(default)) =
            (name, value("[env: "), value("[default: "))
        {
            options.insert(name.to_owned(), (variable, default));
        }
    }
    options
}

/// Variable, unit and default of each limit in the table of docs/OPERATING.md.
fn documented() -> BTreeMap<String, (String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/OPERATING.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let (_, section) = page
        .split_once("\n### Limits\n")
        .expect("a section on limits");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section
        .lines()
        .filter(|line| line.starts_with("| `VIZARD_"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let variable = cells[1].trim_matches('`').to_owned();
        (variable, (cells[2].to_owned(), cells[3].replace(' ', "")))
    })
    .collect()
}

#[test]
fn every_limit_is_an_option_a_variable_and_a_line_in_the_docs() {
    let (options, documented) = (options(), documented());
    let limits = Limits::default().all();
    for limit in &limits {
        let option = limit.name.replace('_', "-");
        let (variable, default) = options
            .get(&option)
            .unwrap_or_else(|| panic!("--{option} is missing"));
        assert_eq!(*variable, format!("VIZARD_{}", limit.name.to_uppercase()));
        assert_eq!(*default, limit.value.to_string(), "{option}");
        let (unit, default) = documented
            .get(variable)
            .unwrap_or_else(|| panic!("{variable} is not in docs/OPERATING.md"));
        assert_eq!(
            (unit.as_str(), default),
            (limit.unit, &limit.value.to_string()),
            "{variable}"
        );
    }
    assert_eq!(
        documented.len(),
        limits.len(),
        "the page knows limits that are none"
    );
    assert_eq!(
        options.len(),
        limits.len(),
        "there are options that are no limits"
    );
}

#[test]
fn a_limit_of_nothing_or_beyond_what_can_be_held_is_wrong_usage() {
    for arguments in [
        ["serve", "--uploads-max", "0"],
        ["serve", "--json-depth-max", "128"],
        ["serve", "--hierarchy-levels-max", "257"],
        ["serve", "--body-window-ms", "-1"],
    ] {
        assert_eq!(vizard(&arguments).status.code(), Some(2), "{arguments:?}");
    }
}
