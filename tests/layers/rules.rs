//! The rules themselves: each returns what breaks it, as `file:line: why`.

use crate::paths::{Mention, mentions};
use crate::source::Source;

/// The diagram of docs/ARCHITECTURE.md: a module imports only from lower numbers.
const LAYERS: &[(&str, u8)] = &[
    ("microdata", 2),
    ("privacy", 2),
    ("release", 3),
    ("engine", 4),
    ("utility", 4),
    ("verify", 4),
    ("query", 4),
    ("inspect", 4),
    ("catalog", 5),
    ("job", 6),
    ("ids", 6),
    ("clock", 6),
    ("config", 6),
    ("telemetry", 6),
    ("failpoint", 6),
    ("spill_file", 6),
    ("store", 7),
    ("worker", 8),
    ("http", 8),
    ("web", 9),
    ("cli", 10),
    ("main", 11),
];

/// The only imports between two modules of one layer, each with its reason.
///
/// `privacy` sits on `microdata`: a subject's terms speak of attributes and
/// records. `job` sits on `ids`: a job is named by one.
const WITHIN_A_LAYER: &[(&str, &str)] = &[("privacy", "microdata"), ("job", "ids")];

/// The last layer without files, sockets, clock, async or ambient randomness.
const LAST_PURE_LAYER: u8 = 5;

/// What a pure layer must not name. A name ends where the text ends or at a non-letter.
const IMPURE: &[&str] = &[
    "tokio",
    "axum",
    "hyper",
    "tower",
    "sqlx",
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::os",
    "SystemTime",
    "Instant",
    "Utc::now",
    "Local::now",
    "now_v7",
    "new_v4",
    "rand::rng",
    "rand::random",
    "rand::random_range",
    "rand::make_rng",
    "thread_rng",
    "SysRng",
    "OsRng",
    "from_os_rng",
    "getrandom",
    "println!",
    "eprintln!",
    "dbg!",
];

/// Crates that belong to some rooms of the upper layers only.
const ROOMS: &[(&str, &[&str])] = &[
    ("sqlx", &["store"]),
    ("axum", &["http", "web", "cli"]),
    ("clap", &["cli", "config", "main"]),
    ("anyhow", &["cli", "main"]),
];

/// What an engine family may use of `engine`.
const OPEN_TO_FAMILIES: &[&str] = &["kernel", "context", "error", "info"];

/// Module names that say nothing.
const EMPTY_NAMES: &[&str] = &[
    "utils", "util", "helpers", "helper", "manager", "common", "misc", "v2",
];

/// How far above a call its reason may stand: a chain has a few lines.
const UNWRAP_REASON_LINES: usize = 8;

const FILE_LINES_MAX: usize = 500;
const MAIN_LINES_MAX: usize = 60;

fn layer(module: &str) -> Option<u8> {
    LAYERS
        .iter()
        .find(|(name, _)| *name == module)
        .map(|(_, layer)| *layer)
}

/// Imports that do not point to a lower layer, or that leave an engine family.
pub fn import_violations(source: &Source) -> Vec<String> {
    let module = source.module();
    if module == ["lib"] {
        return Vec::new();
    }
    let Some(own) = layer(&module[0]) else {
        return vec![format!(
            "{}:1: `{}` is not in the layer diagram",
            source.path, module[0]
        )];
    };
    let check = |mention: Mention| {
        let target = mention.path.first()?;
        let why = if *target == module[0] {
            leaves_family(&module, &mention.path)?
        } else {
            let Some(theirs) = layer(target) else {
                return Some(format!(
                    "{}:{}: `{target}` is not in the layer diagram",
                    source.path, mention.line
                ));
            };
            let excepted = WITHIN_A_LAYER.contains(&(module[0].as_str(), target.as_str()));
            if theirs < own || excepted {
                return None;
            }
            format!(
                "layer {own} `{}` imports layer {theirs} `{target}`",
                module[0]
            )
        };
        Some(format!("{}:{}: {why}", source.path, mention.line))
    };
    mentions(source).into_iter().filter_map(check).collect()
}

/// Why a path inside `engine` leaves the family (or the kernel) it stands in.
fn leaves_family(module: &[String], path: &[String]) -> Option<String> {
    let (family, part) = (module.get(1)?, path.get(1)?);
    let is_module = part.starts_with(char::is_lowercase);
    if module[0] != "engine"
        || part == family
        || !is_module
        || OPEN_TO_FAMILIES.contains(&part.as_str())
    {
        return None;
    }
    Some(format!("`engine::{family}` imports `engine::{part}`"))
}

