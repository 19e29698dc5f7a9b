//! Loss against risk: a sign for each setting that has both figures.
//!
//! Signs tell engines apart without colour. On a page of the service each leads to
//! its row in the table below; the keyboard goes by that table, which has the same
//! ways, so that nobody has to walk through two hundred signs.

use std::collections::BTreeMap;

use serde_json::Value;
use vizard_anonymizer::catalog::exploration::{LossAxis, RiskAxis};

use super::super::markup::{Page, decimal, label, line, list, number, words};
use super::{numbers, parameters};

/// The picture, in its own units.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 44.0;
/// Steps of an axis, about.
const STEPS: f64 = 5.0;
/// Signs for engines; more engines than these share the last.
const SIGNS: [Sign; 6] = [
    Sign::Circle,
    Sign::Square,
    Sign::Diamond,
    Sign::Triangle,
    Sign::Cross,
    Sign::Ring,
];

/// How a setting of an engine is drawn.
#[derive(Clone, Copy)]
enum Sign {
    Circle,
    Square,
    Diamond,
    Triangle,
    Cross,
    Ring,
}

/// A setting that has both figures.
struct Point<'a> {
    setting: &'a Value,
    at: [f64; 2],
    is_on_front: bool,
}

/// Which setting is marked, and whether signs lead to rows.
#[derive(Clone, Copy, Default)]
pub struct Marks {
    /// The number of a setting that gets a ring around it.
    pub own: Option<u64>,
    /// Whether a sign leads to the row of its setting.
    pub is_linked: bool,
}

/// The place of a setting's row on its page.
pub fn row_place(setting: &Value) -> String {
    format!("setting-{}", number(&setting["setting"]))
}

/// The settings that have both figures.
fn points(exploration: &Value) -> Vec<Point<'_>> {
    let front = numbers(&exploration["front"]);
    let points = list(&exploration["settings"]).iter().filter_map(|setting| {
        let at = [setting["loss"].as_f64()?, setting["risk"].as_f64()?];
        let is_on_front = setting["setting"]
            .as_u64()
            .is_some_and(|number| front.contains(&number));
        Some(Point {
            setting,
            at,
            is_on_front,
        })
    });
    points.collect()
}

/// What people call an axis.
fn axis(word: &Value) -> String {
    let word = word.as_str().unwrap_or_default();
    let loss = LossAxis::ALL.into_iter().find(|axis| axis.as_str() == word);
    let risk = RiskAxis::ALL.into_iter().find(|axis| axis.as_str() == word);
    match (loss, risk) {
        (Some(loss), _) => loss.title().into(),
        (_, Some(risk)) => risk.title().into(),
        (None, None) => words(word),
    }
}

/// Loss to the right, risk upwards; the front as a line, and a ring around a
/// setting that is marked.
pub fn picture(page: &mut Page, exploration: &Value, marks: Marks) {
    let own = marks.own;
    let points = &points(exploration)[..];
    let axes = [&exploration["loss"], &exploration["risk"]].map(axis);
    page.raw("<section><h2>Loss against risk</h2>");
    if points.is_empty() {
        page.element("p", "note", "No setting has both figures yet.")
            .raw("</section>");
        return;
    }
    let scales = [0, 1].map(|axis| Scale::of(points, axis));
    let place = |at: [f64; 2]| {
        let [right, up] = [0, 1].map(|axis| scales[axis].share(at[axis]));
        let x = LEFT + (WIDTH - LEFT - RIGHT) * right;
        let y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * up;
        (x, y)
    };
    page.raw("<figure><svg class=\"scatter\"");
    page.attribute("viewBox", &format!("0 0 {WIDTH} {HEIGHT}"));
    // A picture with links inside is a group of them.
    page.attribute("role", if marks.is_linked { "group" } else { "img" });
    let said = format!(
        "{} against {} of {} settings",
        axes[0],
        axes[1],
        points.len()
    );
    page.attribute("aria-label", &said).raw(">");
    axes_of(page, (&axes, &scales), &place);
    front_line(page, points, &place);
    let signs = signs(points);
    // Those of the front over the others.
    for on_front in [false, true] {
        for point in points.iter().filter(|point| point.is_on_front == on_front) {
            let engine = point.setting["engine"].as_str().unwrap_or_default();
            let sign = signs.get(engine).copied().unwrap_or(Sign::Ring);
            if marks.is_linked {
                way(page, point.setting);
            }
            draw(page, sign, (place(point.at), on_front), Some(point.setting));
            if marks.is_linked {
                page.raw("</a>");
            }
        }
    }
    let is_own = |point: &&Point<'_>| own.is_some() && point.setting["setting"].as_u64() == own;
    let own = points.iter().find(is_own);
    if let Some(point) = own {
        page.raw("<path class=\"own\"");
        page.attribute("d", &circle(11.0, place(point.at)))
            .raw("/>");
    }
    page.raw("</svg><figcaption>");
    page.text("Down and to the left is better. Filled signs are on the front.");
    if own.is_some() {
        page.text(" The ring is around this release.");
    }
    page.raw("</figcaption></figure>");
    legend(page, &signs);
    page.raw("</section>");
}

