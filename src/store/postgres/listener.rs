//! Signals from other processes, by `LISTEN`.
//!
//! One task with one connection of its own. When the connection is lost, a
//! signal may be lost with it: everybody is woken to look for themselves, and
//! the connection is made again until it holds.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::task::AbortHandle;

use crate::store::StoreError;
use crate::store::session::{Signal, Signals};

/// Time between two attempts to connect again.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);

async fn connect(options: PgConnectOptions) -> Result<PgListener, sqlx::Error> {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .connect_lazy_with(options);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener
        .listen_all(Signal::ALL.map(Signal::channel))
        .await?;
    Ok(listener)
}

/// Begins to listen; answers when the interest is registered.
pub(super) async fn start(
    options: PgConnectOptions,
    signals: Arc<Signals>,
) -> Result<AbortHandle, StoreError> {
    let listener = connect(options.clone()).await?;
    Ok(tokio::spawn(listen(listener, options, signals)).abort_handle())
}

async fn listen(mut listener: PgListener, options: PgConnectOptions, signals: Arc<Signals>) {
    loop {
        match listener.try_recv().await {
            Ok(Some(notification)) => {
                for signal in Signal::ALL {
                    if signal.channel() == notification.channel() {
                        signals.give(signal);
                    }
                }
            }
            // Connected again by itself.
            Ok(None) => signals.give_all(),
            Err(_) => {
                tokio::time::sleep(RECONNECT_INTERVAL).await;
                if let Ok(again) = connect(options.clone()).await {
                    listener = again;
                    signals.give_all();
                }
            }
        }
    }
}
