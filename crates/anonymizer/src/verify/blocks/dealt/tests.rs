//! Dealings small enough to be worked out on paper.

use super::initial::{Rules, partition};
use super::people::People;
use super::*;
use crate::microdata::{CodedColumn, Domain, Values};
use crate::privacy::Seed;

fn column(codes: &[u32]) -> CodedColumn {
    let values = codes.iter().copied().max().map_or(0, |most| most + 1);
    let names = (0..values).map(|value| format!("v{value}"));
    CodedColumn {
        domain: Domain::new(Values::Category(names.collect()), None).into(),
        codes: codes.to_vec().into(),
    }
}

/// People with these values and numbers, each of whom asks for an l of 2.
fn people<'a>(sensitive: &'a CodedColumn, number: &[u64]) -> People<'a> {
    let records = 0..number.len() as u32;
    let value = records.clone();
    People {
        cancel: crate::privacy::CancelFlag::never(),
        value: value.map(|at| sensitive.codes.at(at as usize)).collect(),
        records: records.collect(),
        quasi: Vec::new(),
        sensitive,
        l: vec![2; number.len()],
        k: vec![1; number.len()],
        number: number.to_vec(),
        least_spread: None,
    }
}

#[test]
fn people_of_a_value_and_equally_frequent_values_come_in_the_order_of_numbers() {
    let values = column(&[0, 0, 1, 1, 2]);
    let people = people(&values, &[30, 10, 20, 40, 5]);
    // 0 and 1 are the most frequent; then all three are left once, of which 2
    // and 0 have the lower numbers. Those left lack in the second alone.
    let dealt = refine::deal(&people, &[vec![0, 1, 2, 3, 4]]);
    assert_eq!(dealt, [vec![1, 2], vec![4, 0, 3]]);
}

#[test]
fn those_whom_blocks_leave_make_a_sub_block_as_soon_as_they_are_enough() {
    let values = column(&[0, 1, 2, 0, 1, 3]);
    let numbers = [1, 2, 3, 1, 2, 3];
    let blocks = [vec![0, 1, 2], vec![3, 4, 5]];
    let dealt = refine::deal(&people(&values, &numbers), &blocks);
    assert_eq!(dealt, [vec![0, 1], vec![3, 4], vec![2, 5]]);
    // With one value they are not enough: each stays in the own block.
    let values = column(&[0, 1, 2, 0, 1, 2]);
    let dealt = refine::deal(&people(&values, &numbers), &blocks);
    assert_eq!(dealt, [vec![0, 1, 2], vec![3, 4, 5]]);
}

#[test]
fn who_asks_for_more_values_than_wait_is_left_out_of_the_next_sub_block() {
    // The first block leaves 3, who asks for three; the others leave 6 and 9.
    let values = column(&[0, 1, 2, 3, 0, 1, 4, 0, 1, 5]);
    let mut people = people(&values, &[1, 2, 3, 4, 1, 2, 3, 1, 2, 3]);
    people.l[3] = 3;
    let first = [vec![0, 1, 2, 3], vec![4, 5, 6]];
    let dealt = refine::deal(&people, &first);
    assert_eq!(dealt, [vec![0, 1, 2, 3], vec![4, 5, 6]]);
    // Two who ask for two make a sub-block although three could.
    let all = [first[0].clone(), first[1].clone(), vec![7, 8, 9]];
    let dealt = refine::deal(&people, &all);
    assert_eq!(
        dealt,
        [vec![0, 1, 2, 3], vec![4, 5], vec![7, 8], vec![6, 9]]
    );
    // Rows that ask for three come first, and two others join.
    people.number[6] = 8;
    people.number[9] = 9;
    let dealt = refine::deal(&people, &all);
    assert_eq!(dealt[3], [3, 6, 9]);
}

#[test]
fn the_number_picks_among_the_sub_blocks_that_lack_the_value() {
    // Four sub-blocks of 0 and 1; 8 has the only 2 and fits everywhere.
    let values = column(&[0, 1, 0, 1, 0, 1, 0, 1, 2]);
    for number in 90..98_u64 {
        let people = people(&values, &[1, 1, 2, 2, 3, 3, 4, 4, number]);
        let dealt = refine::deal(&people, &[(0..9).collect()]);
        let with = dealt.iter().position(|block| block.contains(&8));
        assert_eq!(with, Some(number as usize % 4), "{dealt:?}");
    }
}

fn initial_of(cities: &[u32], values: &[u32], is_paper: bool, seed: u64) -> Vec<Vec<u32>> {
    let (quasi, values) = (column(cities), column(values));
    let mut people = people(&values, &vec![0; cities.len()]);
    people.quasi = vec![&quasi];
    let rules = Rules {
        form: BlockForm::Eligible,
        is_paper,
        secret: &Seed::of_number(seed),
        attribute: 0,
    };
    partition(&people, rules, (0..cities.len() as u32).collect())
}

/// So many people of each city in turn, with the values 0 and 1 by turns; of
/// one alone the value is 2.
fn initial_of_cities(people: &[usize]) -> Vec<Vec<u32>> {
    let (mut cities, mut values) = (Vec::new(), Vec::new());
    for (city, &people) in (0..).zip(people) {
        cities.extend(std::iter::repeat_n(city, people));
        match people {
            1 => values.push(2),
            _ => values.extend((0..people as u32).map(|at| at % 2)),
        }
    }
    initial_of(&cities, &values, false, 0)
}

