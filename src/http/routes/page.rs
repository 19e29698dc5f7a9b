//! Pages of lists: what is asked of the store, and what is answered.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::problem::{Problem, ProblemKind};
use crate::store::{PAGE_LIMIT_MAX, Page, PageRequest};

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
