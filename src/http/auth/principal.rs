//! Who a request comes from, once its token was checked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chrono::{DateTime, TimeDelta, Utc};

use super::role::Role;
use super::standing::{Opener, Standing};
use crate::http::answer::Answer;
use crate::http::idempotency::Ticket;
use crate::http::observe::RequestId;
use crate::http::problem::{Problem, ProblemKind};
use crate::ids::{DatasetId, KeyId};
use crate::store::{Act, KeyRow, ReleaseRow, ReleaseState, Store};

/// Who a request comes from.
#[derive(Clone, Debug)]
pub struct Principal {
    name: String,
    roles: Vec<Role>,
    datasets: Option<Vec<DatasetId>>,
    standing: Standing,
    request: Option<RequestId>,
    ticket: Option<Ticket>,
}

/// How rows and logs name the person who runs the service.
pub const OPERATOR: &str = "operator";

impl Principal {
    /// The operator, by the admin key of their own choosing.
    pub(super) fn operator() -> Self {
        Self {
            name: OPERATOR.into(),
            roles: vec![Role::Admin],
            datasets: None,
            standing: Opener::Operator.into(),
            request: None,
            ticket: None,
        }
    }

    /// The holder of a key. Roles that this program does not know give nothing.
    pub(super) fn of(key: KeyRow) -> Self {
        Self {
            name: key.id.to_string(),
            roles: key
                .roles
                .iter()
                .filter_map(|word| Role::parse(word))
                .collect(),
            datasets: key.datasets,
            standing: Opener::Key(key.id).into(),
            request: None,
            ticket: None,
        }
    }

    /// The same, until a time of its own.
    pub(super) fn until(mut self, end: DateTime<Utc>) -> Self {
        self.standing = Opener::Until(end).into();
        self
    }

    /// The same, as it asks in a session.
    pub(super) fn in_session(mut self, hash: [u8; 32]) -> Self {
        self.standing.session = Some(hash);
        self
    }

    /// The same, as it comes with one request.
    pub(super) fn in_request(mut self, request: Option<RequestId>) -> Self {
        self.request = request;
        self
    }

    /// The same, as it holds the reserved key of one request.
    pub(in crate::http) fn holding(mut self, ticket: Ticket) -> Self {
        self.ticket = Some(ticket);
        self
    }

    fn plain_act<T>(&self) -> Act<T> {
        let act = Act::by(self.name.as_str());
        match &self.request {
            Some(request) => act.in_request(request.as_str()),
            None => act,
        }
    }

    /// What the store is told of an act of this request. Under an idempotency
    /// key the store refuses to change anything by it: POST and PUT say with
    /// `act_answering` what they answer.
    pub fn act<T>(&self) -> Act<T> {
        let act = self.plain_act();
        match &self.ticket {
            Some(ticket) => ticket.reserve(act),
            None => act,
        }
    }

    /// The same, with what the client is answered, made from the store's own
    /// answer; `None`: a refusal.
    pub(in crate::http) fn act_answering<T>(
        &self,
        answer: impl FnOnce(&T) -> Option<Answer> + Send + 'static,
    ) -> Act<T> {
        let act = self.plain_act();
        match &self.ticket {
            Some(ticket) => ticket.clone().keep(act, answer),
            None => act,
        }
    }

    /// The holder of an issuer's token, which is good until a time.
    pub(super) fn named(
        name: String,
        roles: Vec<Role>,
        datasets: Option<Vec<DatasetId>>,
        until: DateTime<Utc>,
    ) -> Self {
        Self {
            name,
            roles,
            datasets,
            standing: Opener::Until(until).into(),
            request: None,
            ticket: None,
        }
    }

    /// How rows and logs name it: a key's id, `operator`, or `oidc:` and a digest.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its access rests on, for streams that go on after the request was let in.
    pub(in crate::http) fn standing(&self) -> Standing {
        self.standing
    }

    /// Whether it holds a role.
    pub fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// Whether it holds one of several roles.
    pub fn has_any(&self, roles: &[Role]) -> bool {
        roles.iter().any(|&role| self.has(role))
    }

