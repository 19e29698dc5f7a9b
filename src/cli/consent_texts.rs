//! `vizard consent-texts`: the texts of the consent pages as files, to be changed;
//! and the option by which a server takes them.
//!
//! A folder holds `<language>.json` files of keys and texts. Each replaces some or
//! all texts of a language that is shipped, or adds a language. Whatever does not
//! fit ends the start, with the file and the key: a patient would be the one to
//! find it otherwise.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use vizard_anonymizer::microdata::is_language_tag;

use super::exit::Exit;
use super::input::{has_extension, read};
use crate::config::TextsByLanguage;
use crate::web::consent::{SHIPPED, misfit};

/// Options of `vizard consent-texts`.
#[derive(Args, Debug)]
pub struct Options {
    /// Folder to write `<language>.json` files into; files that are there stay
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// The option of a server.
#[derive(Args, Clone, Debug)]
pub struct ConsentTextOptions {
    /// Folder of your own texts for the consent pages: files `<language>.json`, of which `vizard consent-texts` writes those that are shipped
    #[arg(long, env = "VIZARD_CONSENT_TEXTS", value_name = "DIR")]
    consent_texts: Option<PathBuf>,
}

/// Writes the shipped files; refuses before the first where one is there.
pub fn run(options: &Options) -> Result<(), Exit> {
    let folder = &options.folder;
    let files = SHIPPED.map(|(language, text)| (folder.join(format!("{language}.json")), text));
    if let Some((there, _)) = files.iter().find(|(path, _)| path.exists()) {
        let text = format!("{} is there already: name another folder", there.display());
        return Err(Exit::Usage(text));
    }
    let made = std::fs::create_dir_all(folder);
    made.with_context(|| format!("{} cannot be made", folder.display()))?;
    for (path, text) in files {
        let written = File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.with_context(|| format!("{} cannot be written", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

impl ConsentTextOptions {
    /// The texts of the folder; none without one.
    pub fn read(&self) -> Result<TextsByLanguage, Exit> {
        let Some(folder) = &self.consent_texts else {
            return Ok(TextsByLanguage::new());
        };
        let wrong = |what: &str| Exit::Usage(format!("{}: {what}", folder.display()));
        let entries = std::fs::read_dir(folder).map_err(|error| match error.kind() {
            ErrorKind::NotFound => wrong("there is no such folder"),
            kind => wrong(&format!("cannot be read: {kind}")),
        })?;
        let mut texts = TextsByLanguage::new();
        for entry in entries {
            let path = entry?.path();
            if has_extension(&path, "json") {
                let (language, own) = language_of(&path)?;
                texts.insert(language, own);
            }
        }
        if texts.is_empty() {
            return Err(wrong("holds no file `<language>.json`"));
        }
        Ok(texts)
    }
}

/// The texts of one file, and their language.
fn language_of(path: &Path) -> Result<(String, BTreeMap<String, String>), Exit> {
    let wrong = |what: &str| Exit::Usage(format!("{}: {what}", path.display()));
    let name = path.file_stem().and_then(|name| name.to_str());
    let language = name.filter(|name| is_language_tag(name)).ok_or_else(|| {
        wrong("the name is no tag of a language, as in `de.json` or `pt-BR.json`")
    })?;
    let bytes = read(path).map_err(|_| wrong("cannot be read"))?;
    let own: BTreeMap<String, String> = serde_json::from_slice(&bytes).map_err(|error| {
        wrong(&format!(
            "is no JSON object of keys and texts: line {}, column {}",
            error.line(),
            error.column()
        ))
    })?;
    if let Some((key, what)) = misfit(language, &own) {
        return Err(wrong(&format!("`{key}` {what}")));
    }
    Ok((language.to_owned(), own))
}
