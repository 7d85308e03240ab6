//! Import cycles that are there. The list may only shrink: no new one, no file more in an old one.

/// A known cycle.
pub(crate) struct Known {
    /// Why it is still there.
    pub(crate) why: &'static str,
    pub(crate) folder: &'static str,
    /// From the folder.
    pub(crate) files: &'static [&'static str],
}

impl Known {
    pub(crate) fn has(&self, path: &str) -> bool {
        let name = path.strip_prefix(self.folder).and_then(|rest| rest.strip_prefix('/'));
        name.is_some_and(|name| self.files.contains(&name))
    }
}

const SHARED_TYPES: &str =
    "a module and the files of its folder share types, which belong in a file of their own";

pub(crate) const KNOWN: &[Known] = &[
    Known {
        why: "conclusions, their words and the advice call each other; they part when the words leave",
        folder: "crates/lab/src",
        files: &["advice.rs", "between.rs", "conclude.rs", "pages.rs", "storage.rs", "storage/refusals.rs"],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/lab/src/compare",
        files: &["like.rs", "mod.rs", "ranking.rs", "spread.rs"],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/lab/src",
        files: &["estimate.rs", "estimate/percentile.rs", "estimate/visit.rs"],
    },
    Known {
        why: "experiments name the findings that answer them, and findings plan points; the arrow is to point from \
             finding to experiment",
        folder: "crates/lab/src",
        files: &[
            "experiment/mod.rs",
            "finding/alignment_effect.rs",
            "finding/base_latency.rs",
            "finding/buffer_drain_rate.rs",
            "finding/burst_credit_bytes.rs",
            "finding/burst_rate.rs",
            "finding/cache_bytes.rs",
            "finding/cache_latency.rs",
            "finding/cached.rs",
            "finding/closed_loop.rs",
            "finding/crossover.rs",
            "finding/depth_for_95_percent.rs",
            "finding/device_bandwidth.rs",
            "finding/durable.rs",
            "finding/effective_depth.rs",
            "finding/flush_latency.rs",
            "finding/half_size.rs",
            "finding/hockney.rs",
            "finding/iops_at_latency.rs",
            "finding/jobs_effect.rs",
            "finding/layout.rs",
            "finding/limit.rs",
            "finding/log_writes_per_s.rs",
            "finding/long_write.rs",
            "finding/mapping_unit_bytes.rs",
            "finding/max_iops.rs",
            "finding/mix_interference.rs",
            "finding/mod.rs",
            "finding/network_round_trip.rs",
            "finding/parallelism.rs",
            "finding/per_request_cost.rs",
            "finding/plateau_block_size.rs",
            "finding/platter.rs",
            "finding/pooled.rs",
            "finding/processor_share.rs",
            "finding/queue_depth_knee.rs",
            "finding/random_vs_sequential.rs",
            "finding/readahead_bytes.rs",
            "finding/rotation_period.rs",
            "finding/seek_time_average.rs",
            "finding/shape.rs",
            "finding/stride_effect.rs",
            "finding/stripe_bytes.rs",
            "finding/sustained_rate.rs",
            "finding/throttle_rate.rs",
            "finding/write_buffer_bytes.rs",
            "finding/zone_ratio.rs",
            "plan.rs",
            "schedule.rs",
            "schedule/state.rs",
        ],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/lab/src/portrait",
        files: &["disk.rs", "mod.rs", "text.rs", "units.rs"],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/lab/src/stats",
        files: &["effects.rs", "effects/design.rs", "effects/spread.rs"],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/model/src",
        files: &[
            "spec/distribution.rs",
            "spec/latency_limit.rs",
            "spec/mod.rs",
            "spec/payload.rs",
            "spec/sync.rs",
            "trial.rs",
        ],
    },
    Known { why: SHARED_TYPES, folder: "crates/report/src/format", files: &["json.rs", "mod.rs"] },
    Known {
        why: SHARED_TYPES,
        folder: "crates/report/src/several",
        files: &["bars.rs", "mod.rs", "overlay.rs", "page.rs", "ratios.rs"],
    },
    Known { why: SHARED_TYPES, folder: "crates/rig/src/engine", files: &["mod.rs", "sim.rs"] },
    Known {
        why: SHARED_TYPES,
        folder: "crates/rig/src/guard",
        files: &["block.rs", "directory.rs", "file.rs", "mod.rs"],
    },
    Known {
        why: "the users of a file are looked for behind loop devices, whose own users are looked for",
        folder: "crates/rig/src/guard",
        files: &["loops.rs", "users.rs"],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/rig/src/offset",
        files: &[
            "alias.rs",
            "hot.rs",
            "mod.rs",
            "normal.rs",
            "once.rs",
            "ops.rs",
            "permutation.rs",
            "popularity.rs",
            "sequential.rs",
            "sizes.rs",
        ],
    },
    Known {
        why: "a device and its layers describe each other",
        folder: "crates/rig/src/platform",
        files: &["device.rs", "layer.rs"],
    },
    Known { why: SHARED_TYPES, folder: "crates/rig/src/verify", files: &["mod.rs", "writes.rs"] },
    Known {
        why: SHARED_TYPES,
        folder: "crates/rig/src/witness",
        files: &[
            "block_layer.rs",
            "clocks.rs",
            "limits.rs",
            "mod.rs",
            "network.rs",
            "pressure.rs",
            "process_io.rs",
            "processors.rs",
            "reading.rs",
            "residency.rs",
            "smb.rs",
        ],
    },
    Known {
        why: "the device and its flow of requests hold each other",
        folder: "crates/sim/src",
        files: &["device.rs", "file/mod.rs", "file/section.rs", "flow.rs", "part/mod.rs"],
    },
    Known { why: SHARED_TYPES, folder: "crates/sim/src/part", files: &["disk.rs", "disk/arm.rs"] },
    Known {
        why: SHARED_TYPES,
        folder: "crates/sim/src/part",
        files: &["flash.rs", "flash/buffer.rs", "flash/chips.rs", "flash/read.rs"],
    },
    Known { why: SHARED_TYPES, folder: "crates/sim/src/truth", files: &["computed.rs", "laws.rs", "mod.rs"] },
];
