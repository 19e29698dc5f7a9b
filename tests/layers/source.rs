//! Source files as the checks see them: text without comments, literals and test code.
//!
//! This is a scanner, not a parser. What it removes is overwritten by spaces,
//! so that line numbers stay right; what remains is code in which a name is a
//! name. A literal that begins with `crate::` stays, because attributes name
//! functions that way (`#[serde(with = "crate::…")]`).

use std::fs;
use std::path::Path;

/// One source file.
pub struct Source {
    /// Path inside the project, with `/`: `src/store/mod.rs`.
    pub path: String,
    /// The text as written.
    pub text: String,
    /// The text without comments, literals and `#[cfg(test)]` items.
    pub code: String,
}

impl Source {
    /// A source file with this text.
    pub fn new(path: &str, text: &str) -> Self {
        let code = without_test_items(&without_comments_and_literals(text));
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            code,
        }
    }

    /// The line, from 1, that a byte of `code` stands on.
    pub fn line_at(&self, at: usize) -> usize {
        self.code[..at].matches('\n').count() + 1
    }

    /// Where the module lives in its package: `crates/anonymizer/src/engine/lgb/mod.rs`
    /// is `["engine", "lgb"]`.
    pub fn module(&self) -> Vec<String> {
        let package = self.path.strip_prefix("crates/anonymizer/");
        let inside = package.unwrap_or(&self.path);
        let inside = inside.strip_prefix("src/").unwrap_or(inside);
        let inside = inside.strip_suffix(".rs").unwrap_or(inside);
        let inside = inside.strip_suffix("/mod").unwrap_or(inside);
        inside.split('/').map(str::to_owned).collect()
    }
}

/// Every Rust file below `folder` of the project, in order of path.
///
/// Files that only `#[cfg(test)] mod name;` takes in keep their text for the
/// checks of size and name, and have no code.
pub fn read_folder(project: &Path, folder: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    walk(project, &project.join(folder), &mut sources);
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    let test_only: Vec<String> = sources.iter().flat_map(test_modules).collect();
    for source in &mut sources {
        let stem = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
        let below = |module: &String| {
            stem.strip_prefix(module.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if test_only.iter().any(below) {
            source.code = String::new();
        }
    }
    sources
}

fn walk(project: &Path, folder: &Path, sources: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(project, &path, sources);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let inside = path.strip_prefix(project).unwrap_or(&path);
            let text = fs::read_to_string(&path).expect("source files are UTF-8");
            sources.push(Source::new(&inside.to_string_lossy(), &text));
        }
    }
}

/// Paths without ending of the files that `#[cfg(test)] mod name;` names.
fn test_modules(source: &Source) -> Vec<String> {
    let plain = without_comments_and_literals(&source.text);
    let folder = match source.path.rsplit_once('/') {
        Some((folder, "mod.rs" | "lib.rs" | "main.rs")) => folder.to_owned(),
        _ => source.path.trim_end_matches(".rs").to_owned(),
    };
    test_attributes(&plain)
        .filter_map(|(_, after)| {
            let item = plain[after..].trim_start();
            let item = item.strip_prefix("pub ").unwrap_or(item);
            let (name, _) = item.strip_prefix("mod ")?.split_once(';')?;
            let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
            is_name.then(|| format!("{folder}/{name}"))
        })
        .collect()
}

/// Start and end of each `#[cfg(test)]`-like attribute.
fn test_attributes(code: &str) -> impl Iterator<Item = (usize, usize)> {
    code.match_indices("#[cfg(").filter_map(|(start, _)| {
        let end = start + code[start..].find(']')? + 1;
        let mut words = code[start..end].split(|c: char| !c.is_alphanumeric() && c != '_');
        let negated = code[start..end].contains("not(");
        (!negated && words.any(|word| word == "test")).then_some((start, end))
    })
}

fn without_test_items(code: &str) -> String {
    let mut kept = code.as_bytes().to_vec();
    for (start, after) in test_attributes(code) {
        blank(&mut kept[start..item_end(code, after)]);
    }
    String::from_utf8(kept).expect("whole characters were blanked")
}

/// The end of the item that begins at `from`: its `;`, or the `}` of its body.
fn item_end(code: &str, from: usize) -> usize {
    let (mut braces, mut others) = (0_i32, 0_i32);
    for (at, letter) in code[from..].char_indices() {
        match letter {
            '(' | '[' => others += 1,
            ')' | ']' => others -= 1,
            '{' => braces += 1,
            '}' => {
                braces -= 1;
                if braces <= 0 {
                    return from + at + 1;
                }
            }
            ';' | ',' if braces == 0 && others == 0 => return from + at + 1,
            _ => {}
        }
    }
    code.len()
}

fn without_comments_and_literals(text: &str) -> String {
    let mut kept = text.as_bytes().to_vec();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (length, from) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), 0)
        } else if rest.starts_with("/*") {
            (block_comment(rest), 0)
        } else if let Some(literal) = literal(text, at) {
            (literal, 0)
        } else {
            (rest.chars().next().map_or(1, char::len_utf8), usize::MAX)
        };
        let names_a_path = rest.starts_with("\"crate::");
        if from == 0 && !names_a_path {
            blank(&mut kept[at..at + length]);
        }
        at += length;
    }
    String::from_utf8(kept).expect("whole characters were blanked")
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Length of the text or character literal that begins at `at`, if one does.
fn literal(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let in_name = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if let Some(body) = rest.strip_prefix('r').filter(|_| !in_name) {
        let hashes = body.len() - body.trim_start_matches('#').len();
        let body = body[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        let end = body.find(&close).unwrap_or(body.len());
        return Some((1 + hashes + 1 + end + close.len()).min(rest.len()));
    }
    if let Some(body) = rest.strip_prefix('"') {
        return Some((1 + quoted(body, '"')).min(rest.len()));
    }
    // `'a'` and `'\n'` are literals, `'a` is a lifetime.
    let body = rest.strip_prefix('\'')?;
    let mut letters = body.chars();
    let first = letters.next()?;
    (first == '\\' || letters.next() == Some('\'')).then(|| 1 + quoted(body, '\''))
}

fn quoted(body: &str, close: char) -> usize {
    let mut escaped = false;
    for (at, letter) in body.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == close => return at + 1,
            _ => {}
        }
    }
    body.len()
}
