//! Threads that read uploads: the one that was used last comes first.
//!
//! What a thread frees, the allocator keeps for that thread. Spread over all
//! threads of the runtime, uploads one after another would in time leave the
//! memory of one with each of them; here they leave it with one thread. There
//! are as many threads as uploads were ever read at the same time; they end with
//! the server.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

type Work = Box<dyn FnOnce() + Send>;

/// Threads without work, the one that was used last at the end.
type Idle = Mutex<Vec<Sender<Work>>>;

/// Threads that may block, for uploads.
#[derive(Default)]
pub struct ReadingThreads(Arc<Idle>);

impl ReadingThreads {
    /// Has `work` done by one of the threads, from now on; the future tells what
    /// came of it. `None` where it panicked, or where the system gives no
    /// further thread.
    pub fn run<T, W>(&self, work: W) -> impl Future<Output = Option<T>> + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce() -> T + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        if let Some(thread) = self.idle_or_new() {
            let (again, home) = (thread.clone(), Arc::downgrade(&self.0));
            let whole = move || {
                let done = catch_unwind(AssertUnwindSafe(work)).ok();
                // Before the answer: anyone who comes after it finds this thread.
                if let Some(idle) = home.upgrade() {
                    locked(&idle).push(again);
                }
                // An upload may have been given up; then nobody listens.
                let _unheard = answer.send(done);
            };
            let _ended = thread.send(Box::new(whole));
        }
        async { answered.await.ok().flatten() }
    }

    fn idle_or_new(&self) -> Option<Sender<Work>> {
        let idle = locked(&self.0).pop();
        idle.or_else(|| {
            let (thread, works) = channel::<Work>();
            let serve = move || works.into_iter().for_each(|work| work());
            let named = std::thread::Builder::new().name("upload".into());
            named.spawn(serve).ok().map(|_| thread)
        })
    }
}

fn locked(idle: &Idle) -> MutexGuard<'_, Vec<Sender<Work>>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
    use std::thread::{ThreadId, current};
    use std::time::Duration;

    use super::*;

    thread_local! {
        static HELD: Cell<Option<Sender<()>>> = const { Cell::new(None) };
    }

    async fn thread_of(threads: &ReadingThreads) -> Option<ThreadId> {
        threads.run(|| current().id()).await
    }

    #[tokio::test]
    async fn one_work_after_another_is_done_by_one_thread() {
        let threads = ReadingThreads::default();
        let first = thread_of(&threads).await.unwrap();
        assert_ne!(first, current().id());
        for _ in 0..100 {
            assert_eq!(thread_of(&threads).await, Some(first));
        }
    }

    #[tokio::test]
    async fn works_at_the_same_time_have_a_thread_each_and_the_last_used_comes_first() {
        let threads = ReadingThreads::default();
        let (go_on, wait) = channel::<()>();
        let slow = threads.run(move || {
            wait.recv().unwrap();
            current().id()
        });
        let beside = async {
            let beside = thread_of(&threads).await.unwrap();
            assert_eq!(thread_of(&threads).await, Some(beside));
            go_on.send(()).unwrap();
            beside
        };
        let (slow, beside) = tokio::join!(slow, beside);
        assert_ne!(slow, Some(beside));
        assert_eq!(thread_of(&threads).await, slow);
    }

    #[tokio::test]
    async fn a_panic_costs_neither_the_thread_nor_the_answer() {
        let threads = ReadingThreads::default();
        let first = thread_of(&threads).await;
        let panicked: Option<()> = threads.run(|| panic!("as a fault would")).await;
        assert_eq!(panicked, None);
        assert_eq!(thread_of(&threads).await, first);
    }

    #[tokio::test]
    async fn threads_end_with_their_owner() {
        let threads = ReadingThreads::default();
        let (alive, ended) = channel::<()>();
        threads.run(|| HELD.set(Some(alive))).await.unwrap();
        assert_eq!(ended.try_recv(), Err(TryRecvError::Empty));
        drop(threads);
        // Dropped with the thread, the sender hangs up.
        let hung_up = ended.recv_timeout(Duration::from_secs(60));
        assert_eq!(hung_up, Err(RecvTimeoutError::Disconnected));
    }
}