/// Impure names at or below the last pure layer, and crates outside their rooms.
pub fn purity_violations(source: &Source) -> Vec<String> {
    let module = source.module();
    let pure = layer(&module[0]).is_some_and(|layer| layer <= LAST_PURE_LAYER);
    let mut found = Vec::new();
    let mut report = |name: &str, why: &str| {
        for at in occurrences(&source.code, name) {
            found.push(format!("{}:{}: {why}", source.path, source.line_at(at)));
        }
    };
    for name in IMPURE.iter().filter(|_| pure) {
        report(name, &format!("`{name}` in a pure layer"));
    }
    for (name, rooms) in ROOMS.iter().filter(|_| !pure) {
        if !rooms.contains(&module[0].as_str()) {
            report(
                &format!("{name}::"),
                &format!("`{name}` belongs to {rooms:?}"),
            );
        }
    }
    // `use std::{fs, io}` hides a name from the list above.
    for (at, _) in source.code.match_indices("std::{").filter(|_| pure) {
        let list = source.code[at..].split(';').next().unwrap_or_default();
        for part in ["fs", "net", "env", "process", "os"] {
            let mut words = list.split(|c: char| !c.is_alphanumeric() && c != '_');
            if words.any(|word| word == part) {
                found.push(format!(
                    "{}:{}: `std::{part}` in a pure layer",
                    source.path,
                    source.line_at(at)
                ));
            }
        }
    }
    found
}

fn occurrences<'a>(code: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name)
        .map(|(at, _)| at)
        .filter(move |at| {
            let open_end = name.ends_with(letter) && code[at + name.len()..].starts_with(letter);
            !code[..*at].ends_with(letter) && !open_end
        })
}

/// An `unwrap` or `expect` without a line above it that says why it cannot fail.
///
/// `self.expect(…)` is a parser's own method, not one that panics.
pub fn unwrap_violations(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let said = |line: usize| {
        let first = line.saturating_sub(UNWRAP_REASON_LINES);
        lines[first..line]
            .iter()
            .any(|text| text.contains("// Unwrap safety:"))
    };
    let calls = [".unwrap()", ".expect("]
        .into_iter()
        .flat_map(|call| source.code.match_indices(call))
        .filter(|(at, _)| !source.code[..*at].ends_with("self"));
    let unsaid = calls
        .map(|(at, call)| (source.line_at(at), call))
        .filter(|(line, _)| !said(*line));
    unsaid
        .map(|(line, call)| {
            format!(
                "{}:{line}: `{call}` without `// Unwrap safety:`",
                source.path
            )
        })
        .collect()
}

/// Files and modules named after nothing in particular.
pub fn name_violations(source: &Source) -> Vec<String> {
    let inline = source.code.match_indices("mod ").map(|(at, _)| {
        let rest = &source.code[at + 4..];
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        rest[..end].to_owned()
    });
    let empty = |name: &String| {
        EMPTY_NAMES
            .iter()
            .any(|word| name == word || name.ends_with(&format!("_{word}")))
    };
    let mut names: Vec<String> = source
        .module()
        .into_iter()
        .chain(inline)
        .filter(empty)
        .collect();
    names.dedup();
    names
        .iter()
        .map(|name| format!("{}: a module named `{name}`", source.path))
        .collect()
}

/// Files past their size.
pub fn size_violations(source: &Source) -> Vec<String> {
    let limit = if source.path == "src/main.rs" {
        MAIN_LINES_MAX
    } else {
        FILE_LINES_MAX
    };
    let lines = source.text.lines().count();
    let over = format!("{}: {lines} lines, at most {limit}", source.path);
    if lines > limit {
        vec![over]
    } else {
        Vec::new()
    }
}

/// Files that do not begin by saying what they are for.
pub fn doc_violations(source: &Source) -> Vec<String> {
    let documented = source.text.is_empty() || source.text.starts_with("//!");
    let missing = format!("{}:1: no module doc", source.path);
    if documented {
        Vec::new()
    } else {
        vec![missing]
    }
}

/// The names of the functions in which a piece of code stands, in order.
pub fn callers(source: &Source, call: &str) -> Vec<String> {
    source
        .code
        .match_indices(call)
        .filter_map(|(at, _)| {
            let (_, after) = source.code[..at].rsplit_once("fn ")?;
            let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
            Some(after[..end].to_owned())
        })
        .collect()
}
