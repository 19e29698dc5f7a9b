//! The layer rules of docs/ARCHITECTURE.md, checked over the text of `src/` and `tests/`.

#[test]
fn no_file_is_longer_than_500_lines() {
    fn walk(folder: &std::path::Path, long: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder)
            .expect("the folder is readable")
            .flatten()
        {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, long);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let lines = std::fs::read_to_string(&path)
                    .expect("source is UTF-8")
                    .lines()
                    .count();
                if lines > 500 {
                    long.push(format!("{}: {lines} lines", path.display()));
                }
            }
        }
    }
    let mut long = Vec::new();
    for folder in ["src", "tests"] {
        walk(
            &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut long,
        );
    }
    assert!(long.is_empty(), "{long:#?}");
}