    /// Its roles.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// The datasets it is tied to; `None`: all.
    pub fn datasets(&self) -> Option<&[DatasetId]> {
        self.datasets.as_deref()
    }

    /// An error, as if the thing were not there, unless it may see the dataset.
    pub fn sees(&self, dataset: DatasetId, what: &str) -> Result<(), Problem> {
        match &self.datasets {
            Some(datasets) if !datasets.contains(&dataset) => Err(Problem::not_found(what)),
            _ => Ok(()),
        }
    }

    /// Whether it may see and make a key or a webhook of this tie: one that is tied itself,
    /// of keys that are tied to some of its own datasets and to no others.
    fn rules(&self, tie: Option<&[DatasetId]>) -> bool {
        let Some(own) = &self.datasets else {
            return true;
        };
        tie.is_some_and(|tie| !tie.is_empty() && tie.iter().all(|id| own.contains(id)))
    }

    /// An error, as if the key were not there, unless it may see it.
    pub fn sees_key(&self, key: &KeyRow) -> Result<(), Problem> {
        self.sees_tied(key.datasets.as_deref(), "key")
    }

    /// The same of anything else that is tied to datasets.
    pub fn sees_tied(&self, tie: Option<&[DatasetId]>, what: &str) -> Result<(), Problem> {
        if self.rules(tie) {
            return Ok(());
        }
        Err(Problem::not_found(what))
    }

    /// An error unless it may make a key or a webhook of this tie. It is the same whether a
    /// dataset is another's or never was.
    pub fn may_tie(&self, tie: Option<&[DatasetId]>) -> Result<(), Problem> {
        if self.rules(tie) {
            return Ok(());
        }
        let detail =
            "the key is tied to datasets: `datasets` names one or more of them, and no others";
        Err(Problem::new(ProblemKind::Forbidden, detail))
    }

    /// An error, as if the release were not there, unless it may see it:
    /// stewards see every state, others published releases only.
    pub fn sees_release(&self, release: &ReleaseRow) -> Result<(), Problem> {
        self.sees(release.dataset, "release")?;
        match release.state {
            ReleaseState::Published => Ok(()),
            _ if self.has(Role::Steward) => Ok(()),
            _ => Err(Problem::not_found("release")),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Principal {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let principal = parts.extensions.get::<Self>().cloned();
        principal.ok_or_else(|| Problem::new(ProblemKind::Unauthenticated, "no bearer token"))
    }
}

/// Notes the use of keys, at most once a minute each: a write for every
/// request would make reading as dear as writing.
#[derive(Default)]
pub(in crate::http) struct KeyUse(Mutex<HashMap<KeyId, DateTime<Utc>>>);

impl KeyUse {
    const INTERVAL: TimeDelta = TimeDelta::minutes(1);

    pub(super) fn note(&self, store: &Arc<Store>, key: KeyId, now: DateTime<Utc>) {
        if !self.is_due(key, now) {
            return;
        }
        let store = Arc::clone(store);
        tokio::spawn(async move {
            if let Err(error) = store.key_touch(key).await {
                tracing::debug!(%key, %error, "the use of a key was not noted");
            }
        });
    }

    fn is_due(&self, key: KeyId, now: DateTime<Utc>) -> bool {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match noted.get(&key) {
            Some(&at) if now - at < Self::INTERVAL && at <= now => false,
            _ => {
                noted.insert(key, now);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_use_of_a_key_is_noted_once_a_minute() {
        let (noted, key, other) = (KeyUse::default(), KeyId::generate(), KeyId::generate());
        let start = DateTime::UNIX_EPOCH;
        assert!(noted.is_due(key, start));
        assert!(!noted.is_due(key, start + TimeDelta::seconds(59)));
        assert!(noted.is_due(other, start + TimeDelta::seconds(59)));
        assert!(noted.is_due(key, start + TimeDelta::seconds(60)));
        assert!(noted.is_due(key, start), "a clock set back notes again");
    }
}
