//! Parquet files by hand, so that any number in them can be a lie.
//!
//! [`ForgedFile::sound`] is a small honest file of two columns; a test changes
//! one thing and writes it down. Field numbers are those of parquet.thrift.

/// A value on the wire of Thrift's compact protocol.
pub enum Wire {
    Int(i64),
    Long(i64),
    Text(String),
    Struct(Vec<u8>),
    Ints(Vec<i64>),
    Texts(Vec<String>),
    Structs(Vec<Vec<u8>>),
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(0x80 | (value & 0x7F) as u8);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i64, out: &mut Vec<u8>) {
    varint(((value << 1) ^ (value >> 63)) as u64, out);
}

/// The head of a list.
pub fn list_head(count: u64, element: u8) -> Vec<u8> {
    let mut out = vec![0xF0 | element];
    varint(count, &mut out);
    out
}

/// A structure of these fields, in ascending order.
pub fn structure(fields: Vec<(i64, Wire)>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut last = 0;
    for (id, wire) in fields {
        let code = match wire {
            Wire::Int(_) => 5,
            Wire::Long(_) => 6,
            Wire::Text(_) => 8,
            Wire::Struct(_) => 12,
            Wire::Ints(_) | Wire::Texts(_) | Wire::Structs(_) => 9,
        };
        out.push(((id - last) as u8) << 4 | code);
        last = id;
        match wire {
            Wire::Int(value) | Wire::Long(value) => zigzag(value, &mut out),
            Wire::Text(text) => bytes(text.as_bytes(), &mut out),
            Wire::Struct(bytes) => out.extend(bytes),
            Wire::Ints(values) => {
                out.extend(list_head(values.len() as u64, 5));
                values.iter().for_each(|&value| zigzag(value, &mut out));
            }
            Wire::Texts(texts) => {
                out.extend(list_head(texts.len() as u64, 8));
                texts
                    .iter()
                    .for_each(|text| bytes(text.as_bytes(), &mut out));
            }
            Wire::Structs(structs) => {
                out.extend(list_head(structs.len() as u64, 12));
                out.extend(structs.concat());
            }
        }
    }
    out.push(0);
    out
}