/// Steps and names of both axes.
fn axes_of(
    page: &mut Page,
    (axes, scales): (&[String; 2], &[Scale; 2]),
    place: &dyn Fn([f64; 2]) -> (f64, f64),
) {
    for loss in scales[0].ticks() {
        let (x, _) = place([loss, scales[1].from]);
        label(page, (x, HEIGHT - BOTTOM + 18.0), "middle", &decimal(loss));
    }
    for risk in scales[1].ticks() {
        let (_, y) = place([scales[0].from, risk]);
        line(page, LEFT, y, WIDTH - RIGHT);
        label(page, (LEFT - 8.0, y + 4.0), "end", &decimal(risk));
    }
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    let loss = format!("{} →", axes[0]);
    label(page, (middle, HEIGHT - 6.0), "middle", &loss);
    page.raw("<text text-anchor=\"middle\" transform=\"rotate(-90)\"");
    page.length("x", -(TOP + HEIGHT - BOTTOM) / 2.0)
        .length("y", 14.0);
    page.raw(">").text(&format!("{} →", axes[1])).raw("</text>");
}

/// An axis with round steps. It begins at 0 unless all figures are in its upper
/// half.
struct Scale {
    from: f64,
    step: f64,
    steps: u32,
}

impl Scale {
    fn of(points: &[Point<'_>], axis: usize) -> Self {
        let figures = || points.iter().map(|point| point.at[axis]);
        let most = figures().fold(0.0, f64::max);
        let least = figures().fold(most, f64::min);
        let low = if least > most / 2.0 && least < most {
            least
        } else {
            0.0
        };
        let step = round_step((most - low) / STEPS);
        let from = (low / step).floor() * step;
        let steps = ((most * 1.01 - from) / step).ceil().clamp(1.0, 20.0) as u32;
        Self { from, step, steps }
    }

    /// How far along the axis a figure is, 0 to 1.
    fn share(&self, figure: f64) -> f64 {
        (figure - self.from) / (self.step * f64::from(self.steps))
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        // Rounded, so that 3 × 0.1 is 0.3.
        let at = |tick: u32| self.from + self.step * f64::from(tick);
        (0..=self.steps).map(move |tick| (at(tick) * 1e9).round() / 1e9)
    }
}

/// The next of 1, 2, 5 times a power of ten.
fn round_step(least: f64) -> f64 {
    if !(least > 0.0 && least.is_finite()) {
        return 0.2;
    }
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * power);
    steps
        .into_iter()
        .find(|step| *step >= least)
        .unwrap_or(10.0 * power)
}

/// A sign for each engine, in the order of their names.
fn signs<'a>(points: &[Point<'a>]) -> BTreeMap<&'a str, Sign> {
    let engines = points.iter().map(|point| point.setting["engine"].as_str());
    let names: BTreeMap<&str, ()> = engines.flatten().map(|name| (name, ())).collect();
    let last = SIGNS.len() - 1;
    let signs = names.into_keys().enumerate();
    signs
        .map(|(at, name)| (name, SIGNS[at.min(last)]))
        .collect()
}

