//! Random faults below a whole study: nothing panics, and what met a fault is in no finding. `bench/soak` does this for
//! 24 simulated hours.

#[path = "../../examples/soak/faulty.rs"]
#[allow(dead_code, reason = "the bench says more of each run")]
mod faulty;

const STUDY: &str = r#"
name = "short"
question = "?"
time = "20s"
[[experiment]]
kind = "queue-depth"
rw = ["randread", "randwrite"]
block_size = "4k"
depth = [1, 4, 16]
[[experiment]]
kind = "media"
rw = "read"
block_size = ["4k", "64k"]
"#;

#[test]
fn no_finding_rests_on_a_trial_that_met_a_fault() {
    let devices = ["hdd-7200", "cloud-volume", "container", "nfs", "usb-stick"];
    let (mut met, mut found) = (0, 0);
    for (seed, device) in (1..=15).zip(devices.iter().cycle()) {
        let tally = faulty::soak(device, STUDY, 20.0, seed);
        assert!(tally.wrong.is_empty(), "{device}, seed {seed}: {:?}", tally.wrong);
        (met, found) = (met + tally.met, found + tally.found);
    }
    // Neither was it that nothing went wrong, nor that nothing was said.
    assert!(met > 100 && found > 10, "{met} trials met a fault, {found} findings");
}
