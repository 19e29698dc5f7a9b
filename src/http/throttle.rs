//! How often one client may ask.
//!
//! Two rates, both with a burst: requests of one principal, counted once it is
//! known who asks; and tokens that were not accepted before, counted by remote
//! address before the store is asked about them. A token that was accepted
//! lately is not counted again, so that anyone who guesses from behind a proxy or
//! a shared address keeps nobody else out. Rates are this process's own.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota};

use super::problem::{Problem, ProblemKind};
use crate::config::{Limit, Limits};

/// Accepted tokens that are remembered; beyond it the memory begins anew.
const ACCEPTED_MAX: usize = 100_000;
/// Checks after which clients that were not heard of for a while are forgotten.
const CHECKS_BETWEEN_SWEEPS: u32 = 4_096;

/// Where a request came from.
#[derive(Clone, Copy, Debug)]
pub struct RemoteAddress(pub IpAddr);

/// The rates of this process.
pub struct Throttle {
    requests: Rate<String>,
    tokens: Rate<IpAddr>,
    /// Keyed hashes of tokens that were accepted.
    accepted: Mutex<HashSet<u64>>,
    hasher: RandomState,
}

impl Throttle {
    /// Rates of which nothing is used.
    pub fn new(limits: &Limits) -> Self {
        Self {
            requests: Rate::new(limits.requests_per_s_max(), limits.requests_burst_max()),
            tokens: Rate::new(
                limits.token_attempts_per_s_max(),
                limits.token_attempts_burst_max(),
            ),
            accepted: Mutex::default(),
            hasher: RandomState::new(),
        }
    }

    /// Counts a request of a principal.
    pub fn request(&self, principal: &str) -> Result<(), Problem> {
        self.requests.count(&principal.to_owned())
    }

    /// Counts a token shown from an address, unless it was accepted before.
    pub fn token(&self, token: &str, from: IpAddr) -> Result<(), Problem> {
        let hash = self.hasher.hash_one(token);
        if self.accepted().contains(&hash) {
            Ok(())
        } else {
            self.tokens.count(&network_of(from))
        }
    }

    /// Remembers whether a token was accepted.
    pub fn note_token(&self, token: &str, is_accepted: bool) {
        let hash = self.hasher.hash_one(token);
        let mut accepted = self.accepted();
        if !is_accepted {
            accepted.remove(&hash);
            return;
        }
        if accepted.len() >= ACCEPTED_MAX {
            accepted.clear();
        }
        accepted.insert(hash);
    }

    fn accepted(&self) -> std::sync::MutexGuard<'_, HashSet<u64>> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What counts as one address: of IPv6 the network, for one host has 2^64.
pub(super) fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let network = address.to_bits() & !u128::from(u64::MAX);
            std::net::Ipv6Addr::from_bits(network).into()
        }
    }
}

/// So many in a second on average, so many at once.
struct Rate<K: Hash + Eq + Clone> {
    limiter: DefaultKeyedRateLimiter<K>,
    clock: DefaultClock,
    per_s: Limit,
    checks: AtomicU32,
}

impl<K: Hash + Eq + Clone> Rate<K> {
    fn new(per_s: Limit, burst: Limit) -> Self {
        let most = |limit: Limit| {
            let value = u32::try_from(limit.value).unwrap_or(u32::MAX);
            NonZeroU32::new(value).unwrap_or(NonZeroU32::MIN)
        };
        let quota = Quota::per_second(most(per_s)).allow_burst(most(burst));
        Self {
            limiter: DefaultKeyedRateLimiter::keyed(quota),
            clock: DefaultClock::default(),
            per_s,
            checks: AtomicU32::new(0),
        }
    }

    fn count(&self, key: &K) -> Result<(), Problem> {
        if self
            .checks
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(CHECKS_BETWEEN_SWEEPS)
        {
            self.limiter.retain_recent();
        }
        match self.limiter.check_key(key) {
            Ok(()) => Ok(()),
            Err(refused) => {
                let wait = refused.wait_time_from(self.clock.now());
                Err(too_many(self.per_s, wait))
            }
        }
    }
}

fn too_many(limit: Limit, wait: Duration) -> Problem {
    let detail = format!("more than {limit}, and the burst is used up");
    Problem::new(ProblemKind::TooManyRequests, detail).with_retry_after(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn throttle() -> Throttle {
        Throttle::new(&Limits {
            requests_per_s_max: 1,
            requests_burst_max: 3,
            token_attempts_per_s_max: 1,
            token_attempts_burst_max: 2,
            ..Limits::default()
        })
    }

    #[test]
    fn a_principal_has_its_burst_and_no_more_whatever_others_do() {
        let throttle = throttle();
        for _ in 0..3 {
            assert!(throttle.request("key_a").is_ok());
        }
        let problem = throttle.request("key_a").expect_err("the burst is used up");
        assert_eq!(problem.kind(), ProblemKind::TooManyRequests);
        assert!(throttle.request("key_b").is_ok());
    }

    #[test]
    fn a_token_that_was_accepted_is_not_counted_until_it_is_refused() {
        let throttle = throttle();
        assert!(throttle.token("good", HERE).is_ok());
        throttle.note_token("good", true);
        for guess in ["a", "b"] {
            assert_eq!(throttle.token(guess, HERE).is_ok(), guess == "a");
            throttle.note_token(guess, false);
        }
        assert!(throttle.token("good", HERE).is_ok());
        throttle.note_token("good", false);
        assert!(throttle.token("good", HERE).is_err());
    }

    #[test]
    fn an_address_is_a_whole_network_of_ipv6() {
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let network = network_of(address("2001:db8:1:2:3:4:5:6"));
        assert_eq!(network, network_of(address("2001:db8:1:2::1")));
        assert_ne!(network, network_of(address("2001:db8:1:3::1")));
        assert_eq!(network_of(address("::ffff:127.0.0.1")), HERE);
    }
}
