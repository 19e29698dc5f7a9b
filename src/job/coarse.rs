//! The coarse scale of figures that depend on unpublished records.
//!
//! 1, 2 and 5 in every decade. A figure is given as the next step on the side
//! of the weaker setting, so what it says still holds; and one record more or
//! less changes it only at the edge of a step, of which there are three
//! between one and ten. An exact figure (`1 in 9 has it`) would tell of every
//! record that is added.

/// The steps of a decade.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];

/// The largest step that is not above `figure`; 0 below the least step told.
pub fn down(figure: f64) -> f64 {
    steps().rfind(|&step| step <= figure).unwrap_or(0.0)
}

/// The smallest step that is not below `figure`.
pub fn up(figure: f64) -> f64 {
    steps().find(|&step| step >= figure).unwrap_or(f64::MAX)
}

/// The same as [`down`], of a count.
pub fn count(count: u64) -> u64 {
    // Counts that a float cannot hold are beyond any table.
    down(count as f64) as u64
}

/// All steps from a millionth on, in order.
fn steps() -> impl DoubleEndedIterator<Item = f64> {
    let decades = -6..=18_i32;
    decades.flat_map(|decade| {
        // Dividing by a power of ten gives the float that `0.05` is; multiplying
        // by a tenth of it need not.
        STEPS.map(|step| match decade {
            0.. => step * 10_f64.powi(decade),
            _ => step / 10_f64.powi(-decade),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_becomes_the_next_step_on_its_side() {
        for (figure, below, above) in [
            (9.0, 5.0, 10.0),
            (10.0, 10.0, 10.0),
            (119.0, 100.0, 200.0),
            (0.23, 0.2, 0.5),
            (0.05, 0.05, 0.05),
            (1.0, 1.0, 1.0),
        ] {
            assert_eq!((down(figure), up(figure)), (below, above), "{figure}");
        }
        assert_eq!(down(0.0), 0.0);
        assert_eq!((count(0), count(1), count(49), count(50)), (0, 1, 20, 50));
    }

    #[test]
    fn most_records_change_no_figure() {
        let changes = (1..1_000).filter(|&at| count(at) != count(at + 1)).count();
        assert_eq!(changes, 9, "three a decade");
    }
}
