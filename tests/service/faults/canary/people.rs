//! A population table of strings that must not be found, and refusals of others.

use super::Cast;
use super::refusals::{refused, wrong};
use super::sinks::Sinks;
use super::story::Told;
use super::strings::Strings;

/// Puts those among whom the people of the story could be.
pub async fn put(cast: &Cast, strings: &Strings, (dataset, wards): (&str, &[String])) {
    let known = wards
        .iter()
        .map(|ward| format!("{ward},{},7\n", strings.word()));
    let others = (0..40).map(|_| format!("{},{},3\n", strings.word(), strings.word()));
    let lines: String = known.chain(others).collect();
    let put = cast.steward.call("put_population_table").at("id", dataset);
    let put = put.body("text/csv", format!("ward,sex,count\n{lines}"));
    put.send().await.expect(200);
}

/// Tables that are wrong, and one of nobody's dataset.
pub async fn provoke(cast: &Cast, strings: &Strings, sinks: &mut Sinks, told: &Told) {
    let word = || strings.word();
    let path = format!("/v1/datasets/{}/population-table", told.dataset);
    let csv = |body: String| wrong("PUT", path.clone()).body("text/csv", body);
    let all = vec![
        csv(format!("{},{}\n{},1\n", word(), word(), word())),
        csv(format!("age,count\n{},1\n", word())),
        csv(format!("ward,count\n{},{}\n", word(), word())),
        csv(format!("ward,count\n{}\n\"{}\n", word(), word())),
        wrong("PUT", path.clone()).body("application/json", word()),
        wrong("GET", format!("/v1/datasets/{}/population-table", word())),
        wrong(
            "DELETE",
            format!("/v1/datasets/{}/population-table", word()),
        ),
    ];
    refused(&cast.steward, sinks, all).await;
}