fn front_line(page: &mut Page, points: &[Point<'_>], place: &dyn Fn([f64; 2]) -> (f64, f64)) {
    let mut front: Vec<[f64; 2]> = points
        .iter()
        .filter(|point| point.is_on_front)
        .map(|point| point.at)
        .collect();
    front.sort_by(|one, other| one[0].total_cmp(&other[0]));
    let corners: Vec<String> = front
        .iter()
        .enumerate()
        .flat_map(|(at, point)| {
            // Between two of them the line keeps the risk of the first.
            let before = at.checked_sub(1).map(|before| [point[0], front[before][1]]);
            before.into_iter().chain([*point])
        })
        .map(|corner| {
            let (x, y) = place(corner);
            format!("{x:.2},{y:.2}")
        })
        .collect();
    page.raw("<polyline class=\"front\"")
        .attribute("points", &corners.join(" "))
        .raw("/>");
}

fn draw(
    page: &mut Page,
    sign: Sign,
    ((x, y), is_on_front): ((f64, f64), bool),
    setting: Option<&Value>,
) {
    page.raw("<path");
    page.attribute("class", if is_on_front { "point best" } else { "point" });
    page.attribute("d", &outline(sign, (x, y))).raw(">");
    if let Some(setting) = setting {
        let figures = format!(
            "{}: {} {}; loss {}, risk {}",
            number(&setting["setting"]),
            setting["engine"].as_str().unwrap_or_default(),
            parameters(setting),
            number(&setting["loss"]),
            number(&setting["risk"])
        );
        page.element("title", "", &figures);
    }
    page.raw("</path>");
}

/// Opens the way to the row of a setting.
fn way(page: &mut Page, setting: &Value) {
    page.raw("<a tabindex=\"-1\"");
    page.attribute("href", &format!("#{}", row_place(setting)));
    let name = format!("Setting {}", number(&setting["setting"]));
    page.attribute("aria-label", &name).raw(">");
}

fn circle(radius: f64, (x, y): (f64, f64)) -> String {
    format!(
        "M{:.2},{y:.2}a{radius},{radius} 0 1,0 {:.2},0a{radius},{radius} 0 1,0 {:.2},0Z",
        x - radius,
        radius * 2.0,
        -radius * 2.0
    )
}

/// The outline of a sign around a place.
fn outline(sign: Sign, (x, y): (f64, f64)) -> String {
    let corners = |points: &[(f64, f64)]| {
        let points = points
            .iter()
            .map(|(right, down)| format!("{:.2},{:.2}", x + right, y + down));
        format!("M{}Z", points.collect::<Vec<_>>().join("L"))
    };
    let circle = |radius: f64| circle(radius, (x, y));
    match sign {
        Sign::Circle => circle(4.5),
        Sign::Ring => circle(6.0),
        Sign::Square => corners(&[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)]),
        Sign::Diamond => corners(&[(0.0, -5.5), (5.5, 0.0), (0.0, 5.5), (-5.5, 0.0)]),
        Sign::Triangle => corners(&[(0.0, -5.5), (5.2, 4.0), (-5.2, 4.0)]),
        Sign::Cross => corners(&[
            (-1.5, -5.0),
            (1.5, -5.0),
            (1.5, -1.5),
            (5.0, -1.5),
            (5.0, 1.5),
            (1.5, 1.5),
            (1.5, 5.0),
            (-1.5, 5.0),
            (-1.5, 1.5),
            (-5.0, 1.5),
            (-5.0, -1.5),
            (-1.5, -1.5),
        ]),
    }
}

fn legend(page: &mut Page, signs: &BTreeMap<&str, Sign>) {
    page.raw("<ul class=\"legend\">");
    for (name, sign) in signs {
        page.raw("<li><svg class=\"sign\" viewBox=\"0 0 16 16\" aria-hidden=\"true\">");
        draw(page, *sign, ((8.0, 8.0), true), None);
        page.raw("</svg>").text(name).raw("</li>");
    }
    page.raw("</ul>");
}
