//! Every pattern over random workloads: each request lies in its range, on its alignment, and follows from
//! the seed.

use std::collections::HashMap;

use iosonde_model::{
    Distribution, HOT_RANGES_MAX, HotRange, HotRanges, Op, Ranges, Rw, StridePass, TrialSpec,
};
use iosonde_rig::offset::{Offsets, job_seed, span_problem};
use proptest::prelude::*;

fn spec(rw: Rw, block_bytes: u64, span_bytes: u64) -> TrialSpec {
    TrialSpec { rw, block_size_bytes: block_bytes, span_bytes, ..TrialSpec::default() }
}

fn hot(ranges: Vec<(f64, f64)>) -> Distribution {
    let range = |(requests, span)| HotRange { requests, span };
    let ranges: Vec<HotRange> = ranges.into_iter().map(range).collect();
    Distribution::Hot(HotRanges::new(&ranges).expect("each leaves some"))
}

fn distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        Just(Distribution::Uniform),
        Just(Distribution::Once),
        Just(Distribution::OncePerJob),
        (0.001f64..9.999).prop_map(|theta| Distribution::Zipf { theta }),
        (0.001f64..0.499).prop_map(|share| Distribution::Pareto { share }),
        (0.001f64..0.999).prop_map(|deviation| Distribution::Normal { deviation }),
        prop::collection::vec((0.001f64..0.14, 0.001f64..0.14), 1..=HOT_RANGES_MAX).prop_map(hot),
        (0.001f64..0.999, 0.001f64..0.999).prop_map(|range| hot(vec![range])),
    ]
}

