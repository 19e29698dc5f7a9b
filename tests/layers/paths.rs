//! The module paths that a source file names, resolved from the crate's root.
//!
//! `use crate::{release::Manifest, engine::{kernel, lgb::*}}` names three;
//! `super::` and `self::` are resolved by where they stand, inline modules
//! included.

use crate::source::Source;

/// One path named by a file.
pub struct Mention {
    /// Segments below the crate's root: `["engine", "kernel"]`.
    pub path: Vec<String>,
    /// Line, from 1.
    pub line: usize,
}

/// Every path of `source` that begins with `crate`, `vizard`, `super` or `self`.
pub fn mentions(source: &Source) -> Vec<Mention> {
    let code = &source.code;
    let inline = inline_modules(code);
    let mut found = Vec::new();
    for root in ["crate", "vizard", "super", "self"] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].trim_end();
            // `pub(in crate::store)` says who may see it, and names nothing.
            let starts_a_path = !code[..at].ends_with(is_name_letter)
                && !before.ends_with("::")
                && !before.ends_with("(in");
            let rest = &code[at + root.len()..];
            if !starts_a_path || !rest.trim_start().starts_with("::") {
                continue;
            }
            let mut module = source.module();
            let around = inline
                .iter()
                .filter(|(start, end, _)| (*start..*end).contains(&at));
            module.extend(around.map(|(_, _, name)| name.clone()));
            let mut paths = Vec::new();
            Reader { rest: &code[at..] }.tree(Vec::new(), &mut paths);
            let line = source.line_at(at);
            found.extend(paths.into_iter().map(|path| Mention {
                path: resolved(&module, &path),
                line,
            }));
        }
    }
    found
}

/// The paths of every `use` whose text up to and with `use` is `wanted`, as they
/// are written.
pub fn trees(source: &Source, wanted: impl Fn(&str) -> bool) -> Vec<Vec<String>> {
    let code = &source.code;
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let is_word = !code[..at].ends_with(is_name_letter);
        if is_word && wanted(&code[..at + 3]) {
            let rest = &code[at + 4..];
            Reader { rest }.tree(Vec::new(), &mut paths);
        }
    }
    paths
}

fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Start, end and name of every `mod name { … }`.
fn inline_modules(code: &str) -> Vec<(usize, usize, String)> {
    let mut modules = Vec::new();
    for (at, _) in code.match_indices("mod ") {
        if code[..at].ends_with(is_name_letter) {
            continue;
        }
        let rest = &code[at + 4..];
        let name: String = rest.chars().take_while(|c| is_name_letter(*c)).collect();
        let Some(body) = rest[name.len()..].trim_start().strip_prefix('{') else {
            continue;
        };
        let start = code.len() - body.len();
        let mut depth = 1;
        let end = body.char_indices().find_map(|(at, letter)| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            (depth == 0).then_some(start + at)
        });
        modules.push((start, end.unwrap_or(code.len()), name));
    }
    modules
}

/// A path that begins with `crate`, `super` or `self`, from the crate's root.
pub fn resolved(module: &[String], path: &[String]) -> Vec<String> {
    let mut from = match path.first().map(String::as_str) {
        Some("super" | "self") => module.to_vec(),
        _ => Vec::new(),
    };
    for segment in path {
        match segment.as_str() {
            "crate" | "vizard" | "self" => {}
            "super" => {
                from.pop();
            }
            _ => from.push(segment.clone()),
        }
    }
    from
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn name(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        self.rest = self.rest.strip_prefix("r#").unwrap_or(self.rest);
        let end = self
            .rest
            .find(|c| !is_name_letter(c))
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// Reads one path or tree of paths below `prefix`.
    fn tree(&mut self, mut prefix: Vec<String>, paths: &mut Vec<Vec<String>>) {
        loop {
            if self.skip("{") {
                while !self.skip("}") && !self.rest.is_empty() {
                    self.tree(prefix.clone(), paths);
                    if !self.skip(",") && !self.rest.trim_start().starts_with('}') {
                        return;
                    }
                }
                return;
            }
            match self.name() {
                Some(name) => prefix.push(name),
                // `*`, or the `<` of a turbofish: the path so far is what is named.
                None => {
                    self.skip("*");
                    paths.push(prefix);
                    return;
                }
            }
            let after = self.rest.trim_start();
            if after.starts_with("as ") {
                self.skip("as");
                self.name();
            }
            if !self.skip("::") {
                paths.push(prefix);
                return;
            }
        }
    }
}
