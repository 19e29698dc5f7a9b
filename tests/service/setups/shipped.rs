//! Reads the shipped set-ups: as much of each form as these files use.

use std::collections::{BTreeMap, BTreeSet};

/// A process of a set-up.
pub struct Process {
    pub name: &'static str,
    /// Arguments of the program.
    pub command: Vec<String>,
    pub environment: BTreeMap<String, String>,
    /// Names of the secrets that it is given.
    pub secrets: BTreeSet<String>,
    /// Folder and what is mounted there.
    mounts: BTreeMap<String, String>,
    /// Bytes that its supervisor lets it have.
    pub memory_max: Option<u64>,
}

impl Process {
    /// A variable that has to be there.
    #[track_caller]
    pub fn value(&self, variable: &str) -> &str {
        let value = self.environment.get(variable);
        value.unwrap_or_else(|| panic!("{} does not say {variable}", self.name))
    }

    /// Whether its store is the embedded one.
    pub fn is_embedded(&self) -> bool {
        !self.environment.contains_key("VIZARD_STORE_FILE")
    }

    /// What is mounted where a file is.
    #[track_caller]
    pub fn volume_of(&self, path: &str) -> &str {
        let above = |(folder, _): &(&String, &String)| path.starts_with(folder.as_str());
        let mounted = self.mounts.iter().find(above);
        mounted
            .unwrap_or_else(|| panic!("{}: nothing is mounted at {path}", self.name))
            .1
    }
}

/// All processes of all shipped set-ups.
pub fn shipped() -> Vec<Process> {
    let [unit, settings, image, compose] = [
        "docs/operating/vizard.service",
        "docs/operating/vizard.env",
        "Dockerfile",
        "docker-compose.yml",
    ]
    .map(|path| std::fs::read_to_string(path).expect("it is there"));
    let image = of_image(&image);
    let service = of_compose(&compose, "service", "compose service", &image);
    let worker = of_compose(&compose, "worker", "compose worker", &image);
    vec![of_unit(&unit, &settings), image, service, worker]
}

fn pair(text: &str, between: char) -> Option<(String, String)> {
    let (name, value) = text.trim().split_once(between)?;
    Some((name.trim().to_owned(), value.trim().to_owned()))
}

/// `8g`, `512m`.
fn bytes(text: &str) -> u64 {
    let (number, unit) = text.split_at(text.len() - 1);
    let number: u64 = number.parse().expect("a number");
    number
        << match unit.to_lowercase().as_str() {
            "g" => 30,
            "m" => 20,
            other => panic!("unit {other}"),
        }
}

fn of_unit(unit: &str, settings: &str) -> Process {
    let said = |name: &'static str| unit.lines().filter_map(move |line| line.strip_prefix(name));
    let words = said("Environment=").flat_map(str::split_whitespace);
    let settings = settings.lines().filter(|line| !line.starts_with('#'));
    let secrets = said("LoadCredential=").filter_map(|line| pair(line, ':'));
    let folders = [
        ("%S/vizard", "StateDirectory="),
        ("%L/vizard", "LogsDirectory="),
    ];
    let mounts = folders.into_iter().filter(|(_, option)| {
        let mut said = said(option);
        said.any(|folders| folders.split(' ').any(|folder| folder == "vizard"))
    });
    let start = said("ExecStart=").next().expect("a command");
    Process {
        name: "unit",
        command: start.split(' ').skip(1).map(str::to_owned).collect(),
        environment: words
            .chain(settings)
            .filter_map(|word| pair(word, '='))
            .collect(),
        secrets: secrets.map(|(name, _)| name).collect(),
        mounts: mounts
            .map(|(folder, option)| (folder.into(), option.into()))
            .collect(),
        memory_max: said("MemoryMax=").next().map(bytes),
    }
}

