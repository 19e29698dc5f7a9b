//! A picture of one person among several.

use maud::{Markup, html};

/// Figures in a row.
const IN_A_ROW: u32 = 10;
/// Width of a figure's place, in units of the picture.
const WIDTH: u32 = 22;
/// Height of it.
const HEIGHT: u32 = 32;

/// So many figures, of which one is filled in and stands among the others.
pub fn picture(people: u32, text: &str) -> Markup {
    let rows = people.div_ceil(IN_A_ROW);
    let (width, height) = (IN_A_ROW * WIDTH, rows * HEIGHT);
    html! {
        svg.figures viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(text) {
            @for at in 0..people {
                @let place = (at % IN_A_ROW * WIDTH, at / IN_A_ROW * HEIGHT);
                g class=(if at == own(people) { "me" } else { "other" }) transform=(format!("translate({} {})", place.0, place.1)) {
                    circle cx="11" cy="8" r="5" {}
                    path d="M3 29v-6a8 8 0 0 1 16 0v6z" {}
                }
            }
        }
    }
}

/// Which figure is the person: neither the first nor the last, where there are more.
fn own(people: u32) -> u32 {
    people * 7 / 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_figures_is_the_person() {
        for people in [1, 2, 5, 10, 20] {
            let drawn = picture(people, "one of many").into_string();
            assert_eq!(drawn.matches("class=\"me\"").count(), 1, "{people}");
            let others = drawn.matches("class=\"other\"").count();
            assert_eq!(others, people as usize - 1);
            assert!(drawn.contains("aria-label=\"one of many\""));
        }
    }
}
