//! Step 2, second half: which clusters are merged, so that least is lost of
//! the items while quasi-identifiers lose at most delta.
//!
//! Every cluster of the tree of merges has an *offer*: what its items would
//! lose, or none if its members' terms do not hold in it. A choice takes
//! clusters of which none lies in another and which hold everybody. With a
//! price on the loss of quasi-identifiers the best choice is found from the
//! parts up in one pass; bisection finds the lowest price at which the choice
//! stays within delta (*ours*; `[RMR]` merges one pair at a time). What is
//! then left of delta goes to the merges that still save most.

use super::merge::Merges;

/// Steps of the bisection on the price.
const PRICE_STEPS: u32 = 48;

/// What a cluster would be published with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Offer {
    /// Loss of items summed over members; `None` if it cannot be published.
    pub items: Option<f64>,
    /// Members who share the most frequent fingerprint, where it was counted.
    pub most: Option<u32>,
}

/// Clusters taken, and what they lose.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Choice {
    /// Numbers of the clusters.
    pub taken: Vec<usize>,
    /// Loss of quasi-identifiers summed over persons.
    pub loss: f64,
}

/// The choice that loses least of the quasi-identifiers; none if no choice
/// holds everybody.
pub(super) fn finest(merges: &Merges, offers: &[Offer]) -> Option<Choice> {
    cheapest(merges, offers, |loss, items| (loss, items))
}

/// The choice that loses least of the items while the loss of
/// quasi-identifiers, summed over persons, stays within `budget`; none if no
/// choice does.
pub(super) fn choose(merges: &Merges, offers: &[Offer], budget: f64) -> Option<Choice> {
    let at_price =
        |price: f64| cheapest(merges, offers, |loss, items| (items + price * loss, loss));
    let fits = |choice: &Choice| choice.loss <= budget;
    let mut best = finest(merges, offers).filter(fits)?;
    if let Some(free) = at_price(0.0).filter(fits) {
        return Some(free);
    }
    let (mut low, mut high) = (0.0, f64::from(1 << 20));
    for _ in 0..PRICE_STEPS {
        let price = (low + high) / 2.0;
        match at_price(price).filter(fits) {
            Some(choice) => {
                best = choice;
                high = price;
            }
            None => low = price,
        }
    }
    fill(merges, offers, budget, &mut best);
    Some(best)
}

/// The choice of least cost; the second figure breaks ties of the first.
fn cheapest(
    merges: &Merges,
    offers: &[Offer],
    cost: impl Fn(f64, f64) -> (f64, f64),
) -> Option<Choice> {
    const NEVER: (f64, f64) = (f64::INFINITY, f64::INFINITY);
    let mut best = Vec::with_capacity(offers.len());
    let mut is_whole = Vec::with_capacity(offers.len());
    for (node, offer) in merges.nodes.iter().zip(offers) {
        let whole = offer.items.map_or(NEVER, |items| cost(node.loss, items));
        let parts = node.parts.map_or(NEVER, |(one, other)| {
            let (one, other): ((f64, f64), (f64, f64)) = (best[one as usize], best[other as usize]);
            (one.0 + other.0, one.1 + other.1)
        });
        is_whole.push(whole <= parts);
        best.push(if whole <= parts { whole } else { parts });
    }
    if best.last().is_none_or(|best| *best == NEVER) {
        return None;
    }
    let mut choice = Choice::default();
    let mut open = vec![offers.len() - 1];
    while let Some(at) = open.pop() {
        match merges.nodes[at].parts {
            Some((one, other)) if !is_whole[at] => open.extend([one as usize, other as usize]),
            _ => choice.taken.push(at),
        }
    }
    choice.taken.sort_unstable();
    choice.loss = sum_of_losses(merges, &choice.taken);
    Some(choice)
}

fn sum_of_losses(merges: &Merges, taken: &[usize]) -> f64 {
    taken.iter().map(|&at| merges.nodes[at].loss).sum()
}

/// Merges on, the most saving first, as long as the budget allows.
fn fill(merges: &Merges, offers: &[Offer], budget: f64, choice: &mut Choice) {
    loop {
        // Losses of the taken clusters in each one: (quasi-identifiers, items).
        let mut below: Vec<Option<(f64, f64)>> = vec![None; offers.len()];
        for &at in &choice.taken {
            below[at] = Some((merges.nodes[at].loss, offers[at].items.unwrap_or(0.0)));
        }
        let mut best: Option<(f64, usize)> = None;
        for (at, node) in merges.nodes.iter().enumerate() {
            let Some((one, other)) = node.parts else {
                continue;
            };
            let (Some(a), Some(b)) = (below[one as usize], below[other as usize]) else {
                continue;
            };
            let (loss, items) = (a.0 + b.0, a.1 + b.1);
            below[at] = Some((loss, items));
            let saved = offers[at].items.map_or(0.0, |own| items - own);
            let fits = choice.loss - loss + node.loss <= budget;
            if saved > 0.0 && fits && best.is_none_or(|(most, _)| saved > most) {
                best = Some((saved, at));
            }
        }
        let Some((_, at)) = best else {
            return;
        };
        let members = &merges.nodes[at].members;
        let inside = |other: &usize| {
            let range = &merges.nodes[*other].members;
            members.start <= range.start && range.end <= members.end
        };
        let mut taken = choice.taken.clone();
        taken.retain(|other| !inside(other));
        taken.push(at);
        taken.sort_unstable();
        let loss = sum_of_losses(merges, &taken);
        if loss > budget {
            return;
        }
        *choice = Choice { taken, loss };
    }
}
