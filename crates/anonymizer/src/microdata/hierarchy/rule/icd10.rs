//! ICD-10 codes by category, block and chapter, as in WHO's edition of 2019.
//!
//! National editions have categories that WHO's has not. If such a category
//! lies in a chapter but in no block, it goes straight under the chapter.

use serde::{Deserialize, Serialize};

use super::error::{ROOT_LABEL, RuleError};
use super::shape::{check_levels, check_texts, refuse_any};

/// A level above ICD-10 codes. Levels are ordered from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Icd10Level {
    /// The first three characters: `E11.-`. The `.-` tells the node from the
    /// value `E11`.
    Category,
    /// The block: `E10-E14`.
    Block,
    /// The chapter: `IV: E00-E90`.
    Chapter,
}

impl Icd10Level {
    const ALL: [Self; 3] = [Self::Category, Self::Block, Self::Chapter];
}

/// Lines with the levels of ICD-10 above each code.
pub(super) fn lines(
    values: &[String],
    levels: Option<&[Icd10Level]>,
    others: Option<&str>,
    nodes_max: usize,
) -> Result<Vec<Vec<String>>, RuleError> {
    let levels = levels.unwrap_or(&Icd10Level::ALL);
    check_levels("levels", levels.len())?;
    if !levels.is_sorted_by(|a, b| a < b) {
        return Err(RuleError::unfit(
            "`levels` does not ascend: give each level once, in the order category, block, \
             chapter",
        ));
    }
    check_texts(values, nodes_max)?;
    others.map_or(Ok(()), check_others)?;
    let codes: Vec<Option<Code>> = values.iter().map(|value| Code::of(value)).collect();
    if others.is_none() {
        refuse_any(
            codes.iter().filter(|code| code.is_none()).count(),
            "value(s)",
            "that are no ICD-10 code: mend them, or give `others`, the label of a node for them.",
        )?;
    }
    let line = |(value, code): (&String, &Option<Code>)| {
        let mut line = vec![value.clone()];
        match code {
            Some(code) => line.extend(levels.iter().filter_map(|&level| code.label(level))),
            None => line.extend(others.map(str::to_owned)),
        }
        line.push(ROOT_LABEL.into());
        line
    };
    Ok(values.iter().zip(&codes).map(line).collect())
}

/// Checks that the node for other values is not also a node of ICD-10.
fn check_others(others: &str) -> Result<(), RuleError> {
    let is_taken = others == ROOT_LABEL
        || CHAPTERS.iter().any(|chapter| chapter.label() == others)
        || BLOCKS.contains(&others)
        || Code::of(others).is_some();
    let is_label =
        !others.is_empty() && others.trim() == others && !others.contains(char::is_control);
    if is_label && !is_taken {
        Ok(())
    } else {
        Err(RuleError::unfit(
            "`others` cannot be a label: give a trimmed text that is neither `*` nor a code, a \
             block or a chapter",
        ))
    }
}

/// What the levels above a code are made of.
struct Code {
    /// Letter and two digits; ICD-10-CM has a last letter in some.
    category: String,
    chapter: &'static Chapter,
}

/// Whether a text has the form of an ICD-10 code that lies in a chapter.
pub(crate) fn is_icd10(text: &str) -> bool {
    Code::of(text).is_some()
}

impl Code {
    /// Reads a code with or without point, dash and national marks. `None`: no
    /// code, or one that lies in no chapter.
    fn of(value: &str) -> Option<Self> {
        let (category, rest) = value.split_at_checked(3)?;
        let category = category.to_ascii_uppercase();
        let &[letter, tens, ones] = category.as_bytes() else {
            return None;
        };
        let has_form = letter.is_ascii_uppercase()
            && tens.is_ascii_digit()
            && (ones.is_ascii_digit() || matches!(ones, b'A' | b'B'));
        if !has_form || !is_subdivision(&rest.to_ascii_uppercase()) {
            return None;
        }
        // Letters follow the digits of the same ten: C4A comes right after C49.
        let in_digits = match ones {
            b'A' | b'B' => format!("{}9", category.get(..2)?),
            _ => category.clone(),
        };
        let chapter = CHAPTERS.iter().find(|chapter| chapter.covers(&in_digits))?;
        Some(Self { category, chapter })
    }

    /// The label of a node above the code. `None`: the code has no such node.
    fn label(&self, level: Icd10Level) -> Option<String> {
        match level {
            Icd10Level::Category => Some(format!("{}.-", self.category)),
            Icd10Level::Block => block_of(&self.category).map(str::to_owned),
            Icd10Level::Chapter => Some(self.chapter.label()),
        }
    }
}

