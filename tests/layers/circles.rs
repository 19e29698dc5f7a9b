//! Circles of imports: files each of which needs all the others.
//!
//! What a module re-exports counts as named where it is declared, so that a
//! list of `pub use` ties no files together.

use std::collections::{BTreeMap, BTreeSet};

use crate::paths::{mentions, trees};
use crate::source::Source;

type Module = Vec<String>;

/// The files of one package, and what each re-exports under which name.
struct Package<'a> {
    files: BTreeMap<Module, &'a Source>,
    exports: BTreeMap<Module, BTreeMap<String, Module>>,
}

/// Paths of the files of each circle, the largest circle first.
pub fn circles(sources: &[Source]) -> Vec<Vec<String>> {
    let package = Package::of(sources);
    let named: BTreeMap<&Module, BTreeSet<Module>> = package
        .files
        .iter()
        .map(|(module, source)| (module, package.named_by(module, source)))
        .collect();
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = named
        .keys()
        .map(|from| (*from, reached(from, &named)))
        .collect();
    let mut circles = BTreeSet::new();
    for (from, to) in &reached {
        let circle = to.iter().filter(|other| reached[**other].contains(from));
        let circle: BTreeSet<&str> = circle.map(|of| package.files[*of].path.as_str()).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    let mut circles: Vec<Vec<String>> = circles
        .into_iter()
        .map(|circle| circle.into_iter().map(str::to_owned).collect())
        .collect();
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

/// All that is named by a file, by what is named by it, and so on.
fn reached<'m>(
    from: &'m Module,
    named: &'m BTreeMap<&'m Module, BTreeSet<Module>>,
) -> BTreeSet<&'m Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for other in named.get(module).into_iter().flatten() {
            if reached.insert(other) {
                open.push(other);
            }
        }
    }
    reached
}

impl<'a> Package<'a> {
    fn of(sources: &'a [Source]) -> Self {
        let files: BTreeMap<Module, &Source> = sources
            .iter()
            .filter(|source| !source.code.is_empty())
            .map(|source| (source.module(), source))
            .collect();
        let exports = files
            .iter()
            .map(|(module, source)| {
                let of_public = trees(source, |before| {
                    before.ends_with("pub use") || before.ends_with(") use")
                });
                let exports = of_public.into_iter().filter_map(|path| {
                    let path = absolute(module, path, &files)?;
                    Some((path.last()?.clone(), path))
                });
                (module.clone(), exports.collect())
            })
            .collect();
        Self { files, exports }
    }

    /// The files that one file names.
    fn named_by(&self, module: &Module, source: &Source) -> BTreeSet<Module> {
        let below = trees(source, |before| before.ends_with("use"));
        let below = below
            .into_iter()
            .filter_map(|path| absolute(module, path, &self.files));
        let paths = mentions(source).into_iter().map(|mention| mention.path);
        let mut named: BTreeSet<Module> = paths
            .chain(below)
            .filter_map(|path| self.file_of(&path))
            .collect();
        named.remove(module);
        named
    }

    /// The file that declares what a path names.
    fn file_of(&self, path: &[String]) -> Option<Module> {
        let mut path = path.to_vec();
        // A re-export of a re-export, and so on: more than a few are a mistake.
        for _ in 0..8 {
            let length = (1..=path.len())
                .rev()
                .find(|length| self.files.contains_key(&path[..*length]))?;
            let (file, rest) = path.split_at(length);
            let exported = rest
                .first()
                .and_then(|name| self.exports.get(file)?.get(name));
            match exported {
                Some(exported) if *exported != path => path = exported.clone(),
                _ => return Some(file.to_vec()),
            }
        }
        None
    }
}

/// A path of a `use` from the crate's root: one that begins with a module below
/// the file, or with `crate`, `super` or `self`.
fn absolute(module: &Module, path: Module, files: &BTreeMap<Module, &Source>) -> Option<Module> {
    let first = path.first()?.as_str();
    if matches!(first, "crate" | "super" | "self") {
        return Some(crate::paths::resolved(module, &path));
    }
    let mut below = module.clone();
    below.push(first.to_owned());
    files
        .contains_key(&below)
        .then(|| [module.clone(), path].concat())
}
