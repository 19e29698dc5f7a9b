//! What of a release can be asked: its attributes with their types, from the
//! manifest, and the values that a condition may name.
//!
//! Values of a category are the nodes of its published hierarchy. Where it has
//! none, they are what a query finds that groups by it: that is an answer like
//! any other, with its row in the audit log.

use serde_json::{Value, json};
use vizard_anonymizer::microdata::{HierarchyFormat, HierarchySource, NodeIndex};

use super::super::api::{Api, segment};
use super::super::visitor::Visitor;
use super::super::words::text;
use crate::web::markup::list;

/// Tables whose rows are records, by the engines that make them.
const RECORDS: [&str; 3] = ["microdata", "quasi", "sliced"];
/// What the second appearance of an attribute in a sliced table ends with.
const SECOND: &str = "@2";

/// What values of an attribute are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Integer,
    /// Other numbers.
    Decimal,
    /// Days.
    Date,
    /// Categories.
    Category,
}

/// An attribute that can be asked of.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
}

/// A value that a condition may name, and how deep it stands below the others.
pub struct Choice {
    /// The value, as it is published.
    pub label: String,
    /// Nodes above it but the root.
    pub depth: u32,
}

impl Kind {
    fn of(word: &str) -> Option<Self> {
        match word {
            "integer" => Some(Self::Integer),
            "decimal" => Some(Self::Decimal),
            "date" => Some(Self::Date),
            "categorical" => Some(Self::Category),
            _ => None,
        }
    }

    /// Whether it has a sum and an average.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Decimal)
    }
}

/// The attributes of a manifest that a query may name, in order of the columns;
/// none where rows are no records.
pub fn attributes(manifest: &Value) -> Vec<Attribute> {
    let tables = list(&manifest["tables"]).iter();
    let of_records = tables.filter(|table| RECORDS.contains(&text(table, "name")));
    let shown = of_records.flat_map(|table| list(&table["columns"]));
    let shown = shown
        .filter(|column| matches!(text(column, "content"), "generalized" | "exact"))
        .filter(|column| !text(column, "name").ends_with(SECOND))
        .map(|column| (text(column, "name"), text(column, "type")));
    // Beside the rows: values of buckets and blocks.
    let columns = list(&manifest["tables"])
        .iter()
        .flat_map(|table| list(&table["columns"]));
    let beside = columns
        .filter_map(|column| column["types"].as_object())
        .flatten()
        .map(|(name, kind)| (name.as_str(), kind.as_str().unwrap_or_default()));
    let is_of_records = list(&manifest["tables"])
        .iter()
        .any(|table| RECORDS.contains(&text(table, "name")));
    let mut attributes: Vec<Attribute> = Vec::new();
    for (name, kind) in shown.chain(beside.filter(|_| is_of_records)) {
        let is_new = attributes.iter().all(|known| known.name != name);
        if let (true, Some(kind)) = (is_new, Kind::of(kind)) {
            let name = name.to_owned();
            attributes.push(Attribute { name, kind });
        }
    }
    attributes
}

/// The values of a category; `None` where they cannot be listed.
pub async fn choices(
    (api, visitor): (&Api, &Visitor),
    release: &str,
    name: &str,
) -> Option<Vec<Choice>> {
    let place = format!("/v1/releases/{release}");
    let hierarchy = format!("{place}/hierarchies/{}", segment(name));
    if let Ok(csv) = api.text(visitor, &hierarchy).await {
        let read = HierarchySource::read(csv.as_bytes(), HierarchyFormat::Csv);
        let Ok(HierarchySource::Tree(tree)) = read else {
            return None;
        };
        return Some(below_root(&tree));
    }
    let query = json!({"count": true, "group_by": [name]});
    let answer = api
        .post(visitor, &format!("{place}/query"), Some(&query))
        .await;
    let cells = answer.ok()?;
    let cells = list(&cells["cells"]).iter();
    let labels = cells.filter_map(|cell| cell["values"][0].as_str());
    Some(labels.map(flat).collect())
}

fn flat(label: &str) -> Choice {
    Choice {
        label: label.to_owned(),
        depth: 0,
    }
}

/// The nodes of a tree but its root, each behind the one above it.
fn below_root(tree: &vizard_anonymizer::microdata::Hierarchy) -> Vec<Choice> {
    let mut choices = Vec::new();
    let mut open = vec![NodeIndex::ROOT];
    while let Some(at) = open.pop() {
        let node = tree.node(at);
        if at != NodeIndex::ROOT {
            choices.push(Choice {
                label: node.label.clone(),
                depth: node.depth - 1,
            });
        }
        open.extend(node.children.iter().rev());
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_those_of_records_and_of_what_stands_beside_them() {
        let manifest = json!({"tables": [
            {"name": "quasi", "columns": [
                {"name": "age", "content": "exact", "type": "integer"},
                {"name": "diagnosis_block", "content": "block"}]},
            {"name": "sensitive", "columns": [
                {"name": "value", "content": "value", "types": {"age": "integer", "diagnosis": "categorical"}}]}]});
        let found = attributes(&manifest);
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["age", "diagnosis"]);
        assert_eq!(found[1].kind, Kind::Category);
        let persons = json!({"tables": [{"name": "persons", "columns": [
            {"name": "age", "content": "generalized", "type": "integer"}]}]});
        assert!(attributes(&persons).is_empty());
        let sliced = json!({"tables": [{"name": "sliced", "columns": [
            {"name": "age", "content": "exact", "type": "integer"},
            {"name": "age@2", "content": "exact", "type": "integer"}]}]});
        assert_eq!(attributes(&sliced).len(), 1);
    }
}
