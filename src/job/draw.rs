//! Drawing a secret: the one place where a seed comes from.
//!
//! A service's jobs and datasets and the offline command draw their seeds
//! here, from the operating system. What comes below gets them handed down.

use rand::TryRng;
use rand::rngs::SysRng;

use vizard_anonymizer::privacy::Seed;

/// The operating system gave no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gives no random numbers")]
pub struct NoRandomness;

/// A seed that nobody has seen before.
pub fn draw_seed() -> Result<Seed, NoRandomness> {
    let mut bytes = [0; Seed::BYTES];
    SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(|_| NoRandomness)?;
    Ok(Seed::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_seeds_differ_in_every_part() {
        let (one, other) = (draw_seed().expect("random"), draw_seed().expect("random"));
        // Eight bytes at a time: were a part left out, it would be equal.
        let parts = one.as_bytes().chunks(8).zip(other.as_bytes().chunks(8));
        assert!(parts.into_iter().all(|(one, other)| one != other));
    }
}
