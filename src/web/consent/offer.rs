//! What a person may choose, as the API tells it (`GET /v1/my-preferences`).

use chrono::{DateTime, Utc};
use serde::Deserialize;
use vizard_anonymizer::microdata::{Terms, Wording};

use super::words::Words;

/// All of it.
#[derive(Debug, Deserialize)]
pub struct Offer {
    /// Who asks.
    pub dataset: Dataset,
    /// Until when the code can be used.
    pub expires_at: DateTime<Utc>,
    /// What the person said before, if anything.
    pub terms: Option<Terms>,
    /// What holds for people who say nothing.
    pub without_terms: Terms,
    /// What is kept of a person.
    pub attributes: Vec<Attribute>,
    /// Among how many people they may be hidden.
    pub steps: Vec<u32>,
}

/// The dataset, in words.
#[derive(Debug, Deserialize)]
pub struct Dataset {
    /// For programs; shown where there is no title.
    pub name: String,
    /// What it is called.
    pub title: Wording,
    /// What it is wanted for.
    pub purpose: Wording,
    /// Who answers questions.
    pub contact: Wording,
}

/// What is published of an attribute where nobody says more.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Published {
    /// Its values.
    AsItIs,
    /// Its values, made coarser.
    Coarsened,
    /// Its values among those of others.
    Hidden,
    /// Nothing.
    Never,
}

impl Published {
    /// The key of the text that says so.
    pub fn key(self) -> &'static str {
        match self {
            Self::AsItIs => "published_as_it_is",
            Self::Coarsened => "published_coarsened",
            Self::Hidden => "published_hidden",
            Self::Never => "published_never",
        }
    }
}

/// One attribute.
#[derive(Debug, Deserialize)]
pub struct Attribute {
    /// Its name in terms.
    pub name: String,
    /// What people call it.
    pub title: Wording,
    /// What it says.
    pub description: Wording,
    /// What is published of it.
    pub published: Published,
    /// Whether the person may ask to have it hidden.
    pub may_hide: bool,
    /// How many values it may have, where that is known.
    pub values: Option<u32>,
}

impl Offer {
    /// The attributes that may be hidden or shown.
    pub fn to_choose(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|one| one.may_hide)
    }

    /// What people call attributes, in a language; those of which `is_named` says
    /// so.
    pub fn titles<'o>(
        &'o self,
        words: &Words,
        is_named: impl Fn(&Attribute) -> bool,
    ) -> Vec<&'o str> {
        let named = self.attributes.iter().filter(|one| is_named(one));
        named.map(|one| words.own(&one.title, &one.name)).collect()
    }
}