prop_compose! {
    /// Any workload whose ranges hold its largest block, also such as are refused for other reasons.
    fn workload()(
        rw in prop::sample::select(Rw::ALL.to_vec()),
        block in 1u64..100,
        sizes in prop::collection::vec((1u64..100, 1u32..100), 0..5),
        blocks in 1u64..60,
        rest in 0u64..100_000,
        stride in prop::option::of(0u64..500),
        shifted: bool,
        align in prop::option::of(1u64..200),
        (jobs, disjoint) in (1u32..9, any::<bool>()),
        offset_bytes in 0u64..1_000_000,
        distribution in distribution(),
        read_percent in prop::option::of(0.0f64..=100.0),
    ) -> TrialSpec {
        let weighted = |(size, weight): &(u64, u32)| format!("{}:{weight}", size * 512);
        let text: Vec<String> = sizes.iter().map(weighted).collect();
        let largest = sizes.iter().map(|(size, _)| *size).max().unwrap_or(block);
        let room = (largest + align.unwrap_or(largest)) * 512 * u64::from(jobs);
        TrialSpec {
            block_sizes: text.join(",").parse().unwrap_or_default(),
            stride_bytes: stride.map(|stride| stride * 512),
            stride_pass: if shifted { StridePass::Shifted } else { StridePass::Same },
            offset_bytes,
            align_bytes: align.map(|align| align * 512),
            jobs,
            ranges: if disjoint { Ranges::Disjoint } else { Ranges::Shared },
            distribution,
            read_percent,
            ..spec(rw, largest * 512, room + blocks * largest * 512 + rest)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_request_lies_in_the_span_and_on_its_alignment(
        spec in workload(), job: u32, seed: u64, from_start: bool,
    ) {
        let mut offsets = Offsets::new(&spec, job % spec.jobs, seed);
        if from_start {
            offsets = offsets.from_start();
        }
        let smallest_bytes = spec.block_sizes.smallest_bytes().unwrap_or(spec.block_size_bytes);
        let align_bytes = if spec.rw.is_random() { spec.align_bytes.unwrap_or(smallest_bytes) } else { 512 };
        for _ in 0..200 {
            let (op, at_bytes, length_bytes) = offsets.draw();
            let length_bytes = u64::from(length_bytes);
            prop_assert!(spec.rw.has(op));
            prop_assert!(at_bytes >= spec.offset_bytes);
            let within_bytes = at_bytes - spec.offset_bytes;
            let end_bytes = within_bytes + length_bytes;
            prop_assert!(end_bytes <= spec.span_bytes, "{} to {}", within_bytes, end_bytes);
            let unaligned_step = spec.stride_bytes == Some(0);
            prop_assert!(unaligned_step || within_bytes % align_bytes == 0, "{}", within_bytes);
            match spec.block_sizes.is_one() {
                true => prop_assert_eq!(length_bytes, spec.block_size_bytes),
                false => prop_assert!(spec.block_sizes.iter().any(|size| size.bytes == length_bytes)),
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_requests(spec in workload(), seed: u64) {
        let job = spec.jobs - 1;
        let draw = |mut offsets: Offsets| (0..100).map(|_| offsets.draw()).collect::<Vec<_>>();
        prop_assert_eq!(draw(Offsets::new(&spec, job, seed)), draw(Offsets::new(&spec, job, seed)));
    }

    #[test]
    fn disjoint_jobs_do_not_meet(spec in workload(), seed: u64) {
        let spec = TrialSpec { ranges: Ranges::Disjoint, ..spec };
        let mut end_bytes = 0;
        for job in 0..spec.jobs {
            let mut offsets = Offsets::new(&spec, job, job_seed(seed, u64::from(job)));
            let drawn: Vec<_> = (0..200).map(|_| offsets.draw()).collect();
            prop_assert!(drawn.iter().all(|request| request.1 >= end_bytes));
            end_bytes = drawn.iter().map(|request| request.1 + u64::from(request.2)).max().unwrap();
        }
    }

    #[test]
    fn what_has_no_problem_makes_requests(mut spec in workload(), span_bytes in 0u64..3_000_000, seed: u64) {
        spec.span_bytes = span_bytes;
        if span_problem(&spec).is_none() {
            for job in 0..spec.jobs {
                Offsets::new(&spec, job, seed).draw();
            }
        }
    }

    #[test]
    fn a_pass_visits_each_block_of_each_job_once(
        blocks in 1u64..300, jobs in 1u32..8, seed: u64, disjoint: bool, random: bool,
    ) {
        let rw = if random { Rw::RandTrim } else { Rw::Trim };
        let ranges = if disjoint || !random { Ranges::Disjoint } else { Ranges::Shared };
        let blocks = blocks * u64::from(jobs);
        let spec = TrialSpec {
            jobs, ranges, distribution: Distribution::Once, ..spec(rw, 4096, blocks * 4096)
        };
        let mut seen = vec![0u32; blocks as usize];
        for job in 0..jobs {
            let mut offsets = Offsets::new(&spec, job, job_seed(seed, u64::from(job)));
            for _ in 0..blocks / u64::from(jobs) {
                let (op, at_bytes, _) = offsets.draw();
                prop_assert_eq!(op, Op::Trim);
                seen[(at_bytes / 4096) as usize] += 1;
            }
        }
        prop_assert!(seen.iter().all(|&n| n == 1), "{:?}", seen);
    }
}

#[test]
fn each_job_visits_each_block_once_in_an_order_of_its_own() {
    let spec =
        TrialSpec { jobs: 3, distribution: Distribution::OncePerJob, ..spec(Rw::RandRead, 4096, 4 << 20) };
    let passes: Vec<Vec<u64>> = (0..3)
        .map(|job| {
            let mut offsets = Offsets::new(&spec, job, job_seed(7, u64::from(job)));
            (0..1024).map(|_| offsets.draw().1 / 4096).collect()
        })
        .collect();
    for (job, pass) in passes.iter().enumerate() {
        let mut places = pass.clone();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..1024), "job {job}");
    }
    // Of two random orders, one place is the same on average, with variance 1.
    let alike = |a: &[u64], b: &[u64]| a.iter().zip(b).filter(|(a, b)| a == b).count();
    assert!(alike(&passes[0], &passes[1]) < 8 && alike(&passes[1], &passes[2]) < 8);
}

#[test]
fn a_pass_from_the_start_visits_each_block_in_order() {
    let mut offsets = Offsets::new(&spec(Rw::Write, 4096, 10 * 4096 + 17), 0, 3).from_start();
    let seen: Vec<u64> = (0..11).map(|_| offsets.draw().1 / 4096).collect();
    assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
}

#[test]
fn random_offsets_cover_the_places_of_each_size_evenly() {
    let spec =
        TrialSpec { block_sizes: "4k:1,16k:1".parse().unwrap(), ..spec(Rw::RandRead, 16_384, 64 * 4096) };
    let mut offsets = Offsets::new(&spec, 0, 11);
    let mut counts: HashMap<(u64, u32), u32> = HashMap::new();
    (0..125_000).for_each(|_| {
        let (_, at_bytes, length_bytes) = offsets.draw();
        *counts.entry((at_bytes / 4096, length_bytes)).or_default() += 1;
    });
    // 64 places for the small and 61 for the large, each about 1,000 times; 5 standard deviations of 32.
    assert_eq!(counts.len(), 64 + 61);
    assert!(counts.values().all(|n| (815..1185).contains(n)), "{counts:?}");
}

#[test]
fn a_misaligned_start_moves_all_requests() {
    let spec = TrialSpec { offset_bytes: 512, ..spec(Rw::RandRead, 4096, 1 << 20) };
    let mut offsets = Offsets::new(&spec, 0, 1);
    assert!((0..1000).all(|_| offsets.draw().1 % 4096 == 512));
}

/// How often each block is drawn by one job, the most popular first.
fn popular(spec: &TrialSpec, job: u32, seed: u64) -> Vec<(u64, u32)> {
    let mut offsets = Offsets::new(spec, job, job_seed(seed, u64::from(job)));
    let mut counts: HashMap<u64, u32> = HashMap::new();
    (0..100_000).for_each(|_| *counts.entry(offsets.draw().1 / 4096).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|&(block, n)| (std::cmp::Reverse(n), block));
    counts
}

#[test]
fn popular_blocks_are_scattered_and_the_same_for_all_jobs() {
    let blocks = 1u64 << 20;
    for distribution in ["zipf:1.2", "pareto:0.1"] {
        let distribution = distribution.parse().unwrap();
        let spec = TrialSpec { distribution, jobs: 4, ..spec(Rw::RandRead, 4096, blocks * 4096) };
        let top = |job, seed| popular(&spec, job, seed)[..10].iter().map(|one| one.0).collect::<Vec<_>>();
        let first = top(0, 5);
        assert_eq!(first[0], top(3, 5)[0]);
        assert_ne!(first[0], top(0, 6)[0], "another trial has other popular blocks");
        let mut sorted = first;
        sorted.sort_unstable();
        // Ten random blocks of a million lie a hundred thousand apart; within 50 of each other once in 1,000
        // trials.
        assert!(sorted.windows(2).all(|two| two[1] - two[0] > 50), "{sorted:?}");
    }
}

#[test]
fn jobs_do_not_draw_the_same_offsets() {
    let spec = TrialSpec { jobs: 2, ..spec(Rw::RandRead, 4096, 1 << 40) };
    let draw = |job| {
        let mut offsets = Offsets::new(&spec, job, job_seed(1, u64::from(job)));
        (0..1000).map(|_| offsets.draw().1).collect::<Vec<_>>()
    };
    assert!(draw(0).iter().zip(draw(1)).all(|(one, other)| *one != other));
}

#[test]
fn sequential_jobs_begin_at_equal_distances() {
    let spec = TrialSpec { jobs: 4, ..spec(Rw::Read, 4096, 1 << 30) };
    for seed in 0..20 {
        let first = |job| Offsets::new(&spec, job, job_seed(seed, u64::from(job))).draw().1;
        let distances: Vec<u64> = (1..4).map(|job| (first(job) + (1 << 30) - first(0)) % (1 << 30)).collect();
        assert_eq!(distances, [1 << 28, 2 << 28, 3 << 28]);
    }
}
