//! Shares of what there is only so much of: so many of one principal, so many
//! in all. Nobody keeps the others out by taking everything.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::problem::{Problem, ProblemKind};
use crate::config::Limit;

/// After so long a client that was refused may try again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Something of which there is only so much.
pub struct Shares {
    taken: Mutex<Taken>,
    most: Limit,
    most_of_one: Limit,
}

#[derive(Default)]
struct Taken {
    all: u64,
    of: HashMap<String, u64>,
}

impl Shares {
    /// Nothing is taken of `most`; one principal may have `most_of_one`.
    pub fn new(most: Limit, most_of_one: Limit) -> Self {
        Self {
            taken: Mutex::default(),
            most,
            most_of_one,
        }
    }

    /// Takes `weight` for a principal until the share is dropped.
    ///
    /// # Errors
    /// The limit that it would pass. A first one is always given, however
    /// heavy it is.
    pub fn take(self: &Arc<Self>, principal: &str, weight: u64) -> Result<Share, Limit> {
        let mut taken = self.taken();
        let of_one = taken.of.get(principal).copied().unwrap_or_default();
        for (count, most) in [(of_one, self.most_of_one), (taken.all, self.most)] {
            if count > 0 && count + weight > most.value {
                return Err(most);
            }
        }
        taken.all += weight;
        *taken.of.entry(principal.to_owned()).or_default() += weight;
        drop(taken);
        Ok(Share {
            shares: Arc::clone(self),
            principal: principal.to_owned(),
            weight,
        })
    }

    /// The same for what a client asks for.
    ///
    /// # Errors
    /// 429 while there is as much as there may be.
    pub fn begin(self: &Arc<Self>, principal: &str, weight: u64) -> Result<Share, Problem> {
        self.take(principal, weight).map_err(|most| {
            let detail = format!("more than {most} at once; wait until others have ended");
            let problem = Problem::new(ProblemKind::TooManyRequests, detail);
            problem.with_retry_after(RETRY_AFTER)
        })
    }

    /// How much is taken.
    pub fn all(&self) -> u64 {
        self.taken().all
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A part of it, taken.
#[must_use = "a share is given back when it is dropped"]
pub struct Share {
    shares: Arc<Shares>,
    principal: String,
    weight: u64,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.shares.taken();
        taken.all -= self.weight;
        if let Some(count) = taken.of.get_mut(&self.principal) {
            *count -= self.weight;
            if *count == 0 {
                taken.of.remove(&self.principal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_all_have_so_much() {
        let limit = |name, value| Limit {
            name,
            value,
            unit: "things",
        };
        let shares = Arc::new(Shares::new(limit("all", 3), limit("one", 2)));
        let one = shares.take("a", 1).expect("one");
        let _two = shares.take("a", 1).expect("two");
        let Err(refused) = shares.take("a", 1) else {
            panic!("more than of one");
        };
        assert_eq!(refused.name, "one");
        let _three = shares.take("b", 1).expect("three");
        assert_eq!(
            shares.take("c", 1).err().map(|limit| limit.name),
            Some("all")
        );
        assert_eq!(shares.all(), 3);
        drop(one);
        // A heavy one begins where nothing else is taken, however little there is.
        assert!(shares.take("c", 8).is_err());
        assert!(shares.take("c", 1).is_ok());
    }
}
