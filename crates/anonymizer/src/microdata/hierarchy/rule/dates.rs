//! Days in parts of the calendar (proleptic Gregorian, years 1 to 9999).

use chrono::{Datelike, NaiveDate};
use serde::{Deserialize, Serialize};

use super::error::{ROOT_LABEL, RuleError};
use super::shape::{check_levels, check_texts, refuse_any};
use crate::microdata::value_text::{date_days, date_text};

/// A part of the calendar that joins days. Parts are ordered by length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateLevel {
    /// An ISO 8601 week: `2026-W12`. No longer part is made of whole weeks.
    Week,
    /// A month: `2026-03`.
    Month,
    /// A quarter of a year: `2026-Q1`.
    Quarter,
    /// A half of a year: `2026-H1`.
    Half,
    /// A year: `2026`.
    Year,
    /// Ten years: `2020s`.
    Decade,
}

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Day(NaiveDate);

/// Lines with the parts of the calendar above each day.
pub(super) fn lines(
    range: (Option<&str>, Option<&str>),
    values: Option<&[String]>,
    levels: &[DateLevel],
    nodes_max: usize,
) -> Result<Vec<Vec<String>>, RuleError> {
    check_levels("levels", levels.len())?;
    if levels.len() > 1 && levels.contains(&DateLevel::Week) {
        return Err(RuleError::unfit(
            "`levels` has `week` beside other levels, but no other level is made of whole weeks: \
             give `week` alone or leave it out",
        ));
    }
    if !levels.is_sorted_by(|a, b| a < b) {
        return Err(RuleError::unfit(
            "`levels` does not ascend: give each level once, in the order month, quarter, half, \
             year, decade",
        ));
    }
    let days = match (range, values) {
        ((Some(from), Some(to)), None) => between(from, to, nodes_max)?,
        ((None, None), Some(values)) => given(values, nodes_max)?,
        _ => {
            return Err(RuleError::unfit("give either `from` and `to`, or `values`"));
        }
    };
    let line = |day: Day| {
        std::iter::once(day.text())
            .chain(levels.iter().map(|&level| day.part(level)))
            .chain([ROOT_LABEL.to_owned()])
            .collect()
    };
    Ok(days.into_iter().map(line).collect())
}

fn between(from: &str, to: &str, nodes_max: usize) -> Result<Vec<Day>, RuleError> {
    let (Some(from), Some(to)) = (Day::read(from), Day::read(to)) else {
        return Err(RuleError::unfit(
            "`from` or `to` is no day: write days as YYYY-MM-DD, years 0001 to 9999",
        ));
    };
    if from > to {
        return Err(RuleError::unfit("`from` is later than `to`: exchange them"));
    }
    let steps = (to.0 - from.0).num_days();
    if usize::try_from(steps).map_or(true, |steps| steps >= nodes_max) {
        return Err(RuleError::TooManyNodes);
    }
    let days = from.0.iter_days().take_while(|day| *day <= to.0);
    Ok(days.map(Day).collect())
}

fn given(values: &[String], nodes_max: usize) -> Result<Vec<Day>, RuleError> {
    check_texts(values, nodes_max)?;
    let mut days: Vec<Day> = values.iter().filter_map(|text| Day::read(text)).collect();
    refuse_any(
        values.len() - days.len(),
        "value(s)",
        "that are no day: write days as YYYY-MM-DD, years 0001 to 9999.",
    )?;
    days.sort_unstable();
    Ok(days)
}

impl Day {
    /// Reads `YYYY-MM-DD`.
    fn read(text: &str) -> Option<Self> {
        NaiveDate::from_epoch_days(date_days(text)?).map(Self)
    }

    fn text(self) -> String {
        date_text(self.0.to_epoch_days())
    }

    /// The label of the part of the calendar that the day lies in.
    fn part(self, level: DateLevel) -> String {
        let (year, month) = (self.0.year(), self.0.month());
        match level {
            DateLevel::Week => {
                // A week belongs to the year of its Thursday.
                let week = self.0.iso_week();
                format!("{:04}-W{:02}", week.year(), week.week())
            }
            DateLevel::Month => format!("{year:04}-{month:02}"),
            DateLevel::Quarter => format!("{year:04}-Q{}", (month - 1) / 3 + 1),
            DateLevel::Half => format!("{year:04}-H{}", (month - 1) / 6 + 1),
            DateLevel::Year => format!("{year:04}"),
            DateLevel::Decade => format!("{:03}0s", year / 10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::read(text).unwrap()
    }

    #[test]
    fn days_are_read_in_one_form_only_and_come_back_in_it() {
        assert!(day("1969-12-31") < day("1970-01-01"));
        for text in ["0001-01-01", "2024-02-29", "2000-02-29", "9999-12-31"] {
            assert_eq!(day(text).text(), text);
        }
        for text in [
            "",
            "2023-02-29",
            "1900-02-29",
            "0000-01-01",
            "10000-01-01",
            "2024-1-01",
            "+024-01-01",
            "2024-13-01",
            "2024-00-10",
            "2024-01-00",
            "2024-01-32",
            "20240101",
            "2024-01-01-",
            "-024-01-01",
        ] {
            assert_eq!(Day::read(text), None, "{text}");
        }
    }

    #[test]
    fn every_day_between_two_follows_the_day_before() {
        let days = between("0001-01-01", "9999-12-31", usize::MAX).unwrap();
        assert_eq!(days.len(), 3_652_059);
        assert_eq!(days[0], day("0001-01-01"));
        for pair in days.windows(2) {
            assert_eq!(pair[0].0.succ_opt(), Some(pair[1].0));
        }
        assert_eq!(days.last(), Some(&day("9999-12-31")));
    }

    #[test]
    fn weeks_around_new_year_belong_to_the_year_of_their_thursday() {
        for (text, week) in [
            ("2020-12-31", "2020-W53"),
            ("2021-01-03", "2020-W53"),
            ("2021-01-04", "2021-W01"),
            ("2024-12-30", "2025-W01"),
            ("2026-12-31", "2026-W53"),
            ("2027-01-01", "2026-W53"),
            ("1969-12-29", "1970-W01"),
            ("0001-01-01", "0001-W01"),
            ("9999-12-31", "9999-W52"),
        ] {
            assert_eq!(day(text).part(DateLevel::Week), week, "{text}");
        }
    }

    #[test]
    fn parts_have_their_labels() {
        let part = |level| day("2026-08-31").part(level);
        assert_eq!(part(DateLevel::Month), "2026-08");
        assert_eq!(part(DateLevel::Quarter), "2026-Q3");
        assert_eq!(part(DateLevel::Half), "2026-H2");
        assert_eq!(part(DateLevel::Year), "2026");
        assert_eq!(part(DateLevel::Decade), "2020s");
        assert_eq!(day("0009-06-30").part(DateLevel::Decade), "0000s");
        assert_eq!(day("0009-06-30").part(DateLevel::Half), "0009-H1");
    }
}
