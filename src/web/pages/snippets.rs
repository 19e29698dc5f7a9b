//! How this release is read with pandas, polars, DuckDB and R: programs made
//! with its own tables and columns.
//!
//! Names are those of Parquet: a generalized number is two columns, its ends. A
//! name may hold anything, so each language gets it quoted in its own way.

use maud::{Markup, html};
use serde_json::Value;

use super::frame::program_text;
use super::words::{text, turns_direction};
use crate::web::markup::list;

/// Tables of which a row is about a record or a person, by the engines.
const ROWS: [&str; 4] = ["microdata", "quasi", "sliced", "persons"];

/// What of a release the programs speak of.
struct Parts<'a> {
    release: &'a str,
    /// The table whose rows are about somebody.
    rows: &'a str,
    /// A number: the columns of its ends, which are one where it is exact.
    number: Option<(String, String)>,
    /// A category.
    category: Option<&'a str>,
    beside: Option<Beside<'a>>,
}

/// Values that stand beside the rows: in a table of buckets or blocks.
struct Beside<'a> {
    table: &'a str,
    attribute: &'a str,
    /// The column of the number in both tables: `diagnosis_bucket`, `bucket`.
    columns: (String, &'a str),
}

/// The section.
pub fn snippets(release: &Value) -> Markup {
    let Some(parts) = Parts::of(release) else {
        return html! {};
    };
    html! {
        section {
            h2 { "How to read it" }
            p { "Download the tables as Parquet. A range is two columns, its ends; a set of values is written " code { "{a|b}" } ", and " code { "*" } " is any value. Do not take the middle of a range for the value: the package " code { "vizard" } " for Python spreads it as it may be." }
            details {
                summary { "Python: the package vizard" }
                (program_text("vizard", &parts.package()))
            }
            details {
                summary { "pandas" }
                (program_text("pandas", &parts.pandas()))
            }
            details {
                summary { "polars" }
                (program_text("polars", &parts.polars()))
            }
            details {
                summary { "DuckDB" }
                (program_text("DuckDB", &parts.duckdb()))
            }
            details {
                summary { "R" }
                (program_text("R", &parts.r()))
            }
        }
    }
}

impl<'a> Parts<'a> {
    fn of(release: &'a Value) -> Option<Self> {
        let tables = list(&release["manifest"]["tables"]);
        let rows = ROWS
            .iter()
            .find_map(|name| tables.iter().find(|table| text(table, "name") == *name))?;
        let columns = list(&rows["columns"]);
        Some(Self {
            release: text(release, "id"),
            rows: text(rows, "name"),
            number: number(columns),
            category: columns
                .iter()
                .find(|column| text(column, "type") == "categorical" && is_value(column))
                .map(|column| text(column, "name")),
            beside: Beside::of(tables, columns),
        })
    }

    fn file(&self) -> String {
        format!("{}.parquet", self.rows)
    }

    fn package(&self) -> String {
        let mut lines = vec![
            "import os".to_owned(),
            String::new(),
            "from vizard import Client, Release".into(),
            String::new(),
            "with Client(os.environ[\"VIZARD\"], os.environ[\"KEY\"]) as client:".into(),
            format!(
                "    release = Release.open((client, {}))",
                quoted(self.release)
            ),
            "people = release.to_pandas()".into(),
        ];
        if let Some((least, _)) = &self.number {
            let name = least.strip_suffix("_min").unwrap_or(least);
            lines.push(format!("print(release.mean({}))", quoted(name)));
        }
        lines.join("\n")
    }

    /// What pandas and polars have in common: the table, and the ends of a mean.
    fn frame(&self, library: &str, short: &str) -> Vec<String> {
        let mut lines = vec![
            format!("import {library} as {short}"),
            String::new(),
            format!("people = {short}.read_parquet({})", quoted(&self.file())),
        ];
        if let Some((least, most)) = &self.number {
            let (least, most) = (quoted(least), quoted(most));
            lines.push(ENDS.into());
            lines.push(format!(
                "print(people[{least}].mean(), people[{most}].mean())"
            ));
        }
        lines
    }

