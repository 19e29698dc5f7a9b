//! Local generalization and bucketization.