/// Whether a text can follow a category: point, up to four characters of a
/// subdivision, then marks (`-`, `+`, `*`, `!`, `#`) and the German letters for
/// certainty (G, V, Z, A) and side (R, L, B), one of each.
fn is_subdivision(rest: &str) -> bool {
    let (has_point, rest) = match rest.strip_prefix('.') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let length = rest
        .bytes()
        .take(4)
        .take_while(u8::is_ascii_alphanumeric)
        .count();
    let (subdivision, _) = rest.split_at_checked(length).unwrap_or((rest, ""));
    // Without a point, letters first are no subdivision: A10BA02 is an ATC code.
    let starts = |digit: u8| has_point || digit.is_ascii_digit() || digit == b'X';
    let marks = match subdivision.bytes().next() {
        Some(first) if starts(first) => rest.get(length..).unwrap_or_default(),
        _ => rest,
    };
    let count = |letters: &str| marks.chars().filter(|&mark| letters.contains(mark)).count();
    marks.chars().all(|mark| " -+*†!#GVZARLB".contains(mark))
        && count("GVZA") <= 1
        && count("RLB") <= 1
}

/// The block of a category; none for categories that WHO's edition lacks.
fn block_of(category: &str) -> Option<&'static str> {
    let after = BLOCKS.partition_point(|block| block.get(..3).is_some_and(|lo| lo <= category));
    let block = BLOCKS.get(after.checked_sub(1)?)?;
    (category <= block.get(4..)?).then_some(*block)
}

/// A chapter of ICD-10.
struct Chapter {
    numeral: &'static str,
    range: (&'static str, &'static str),
    /// First and last category, with those of ICD-10-CM outside of the range.
    taken: (&'static str, &'static str),
}

impl Chapter {
    const fn of(numeral: &'static str, first: &'static str, last: &'static str) -> Self {
        Self {
            numeral,
            range: (first, last),
            taken: (first, last),
        }
    }

    const fn taking(self, first: &'static str, last: &'static str) -> Self {
        Self {
            taken: (first, last),
            ..self
        }
    }

    fn covers(&self, category: &str) -> bool {
        let (first, last) = self.taken;
        first <= category && category <= last
    }

    fn label(&self) -> String {
        format!("{}: {}-{}", self.numeral, self.range.0, self.range.1)
    }
}

const CHAPTERS: [Chapter; 22] = [
    Chapter::of("I", "A00", "B99"),
    Chapter::of("II", "C00", "D48").taking("C00", "D49"),
    // WHO's ends with D89; ICD-10-GM has D90.
    Chapter::of("III", "D50", "D90"),
    Chapter::of("IV", "E00", "E90"),
    Chapter::of("V", "F00", "F99"),
    Chapter::of("VI", "G00", "G99"),
    Chapter::of("VII", "H00", "H59"),
    Chapter::of("VIII", "H60", "H95"),
    Chapter::of("IX", "I00", "I99"),
    Chapter::of("X", "J00", "J99"),
    Chapter::of("XI", "K00", "K93").taking("K00", "K95"),
    Chapter::of("XII", "L00", "L99"),
    Chapter::of("XIII", "M00", "M99"),
    Chapter::of("XIV", "N00", "N99"),
    Chapter::of("XV", "O00", "O99"),
    Chapter::of("XVI", "P00", "P96"),
    Chapter::of("XVII", "Q00", "Q99"),
    Chapter::of("XVIII", "R00", "R99"),
    Chapter::of("XIX", "S00", "T98"),
    Chapter::of("XX", "V01", "Y98").taking("V00", "Y99"),
    Chapter::of("XXI", "Z00", "Z99"),
    Chapter::of("XXII", "U00", "U99"),
];

