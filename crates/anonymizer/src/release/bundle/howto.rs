//! How to open this very release with pandas, polars, R and DuckDB: names of its
//! own tables and columns, in the quotes of each language.

use std::fmt::Write;

use crate::microdata::AttributeType;
use crate::release::columnar::fields_of;
use crate::release::layout::{
    BUCKETS, GROUP_BUCKETS, MICRODATA, PERSONS, QUASI, SENSITIVE, SLICED,
};
use crate::release::manifest::{ColumnDescription, Manifest, TableDescription};
use crate::release::table::Content;

use super::attribute_of;

/// What a page shows by example.
struct Example<'a> {
    /// The table whose rows are people or records.
    main: &'a TableDescription,
    /// The columns of a number or date in Parquet: lower and upper end.
    ends: Option<(String, String)>,
    /// The column of a category, and whether it has lists.
    category: Option<(String, bool)>,
}

/// The page, in Markdown; `name` is what people call the release.
pub fn howto(manifest: &Manifest, name: Option<&str>) -> String {
    let mut page = String::new();
    let title = name.unwrap_or("This release");
    let _ = write!(page, "# How to read it\n\n{}", plain(title));
    let _ = write!(
        page,
        ": {} records, made by the engine `{}` of Vizard {}.\n\n",
        manifest.records, manifest.engine, manifest.made_by.vizard
    );
    page += FILES;
    tables(&mut page, manifest);
    cells(&mut page, manifest);
    if let Some(example) = Example::of(manifest) {
        example.python(&mut page);
        example.r(&mut page);
        example.duckdb(&mut page);
    }
    page += "\n## What it does not protect\n\n";
    for sentence in &manifest.not_protected {
        let _ = writeln!(page, "- {}", plain(sentence));
    }
    page
}

const FILES: &str = "`sha256sum -c SHA256SUMS` says whether the files are whole. \
`manifest.json` says what is claimed and against whom, `data_dictionary.csv` what each column is, \
`report.html` what the release is good for, `hierarchies/` what generalized categories stand for. \
The manifest's digests are of the tables as CSV, which the service gives by `?format=csv`.\n\n";

fn tables(page: &mut String, manifest: &Manifest) {
    *page += "| table | rows | what |\n|---|---|---|\n";
    for table in &manifest.tables {
        let what = match table.name.as_str() {
            MICRODATA => "a row a record",
            PERSONS => "a row a person",
            QUASI => "a row a record, with the numbers of its blocks",
            SLICED => "a row a place in a bucket: columns are permuted inside buckets",
            BUCKETS => "the values of each bucket, with how often each occurs",
            GROUP_BUCKETS => "the buckets of each group",
            SENSITIVE => "the values of each block, with how often each occurs",
            _ => "which attributes stand together",
        };
        let _ = writeln!(
            page,
            "| `{}.parquet` | {} | {what} |",
            table.name, table.rows
        );
    }
    *page += "\n";
}

fn cells(page: &mut String, manifest: &Manifest) {
    let columns = || manifest.tables.iter().flat_map(|table| &table.columns);
    let has = |wanted: &dyn Fn(&ColumnDescription) -> bool| columns().any(wanted);
    *page += "## What a cell says\n\n";
    if has(&|column| column.content == Content::Generalized && is_number(column)) {
        *page += "- A number or date that is generalized has two columns, `…_min` and `…_max`: the \
                  value lies between them, both included. Do not take the middle for the value.\n";
    }
    if has(&|column| column.sets) {
        *page += "- A category in a list is one of the list.\n";
    }
    if has(&|column| column.masked) {
        *page += "- Where `…_masked` is true, or a category is `*`, it is any value.\n";
    }
    if has(&|column| column.missing) {
        *page += "- Where `…_missing` is true there may be no value.\n";
    }
    if has(&|column| matches!(column.content, Content::Bucket | Content::Block)) {
        *page += "- A value that stands in a bucket or a block is one of those that it has: join by \
                  its number, and weigh each value by its count.\n";
    }
    *page += "\nThe Python package `vizard` reads the bundle as it is, and gives means, tables and \
              regressions with bounds: `Release.open(\"bundle.zip\")`.\n";
}

impl<'a> Example<'a> {
    fn of(manifest: &'a Manifest) -> Option<Self> {
        let main = [MICRODATA, QUASI, PERSONS, SLICED];
        let mut main = main.iter().filter_map(|name| {
            let mut tables = manifest.tables.iter();
            tables.find(|table| table.name == **name)
        });
        let main = main.next()?;
        let fields = fields_of(&main.columns);
        let (mut ends, mut category) = (None, None);
        for (column, fields) in main.columns.iter().zip(fields) {
            if attribute_of(column).is_none() {
                continue;
            }
            match (is_number(column), fields.as_slice()) {
                (true, [lower, upper, ..]) if column.content == Content::Generalized => {
                    ends = ends.or_else(|| Some((lower.clone(), upper.clone())));
                }
                (true, [exact, ..]) => ends = ends.or_else(|| Some((exact.clone(), exact.clone()))),
                (false, [field, ..]) => {
                    let is_list = column.sets || column.content == Content::Fingerprint;
                    category = category.or_else(|| Some((field.clone(), is_list)));
                }
                _ => {}
            }
        }
        Some(Self {
            main,
            ends,
            category,
        })
    }

