//! An exploration as a page: loss against risk as a picture, and the settings as
//! a table.
//!
//! A pure function from the document of `GET /v1/explorations/{id}`, or of what
//! `vizard explore` wrote, to one HTML file that needs nothing else.

mod picture;

use serde_json::Value;

use super::markup::{Page, list, number, shortened};
use picture::{Marks, picture, row_place};

/// Where somebody goes on from a setting, and what the way is called; none from a
/// setting without a release.
pub type Ways<'w> = dyn Fn(&Value) -> Option<(String, &'static str)> + 'w;

/// The page of an exploration; `dataset` is what it is called (`name`).
pub fn exploration_page(exploration: &Value, dataset: &Value) -> String {
    let title = match dataset["name"].as_str().unwrap_or_default() {
        "" => "Exploration".to_owned(),
        name => format!("Exploration of {name}"),
    };
    let mut page = Page::titled(&title);
    page.element("h1", "", &title);
    header(&mut page, exploration);
    parts(&mut page, exploration, None);
    page.finish()
}

/// The same inside a page of the service: signs lead to rows, and rows go on.
pub fn exploration_part(exploration: &Value, ways: &Ways<'_>) -> String {
    let mut part = Page::part();
    header(&mut part, exploration);
    parts(&mut part, exploration, Some(ways));
    part.finish_part()
}

fn parts(page: &mut Page, exploration: &Value, ways: Option<&Ways<'_>>) {
    let marks = Marks {
        is_linked: ways.is_some(),
        ..Marks::default()
    };
    picture(page, exploration, marks);
    table(page, exploration, ways);
    refused(page, list(&exploration["refused"]));
}

/// The section of a release that one setting of an exploration made: the picture
/// with that setting marked, and the way to the exploration's own page. `made` has
/// the exploration and the number of the setting; nothing where it is null.
pub(super) fn made_by(page: &mut Page, made: &Value) {
    let exploration = &made["exploration"];
    let Some(id) = exploration["id"].as_str() else {
        return;
    };
    let marks = Marks {
        own: made["setting"].as_u64(),
        ..Marks::default()
    };
    picture(page, exploration, marks);
    page.raw("<p>This release is one of the settings of an <a");
    page.attribute("href", &format!("/explorations/{id}"));
    page.raw(">exploration</a>, where all of them stand with their figures.</p>");
}

fn header(page: &mut Page, exploration: &Value) {
    let settings = list(&exploration["settings"]);
    let verified = settings
        .iter()
        .filter(|one| one["state"] == "succeeded")
        .count();
    let none = settings.iter().filter(|one| one["state"] == "failed");
    let open = settings
        .iter()
        .filter(|one| matches!(one["state"].as_str(), Some("queued" | "running")));
    page.raw("<div class=\"cards\">");
    for (label, count) in [
        ("settings", settings.len()),
        ("verified and measured", verified),
        ("without a release", none.count()),
        ("still to come", open.count()),
        ("on the front", list(&exploration["front"]).len()),
    ] {
        page.raw("<div class=\"card\"><b>")
            .text(&number(&count.into()))
            .raw("</b><span>")
            .text(label)
            .raw("</span></div>");
    }
    page.raw("</div>");
    page.element("p", "note", NOTE);
}

const NOTE: &str = "Every setting was run, verified from its published bytes and measured. Loss and \
     risk come from the original table: this page is for stewards. Records that a setting \
     leaves out count as lost. A setting is on the front where no other one has less of both.";

