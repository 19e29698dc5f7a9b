//! What auditors see: the log, some rows of it, the chain, the ledger.

use super::{Browser, Server, on_both, story};

on_both!(
    an_auditor_reads_the_log_the_chain_and_the_ledger,
    counts_of_a_dataset_stand_on_its_page,
);

async fn an_auditor_reads_the_log_the_chain_and_the_ledger(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&steward).await;
    let release = story::release(&steward, &story::job(&dataset)).await;
    server.publish(&steward, &release).await.expect(200);
    let auditor = server.key(&["auditor"]).await;
    let mut browser = Browser::new(&server);
    browser.sign_in(&auditor).await;
    let log = browser.open("/audit").await.text();
    assert!(
        log.contains("href=\"/audit/ledger\"") && log.contains("publish release"),
        "{log}"
    );
    // A way that would end at a refusal is none.
    assert!(!log.contains("href=\"/datasets/") && !log.contains("href=\"/releases/"));
    let some = format!("/audit?actor=&action=publish_release&dataset={dataset}");
    let some = browser.open(&some).await.text();
    assert_eq!(some.matches("<td class=\"n\">").count(), 1, "{some}");
    let none = browser.open("/audit?action=nothing").await.text();
    assert!(none.contains("No row is like that."));
    assert_eq!(browser.open("/audit?dataset=x").await.status, 400);
    let chain = browser.open("/audit/chain").await.text();
    assert!(chain.contains("The chain is whole"), "{chain}");
    let ledger = browser.open("/audit/ledger").await.text();
    assert!(
        ledger.contains(&release) && ledger.contains("every row looks like at least"),
        "{ledger}"
    );
    for role in ["steward", "analyst"] {
        let mut other = Browser::new(&server);
        other.sign_in(&server.key(&[role]).await).await;
        assert_eq!(other.open("/audit/ledger").await.status, 403, "{role}");
    }
    assert_eq!(
        Browser::new(&server).open("/audit/ledger").await.status,
        303
    );
}

async fn counts_of_a_dataset_stand_on_its_page(server: Server) {
    let steward = server.key(&["uploader", "steward", "consent"]).await;
    let dataset = story::filled_dataset(&steward).await;
    let more = story::upload(&steward, &dataset, story::records(120, 150));
    more.await.expect(201);
    let terms = steward.call("import_preferences").at("id", &dataset);
    let terms = terms.body("text/csv", "subject,exclude\np1,true\np2,true\n");
    terms.send().await.expect(200);
    let mut browser = Browser::new(&server);
    browser.sign_in(&steward).await;
    let page = browser.open(&format!("/datasets/{dataset}")).await.text();
    for part in [
        "<b>150</b><span>records, one of each person</span>",
        "<b>2</b><span>people with terms",
        "<th class=\"n\" scope=\"row\">2</th><td>records added</td><td class=\"n\">30</td>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
