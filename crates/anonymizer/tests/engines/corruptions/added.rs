//! Columns, tables and names beyond what an engine publishes.

use rand::RngExt;
use vizard_anonymizer::microdata::AttributeType;
use vizard_anonymizer::release::{Cell, Cells, Content, PublishedColumn, PublishedTable};

use super::owners::{Rows, hash, key};
use super::{Corruption, Done, Random, table};
use crate::case::{Case, dictionary};

type Make = fn(&Case, usize) -> Cell;

fn exact(name: &str, cells: Cells) -> PublishedColumn {
    PublishedColumn {
        name: name.into(),
        content: Content::Exact,
        kind: Some(AttributeType::Categorical),
        cells,
    }
}

fn add(case: &mut Case, column: PublishedColumn) -> Done {
    let table = case.row_table();
    case.published_mut(table).columns.push(column);
    Done::Content
}

/// One more column, a cell a row.
fn column(case: &mut Case, name: &str, make: Make) -> Done {
    let cells = (0..case.rows()).map(|row| make(case, row)).collect();
    add(case, exact(name, dictionary(cells)))
}

fn number(case: &mut Case, content: Content, of: fn(&Rows, usize) -> u64) -> Done {
    let rows = Rows::of(case);
    let cells = Cells::Numbers((0..rows.len()).map(|row| of(&rows, row)).collect());
    add(
        case,
        PublishedColumn {
            name: "number".into(),
            content,
            kind: None,
            cells,
        },
    )
}

fn group_size(rows: &Rows, row: usize) -> u64 {
    let same = rows
        .number
        .iter()
        .filter(|&&other| other == rows.number[row]);
    same.count() as u64
}

fn add_table(case: &mut Case, name: &str, rows: usize) -> Done {
    let keys = (0..rows).map(|row| Cell::Label(key(case, row))).collect();
    let columns = vec![exact("person", dictionary(keys))];
    case.tables.push(PublishedTable {
        name: name.into(),
        columns,
    });
    Done::Content
}

fn repeat_table(case: &mut Case) -> Done {
    let again = case.published(case.row_table()).clone();
    case.tables.push(again);
    Done::Content
}

fn tables_turned(case: &mut Case) -> Done {
    if case.tables.len() < 2 {
        return Done::Skip;
    }
    case.tables.reverse();
    Done::Content
}

fn last_columns_exchanged(case: &mut Case) -> Done {
    let table = case.row_table();
    let columns = &mut case.published_mut(table).columns;
    let last = columns.len() - 1;
    columns.swap(last, last - 1);
    Done::Content
}

fn rename(case: &mut Case, change: fn(&str) -> String) -> Done {
    let table = case.row_table();
    if let Some(column) = case.published_mut(table).columns.last_mut() {
        column.name = change(&column.name);
    }
    Done::Content
}

fn rename_table(case: &mut Case) -> Done {
    let rows = case.row_table();
    let list = case.tables.iter_mut().find(|table| table.name != rows);
    let Some(list) = list else {
        return Done::Skip;
    };
    list.name.push_str("_of_P-10035");
    Done::Content
}

fn drop_column(case: &mut Case) -> Done {
    let table = case.row_table();
    case.published_mut(table).columns.pop();
    Done::Content
}

fn content(case: &mut Case) -> Done {
    let table = case.row_table();
    for column in &mut case.published_mut(table).columns {
        match column.content {
            Content::Exact => column.content = Content::Generalized,
            Content::Generalized => column.content = Content::Exact,
            _ => continue,
        }
        return Done::Content;
    }
    Done::Skip
}

fn kind(case: &mut Case) -> Done {
    let table = case.row_table();
    for column in &mut case.published_mut(table).columns {
        let is_label = column.kind == Some(AttributeType::Categorical);
        if is_label && column.content != Content::Fingerprint {
            column.kind = None;
            return Done::Content;
        }
    }
    Done::Skip
}

fn empty_rows(case: &mut Case) -> Done {
    let table = case.row_table();
    case.take_rows(table, &[]);
    Done::Content
}

fn key_in_place(case: &mut Case, random: &mut Random, of: fn(&Case, usize) -> String) -> Done {
    let table = case.row_table();
    let columns = case.published(table).columns.iter();
    let mut labels = columns.filter(|column| {
        column.kind == Some(AttributeType::Categorical) && column.content != Content::Fingerprint
    });
    let Some(name) = labels.next().map(|column| column.name.clone()) else {
        return Done::Skip;
    };
    let row = random.random_range(0..case.rows());
    let mut cells = case.cells(table, &name);
    cells[row] = Cell::Label(of(case, row));
    case.set_cells(table, &name, cells);
    Done::Content
}