/// The settings: those of the front first, by growing loss; then the others.
fn table(page: &mut Page, exploration: &Value, ways: Option<&Ways<'_>>) {
    let settings = list(&exploration["settings"]);
    let [front, best] = ["front", "best"].map(|name| numbers(&exploration[name]));
    let of = |number: &u64| settings.iter().find(|one| one["setting"] == *number);
    let is_other = |one: &&Value| {
        let number = one["setting"].as_u64();
        number.is_none_or(|number| !front.contains(&number))
    };
    let first: Vec<&Value> = front.iter().filter_map(of).collect();
    let others: Vec<&Value> = settings.iter().filter(is_other).collect();
    for (heading, rows) in [("On the front", first), ("The others", others)] {
        if rows.is_empty() {
            continue;
        }
        page.raw("<section>").element("h2", "", heading);
        page.raw("<div class=\"wide\" role=\"region\" tabindex=\"0\"");
        page.attribute("aria-label", heading);
        page.raw("><table><thead><tr><th class=\"n\">No.</th><th>Engine</th>");
        page.raw("<th>Parameters</th><th class=\"n\">Loss</th><th class=\"n\">Risk</th>");
        page.raw("<th class=\"n\">NCP</th><th class=\"n\">Query error</th>");
        page.raw("<th class=\"n\">Largest re-identification</th><th class=\"n\">Mean leakage</th>");
        page.raw("<th class=\"n\">Lift of inference</th><th class=\"n\">Left out</th>");
        page.raw("<th>Outcome</th></tr></thead><tbody>");
        for row in rows {
            table_row(page, row, (&best, ways));
        }
        page.raw("</tbody></table></div></section>");
    }
}

fn table_row(page: &mut Page, row: &Value, (best, ways): (&[u64], Option<&Ways<'_>>)) {
    let measures = &row["measures"];
    page.raw("<tr");
    if ways.is_some() {
        page.attribute("id", &row_place(row));
    }
    page.raw(">").element("td", "n", &number(&row["setting"]));
    page.element("td", "", row["engine"].as_str().unwrap_or_default());
    page.element("td", "", &parameters(row));
    for figure in [
        &row["loss"],
        &row["risk"],
        &measures["ncp"],
        &measures["query_error"],
        &measures["reidentification_max"],
        &measures["leakage_mean"],
        &measures["inference_lift"],
        &measures["left_out"],
    ] {
        page.element("td", "n", &number(figure));
    }
    let is_best = row["setting"]
        .as_u64()
        .is_some_and(|number| best.contains(&number));
    page.raw("<td>");
    match (row["state"].as_str(), row["problem"].as_str()) {
        (Some("succeeded"), _) if is_best => page.element("span", "yes", "among the best"),
        (Some("succeeded"), _) => page.text("verified"),
        (_, Some(problem)) => page.text(problem),
        (state, None) => page.text(state.unwrap_or_default()),
    };
    if let Some((place, title)) = ways.and_then(|ways| ways(row)) {
        page.raw(" <a").attribute("href", &place);
        page.raw(">").text(title).raw("</a>");
    }
    page.raw("</td></tr>");
}

fn refused(page: &mut Page, refused: &[Value]) {
    if refused.is_empty() {
        return;
    }
    page.raw("<section><h2>Not run</h2><div class=\"wide\" role=\"region\" aria-label=\"Not run\" tabindex=\"0\"><table><thead><tr><th>Engine</th>");
    page.raw("<th>Parameters</th><th>Why</th></tr></thead><tbody>");
    for one in refused {
        page.raw("<tr>")
            .element("td", "", one["engine"].as_str().unwrap_or_default());
        page.element("td", "", &parameters(one));
        let why = format!(
            "{}: {}",
            one["parameter"].as_str().unwrap_or_default(),
            one["reason"].as_str().unwrap_or_default()
        );
        page.element("td", "", &why).raw("</tr>");
    }
    page.raw("</tbody></table></div></section>");
}

/// The parameters of a setting in a line.
pub fn parameters(setting: &Value) -> String {
    let fields = setting["parameters"].as_object().into_iter().flatten();
    let told: Vec<String> = fields
        .map(|(name, value)| match value {
            Value::Array(_) | Value::Object(_) => {
                format!("{name} {}", shortened(&value.to_string(), 60))
            }
            value => format!("{name} {}", number(value)),
        })
        .collect();
    told.join(", ")
}

fn numbers(value: &Value) -> Vec<u64> {
    list(value).iter().filter_map(Value::as_u64).collect()
}

#[cfg(test)]
mod tests;
