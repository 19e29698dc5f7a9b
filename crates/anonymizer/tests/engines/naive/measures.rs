//! C_DM, NCP and leakage by their definitions, row by row.

use vizard_anonymizer::microdata::{Domain, RecordIndex, Role, Table};
use vizard_anonymizer::release::{Cell, Cells, Content, PublishedTable};

/// The cell of a row as it stands in the table.
pub fn cell(table: &PublishedTable, column: &str, row: usize) -> Cell {
    match &table.column(column).expect("the column is there").cells {
        Cells::Dictionary { codes, cells } => cells[codes.at(row) as usize].clone(),
        Cells::Numbers(_) => panic!("a column of numbers"),
    }
}

/// The number of a row; `None` where the column is not there.
pub fn number(table: &PublishedTable, column: &str, row: usize) -> Option<u64> {
    match &table.column(column)?.cells {
        Cells::Numbers(numbers) => Some(numbers[row]),
        Cells::Dictionary { .. } => panic!("a column of cells"),
    }
}

/// Σ over records of the number of records with the same generalized cells.
pub fn c_dm(microdata: &PublishedTable) -> u64 {
    let signature = |row: usize| -> Vec<Cell> {
        let columns = microdata.columns.iter();
        let generalized = columns.filter(|column| column.content == Content::Generalized);
        generalized
            .map(|column| cell(microdata, &column.name, row))
            .collect()
    };
    let signatures: Vec<Vec<Cell>> = (0..microdata.rows()).map(signature).collect();
    let like = |own: &Vec<Cell>| signatures.iter().filter(|other| *other == own).count() as u64;
    signatures.iter().map(like).sum()
}

/// Sum of the losses of the cells of quasi-identifiers and semi-sensitive
/// attributes, by engines.md, rule 6.
pub fn ncp(table: &Table, microdata: &PublishedTable) -> f64 {
    let mut sum = 0.0;
    for (at, attribute) in table.schema().attributes().iter().enumerate() {
        if !matches!(attribute.role, Role::QuasiIdentifier | Role::SemiSensitive) {
            continue;
        }
        let index = vizard_anonymizer::microdata::AttributeIndex(at as u16);
        let domain = &table.coded(index).expect("it is published").domain;
        for row in 0..microdata.rows() {
            sum += loss(domain, &cell(microdata, &attribute.name, row));
        }
    }
    sum
}

/// Loss of one cell by engines.md, rule 6.
pub fn loss(domain: &Domain, cell: &Cell) -> f64 {
    let share = |lo: f64, hi: f64| {
        if lo == hi {
            0.0
        } else {
            (hi - lo) / domain.range()
        }
    };
    match cell {
        Cell::Empty => 0.0,
        Cell::Masked => 1.0,
        Cell::Integer(lo, hi) => share(*lo as f64, *hi as f64),
        Cell::Decimal(lo, hi) => share(*lo, *hi),
        Cell::Date(lo, hi) => share(f64::from(*lo), f64::from(*hi)),
        Cell::Set(members) => members.len() as f64 / domain.len() as f64,
        Cell::OrMissing(_) => 1.0,
        Cell::Label(label) => match domain.hierarchy() {
            None => 0.0,
            Some(tree) => {
                let node = tree.node(tree.find(label).expect("a node of the tree"));
                let leaves = f64::from(node.leaf_count);
                if leaves == 1.0 {
                    0.0
                } else {
                    leaves / domain.len() as f64
                }
            }
        },
        Cell::Items(_) => panic!("a fingerprint"),
    }
}

/// The values that a row's empty cell may hide, with their probabilities.
pub fn hidden(tables: &[PublishedTable], attribute: &str, row: usize) -> Vec<(Cell, f64)> {
    let microdata = &tables[0];
    let buckets: Vec<(u64, f64)> = match number(microdata, &format!("{attribute}_bucket"), row) {
        Some(bucket) => vec![(bucket, 1.0)],
        None => {
            let (links, group) = (&tables[2], number(microdata, "group", row));
            let of_group: Vec<usize> = (0..links.rows())
                .filter(|&link| cell(links, "attribute", link) == Cell::Label(attribute.into()))
                .filter(|&link| number(links, "group", link) == group)
                .collect();
            let count = |link: usize| number(links, "count", link).expect("counts") as f64;
            let total: f64 = of_group.iter().map(|&link| count(link)).sum();
            let bucket = |link: usize| number(links, "bucket", link).expect("buckets");
            of_group
                .iter()
                .map(|&link| (bucket(link), count(link) / total))
                .collect()
        }
    };
    let mut values = Vec::new();
    for (bucket, weight) in buckets {
        let lines: Vec<usize> = (0..tables[1].rows())
            .filter(|&line| cell(&tables[1], "attribute", line) == Cell::Label(attribute.into()))
            .filter(|&line| number(&tables[1], "bucket", line) == Some(bucket))
            .collect();
        let count = |line: usize| number(&tables[1], "count", line).expect("counts") as f64;
        let size: f64 = lines.iter().map(|&line| count(line)).sum();
        for line in lines {
            values.push((cell(&tables[1], "value", line), weight * count(line) / size));
        }
    }
    values
}

/// Probability of their own value for every row whose cell is in a bucket.
pub fn leakage(
    table: &Table,
    tables: &[PublishedTable],
    records: &[RecordIndex],
    attribute: &str,
) -> Vec<f64> {
    let index = table.schema().find(attribute).expect("it is in the schema");
    let column = table.coded(index).expect("it is published");
    let rows = (0..records.len()).filter(|&row| cell(&tables[0], attribute, row) == Cell::Empty);
    rows.map(|row| {
        let own = column.domain.text(column.code(records[row]));
        let values = hidden(tables, attribute, row).into_iter();
        values
            .filter(|(cell, _)| text(cell) == own)
            .map(|(_, share)| share)
            .sum()
    })
    .collect()
}

/// The text of an exact cell.
pub fn text(cell: &Cell) -> String {
    use vizard_anonymizer::microdata::value_text::{date_text, decimal_text};
    match cell {
        Cell::Integer(value, _) => value.to_string(),
        Cell::Decimal(value, _) => decimal_text(*value),
        Cell::Date(day, _) => date_text(*day),
        Cell::Label(label) => label.clone(),
        _ => panic!("not an exact cell"),
    }
}
