//! How many requests in flight make the storage busy: N* = X_max · R₀.
//!
//! What it is: the number in flight at which a storage would just be busy if requests never got in each
//! other's way. With fewer in flight, throughput is given away; with more, latency grows in proportion to
//! the number and throughput hardly. The two asymptotes X = N/R₀ and X = X_max meet there.
//!
//! How it is worked out: a family of curves between them is fitted to the logarithms of the rates at all
//! numbers in flight, X(N) = N / [R₀ (1 + (Nᵏ − 1)/N*ᵏ)^(1/k)]; k, which says how sharp the corner is, is
//! fitted too and the interval is the profile likelihood over it. What a wrong family may cost is added in
//! quadrature: the difference to R₀ over the slope of N/X(N) beyond the knee, and at least 3 %; where the
//! corner is known to be sharper than k = 4, at least 12 % over k, and the difference less its noise. Refused
//! where fewer than four numbers in flight stand, where one in flight is missing, where the deepest is less
//! than four times the knee (the plateau is then a guess), where a point's number in flight was not
//! reached, and where a point misses every curve by over 10 %.
//!
//! Why not the highest point of the grid: that is biased by up to 22 % and covers the truth in 0 to 95 % of
//! runs.
//!
//! Assumes: a closed loop, in which each completion makes room for the next request.
//!
//! Source: P. J. Denning and J. P. Buzen, The operational analysis of queueing network models, Computing
//! Surveys 10 (1978) 225: asymptotic bounds and their crossing, N*.

use iosonde_model::{Finding, Named};

use super::{
    FindingKind, Proof, Told, closed_loop,
    group::{Writer, workload},
};
use crate::{evidence::Evidence, words::Unit};

pub(crate) struct QueueDepthKnee;

impl Named for QueueDepthKnee {
    fn name(&self) -> &'static str {
        "queue_depth_knee"
    }
}

impl FindingKind for QueueDepthKnee {
    fn told(&self) -> Told {
        Told::always("knee")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.name(), experiment, unit: Unit::InFlight, confidence };
        let groups = closed_loop::groups(points);
        groups
            .iter()
            .map(|group| {
                let what = workload(&group.conditions);
                match closed_loop::of(group, confidence) {
                    Ok(curve) => writer.found(
                        &group.conditions,
                        &group.points,
                        curve.knee(),
                        &format!(
                            "the knee of {what} lies at {{}}: up to there more in flight is mostly \
                                  throughput, beyond it mostly waiting."
                        ),
                        curve.assumption(),
                    ),
                    Err(why) => {
                        writer.refused(&group.conditions, &group.points, &format!("The knee of {what}"), &why)
                    }
                }
            })
            .collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[(Some(4.0), "50,000 IOPS x 80 us"), (Some(4.0), "writes pass the same servers")],
            widest: 0.1,
            ..closed_loop::PROOF
        }
    }
}
