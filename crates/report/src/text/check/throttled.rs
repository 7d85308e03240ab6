//! Words of the check `throttled`.

use iosonde_model::{
    IoLimit, ThermalPressure,
    cause::{Cap, CapStart, Throttled},
    units,
};

pub(super) fn words(cause: &Throttled) -> String {
    match cause {
        Throttled::Unseen => "no control group is visible, so a container's limit may apply".to_owned(),
        Throttled::TooFewTrials { trials } => {
            let plural = if *trials == 1 { "" } else { "s" };
            format!("{trials} trial{plural}: too few to see a limit that sets in during the run")
        }
        Throttled::ControlGroup { limit_share, limit } => format!(
            "a control group limits {} to {}, and this trial reached {} of that (set by {})",
            limit.device,
            allowed(limit),
            units::percent(*limit_share),
            limit.set_by
        ),
        Throttled::InstanceLimit { iops_exceeded_share, throughput_exceeded_share } => {
            let (limit, share) = match iops_exceeded_share >= throughput_exceeded_share {
                true => ("IOPS", *iops_exceeded_share),
                false => ("throughput", *throughput_exceeded_share),
            };
            format!(
                "the instance's limit of {limit} held the volume for {} of the time, by the volume's own count",
                units::percent(share)
            )
        }
        Throttled::Heat { thermal_pressure } => format!(
            "the system slowed the machine because of heat (thermal pressure {}): let it cool, and measure again",
            level(*thermal_pressure)
        ),
        Throttled::SetInMidRun { limit, from_s, until_s, limited_trials } => {
            let until = until_s.map_or_else(|| "on".to_owned(), |until_s| format!("to {}", clock(until_s)));
            format!(
                "a limit of {} applied from {} {until}, to {limited_trials} trials (set by {})",
                allowed(limit),
                clock(*from_s),
                limit.set_by
            )
        }
        Throttled::Fell { throttle_iops, before_iops, at_s, temperature_celsius, cap, writes } => format!(
            "the rate fell from {} to {} IOPS after {} and stayed there: {}",
            units::count(*before_iops),
            units::count(*throttle_iops),
            units::time(at_s * 1e9),
            suspect(*temperature_celsius, *cap, *writes)
        ),
        Throttled::CappedRequests { throttle_iops, credit_requests, at } => {
            let cap = format!("{} IOPS", units::count(*throttle_iops));
            capped(&cap, &format!("{} requests", units::count(*credit_requests)), at)
        }
        Throttled::CappedBytes { throttle_bytes_per_s, credit_bytes, at } => {
            capped(&units::rate(*throttle_bytes_per_s), &units::decimal_bytes(*credit_bytes as u64), at)
        }
    }
}

fn level(pressure: ThermalPressure) -> &'static str {
    match pressure {
        ThermalPressure::Nominal => "nominal",
        ThermalPressure::Moderate => "moderate",
        ThermalPressure::Heavy => "heavy",
        ThermalPressure::Trapping => "trapping",
        ThermalPressure::Sleeping => "sleeping",
    }
}

fn allowed(limit: &IoLimit) -> String {
    match (limit.iops, limit.bytes_per_s) {
        (Some(iops), _) => format!("{} {} IOPS", units::count(iops), limit.op),
        (None, Some(bytes_per_s)) => format!("{} of {}s", units::rate(bytes_per_s), limit.op),
        (None, None) => format!("a rate of {}s", limit.op),
    }
}

/// Minutes and seconds from the run's beginning: `0:45`.
fn clock(moment_s: f64) -> String {
    let seconds = moment_s.round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// Likely reason of a fall.
fn suspect(temperature_celsius: Option<f64>, cap: Option<Cap>, writes: bool) -> String {
    match (temperature_celsius, cap) {
        (Some(celsius), _) => format!("thermal throttling ({celsius:.0} °C)"),
        (None, Some(cap)) => format!(
            "{}, kept within {} (credit: about {} requests)",
            if writes { "a full write buffer or a rate limit" } else { "a rate limit" },
            exactness(cap.kept_within_share),
            units::count(cap.credit_requests)
        ),
        (None, None) if writes => "a full write buffer, heat or a rate limit".to_owned(),
        (None, None) => "heat or a rate limit".to_owned(),
    }
}

fn capped(cap: &str, credit: &str, at: &CapStart) -> String {
    let workloads = match at.points {
        1 => "1 workload fell to".to_owned(),
        several => format!("{several} workloads fell to the same"),
    };
    format!(
        "{} after the start, {workloads} {cap} (within {}): a rate limit, after a credit of about {credit}",
        units::duration(at.from_s),
        exactness(at.kept_within_share)
    )
}

/// Nothing below 0.01 %, which is what rounding leaves.
fn exactness(share: f64) -> String {
    units::percent(share.max(1e-4))
}

#[cfg(test)]
mod tests {
    use iosonde_model::Op;

    use super::*;

    #[test]
    fn a_control_group_is_named_with_its_limit() {
        let limit = IoLimit {
            set_by: "/sys/fs/cgroup/box/io.max".into(),
            device: "vda".into(),
            op: Op::Read,
            iops: Some(5000.0),
            bytes_per_s: None,
        };
        assert_eq!(
            words(&Throttled::ControlGroup { limit_share: 0.998, limit }),
            "a control group limits vda to 5 k read IOPS, and this trial reached 100 % of that (set by \
             /sys/fs/cgroup/box/io.max)"
        );
    }

    #[test]
    fn the_limit_of_an_instance_is_named_by_what_held_longer() {
        let limit = Throttled::InstanceLimit { iops_exceeded_share: 0.02, throughput_exceeded_share: 0.8 };
        assert_eq!(
            words(&limit),
            "the instance's limit of throughput held the volume for 80 % of the time, by the volume's own count"
        );
    }

    #[test]
    fn a_limit_that_was_set_in_mid_run_is_told_with_its_time() {
        let limit = IoLimit {
            set_by: "/sys/fs/cgroup/box/io.max".into(),
            device: "vda".into(),
            op: Op::Read,
            iops: Some(6000.0),
            bytes_per_s: None,
        };
        let set = |until_s| {
            let limit = limit.clone();
            words(&Throttled::SetInMidRun { limit, from_s: 45.3, until_s, limited_trials: 128 })
        };
        assert_eq!(
            set(None),
            "a limit of 6 k read IOPS applied from 0:45 on, to 128 trials (set by /sys/fs/cgroup/box/io.max)"
        );
        assert!(
            set(Some(70.0)).starts_with("a limit of 6 k read IOPS applied from 0:45 to 1:10, to 128 trials")
        );
    }

    #[test]
    fn a_spent_credit_is_named_with_its_cap() {
        let fell = |cap, temperature_celsius| {
            words(&Throttled::Fell {
                throttle_iops: 3000.0,
                before_iops: 16_000.0,
                at_s: 2.6,
                temperature_celsius,
                cap,
                writes: false,
            })
        };
        let begin = "the rate fell from 16 k to 3 k IOPS after 2.60 s and stayed there: ";
        let cap = Cap { kept_within_share: 0.0, credit_requests: 33_800.0 };
        let limit = "a rate limit, kept within 0.01 % (credit: about 33.8 k requests)";
        assert_eq!(fell(Some(cap), None), format!("{begin}{limit}"));
        assert_eq!(fell(Some(cap), Some(81.0)), format!("{begin}thermal throttling (81 °C)"));
        assert_eq!(fell(None, None), format!("{begin}heat or a rate limit"));
    }
}