fn of_image(text: &str) -> Process {
    let joined = text.replace("\\\n", " ");
    let said = |name: &'static str| {
        joined
            .lines()
            .filter_map(move |line| line.strip_prefix(name))
    };
    let words = said("ENV ").flat_map(str::split_whitespace);
    let volumes = said("VOLUME ").flat_map(listed);
    let command = said("CMD ").next().expect("a command");
    Process {
        name: "image",
        command: listed(command),
        environment: words.filter_map(|word| pair(word, '=')).collect(),
        secrets: BTreeSet::new(),
        mounts: volumes.map(|folder| (folder.clone(), folder)).collect(),
        memory_max: None,
    }
}

/// The words of `["one", "two"]`, also without quotes.
fn listed(text: &str) -> Vec<String> {
    let inside = text.trim().trim_start_matches('[').trim_end_matches(']');
    let words = inside
        .split(", ")
        .map(|word| word.trim().trim_matches('"').to_owned());
    words.collect()
}

/// The lines behind `key:` that are indented further than it.
fn block<'a>(lines: &[&'a str], key: &str) -> Vec<&'a str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let at = lines.iter().position(|line| *line == key);
    let nested = || {
        lines
            .iter()
            .position(|line| line.trim_start().starts_with(key))
    };
    let at = at.or_else(nested);
    let at = at.unwrap_or_else(|| panic!("there is no {key}"));
    let inside = lines[at + 1..]
        .iter()
        .take_while(|line| line.trim().is_empty() || indent(line) > indent(lines[at]));
    let is_said = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    inside.filter(is_said).copied().collect()
}

/// The value of `key:` on one line.
fn line<'a>(lines: &[&'a str], key: &str) -> Option<&'a str> {
    lines
        .iter()
        .find_map(|line| line.trim_start().strip_prefix(key))
}

/// Pairs of `NAME: value`, with the default of `${NAME:-default}`.
fn pairs(lines: &[&str]) -> impl Iterator<Item = (String, String)> {
    let read = lines
        .iter()
        .filter_map(|line| pair(line, ':'))
        .map(|(name, value)| {
            let value = value.trim_matches('"');
            let default = value
                .split_once(":-")
                .and_then(|(_, rest)| rest.strip_suffix('}'));
            (name, default.unwrap_or(value).to_owned())
        });
    let read: Vec<_> = read.collect();
    read.into_iter()
}

fn of_compose(text: &str, service: &str, name: &'static str, image: &Process) -> Process {
    let all: Vec<&str> = text.lines().collect();
    let services = block(&all, "services:");
    let own = block(&services, &format!("{service}:"));
    let stated = block(&own, "environment:");
    let mut environment = image.environment.clone();
    // PostgreSQL is the store: this is the image's for the embedded one.
    environment.remove("VIZARD_ERASURE_RESERVE_BYTES");
    if line(&stated, "<<: *environment").is_some() {
        environment.extend(pairs(&block(&all, "x-environment:")));
    }
    environment.extend(pairs(&stated).filter(|(name, _)| name != "<<"));
    let given = listed(line(&own, "secrets: ").unwrap_or_default());
    let defined = block(&all, "secrets:");
    let is_defined = |name: &String| line(&defined, &format!("{name}:")).is_some();
    let volumes = listed(line(&own, "volumes: ").unwrap_or_default());
    let volumes = volumes.iter().filter_map(|text| pair(text, ':'));
    let memory = listed(line(&own, "tmpfs: ").unwrap_or_default());
    let memory = memory.iter().filter_map(|text| pair(text, ':'));
    let limits = line(&own, "limits: ").expect("limits");
    let (_, limit) = limits.split_once("memory: ").expect("a limit of memory");
    Process {
        name,
        command: listed(line(&own, "command: ").expect("a command")),
        environment,
        secrets: given.into_iter().filter(is_defined).collect(),
        mounts: volumes
            .map(|(volume, folder)| (folder, volume))
            .chain(memory.map(|(folder, _)| (folder, "memory".into())))
            .collect(),
        memory_max: Some(bytes(limit.trim_end_matches('}'))),
    }
}