    fn pandas(&self) -> String {
        let mut lines = self.frame("pandas", "pd");
        if let Some(category) = self.category {
            lines.push(format!(
                "print(people[{}].value_counts())",
                quoted(category)
            ));
        }
        if let Some(beside) = &self.beside {
            let (at, number) = (quoted(&beside.columns.0), quoted(beside.columns.1));
            lines.push(format!("# {}", beside.said()));
            lines.push(format!(
                "values = pd.read_parquet({})",
                quoted(&format!("{}.parquet", beside.table))
            ));
            lines.push(format!(
                "values = values[values[\"attribute\"] == {}]",
                quoted(beside.attribute)
            ));
            lines.push(format!(
                "values = values.assign(share=values[\"count\"] / values.groupby({number})[\"count\"].transform(\"sum\"))"
            ));
            lines.push(format!(
                "joined = people.merge(values, left_on={at}, right_on={number})"
            ));
            lines.push("print(joined.groupby(\"value\", observed=True)[\"share\"].sum())".into());
        }
        lines.join("\n")
    }

    fn polars(&self) -> String {
        let mut lines = self.frame("polars", "pl");
        if let Some(category) = self.category {
            lines.push(format!(
                "print(people.group_by({}).len())",
                quoted(category)
            ));
        }
        lines.join("\n")
    }

    fn duckdb(&self) -> String {
        let file = self.file();
        let mut lines = Vec::new();
        if let Some((least, most)) = &self.number {
            let (least, most) = (identifier(least), identifier(most));
            lines.push("-- Ends of the mean, over the rows whose cell tells it.".to_owned());
            lines.push(format!(
                "SELECT count({least}) AS rows_that_tell, avg({least}), avg({most}) FROM '{file}';"
            ));
        }
        if let Some(category) = self.category {
            let category = identifier(category);
            lines.push(format!(
                "SELECT {category}, count(*) FROM '{file}' GROUP BY ALL ORDER BY ALL;"
            ));
        }
        if let Some(beside) = &self.beside {
            let number = identifier(beside.columns.1);
            lines.push(format!("-- {}", beside.said()));
            lines.push(format!(
                "SELECT v.value, sum(v.share) AS estimate\nFROM '{file}' AS people\nJOIN (SELECT {number}, value, count / sum(count) OVER (PARTITION BY {number}) AS share\n      FROM '{}.parquet' WHERE attribute = {}) AS v\n  ON v.{number} = people.{}\nGROUP BY ALL ORDER BY ALL;",
                beside.table,
                literal(beside.attribute),
                identifier(&beside.columns.0)
            ));
        }
        if lines.is_empty() {
            lines.push(format!("SELECT * FROM '{file}' LIMIT 20;"));
        }
        lines.join("\n")
    }

    fn r(&self) -> String {
        let mut lines = vec![
            "library(arrow)".to_owned(),
            String::new(),
            format!("people <- read_parquet({})", quoted(&self.file())),
        ];
        if let Some((least, most)) = &self.number {
            let (least, most) = (quoted(least), quoted(most));
            lines.push(ENDS.into());
            lines.push(format!(
                "c(mean(people[[{least}]], na.rm = TRUE), mean(people[[{most}]], na.rm = TRUE))"
            ));
        }
        if let Some(category) = self.category {
            lines.push(format!("table(people[[{}]])", quoted(category)));
        }
        lines.join("\n")
    }
}

/// What is said of a mean of ends, in Python and R.
const ENDS: &str = "# Ends of the mean, over the rows whose cell tells it.";

