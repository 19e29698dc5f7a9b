//! Releases of persons made by hand, small enough to work every attained
//! value out on paper, and broken at exactly one bound.

mod bounds;
mod combinations;
mod members;
mod small;
mod sources;
