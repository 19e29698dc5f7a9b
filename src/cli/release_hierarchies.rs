//! The hierarchies in the folder of a release: `hierarchies.json` says which
//! there are, `hierarchies/<attribute>.csv` holds each of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use vizard_anonymizer::microdata::sha256::Sha256;
use vizard_anonymizer::microdata::{HierarchyFormat, HierarchySource, TableError, to_hex};
use vizard_anonymizer::query::Hierarchies;
use vizard_anonymizer::release::{
    HierarchyList, HierarchyUse, ReleaseHierarchy, hierarchy_file_name as file_name,
};

use super::exit::Exit;
use super::input::read;

/// Which hierarchies there are.
pub const LIST: &str = "hierarchies.json";
/// Where they are.
pub const FOLDER: &str = "hierarchies";

/// The files of a release's hierarchies: the list, and name and content of each.
pub struct Files {
    /// What `hierarchies.json` says.
    pub list: HierarchyList,
    /// Names in the folder, and contents.
    pub contents: Vec<(String, String)>,
}

impl Files {
    /// The files of these hierarchies.
    pub fn of(hierarchies: &[ReleaseHierarchy], shown: HierarchyUse) -> Self {
        let contents = match shown {
            HierarchyUse::Publish => hierarchies
                .iter()
                .map(|one| (file_name(&one.attribute), one.tree.to_csv()))
                .collect(),
            HierarchyUse::Withhold => Vec::new(),
        };
        Self {
            list: HierarchyList::of(hierarchies, shown),
            contents,
        }
    }
}

/// Reads the list, where it is there.
pub fn list(folder: &Path) -> Result<Option<HierarchyList>, Exit> {
    let path = folder.join(LIST);
    if !path.exists() {
        return Ok(None);
    }
    let list = serde_json::from_slice(&read(&path)?);
    let list = list.map_err(|error| {
        let what = format!("is no list of hierarchies: line {}", error.line());
        Exit::Input(LIST.into(), TableError::Read(what))
    });
    list.map(Some)
}

/// The paths, inside the folder of a release, of what its list names.
pub fn paths(list: &HierarchyList) -> BTreeSet<String> {
    let published = list.published.iter();
    published
        .map(|one| format!("{FOLDER}/{}", file_name(&one.attribute)))
        .collect()
}

/// Reads the hierarchies that a list names; each must have its digest.
pub fn read_listed(folder: &Path, list: &HierarchyList) -> Result<Hierarchies, Exit> {
    let mut trees = Hierarchies::new();
    for one in &list.published {
        let name = format!("{FOLDER}/{}", file_name(&one.attribute));
        let at_fault = |error| Exit::Input(name.clone(), error);
        let bytes = read(&folder.join(&name))?;
        if to_hex(&Sha256::of(&bytes)) != one.sha256 {
            let what = format!("its digest is not the one in {LIST}");
            return Err(at_fault(TableError::Read(what)));
        }
        match HierarchySource::read(&bytes, HierarchyFormat::Csv).map_err(at_fault)? {
            HierarchySource::Tree(tree) => {
                trees.insert(one.attribute.clone(), Arc::clone(&tree));
            }
            HierarchySource::Intervals(_) => {
                return Err(at_fault(TableError::Read("is no tree".into())));
            }
        }
    }
    Ok(trees)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_like_its_attribute_where_a_file_can_be() {
        assert_eq!(file_name("diagnosis"), "diagnosis.csv");
        assert_eq!(file_name("Straße 2.b"), "Straße 2.b.csv");
        assert_eq!(file_name("../a/b"), "%2E.%2Fa%2Fb.csv");
        assert_eq!(file_name("100%"), "100%25.csv");
        let long = file_name(&"😀".repeat(64));
        assert_eq!(long.len(), 64 + 4);
    }
}