/// WHO's blocks in ascending order. Of blocks inside of blocks, only the
/// innermost are here.
const BLOCKS: &[&str] = &[
    "A00-A09", "A15-A19", "A20-A28", "A30-A49", "A50-A64", "A65-A69", "A70-A74", "A75-A79",
    "A80-A89", "A92-A99", "B00-B09", "B15-B19", "B20-B24", "B25-B34", "B35-B49", "B50-B64",
    "B65-B83", "B85-B89", "B90-B94", "B95-B98", "B99-B99", "C00-C14", "C15-C26", "C30-C39",
    "C40-C41", "C43-C44", "C45-C49", "C50-C50", "C51-C58", "C60-C63", "C64-C68", "C69-C72",
    "C73-C75", "C76-C80", "C81-C96", "C97-C97", "D00-D09", "D10-D36", "D37-D48", "D50-D53",
    "D55-D59", "D60-D64", "D65-D69", "D70-D77", "D80-D89", "E00-E07", "E10-E14", "E15-E16",
    "E20-E35", "E40-E46", "E50-E64", "E65-E68", "E70-E90", "F00-F09", "F10-F19", "F20-F29",
    "F30-F39", "F40-F48", "F50-F59", "F60-F69", "F70-F79", "F80-F89", "F90-F98", "F99-F99",
    "G00-G09", "G10-G14", "G20-G26", "G30-G32", "G35-G37", "G40-G47", "G50-G59", "G60-G64",
    "G70-G73", "G80-G83", "G90-G99", "H00-H06", "H10-H13", "H15-H22", "H25-H28", "H30-H36",
    "H40-H42", "H43-H45", "H46-H48", "H49-H52", "H53-H54", "H55-H59", "H60-H62", "H65-H75",
    "H80-H83", "H90-H95", "I00-I02", "I05-I09", "I10-I15", "I20-I25", "I26-I28", "I30-I52",
    "I60-I69", "I70-I79", "I80-I89", "I95-I99", "J00-J06", "J09-J18", "J20-J22", "J30-J39",
    "J40-J47", "J60-J70", "J80-J84", "J85-J86", "J90-J94", "J95-J99", "K00-K14", "K20-K31",
    "K35-K38", "K40-K46", "K50-K52", "K55-K64", "K65-K67", "K70-K77", "K80-K87", "K90-K93",
    "L00-L08", "L10-L14", "L20-L30", "L40-L45", "L50-L54", "L55-L59", "L60-L75", "L80-L99",
    "M00-M03", "M05-M14", "M15-M19", "M20-M25", "M30-M36", "M40-M43", "M45-M49", "M50-M54",
    "M60-M63", "M65-M68", "M70-M79", "M80-M85", "M86-M90", "M91-M94", "M95-M99", "N00-N08",
    "N10-N16", "N17-N19", "N20-N23", "N25-N29", "N30-N39", "N40-N51", "N60-N64", "N70-N77",
    "N80-N98", "N99-N99", "O00-O08", "O10-O16", "O20-O29", "O30-O48", "O60-O75", "O80-O84",
    "O85-O92", "O94-O99", "P00-P04", "P05-P08", "P10-P15", "P20-P29", "P35-P39", "P50-P61",
    "P70-P74", "P75-P78", "P80-P83", "P90-P96", "Q00-Q07", "Q10-Q18", "Q20-Q28", "Q30-Q34",
    "Q35-Q37", "Q38-Q45", "Q50-Q56", "Q60-Q64", "Q65-Q79", "Q80-Q89", "Q90-Q99", "R00-R09",
    "R10-R19", "R20-R23", "R25-R29", "R30-R39", "R40-R46", "R47-R49", "R50-R69", "R70-R79",
    "R80-R82", "R83-R89", "R90-R94", "R95-R99", "S00-S09", "S10-S19", "S20-S29", "S30-S39",
    "S40-S49", "S50-S59", "S60-S69", "S70-S79", "S80-S89", "S90-S99", "T00-T07", "T08-T14",
    "T15-T19", "T20-T25", "T26-T28", "T29-T32", "T33-T35", "T36-T50", "T51-T65", "T66-T78",
    "T79-T79", "T80-T88", "T90-T98", "U00-U49", "U82-U85", "V01-V09", "V10-V19", "V20-V29",
    "V30-V39", "V40-V49", "V50-V59", "V60-V69", "V70-V79", "V80-V89", "V90-V94", "V95-V97",
    "V98-V99", "W00-W19", "W20-W49", "W50-W64", "W65-W74", "W75-W84", "W85-W99", "X00-X09",
    "X10-X19", "X20-X29", "X30-X39", "X40-X49", "X50-X57", "X58-X59", "X60-X84", "X85-Y09",
    "Y10-Y34", "Y35-Y36", "Y40-Y59", "Y60-Y69", "Y70-Y82", "Y83-Y84", "Y85-Y89", "Y90-Y98",
    "Z00-Z13", "Z20-Z29", "Z30-Z39", "Z40-Z54", "Z55-Z65", "Z70-Z76", "Z80-Z99",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn path(value: &str) -> Option<String> {
        let code = Code::of(value)?;
        let labels = Icd10Level::ALL
            .iter()
            .filter_map(|&level| code.label(level));
        Some(labels.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn blocks_ascend_apart_from_each_other_and_lie_in_one_chapter() {
        assert_eq!(BLOCKS.len(), 263);
        let ends = |block: &&'static str| (&block[..3], &block[4..]);
        assert!(BLOCKS.iter().all(|block| ends(block).0 <= ends(block).1));
        assert!(
            BLOCKS
                .windows(2)
                .all(|two| ends(&two[0]).1 < ends(&two[1]).0)
        );
        for (first, last) in BLOCKS.iter().map(ends) {
            let chapter = |category: &str| Code::of(category).unwrap().chapter.numeral;
            assert_eq!(chapter(first), chapter(last));
            assert_eq!(block_of(first), block_of(last));
            assert!(block_of(first).is_some());
        }
    }

    #[test]
    fn chapters_do_not_overlap() {
        for (at, chapter) in CHAPTERS.iter().enumerate() {
            for other in &CHAPTERS[at + 1..] {
                assert!(!other.covers(chapter.taken.0) && !other.covers(chapter.taken.1));
                assert!(!chapter.covers(other.taken.0) && !chapter.covers(other.taken.1));
            }
        }
    }

    #[test]
    fn spellings_of_one_code_have_one_path() {
        let expected = Some("E11.-; E10-E14; IV: E00-E90".to_owned());
        for value in [
            "E11",
            "e11",
            "E11.9",
            "E119",
            "e11.9",
            "E11.9-",
            "E11.-",
            "E11-",
            "E11.90",
            "E1190",
            "E11.90G",
            "E11.90 G",
            "E11.9 G L",
            "E11.9*",
            "E11.9+",
            "E11.9†",
            "E11.9!",
            "E11#",
            "E11.90LG",
            "E11.3211",
            "E11.3211 V",
        ] {
            assert_eq!(path(value), expected, "{value}");
        }
    }

    #[test]
    fn codes_at_the_ends_of_blocks_and_chapters_are_placed() {
        for (value, expected) in [
            ("A00.0", "A00.-; A00-A09; I: A00-B99"),
            ("B99", "B99.-; B99-B99; I: A00-B99"),
            ("C50.1", "C50.-; C50-C50; II: C00-D48"),
            ("D48.9", "D48.-; D37-D48; II: C00-D48"),
            ("D50", "D50.-; D50-D53; III: D50-D90"),
            ("H59.9", "H59.-; H55-H59; VII: H00-H59"),
            ("H60", "H60.-; H60-H62; VIII: H60-H95"),
            ("I21.4", "I21.-; I20-I25; IX: I00-I99"),
            ("T31.0", "T31.-; T29-T32; XIX: S00-T98"),
            ("X07", "X07.-; X00-X09; XX: V01-Y98"),
            ("Y05", "Y05.-; X85-Y09; XX: V01-Y98"),
            ("U07.1", "U07.-; U00-U49; XXII: U00-U99"),
            ("Z99.9", "Z99.-; Z80-Z99; XXI: Z00-Z99"),
            // In no block of WHO's edition.
            ("D90", "D90.-; III: D50-D90"),
            ("D49.0", "D49.-; II: C00-D48"),
            ("U99.0", "U99.-; XXII: U00-U99"),
            ("V00.01XA", "V00.-; XX: V01-Y98"),
            ("Y99", "Y99.-; XX: V01-Y98"),
            ("K95.89", "K95.-; XI: K00-K93"),
            ("C4A.0", "C4A.-; II: C00-D48"),
            ("O9A.111", "O9A.-; XV: O00-O99"),
            ("A9B", "A9B.-; I: A00-B99"),
            ("T36X1XA", "T36.-; T36-T50; XIX: S00-T98"),
        ] {
            assert_eq!(path(value).as_deref(), Some(expected), "{value}");
        }
    }

    #[test]
    fn other_texts_are_no_codes() {
        for value in [
            "",
            "E1",
            "11E",
            "EE1",
            "E1C",
            "Ä11",
            "E1é",
            "E00-E90",
            "E10-E14",
            "E11.90000",
            "E11.9 E10.9",
            "A10BA02",
            "A10 BAR",
            "E11..9",
            "IV: E00-E90",
            "E91",
            "H96",
            "P97",
            "T99",
            "K96",
            "５11",
        ] {
            assert_eq!(path(value), None, "{value}");
        }
    }
}
