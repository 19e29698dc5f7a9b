//! Somebody who counts and publishes parts of tables for an engine in this process: a
//! scheduler and its executors.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::config::BALLISTA_ADAPTIVE_PLANNER_ENABLED;
use ballista_core::execution_plans::execute_physical_plan;
use ballista_core::extension::SessionConfigExt;
use datafusion::arrow::array::RecordBatch;
use datafusion::error::DataFusionError;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures::TryStreamExt;
use tokio::runtime::Handle;
use vizard_anonymizer::catalog::elsewhere::{
    Board, BoardColumn, BoardElsewhere, CodeCount, PartAnswer, PartsElsewhere, SideCount,
    TableOrder,
};
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::engine::kernel::outline::{Parted, SetCut, SetNumber};
use vizard_anonymizer::privacy::CancelFlag;

use crate::boards::{BoardName, Boards, ServedBoard};
use crate::codec::Codec;
use crate::leaf::Publishing;
use crate::links::Links;
use crate::queries::{self, Grouping};
use crate::scan::Reading;
use crate::scheduler::session;
use crate::sets::CutBy;

/// How often it is looked whether somebody asked to stop.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// A scheduler and its executors.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Runtime that the connections live in. Engines run on threads that are none of
    /// its.
    pub runtime: Handle,
    /// `host:port` of the scheduler.
    pub scheduler: String,
    /// How connections are made.
    pub links: Links,
    /// Boards of this process, which it serves.
    pub boards: Boards,
    /// `host:port` at which executors find them.
    pub address: String,
    /// Pieces that rows are read in, and that parts are dealt to.
    pub partitions: usize,
}

impl Cluster {
    fn config(&self) -> SessionConfig {
        session(&self.links)
            .with_target_partitions(self.partitions)
            .set_bool(BALLISTA_ADAPTIVE_PLANNER_ENABLED, false)
    }

    /// Runs a plan of a session on the executors.
    async fn run(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        session: &str,
    ) -> Result<Vec<RecordBatch>, DataFusionError> {
        let config = self.config();
        let ballista = config.ballista_config();
        let codec = Codec::new(self.links.clone());
        let rows = execute_physical_plan::<PhysicalPlanNode>(
            self.links.url(&self.scheduler),
            &ballista,
            plan,
            &codec,
            session.to_owned(),
            config,
        );
        rows.await?.try_collect().await
    }
}

impl PartsElsewhere for Cluster {
    fn take(
        &self,
        board: &Board<'_>,
        order: TableOrder,
        cancel: &CancelFlag,
    ) -> Result<Box<dyn BoardElsewhere>, EngineError> {
        let served = self.boards.keep(board, &order, self.partitions);
        let no_room = |_| EngineError::Elsewhere("there is no room for the table's codes".into());
        let served = served.map_err(no_room)?;
        Ok(Box::new(TakenBoard {
            cluster: self.clone(),
            board: BoardName {
                address: self.address.clone(),
                id: served.id().into(),
                pieces: self.partitions,
                columns: board.columns(),
            },
            cut_by: (0..board.quasi_identifiers())
                .map(|at| board.cut_by(at))
                .collect(),
            asked: board.asked().collect(),
            counted_only: board.counts_some(),
            cuts: Vec::new(),
            cancel: cancel.clone(),
            _served: served,
        }))
    }
}

/// A table that the cluster works on.
struct TakenBoard {
    cluster: Cluster,
    board: BoardName,
    cut_by: Vec<BoardColumn>,
    asked: Vec<BoardColumn>,
    counted_only: bool,
    cuts: Vec<CutBy>,
    cancel: CancelFlag,
    /// Executors read from it until this is dropped.
    _served: ServedBoard,
}

/// What the executors answer is not about the table.
fn beside() -> EngineError {
    EngineError::Elsewhere("the cluster's answer is not about the table".into())
}

impl TakenBoard {
    fn reading(&self, columns: Vec<BoardColumn>, sets: Vec<SetNumber>) -> Reading {
        let mut sets = sets;
        sets.sort_unstable();
        Reading {
            board: self.board.clone(),
            columns,
            counted_only: self.counted_only,
            cuts: self.cuts.clone(),
            sets,
            tried: Vec::new(),
        }
    }

    /// Waits for work of the runtime, unless somebody asks to stop.
    fn wait<T>(
        &self,
        work: impl Future<Output = Result<T, DataFusionError>>,
    ) -> Result<T, EngineError> {
        let stopped = async {
            while !self.cancel.is_cancelled() {
                tokio::time::sleep(WATCH_INTERVAL).await;
            }
        };
        self.cluster.runtime.block_on(async {
            tokio::select! {
                done = work => done.map_err(|error| {
                    tracing::warn!(%error, "the cluster gave no answer");
                    EngineError::Elsewhere("the cluster failed".into())
                }),
                () = stopped => Err(EngineError::Cancelled),
            }
        })
    }