fn bytes(bytes: &[u8], out: &mut Vec<u8>) {
    varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// A page, and what its header says of it.
#[derive(Clone)]
pub struct ForgedPage {
    pub kind: i64,
    pub values: i64,
    pub encoding: i64,
    pub unpacked: i64,
    pub packed: i64,
    pub data: Vec<u8>,
}

impl ForgedPage {
    /// An honest page of plain values.
    pub fn plain(values: i64, data: Vec<u8>) -> Self {
        Self {
            kind: 0,
            values,
            encoding: 0,
            unpacked: data.len() as i64,
            packed: data.len() as i64,
            data,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let own = match self.kind {
            2 => (7, vec![(1, Wire::Int(self.values)), (2, Wire::Int(0))]),
            _ => (
                5,
                vec![
                    (1, Wire::Int(self.values)),
                    (2, Wire::Int(self.encoding)),
                    (3, Wire::Int(3)),
                    (4, Wire::Int(3)),
                ],
            ),
        };
        let mut out = structure(vec![
            (1, Wire::Int(self.kind)),
            (2, Wire::Int(self.unpacked)),
            (3, Wire::Int(self.packed)),
            (own.0, Wire::Struct(structure(own.1))),
        ]);
        out.extend(&self.data);
        out
    }
}

/// A column, and what the footer says of it.
#[derive(Clone)]
pub struct ForgedColumn {
    pub name: String,
    pub physical: i64,
    pub repetition: i64,
    pub codec: i64,
    pub pages: Vec<ForgedPage>,
    pub values: i64,
    /// Where it says that it begins and how long it is, if not the truth.
    pub start: Option<i64>,
    pub length: Option<i64>,
}

/// A file, and what its tail says of it.
#[derive(Clone)]
pub struct ForgedFile {
    pub columns: Vec<ForgedColumn>,
    pub rows: i64,
    /// Row groups, all of the same bytes.
    pub groups: usize,
    /// Bytes that the footer says it has, if not the truth.
    pub footer_bytes: Option<u32>,
}

impl ForgedFile {
    /// Three records: texts `id` and whole numbers `x`.
    pub fn sound() -> Self {
        let column = |name: &str, physical, page| ForgedColumn {
            name: name.into(),
            physical,
            repetition: 0,
            codec: 0,
            pages: vec![page],
            values: 3,
            start: None,
            length: None,
        };
        let texts = b"\x01\0\0\0a\x01\0\0\0b\x01\0\0\0c".to_vec();
        let numbers = [7_i64, 8, 9].map(i64::to_le_bytes).concat();
        Self {
            columns: vec![
                column("id", 6, ForgedPage::plain(3, texts)),
                column("x", 2, ForgedPage::plain(3, numbers)),
            ],
            rows: 3,
            groups: 1,
            footer_bytes: None,
        }
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = b"PAR1".to_vec();
        let mut chunks = Vec::new();
        for column in &self.columns {
            let start = out.len() as i64;
            column
                .pages
                .iter()
                .for_each(|page| out.extend(page.bytes()));
            let length = out.len() as i64 - start;
            let start = column.start.unwrap_or(start);
            let length = column.length.unwrap_or(length);
            let described = structure(vec![
                (1, Wire::Int(column.physical)),
                (2, Wire::Ints(vec![0, 3])),
                (3, Wire::Texts(vec![column.name.clone()])),
                (4, Wire::Int(column.codec)),
                (5, Wire::Long(column.values)),
                (6, Wire::Long(length)),
                (7, Wire::Long(length)),
                (9, Wire::Long(start)),
            ]);
            chunks.push(structure(vec![
                (2, Wire::Long(start)),
                (3, Wire::Struct(described)),
            ]));
        }
        let group = structure(vec![
            (1, Wire::Structs(chunks)),
            (2, Wire::Long(1)),
            (3, Wire::Long(self.rows)),
        ]);
        let footer = structure(vec![
            (1, Wire::Int(1)),
            (2, Wire::Structs(self.schema())),
            (3, Wire::Long(self.rows * self.groups as i64)),
            (4, Wire::Structs(vec![group; self.groups])),
        ]);
        with_footer(out, &footer, self.footer_bytes)
    }

    fn schema(&self) -> Vec<Vec<u8>> {
        let root = vec![
            (4, Wire::Text("schema".into())),
            (5, Wire::Int(self.columns.len() as i64)),
        ];
        let column = |column: &ForgedColumn| {
            structure(vec![
                (1, Wire::Int(column.physical)),
                (3, Wire::Int(column.repetition)),
                (4, Wire::Text(column.name.clone())),
            ])
        };
        std::iter::once(structure(root))
            .chain(self.columns.iter().map(column))
            .collect()
    }
}

/// Puts a footer behind the data, and says that it has `claimed` bytes.
pub fn with_footer(mut data: Vec<u8>, footer: &[u8], claimed: Option<u32>) -> Vec<u8> {
    data.extend_from_slice(footer);
    let claimed = claimed.unwrap_or(footer.len() as u32);
    data.extend_from_slice(&claimed.to_le_bytes());
    data.extend_from_slice(b"PAR1");
    data
}

/// A file without data whose footer has this schema and nothing else.
pub fn with_schema(schema: Wire) -> Vec<u8> {
    let footer = structure(vec![
        (1, Wire::Int(1)),
        (2, schema),
        (3, Wire::Long(0)),
        (4, Wire::Structs(Vec::new())),
    ]);
    with_footer(b"PAR1".to_vec(), &footer, None)
}

/// A schema of `count` columns, or of groups inside each other so deep.
pub fn many_columns(count: usize, are_nested: bool) -> Vec<Vec<u8>> {
    let children = if are_nested { 1 } else { count as i64 };
    let root = structure(vec![
        (4, Wire::Text("schema".into())),
        (5, Wire::Int(children)),
    ]);
    let column = |at: usize| {
        let name = (4, Wire::Text(format!("c{at}")));
        if are_nested {
            structure(vec![(3, Wire::Int(0)), name, (5, Wire::Int(1))])
        } else {
            structure(vec![(1, Wire::Int(2)), (3, Wire::Int(0)), name])
        }
    };
    std::iter::once(root)
        .chain((0..count).map(column))
        .collect()
}
