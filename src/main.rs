//! The program `vizard`.

fn main() {}
