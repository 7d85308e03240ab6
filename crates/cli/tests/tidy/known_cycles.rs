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
        files: &["bars.rs", "mod.rs", "overlay.rs"],
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
    Known { why: SHARED_TYPES, folder: "crates/sim/src/part", files: &["disk.rs", "disk/arm.rs"] },
    Known {
        why: SHARED_TYPES,
        folder: "crates/sim/src/part",
        files: &["flash.rs", "flash/buffer.rs", "flash/chips.rs", "flash/read.rs"],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/infer/src",
        files: &["compare/like.rs", "compare/mod.rs", "compare/ranking.rs", "compare/spread.rs"],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/infer/src",
        files: &["finding/long_write/drain.rs", "finding/long_write/mod.rs"],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/infer/src",
        files: &["finding/mod.rs", "finding/random_vs_sequential.rs"],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/infer/src",
        files: &["portrait/disk.rs", "portrait/mod.rs", "portrait/units.rs"],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/model/src",
        files: &["detail/curve.rs", "detail/effect.rs", "detail/inconclusive.rs", "detail/queue_depth.rs"],
    },
    Known { why: SHARED_TYPES, folder: "crates/model/src", files: &["toml_file.rs", "toml_file/node.rs"] },
    Known { why: SHARED_TYPES, folder: "crates/plan/src", files: &["schedule/mod.rs", "schedule/state.rs"] },
    Known {
        why: SHARED_TYPES,
        folder: "crates/report/src",
        files: &[
            "text/finding/cached.rs",
            "text/finding/curve.rs",
            "text/finding/drift.rs",
            "text/finding/durable.rs",
            "text/finding/effect.rs",
            "text/finding/highest.rs",
            "text/finding/inconclusive.rs",
            "text/finding/latency_limit.rs",
            "text/finding/layout.rs",
            "text/finding/limit.rs",
            "text/finding/long_write.rs",
            "text/finding/mapping_unit.rs",
            "text/finding/mod.rs",
            "text/finding/platter.rs",
            "text/finding/processor.rs",
            "text/finding/queue_depth.rs",
            "text/finding/readahead.rs",
            "text/finding/size_law.rs",
        ],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/report/src",
        files: &["text/open_questions.rs", "text/results.rs"],
    },
    Known {
        why: "the device and its flow of requests hold each other",
        folder: "crates/sim/src",
        files: &["device.rs", "file.rs", "flow.rs", "part/mod.rs"],
    },
    Known {
        why: SHARED_TYPES,
        folder: "crates/stats/src",
        files: &["mixed_model.rs", "mixed_model/design.rs", "mixed_model/spread.rs"],
    },
    Known { why: SHARED_TYPES, folder: "crates/sim/src/truth", files: &["computed.rs", "laws.rs", "mod.rs"] },
];
