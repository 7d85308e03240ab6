//! The number of hosts that saturates what they share.
//!
//! What it is: the highest throughput of all hosts over that of one host. With so many hosts the storage would just be
//! busy if no request waited for another host's. Below it, throughput grows with the hosts; above it, each host gets
//! less. 1 says that a single host saturates it.
//!
//! How it is computed: as `queue_depth_knee`, with hosts in the place of requests: the same family of curves is fitted
//! to the throughput over the number of hosts, and the interval is the profile likelihood over all of its corners. h
//! hosts of depth d before c equal servers have X(h) = min(h d, c) / t, and the number is c/d, or 1 where d is larger.
//! Before c exponential servers with a queue each it is (d + c − 1) / d. Both curves belong to the family.
//!
//! Inconclusive where
//! - fewer than four numbers of hosts are valid, or one host is missing;
//! - the most hosts are less than four times the upper end of the interval (the plateau is then a guess): use more
//!   hosts, or a deeper queue of each;
//! - the queue depth was not reached;
//! - the curves do not fit.
//!
//! The number holds for this queue depth of a host: hosts × depth is what saturates the storage, as long as a host's
//! own processor and link do not limit it. Where they do, it is the number of such hosts that the storage can serve.
//!
//! How often it is right: `bench/many-hosts scaling`; its figures are in docs/many-hosts.md.
//!
//! Assumes: hosts that are alike (the check `odd-host` looks), and a closed loop on each.
//!
//! Source: as for `queue_depth_knee` (Denning and Buzen 1978).

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    Conditions, Detail, ExperimentName, Finding, FindingName, Inconclusive, TrialSpec, Unit,
    detail::{HostCurve, Lack},
};

use super::{
    FindingKind, Proof, ScreenLine, closed_loop,
    group::{self, Group, Writer},
};

pub(crate) struct HostSaturation;

impl FindingKind for HostSaturation {
    fn id(&self) -> FindingName {
        FindingName::HostSaturation
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::HostScaling]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("hosts")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Hosts, confidence };
        let groups = group::groups(points, |op, evidence| {
            let spec = &evidence.point.spec;
            Some(Conditions {
                op: Some(op),
                random: Some(spec.rw.is_random()),
                block_size_bytes: Some(spec.block_size_bytes),
                queue_depth: Some(of_each(spec)),
                span_bytes: Some(spec.span_bytes),
                ..Conditions::default()
            })
        });
        groups.iter().map(|group| saturation(&writer, group)).collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::Hosts)
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "shared"
summary = "16 equal servers of 400 us that all hosts share"
capacity = "64GiB"
[queue]
servers = 16
service = { fixed = "400us" }
[noise]
latency_cv = 0.05
"#,
            study: r#"
name = "hosts"
question = "How many hosts saturate this storage?"
time = "30s"
[[experiment]]
kind = "host-scaling"
rw = ["randread", "randwrite"]
depth = 4
"#,
            truths: &[(Some(4.0), "16 servers / 4 requests of each host"), (Some(4.0), "writes likewise")],
            widest: 0.15,
        }
    }

    fn proof_hosts(&self) -> u32 {
        32
    }
}

/// Queue depth of one host.
fn of_each(spec: &TrialSpec) -> u32 {
    (spec.asked_in_flight() / u64::from(spec.hosts.max(1))) as u32
}

fn saturation(writer: &Writer, group: &Group) -> Finding {
    let (conditions, points) = (&group.conditions, &group.points);
    match closed_loop::over(group, |spec| u64::from(spec.hosts), writer.confidence) {
        Ok(Ok(curve)) => {
            let detail = Detail::HostCurve(HostCurve { widened_for: curve.widened_for });
            writer.concluded(conditions, points, curve.knee(), detail)
        }
        Ok(Err(problem)) => writer.inconclusive(conditions, points, Inconclusive::Hosts(problem)),
        Err(why) => writer.inconclusive(conditions, points, why),
    }
}
