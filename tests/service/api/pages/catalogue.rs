//! The catalogue and the page of a release, as an analyst reads them.

use super::{Browser, Server, on_both, story};

on_both!(
    an_analyst_finds_what_is_published_and_how_it_is_read,
    first_rows_are_a_reading_of_the_tables,
);

async fn an_analyst_finds_what_is_published_and_how_it_is_read(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&steward).await;
    let release = story::release(&steward, &story::job(&dataset)).await;
    let mut browser = Browser::new(&server);
    browser.sign_in(&server.key(&["analyst"]).await).await;
    let empty = browser.open("/releases").await.text();
    assert!(empty.contains("<h1>Catalogue</h1>") && empty.contains("Nothing is published yet."));
    server.publish(&steward, &release).await.expect(200);
    let list = browser.open("/releases").await.text();
    assert!(list.contains(&format!("href=\"/releases/{release}\"")));
    assert!(list.contains("inside a bucket nobody can tell"), "{list}");
    assert!(
        !list.contains("wards"),
        "the name of a dataset is not an analyst's"
    );
    let page = browser.open(&format!("/releases/{release}")).await.text();
    // A hierarchy that is published can be had; the columns of Parquet are named.
    let way = format!("/releases/{release}/hierarchies/ward");
    assert!(page.contains(&format!("href=\"{way}\"")), "{page}");
    let csv = browser.open(&way).await;
    assert_eq!((csv.status, csv.text()), (200, story::HIERARCHY.to_owned()));
    assert!(page.contains("people[&quot;age_min&quot;]"), "{page}");
    assert!(!page.contains("left out for their own terms"));
    let zip = browser
        .open(&format!("/releases/{release}/bundle.zip"))
        .await;
    assert_eq!(
        (zip.status, zip.media_type()),
        (200, Some("application/zip"))
    );
    assert!(zip.body.starts_with(b"PK\x03\x04") && page.contains("/bundle.zip\""));
    let mut other = Browser::new(&server);
    other.sign_in(&steward).await;
    let list = other.open("/releases").await.text();
    assert!(list.contains("<h1>Releases</h1>") && list.contains("Release of wards"));
    // Whose role it is not.
    let mut auditor = Browser::new(&server);
    auditor.sign_in(&server.key(&["auditor"]).await).await;
    assert_eq!(auditor.open("/releases").await.status, 403);
    assert_eq!(auditor.open(&way).await.status, 403);
}

async fn first_rows_are_a_reading_of_the_tables(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&steward).await;
    let release = story::release(&steward, &story::job(&dataset)).await;
    server.publish(&steward, &release).await.expect(200);
    let analyst = server.key(&["analyst"]).await;
    let mut browser = Browser::new(&server);
    browser.sign_in(&analyst).await;
    let page = browser.open(&format!("/releases/{release}")).await.text();
    let table = analyst.call("get_release_table").at("id", &release);
    let csv = table.at("table", "microdata").query("format", "csv");
    let csv = csv.send().await.text();
    let shown = page.split("First rows of microdata").nth(1).expect("rows");
    let shown = shown.split("</table>").next().expect("its end");
    assert_eq!(shown.matches("<tr>").count(), 1 + 20);
    for line in csv.lines().skip(1).take(20) {
        let first = line.split(',').next().expect("a cell");
        assert!(shown.contains(&format!("<tr><td>{first}</td>")), "{line}");
    }
    let auditor = server.key(&["auditor"]).await;
    let log = auditor
        .call("list_audit")
        .query("action", "get_release_table");
    let log = log.send().await.expect(200);
    let rows = log["items"].as_array().expect("rows");
    // By the page one of each table, and one by the program.
    assert_eq!(rows.len(), 3, "{log}");
}
