//! Our two steps of plans as bytes; all others are Ballista's.

use std::sync::Arc;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use serde::{Deserialize, Serialize};

use crate::leaf::{LeafExec, Publishing};
use crate::links::Links;
use crate::scan::{Reading, ScanExec};

/// What our bytes begin with; a message of protocol buffers never does, since there
/// is no field number 0.
const MARK: &[u8] = b"\0vizard";

/// Writes and reads our steps.
#[derive(Debug)]
pub struct Codec {
    links: Links,
    ballista: BallistaPhysicalExtensionCodec,
}

#[derive(Serialize, Deserialize)]
enum Step {
    Scan(Reading),
    Leaf(Publishing),
}

impl Codec {
    /// Steps that are read connect as this process does.
    pub fn new(links: Links) -> Self {
        Self {
            links,
            ballista: BallistaPhysicalExtensionCodec::default(),
        }
    }
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(own) = bytes.strip_prefix(MARK) else {
            return self.ballista.try_decode(bytes, inputs, context, converter);
        };
        let unfit = || DataFusionError::Plan("a step of a plan cannot be read".into());
        match (serde_json::from_slice(own).map_err(|_| unfit())?, inputs) {
            (Step::Scan(reading), [pieces]) => Ok(Arc::new(ScanExec::new(
                reading,
                Arc::clone(pieces),
                self.links.clone(),
            )?)),
            (Step::Leaf(publishing), [input]) => Ok(Arc::new(LeafExec::new(
                publishing,
                Arc::clone(input),
                self.links.clone(),
            ))),
            _ => Err(unfit()),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let step = if let Some(scan) = node.downcast_ref::<ScanExec>() {
            Step::Scan(scan.reading().clone())
        } else if let Some(leaf) = node.downcast_ref::<LeafExec>() {
            Step::Leaf(leaf.publishing().clone())
        } else {
            return self.ballista.try_encode(node, bytes, converter);
        };
        bytes.extend_from_slice(MARK);
        serde_json::to_writer(bytes, &step)
            .map_err(|error| DataFusionError::External(Box::new(error)))
    }
}
