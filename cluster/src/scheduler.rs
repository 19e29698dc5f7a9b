//! The scheduler: deals the tasks of plans to executors that ask for them.
//!
//! Executors ask (`PullStaged`), since what Ballista's executors serve themselves they
//! serve without TLS. The scheduler keeps what it knows in memory: where it dies, the
//! jobs of workers are tried again.

use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::{BallistaError, Result};
use ballista_core::extension::SessionConfigExt;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::create_scheduler;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;

use crate::codec::Codec;
use crate::links::Links;

/// Largest message between processes: plans name all cuts and sets.
pub const MESSAGE_BYTES_MAX: u32 = 64 << 20;

/// An executor that says nothing for so long is gone. A busy one says something every
/// five seconds.
const EXECUTOR_TIMEOUT_S: u64 = 20;

/// How often it is looked for executors that are gone.
const EXPIRY_INTERVAL_S: u64 = 5;

/// How long what executors made for a plan is kept when it has ended: a worker reads
/// it meanwhile.
const KEPT_FOR_S: u64 = 120;

/// How this process plans and connects.
pub fn session(links: &Links) -> SessionConfig {
    SessionConfig::new_with_ballista()
        .with_ballista_use_tls(links.are_secure())
        .with_ballista_grpc_client_max_message_size(MESSAGE_BYTES_MAX as usize)
        .with_ballista_override_create_grpc_client_endpoint(links.for_ballista())
}

/// Serves until `shutdown`.
///
/// # Errors
/// The certificates cannot be used, or the listener fails.
pub async fn serve(
    listener: TcpListener,
    links: Links,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    let of_session = links.clone();
    let config = SchedulerConfig {
        bind_port: listener.local_addr().map_err(BallistaError::from)?.port(),
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        executor_timeout_seconds: EXECUTOR_TIMEOUT_S,
        expire_dead_executor_interval_seconds: EXPIRY_INTERVAL_S,
        no_executors_grace_period_seconds: 2 * EXECUTOR_TIMEOUT_S,
        finished_job_data_clean_up_interval_seconds: KEPT_FOR_S,
        finished_job_state_clean_up_interval_seconds: KEPT_FOR_S,
        grpc_server_max_decoding_message_size: MESSAGE_BYTES_MAX,
        grpc_server_max_encoding_message_size: MESSAGE_BYTES_MAX,
        grpc_client_max_message_size: MESSAGE_BYTES_MAX,
        use_tls: links.are_secure(),
        override_config_producer: Some(Arc::new(move || session(&of_session))),
        override_physical_codec: Some(Arc::new(Codec::new(links.clone()))),
        override_create_grpc_client_endpoint: Some(links.for_ballista()),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    let scheduler =
        create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config)).await?;
    let service = SchedulerGrpcServer::new(scheduler)
        .max_decoding_message_size(MESSAGE_BYTES_MAX as usize)
        .max_encoding_message_size(MESSAGE_BYTES_MAX as usize);
    links
        .server()
        .map_err(BallistaError::TonicError)?
        .add_service(service)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), shutdown)
        .await
        .map_err(BallistaError::TonicError)
}