impl<'a> Beside<'a> {
    /// A column of numbers of buckets or blocks whose table is there; of a
    /// category where there is one.
    fn of(tables: &'a [Value], columns: &'a [Value]) -> Option<Self> {
        let beside = columns.iter().filter_map(|column| {
            let content = text(column, "content");
            let (table, number) = match content {
                "bucket" => ("buckets", "bucket"),
                "block" => ("sensitive", "block"),
                _ => return None,
            };
            let attribute = text(column, "name").strip_suffix(&format!("_{content}"))?;
            if attribute.contains(turns_direction) {
                return None;
            }
            let found = tables.iter().find(|found| text(found, "name") == table)?;
            let mut values = list(&found["columns"]).iter();
            let is_category = values.any(|one| one["types"][attribute] == "categorical");
            let columns = (text(column, "name").to_owned(), number);
            let beside = Self {
                table,
                attribute,
                columns,
            };
            Some((is_category, beside))
        });
        let mut beside: Vec<_> = beside.collect();
        let category = beside.iter().position(|(is_category, _)| *is_category);
        let chosen = category.unwrap_or_default();
        (chosen < beside.len()).then(|| beside.swap_remove(chosen).1)
    }

    fn said(&self) -> String {
        // A line feed would end the comment.
        let name: String = self
            .attribute
            .chars()
            .filter(|one| !one.is_control())
            .collect();
        format!(
            "Expected number of records by {name}, of those in a {}.",
            self.columns.1
        )
    }
}

/// Whether a program can speak of a column: SQL has no way to write a sign that
/// nobody sees.
fn is_value(column: &Value) -> bool {
    let is_plain = |character: char| !character.is_control() && !turns_direction(character);
    let is_plain = text(column, "name").chars().all(is_plain);
    is_plain && matches!(text(column, "content"), "generalized" | "exact")
}

/// The ends of the first number, as columns of Parquet. Where another column has
/// such a name already, Parquet calls them otherwise: the next number is taken.
fn number(columns: &[Value]) -> Option<(String, String)> {
    let is_free = |name: &str| columns.iter().all(|column| text(column, "name") != name);
    let numbers = columns
        .iter()
        .filter(|column| is_value(column) && matches!(text(column, "type"), "integer" | "decimal"));
    let mut ends = numbers.map(|column| {
        let name = text(column, "name");
        match text(column, "content") {
            "exact" => (true, (name.to_owned(), name.to_owned())),
            _ => {
                let ends = (format!("{name}_min"), format!("{name}_max"));
                (is_free(&ends.0) && is_free(&ends.1), ends)
            }
        }
    });
    ends.find_map(|(is_sure, ends)| is_sure.then_some(ends))
}

/// A text of Python and of R: both read what JSON writes.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A name in SQL.
fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in SQL.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn programs_name_the_columns_of_this_release_each_in_its_own_quotes() {
        let release = json!({"id": "release_1", "manifest": {"tables": [
            {"name": "microdata", "columns": [
                {"name": "age", "content": "generalized", "type": "integer"},
                {"name": "age_min", "content": "exact", "type": "date"},
                {"name": "co\"st", "content": "generalized", "type": "decimal"},
                {"name": "sex", "content": "generalized", "type": "categorical"},
                {"name": "it's_bucket", "content": "bucket"}]},
            {"name": "buckets", "columns": []}]}});
        let parts = Parts::of(&release).expect("it has rows");
        // `age_min` is taken, so Parquet calls the ends of the age otherwise.
        assert!(parts.pandas().contains(r#"people["co\"st_min"].mean()"#));
        let sql = parts.duckdb();
        assert!(sql.contains(r#"avg("co""st_min")"#), "{sql}");
        assert!(sql.contains("WHERE attribute = 'it''s'"), "{sql}");
        assert!(
            sql.contains(r#"v."bucket" = people."it's_bucket""#),
            "{sql}"
        );
        assert!(parts.r().contains(r#"table(people[["sex"]])"#));
        assert!(Parts::of(&json!({})).is_none());
    }
}
