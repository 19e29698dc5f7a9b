//! Days in parts of the calendar (proleptic Gregorian, years 1 to 9999).

use serde::{Deserialize, Serialize};

use super::error::{ROOT_LABEL, RuleError};
use super::shape::{check_levels, check_texts, refuse_any};

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

/// A day of the calendar, counted from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Day(i64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Civil {
    year: i64,
    month: i64,
    day: i64,
}

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
    let (Some(Day(from)), Some(Day(to))) = (Day::read(from), Day::read(to)) else {
        return Err(RuleError::unfit(
            "`from` or `to` is no day: write days as YYYY-MM-DD, years 0001 to 9999",
        ));
    };
    if from > to {
        return Err(RuleError::unfit("`from` is later than `to`: exchange them"));
    }
    if usize::try_from(to - from).map_or(true, |steps| steps >= nodes_max) {
        return Err(RuleError::TooManyNodes);
    }
    Ok((from..=to).map(Day).collect())
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
        let number = |digits: &str| digits.parse::<u16>().ok().map(i64::from);
        let mut parts = text.splitn(3, '-').map(number);
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        let read = Self::of(Civil { year, month, day });
        // A day that the calendar lacks, or one in another form, comes back as
        // another text.
        ((1..=9999).contains(&year) && read.text() == text).then_some(read)
    }

    // Years are counted from March, so that the leap day is the last of a year
    // and months have the same number of days before them in every year.
    // 400 years have 146097 days; 719468 days lie between 0000-03-01 and
    // 1970-01-01.
    fn of(civil: Civil) -> Self {
        let year = civil.year - i64::from(civil.month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let day_of_year = (153 * ((civil.month + 9) % 12) + 2) / 5 + civil.day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        Self(era * 146_097 + day_of_era - 719_468)
    }

    fn civil(self) -> Civil {
        let days = self.0 + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
        let year_of_era = (day_of_era - leap_days) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = (month_from_march + 2) % 12 + 1;
        Civil {
            year: era * 400 + year_of_era + i64::from(month <= 2),
            month,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
        }
    }

    fn text(self) -> String {
        let Civil { year, month, day } = self.civil();
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// The label of the part of the calendar that the day lies in.
    fn part(self, level: DateLevel) -> String {
        let Civil { year, month, .. } = self.civil();
        match level {
            DateLevel::Week => self.week(),
            DateLevel::Month => format!("{year:04}-{month:02}"),
            DateLevel::Quarter => format!("{year:04}-Q{}", (month - 1) / 3 + 1),
            DateLevel::Half => format!("{year:04}-H{}", (month - 1) / 6 + 1),
            DateLevel::Year => format!("{year:04}"),
            DateLevel::Decade => format!("{:03}0s", year / 10),
        }
    }

    fn week(self) -> String {
        // 1970-01-01 was a Thursday. A week belongs to the year of its Thursday.
        let days_since_monday = (self.0 + 3).rem_euclid(7);
        let thursday = Self(self.0 - days_since_monday + 3);
        let year = thursday.civil().year;
        let first = Self::of(Civil {
            year,
            month: 1,
            day: 1,
        });
        format!("{year:04}-W{:02}", (thursday.0 - first.0) / 7 + 1)
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
        assert_eq!(day("1970-01-01"), Day(0));
        assert_eq!(day("1969-12-31"), Day(-1));
        assert_eq!(day("2000-03-01"), Day(11_017));
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
    fn every_day_follows_the_day_before() {
        let (first, last) = (day("0001-01-01"), day("9999-12-31"));
        let mut before = first.civil();
        for at in first.0 + 1..=last.0 {
            let here = Day(at).civil();
            assert_eq!(Day::of(here), Day(at));
            let is_next = (here.year, here.month, here.day)
                == (before.year, before.month, before.day + 1)
                || (here.year, here.month, here.day) == (before.year, before.month + 1, 1)
                || (here.year, here.month, here.day) == (before.year + 1, 1, 1)
                    && (before.month, before.day) == (12, 31);
            assert!(is_next, "{at}");
            before = here;
        }
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