pub fn corruptions() -> Vec<Corruption> {
    let mut all = columns();
    all.extend(tables());
    all
}

fn columns() -> Vec<Corruption> {
    table(&[
        ("a column of keys", "Everyone is named.", |c, _| {
            column(c, "id", |c, row| Cell::Label(key(c, row)))
        }),
        (
            "a column of keys under a name that is expected",
            "Everyone is named, by a second column of one name.",
            |c, _| {
                let name = c.published(c.row_table()).columns[1].name.clone();
                column(c, &name, |c, row| Cell::Label(key(c, row)))
            },
        ),
        (
            "a column of hashed keys",
            "Everyone is named to who can hash.",
            |c, _| {
                column(c, "tag", |c, row| {
                    Cell::Label(format!("{:016x}", hash(&key(c, row))))
                })
            },
        ),
        (
            "a column of positions in the source",
            "Rows are linked to the source.",
            |c, _| {
                number(c, Content::Count, |rows, row| {
                    u64::from(rows.subject[row]) + 1
                })
            },
        ),
        (
            "a column of sensitive values as numbers",
            "Values stand beside rows.",
            |c, _| {
                number(c, Content::Bucket, |rows, row| {
                    u64::from(rows.secret[row]) + 1
                })
            },
        ),
        (
            "a column of sizes",
            "What a group is, said again in a column that is not expected.",
            |c, _| number(c, Content::Count, group_size),
        ),
        (
            "a column that says the same of everyone",
            "The constant is a message.",
            |c, _| column(c, "note", |_, _| Cell::Label("P-10035 has gout".into())),
        ),
        (
            "a column without any cell",
            "The name is a message.",
            |c, _| column(c, "P-10035 has gout", |_, _| Cell::Empty),
        ),
        (
            "a column without a name",
            "A column that a reader overlooks.",
            |c, _| column(c, "", |c, row| Cell::Label(key(c, row))),
        ),
        (
            "a column of who asked for something",
            "Terms are told.",
            |c, _| number(c, Content::Group, |rows, row| 1 + u64::from(rows.asks[row])),
        ),
        (
            "the last two columns exchanged",
            "One bit: whether they are.",
            |c, _| last_columns_exchanged(c),
        ),
        (
            "a column's name with a space behind it",
            "Spaces are counted by who knows.",
            |c, _| rename(c, |name| format!("{name} ")),
        ),
        (
            "a column's name in capitals",
            "One bit for each letter.",
            |c, _| rename(c, str::to_uppercase),
        ),
        (
            "a column's name with a letter of another script",
            "A letter that looks the same is a bit.",
            |c, _| rename(c, |name| format!("{name}\u{200b}")),
        ),
        (
            "the last column left out",
            "What is promised is not published.",
            |c, _| drop_column(c),
        ),
        (
            "a generalized column called exact, or the other way round",
            "The description is false.",
            |c, _| content(c),
        ),
        (
            "a column without its type",
            "The description is another than the schema's.",
            |c, _| kind(c),
        ),
        ("a key in place of a label", "Somebody is named.", |c, r| {
            key_in_place(c, r, key)
        }),
        (
            "a hashed key in place of a label",
            "Somebody is named to who can hash.",
            |c, r| key_in_place(c, r, |c, row| format!("{:016x}", hash(&key(c, row)))),
        ),
        (
            "an escape in place of a label",
            "Characters that no reader shows hold a message.",
            |c, r| key_in_place(c, r, |_, _| "\u{200b}\u{200c}\u{200b}".into()),
        ),
    ])
}

fn tables() -> Vec<Corruption> {
    table(&[
        (
            "a table of keys",
            "Everyone is named beside the tables.",
            |c, _| add_table(c, "people", c.rows()),
        ),
        ("a table without rows", "The name is a message.", |c, _| {
            add_table(c, "P-10035 has gout", 0)
        }),
        (
            "a table under a name of another engine",
            "A table that a reader of that engine expects.",
            |c, _| add_table(c, "group_links", 1),
        ),
        (
            "the table of rows twice",
            "Whoever reads by name reads either.",
            |c, _| repeat_table(c),
        ),
        (
            "tables the other way round",
            "One bit: whether they are.",
            |c, _| tables_turned(c),
        ),
        (
            "a table under a longer name",
            "The name is a message.",
            |c, _| rename_table(c),
        ),
        (
            "no row in the table of rows",
            "Nobody is published, and nobody counted as left out.",
            |c, _| empty_rows(c),
        ),
    ])
}
