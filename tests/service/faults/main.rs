//! The fault suite: what a running service does when it is killed, stopped,
//! starved or lied to. Real server processes on both stores.
//!
//! | module | fault |
//! |---|---|
//! | `kills` | SIGKILL at named places and at random times |
//! | `bombs` | bodies that lie about their size, or become far larger |
//! | `memory` | uploads far larger than the memory there is for them |
//! | `job_memory` | jobs on texts far longer than most, one after the other |
//! | `canary` | a thousand strings that must show nowhere |
//! | `first_starts` | SIGKILL while a store is made and the first key is written |
//! | `exactly_once` | workers that are killed while 200 jobs wait |
//! | `zombies` | workers that sleep beyond their lease |
//! | `database_restarts` | PostgreSQL crashes under a server that lives on |
//! | `disk_full` | no room in the middle of an upload, a job, a read |
//! | `clock_jumps` | the time of day jumps by a day |
//! | `populations` | SIGKILL between the datasets of a change of terms |
//! | `drain` | SIGTERM in the middle of a job |
//! | `slow_clients` | a thousand sockets that drip headers and bodies |
//! | `slow_readers` | a thousand downloads that nobody reads, connections that only answer pings |
//! | `many_clients` | sixty-four clients in each other's way |
//! | `webhooks` | SIGKILL between the end of a job and what is told of it |
//! | `released_schemas` | a store that an older program wrote |
//!
//! Sizes are those of CI; `VIZARD_FAULTS_FULL=1` (`scripts/faults --full`)
//! multiplies them by ten. Random moments come from a seed that is printed,
//! and that `VIZARD_FAULTS_SEED` sets.

mod acknowledged;
mod bombs;
mod canary;
mod clock_jumps;
#[path = "../../common/mod.rs"]
mod common;
mod database_restarts;
mod disk_full;
mod drain;
mod exactly_once;
mod first_starts;
mod job_memory;
mod kills;
mod launch;
mod many_clients;
mod memory;
mod place;
mod populations;
mod raw_upload;
mod released_schemas;
mod size;
mod slow_clients;
mod slow_readers;
mod small_disk;
mod ward;
mod webhooks;
mod zombies;
