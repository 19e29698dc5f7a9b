//! An executor: asks a scheduler for tasks, and works on them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_flight::flight_service_server::FlightServiceServer;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::{BallistaError, Result};
use ballista_core::utils::GrpcServerConfig;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::flight_service::BallistaFlightService;
use ballista_executor::shutdown::Shutdown;

use crate::codec::Codec;
use crate::links::Links;
use crate::scheduler::{MESSAGE_BYTES_MAX, session};

/// Seconds that an executor looks for its scheduler before it gives up.
const CONNECT_TIMEOUT_S: u16 = 60;

/// Files of plans that nobody told to delete are deleted after so long.
const FILES_KEPT_FOR_S: u64 = 3600;

/// How often it is looked for such files.
const CLEANING_INTERVAL_S: u64 = 60;

/// How an executor works.
#[derive(Clone, Debug)]
pub struct ExecutorSettings {
    /// Host of the scheduler.
    pub scheduler_host: String,
    /// Port of the scheduler.
    pub scheduler_port: u16,
    /// Address that what was made is served at.
    pub bind_host: String,
    /// Host by which others find it.
    pub host: String,
    /// Port of it.
    pub port: u16,
    /// Tasks at one time.
    pub concurrency: usize,
    /// Memory in bytes that rows in work may take in all tasks together; beyond it they
    /// go to files.
    pub memory_bytes: u64,
    /// Folder of files.
    pub work_dir: PathBuf,
}

/// Works until it is told to stop.
///
/// # Errors
/// There is no scheduler, or a server fails.
pub async fn serve(settings: ExecutorSettings, links: Links) -> Result<()> {
    let work_dir = settings.work_dir.to_str();
    let no_path = || BallistaError::Configuration("the folder's name is no text".into());
    let work_dir = work_dir.ok_or_else(no_path)?.to_owned();
    let (of_session, of_flight) = (links.clone(), links.clone());
    let config = ExecutorProcessConfig {
        bind_host: settings.bind_host,
        external_host: Some(settings.host),
        port: settings.port,
        scheduler_host: settings.scheduler_host,
        scheduler_port: settings.scheduler_port,
        scheduler_connect_timeout_seconds: CONNECT_TIMEOUT_S,
        vcores: settings.concurrency,
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        work_dir: Some(work_dir),
        job_data_ttl_seconds: FILES_KEPT_FOR_S,
        job_data_clean_up_interval_seconds: CLEANING_INTERVAL_S,
        grpc_max_decoding_message_size: MESSAGE_BYTES_MAX,
        grpc_max_encoding_message_size: MESSAGE_BYTES_MAX,
        memory_pool_size: Some(settings.memory_bytes),
        override_config_producer: Some(Arc::new(move || session(&of_session))),
        override_physical_codec: Some(Arc::new(Codec::new(links.clone()))),
        override_create_grpc_client_endpoint: Some(links.for_ballista()),
        override_arrow_flight_service: Some(Arc::new(
            move |work_dir: String,
                  address: SocketAddr,
                  mut shutdown: Shutdown,
                  _: GrpcServerConfig| {
                let links = of_flight.clone();
                tokio::spawn(async move {
                    let service = FlightServiceServer::new(BallistaFlightService::new(work_dir))
                        .max_decoding_message_size(MESSAGE_BYTES_MAX as usize)
                        .max_encoding_message_size(MESSAGE_BYTES_MAX as usize);
                    let mut server = links.server().map_err(BallistaError::TonicError)?;
                    let served = server.add_service(service);
                    let served = served.serve_with_shutdown(address, async move {
                        shutdown.recv().await;
                    });
                    served.await.map_err(BallistaError::TonicError)
                })
            },
        )),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config)).await
}