#[test]
fn a_part_that_does_not_hold_is_merged_with_its_smaller_neighbour() {
    let blocks = initial_of_cities(&[16, 1, 8]);
    assert_eq!(blocks, [(0..16).collect::<Vec<u32>>(), (16..25).collect()]);
    // Of equals it is the one before.
    let blocks = initial_of_cities(&[8, 1, 8]);
    assert_eq!(blocks, [(0..9).collect::<Vec<u32>>(), (9..17).collect()]);
}

#[test]
fn a_part_has_four_people_for_each_l() {
    let blocks = initial_of_cities(&[8, 8]);
    assert_eq!(blocks, [(0..8).collect::<Vec<u32>>(), (8..16).collect()]);
    let blocks = initial_of_cities(&[8, 6]);
    assert_eq!(blocks, [(0..14).collect::<Vec<u32>>()]);
    // As printed two are enough.
    let blocks = initial_of(&[0, 0, 1, 1], &[0, 1, 0, 1], true, 0);
    assert_eq!(blocks, [vec![0, 1], vec![2, 3]]);
}

#[test]
fn on_paper_the_neighbour_is_drawn() {
    let drawn = |seed| initial_of(&[0, 0, 1, 2, 2], &[0, 1, 2, 0, 1], true, seed);
    let before = (0..200).filter(|&seed| drawn(seed)[0].len() == 3).count();
    assert!((70..130).contains(&before), "{before} of 200");
}

#[test]
fn the_same_sets_under_other_numbers_do_not_differ() {
    let blocks = [vec![0, 2], vec![1, 3, 4]];
    assert!(differing(&blocks, &[9, 1, 9, 1, 1]).is_empty());
    // 2 and 3 exchanged; two blocks put together; one cut in two.
    assert_eq!(differing(&blocks, &[1, 2, 2, 1, 2]), [2, 3]);
    assert_eq!(differing(&blocks, &[1, 1, 1, 1, 1]), [1, 3, 4]);
    assert_eq!(differing(&blocks, &[1, 2, 1, 2, 3]), [4]);
}

#[test]
fn groups_are_whole_blocks_and_join_no_others_than_small_ones() {
    let values = column(&[0, 1, 0, 1, 0, 1]);
    let mut people = people(&values, &[0; 6]);
    let blocks = [vec![0, 1], vec![2, 3], vec![4, 5]];
    assert!(joined(&people, &blocks, &[1, 1, 2, 2, 3, 3]).is_empty());
    // Nobody asks for more than two records.
    assert_eq!(joined(&people, &blocks, &[1, 1, 2, 2, 1, 1]), [0]);
    people.k[4] = 3;
    assert!(joined(&people, &blocks, &[1, 1, 2, 2, 1, 1]).is_empty());
    // A block in two groups.
    assert_eq!(joined(&people, &blocks, &[1, 1, 2, 1, 1, 1]), [3]);
}

#[test]
fn sub_blocks_of_one_block_that_span_too_little_are_joined() {
    // Pairs come in the order of their turns: 10 11, 10 11, 12 20, 12 21.
    let numbers = CodedColumn {
        domain: Domain::new(Values::Integer(vec![10, 11, 12, 20, 21]), None).into(),
        codes: vec![0, 1, 0, 1, 2, 3, 2, 4].into(),
    };
    let mut people = people(&numbers, &[1, 2, 3, 4, 5, 6, 7, 8]);
    let block = [(0..8).collect::<Vec<u32>>()];
    let dealt = [vec![0, 1], vec![2, 3], vec![4, 5], vec![6, 7]];
    assert_eq!(refine::deal(&people, &block), dealt);
    // 9 is what 12 and 21 span, and no more.
    people.least_spread = Some(9.0);
    let joined = [vec![0, 1, 2, 3, 4, 5], vec![6, 7]];
    assert_eq!(refine::deal(&people, &block), joined);
    people.least_spread = Some(9.5);
    let all = refine::deal(&people, &block);
    assert_eq!(all, [vec![6, 7, 0, 1, 2, 3, 4, 5]]);
}

#[test]
fn who_makes_a_block_wide_enough_stays_in_it() {
    // The first block leaves 20 over, the second 31: they could go together.
    let numbers = CodedColumn {
        domain: Domain::new(Values::Integer(vec![10, 11, 20, 31]), None).into(),
        codes: vec![0, 1, 2, 0, 1, 3].into(),
    };
    let mut people = people(&numbers, &[1, 2, 3, 1, 2, 3]);
    let blocks = [vec![0, 1, 2], vec![3, 4, 5]];
    let dealt = refine::deal(&people, &blocks);
    assert_eq!(dealt, [vec![0, 1], vec![3, 4], vec![2, 5]]);
    people.least_spread = Some(9.0);
    let dealt = refine::deal(&people, &blocks);
    assert_eq!(dealt, [vec![0, 1, 2], vec![3, 4, 5]]);
}
