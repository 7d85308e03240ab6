//! Chooses: experiments, the points of a study, and which trial comes next. Pure: it runs nothing.

pub mod experiment;
pub mod points;
pub mod schedule;