    fn counts(
        &self,
        reading: Reading,
        groupings: &[Grouping],
    ) -> Result<Vec<queries::Counted>, EngineError> {
        self.wait(async {
            let config = self.cluster.config();
            let of = (reading, &self.cluster.links);
            let plan = queries::counts(&config, of, groupings).await?;
            queries::read_counts(&self.cluster.run(plan, &self.board.id).await?)
        })
    }
}

/// Each once, in the order of first occurrence.
fn distinct(columns: impl Iterator<Item = BoardColumn>) -> Vec<BoardColumn> {
    let mut all = Vec::new();
    for column in columns {
        if !all.contains(&column) {
            all.push(column);
        }
    }
    all
}

impl BoardElsewhere for TakenBoard {
    fn histograms(&mut self, sets: &[SetNumber]) -> Result<Vec<CodeCount>, EngineError> {
        if self.cut_by.is_empty() || sets.is_empty() {
            return Ok(Vec::new());
        }
        let reading = self.reading(self.cut_by.clone(), sets.to_vec());
        let groupings: Vec<Grouping> = self.cut_by.iter().map(|&column| vec![column]).collect();
        let counted = self.counts(reading, &groupings)?.into_iter();
        let counts = counted.map(|counted| {
            let (column, code) = counted.codes.first_key_value().ok_or_else(beside)?;
            let quasi = self.cut_by.iter().position(|own| own == column);
            Ok(CodeCount {
                set: counted.set,
                quasi: quasi.ok_or_else(beside)?,
                code: *code,
                count: counted.count,
            })
        });
        counts.collect()
    }

    fn sides(&mut self, cuts: &[SetCut]) -> Result<Vec<SideCount>, EngineError> {
        let columns = std::iter::once(BoardColumn::Lent).chain(self.asked.iter().copied());
        let sets = cuts.iter().map(|cut| cut.set).collect();
        let mut reading = self.reading(distinct(columns), sets);
        let tried = (0_u32..).zip(cuts).map(|(at, cut)| {
            Some(CutBy {
                set: cut.set,
                column: *self.cut_by.get(cut.column)?,
                code: cut.code,
                left: 2 * at,
                right: 2 * at + 1,
            })
        });
        reading.tried = tried.collect::<Option<_>>().ok_or_else(beside)?;
        let of_values = self
            .asked
            .iter()
            .map(|&column| vec![BoardColumn::Lent, column]);
        let groupings = std::iter::once(vec![BoardColumn::Lent]).chain(of_values);
        let counted = self.counts(reading, &groupings.collect::<Vec<Grouping>>())?;
        let sides = counted.into_iter().map(|mut counted| {
            let terms = counted
                .codes
                .remove(&BoardColumn::Lent)
                .ok_or_else(beside)?;
            let value = match counted.codes.pop_first() {
                None => None,
                Some((column, code)) => {
                    let at = self.asked.iter().position(|own| *own == column);
                    Some((at.ok_or_else(beside)?, code))
                }
            };
            Ok(SideCount {
                cut: counted.set as usize / 2,
                is_left: counted.set.is_multiple_of(2),
                terms,
                value,
                count: counted.count,
            })
        });
        sides.collect()
    }

    fn cut(&mut self, cuts: &[Parted]) -> Result<(), EngineError> {
        for parted in cuts {
            self.cuts.push(CutBy {
                set: parted.cut.set,
                column: *self.cut_by.get(parted.cut.column).ok_or_else(beside)?,
                code: parted.cut.code,
                left: parted.left,
                right: parted.right,
            });
        }
        Ok(())
    }

    fn publish(
        &mut self,
        sets: &[(SetNumber, u64)],
        done: &mut dyn FnMut(usize),
    ) -> Result<Vec<PartAnswer>, EngineError> {
        let of_leaf = |column: &BoardColumn| {
            !matches!(
                column,
                BoardColumn::Counted | BoardColumn::Lent | BoardColumn::Cut(_)
            )
        };
        let columns = self.board.columns.iter().copied().filter(of_leaf).collect();
        let mut reading = self.reading(columns, sets.iter().map(|(set, _)| *set).collect());
        // All records of a part, not only those that stand for their subject.
        reading.counted_only = false;
        // Sets that were joined again are those that are asked for: they are cut no
        // further.
        let asked: BTreeMap<SetNumber, u64> = sets.iter().copied().collect();
        reading.cuts.retain(|cut| !asked.contains_key(&cut.set));
        let publishing = Publishing {
            board: self.board.clone(),
            places: asked.into_iter().collect(),
        };
        let packed = self.wait(async {
            let partitions = self.cluster.partitions;
            let plan = queries::publish((reading, &self.cluster.links), publishing, partitions)?;
            queries::read_answers(&self.cluster.run(plan, &self.board.id).await?)
        })?;
        let answers = sets.iter().map(|(set, _)| {
            let answer = packed.get(set).ok_or_else(beside)?;
            let answer = zstd::decode_all(answer.as_slice()).map_err(|_| beside())?;
            serde_json::from_slice(&answer).map_err(|_| beside())
        });
        let answers: Vec<PartAnswer> = answers.collect::<Result<_, EngineError>>()?;
        done(answers.len());
        Ok(answers)
    }
}
