//! Pages of lists: what is asked for, and what is answered.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::super::problem::{Problem, ProblemKind};
use crate::store::{PAGE_LIMIT_MAX, Page, PageRequest};

/// Items on a page unless the client says otherwise.
const LIMIT_DEFAULT: u32 = 50;

/// Which part of a list is wanted.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Items on the page.
    #[serde(default = "limit_default")]
    #[param(required = false, minimum = 1, maximum = 200, default = 50)]
    pub limit: u32,
    /// `next_cursor` of the page before; absent: the newest.
    pub cursor: Option<Uuid>,
}

fn limit_default() -> u32 {
    LIMIT_DEFAULT
}

impl PageQuery {
    /// The page as the store is asked for it.
    pub fn request(&self) -> Result<PageRequest, Problem> {
        page_request(self.limit, self.cursor)
    }
}

/// The page as the store is asked for it.
pub fn page_request(limit: u32, cursor: Option<Uuid>) -> Result<PageRequest, Problem> {
    if (1..=PAGE_LIMIT_MAX).contains(&limit) {
        return Ok(PageRequest { limit, cursor });
    }
    let detail = format!("limit lies between 1 and {PAGE_LIMIT_MAX}");
    Err(Problem::new(ProblemKind::InvalidQuery, detail))
}

/// One page of a list, newest first.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PageView<T> {
    /// The items.
    pub items: Vec<T>,
    /// What to give as `cursor` for the next page; null: this is the last.
    pub next_cursor: Option<Uuid>,
}

impl<T> PageView<T> {
    /// A page of rows, each seen through `view`.
    pub fn of<R>(page: Page<R>, view: impl FnMut(R) -> T) -> Self {
        Self {
            items: page.items.into_iter().map(view).collect(),
            next_cursor: page.next_cursor,
        }
    }
}