    fn python(&self, page: &mut String) {
        let file = format!("{}.parquet", self.main.name);
        for (title, module, short) in [("pandas", "pandas", "pd"), ("polars", "polars", "pl")] {
            let _ = write!(
                page,
                "\n## {title}\n\n```python\nimport {module} as {short}\n\nrows = {short}.read_parquet({})\nprint(rows)\n",
                quoted(&file)
            );
            if let Some((lower, upper)) = &self.ends {
                let _ = writeln!(
                    page,
                    "print(\"the mean lies between\", rows[{}].mean(), \"and\", rows[{}].mean())",
                    quoted(lower),
                    quoted(upper)
                );
            }
            if let Some((field, is_list)) = &self.category {
                let column = format!("rows[{}]", quoted(field));
                let values = if *is_list { ".explode()" } else { "" };
                let _ = writeln!(page, "print({column}{values}.value_counts())");
            }
            *page += "```\n";
        }
    }

    fn r(&self, page: &mut String) {
        let file = format!("{}.parquet", self.main.name);
        let _ = write!(
            page,
            "\n## R\n\n```r\nlibrary(arrow)\n\nrows <- read_parquet({})\nprint(rows)\n",
            quoted(&file)
        );
        if let Some((lower, upper)) = &self.ends {
            let mean =
                |field: &str| format!("mean(as.numeric(rows[[{}]]), na.rm = TRUE)", quoted(field));
            let _ = writeln!(
                page,
                "print(c(lower = {}, upper = {}))",
                mean(lower),
                mean(upper)
            );
        }
        if let Some((field, _)) = &self.category {
            let _ = writeln!(page, "print(table(unlist(rows[[{}]])))", quoted(field));
        }
        *page += "```\n";
    }

    fn duckdb(&self, page: &mut String) {
        let table = format!("'{}.parquet'", self.main.name);
        *page += "\n## DuckDB\n\n```sql\n";
        let _ = writeln!(page, "SELECT count(*) FROM {table};");
        if let Some((lower, upper)) = &self.ends {
            let _ = writeln!(
                page,
                "SELECT min({}), max({}) FROM {table};",
                identifier(lower),
                identifier(upper)
            );
        }
        if let Some((field, is_list)) = &self.category {
            let name = identifier(field);
            let value = if *is_list {
                format!("unnest({name})")
            } else {
                name
            };
            let _ = writeln!(
                page,
                "SELECT value, count(*) FROM (SELECT {value} AS value FROM {table}) GROUP BY value ORDER BY 2 DESC LIMIT 10;"
            );
        }
        *page += "```\n";
    }
}

fn is_number(column: &ColumnDescription) -> bool {
    !matches!(column.kind, None | Some(AttributeType::Categorical))
}

/// A text in double quotes, as Python and R read it.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

/// A name in SQL.
fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Text that Markdown takes as it is.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for sign in text.chars() {
        if matches!(
            sign,
            '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#' | '|' | '&'
        ) {
            out.push('\\');
        }
        out.push(sign);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest(columns: &serde_json::Value) -> Manifest {
        let document = json!({
            "format": "vizard-release/1", "engine": "lgb", "parameters": {}, "records": 7,
            "excluded": 0, "suppressed": 0, "guarantees": [], "adversary": "somebody",
            "not_protected": ["what `*` hides"],
            "published_exactly": {"attributes": [], "unique_share": 0.0,
                "unique_share_with_quasi_identifiers": 0.0},
            "tables": [{"name": "microdata", "rows": 7, "sha256": "", "columns": columns}],
            "input": {"dataset": "people", "version": 1}, "made_by": {"vizard": "0"},
        });
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn names_of_any_kind_stand_in_the_quotes_of_each_language() {
        let columns = json!([
            {"name": "a\"b\\c", "content": "generalized", "type": "integer"},
            {"name": "d'e", "content": "generalized", "type": "categorical", "sets": true}]);
        let page = howto(&manifest(&columns), Some("*Wards* <b>"));
        assert!(page.contains("\n\\*Wards\\* \\<b\\>: 7 records"), "{page}");
        assert!(page.contains(r#"rows["a\"b\\c_min"].mean()"#), "{page}");
        assert!(
            page.contains(r#"min("a""b\c_min"), max("a""b\c_max")"#),
            "{page}"
        );
        assert!(
            page.contains(r#"rows["d'e"].explode().value_counts()"#),
            "{page}"
        );
        assert!(page.contains(r#"unnest("d'e")"#), "{page}");
        assert!(page.contains("- what \\`\\*\\` hides\n"), "{page}");
    }

    #[test]
    fn only_what_the_release_has_is_explained() {
        let columns = json!([{"name": "ward", "content": "exact", "type": "categorical"}]);
        let page = howto(&manifest(&columns), None);
        for absent in ["_min", "_masked", "bucket", "in a list", "mean lies"] {
            assert!(!page.contains(absent), "{absent}: {page}");
        }
    }
}
