//! `vizard-cluster`: the processes of a cluster.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;
use vizard_cluster::executor::{self, ExecutorSettings};
use vizard_cluster::links::Links;
use vizard_cluster::scheduler;

/// Counts and publishes the parts of large tables on several machines.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Deals tasks to executors.
    Scheduler(SchedulerArgs),
    /// Works on tasks.
    Executor(ExecutorArgs),
}

/// Certificates of this process, in files of PEM. They are needed unless all addresses
/// are of this machine.
#[derive(Args)]
struct LinkArgs {
    /// Certificate of the authority that all processes of the cluster have theirs from.
    #[arg(long, env = "VIZARD_CLUSTER_CA", requires_all = ["cert", "key"])]
    ca: Option<PathBuf>,
    /// Certificate of this process, for the names that others find it by.
    #[arg(long, env = "VIZARD_CLUSTER_CERT", requires = "ca")]
    cert: Option<PathBuf>,
    /// Its key.
    #[arg(long, env = "VIZARD_CLUSTER_KEY", requires = "ca")]
    key: Option<PathBuf>,
}

impl LinkArgs {
    fn links<'a>(&self, hosts: impl IntoIterator<Item = &'a str>) -> anyhow::Result<Links> {
        let links = match (&self.ca, &self.cert, &self.key) {
            (Some(ca), Some(cert), Some(key)) => {
                Links::by_certificates(ca, cert, key).context("the certificates cannot be read")?
            }
            _ => Links::default(),
        };
        links.check(hosts)?;
        Ok(links)
    }
}

#[derive(Args)]
struct SchedulerArgs {
    /// Address to listen at.
    #[arg(long, default_value = "127.0.0.1")]
    bind: String,
    /// Port to listen at; 0: any that is free.
    #[arg(long, default_value_t = 50050)]
    port: u16,
    #[command(flatten)]
    links: LinkArgs,
}

#[derive(Args)]
struct ExecutorArgs {
    /// Host and port of the scheduler.
    #[arg(long, default_value = "127.0.0.1:50050")]
    scheduler: String,
    /// Address to listen at.
    #[arg(long, default_value = "127.0.0.1")]
    bind: String,
    /// Port to listen at.
    #[arg(long, default_value_t = 50051)]
    port: u16,
    /// Host by which workers and other executors find this one; the address, if absent.
    #[arg(long)]
    host: Option<String>,
    /// Tasks at one time.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: u16,
    /// Memory in MiB that rows in work may take; beyond it they go to files. Engines
    /// take more: a part at a time for each task.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u64).range(16..))]
    memory_pool_mib: u64,
    /// Folder of files, which is this executor's alone.
    #[arg(long)]
    work_dir: PathBuf,
    #[command(flatten)]
    links: LinkArgs,
}

fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::try_from_default_env().unwrap_or_else(|_| "info".into()))
        .with_writer(std::io::stderr)
        .init();
    let cli = Cli::parse();
    let runtime = tokio::runtime::Runtime::new()?;
    match cli.command {
        Command::Scheduler(args) => runtime.block_on(schedule(args)),
        Command::Executor(args) => {
            rayon::ThreadPoolBuilder::new()
                .num_threads(usize::from(args.concurrency))
                .build_global()?;
            runtime.block_on(execute(args))
        }
    }
}

async fn schedule(args: SchedulerArgs) -> anyhow::Result<()> {
    let links = args.links.links([args.bind.as_str()])?;
    let listener = TcpListener::bind((args.bind.as_str(), args.port)).await?;
    let address = listener.local_addr()?;
    tracing::info!(%address, "scheduler listens");
    scheduler::serve(listener, links, told_to_stop()).await?;
    Ok(())
}

async fn execute(args: ExecutorArgs) -> anyhow::Result<()> {
    let (scheduler_host, scheduler_port) = args
        .scheduler
        .rsplit_once(':')
        .context("--scheduler is a host and a port")?;
    let host = args.host.as_deref().unwrap_or(&args.bind);
    let links = args
        .links
        .links([args.bind.as_str(), host, scheduler_host])?;
    std::fs::create_dir_all(&args.work_dir)?;
    let settings = ExecutorSettings {
        scheduler_host: scheduler_host.into(),
        scheduler_port: scheduler_port.parse().context("--scheduler has no port")?,
        bind_host: args.bind.clone(),
        host: host.into(),
        port: args.port,
        concurrency: usize::from(args.concurrency),
        memory_bytes: args.memory_pool_mib << 20,
        work_dir: args.work_dir,
    };
    executor::serve(settings, links).await?;
    Ok(())
}

/// Waits for SIGTERM or SIGINT.
async fn told_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
    let [Ok(mut terminate), Ok(mut interrupt)] = signals else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
