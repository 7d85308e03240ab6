//! A line for the kernel's `io.cost.model` (cgroup v2): the linear model of what requests cost on a device.
//!
//! `rbps` and `wbps` are bytes per second of sequential requests of 128 KiB and more, `rseqiops`, `rrandiops`,
//! `wseqiops` and `wrandiops` requests per second of 4 KiB (Documentation/admin-guide/cgroup-v2.rst), as
//! `tools/cgroup/iocost_coef_gen.py` of the kernel measures them with fio. The number of the device is looked up on
//! this machine; a device that is not here is refused, and so is a run without one of the figures. Figures of a file
//! hold for the whole device only where file system and layers between cost little.
//!
//! To use it: write the line to `/sys/fs/cgroup/io.cost.model`.

use iosonde_model::{Named, Run, Rw};

use super::{
    ExportFormat,
    capacity::{Kind, highest},
};

/// The registered format.
pub struct IoCostModel;

impl Named for IoCostModel {
    fn name(&self) -> &'static str {
        "io-cost-model"
    }
}

/// The parameters, in the kernel's order.
const KEYS: [(&str, Kind); 6] = [
    ("rbps", Kind { rw: Rw::Read, small: false }),
    ("rseqiops", Kind { rw: Rw::Read, small: true }),
    ("rrandiops", Kind { rw: Rw::RandRead, small: true }),
    ("wbps", Kind { rw: Rw::Write, small: false }),
    ("wseqiops", Kind { rw: Rw::Write, small: true }),
    ("wrandiops", Kind { rw: Rw::RandWrite, small: true }),
];

impl ExportFormat for IoCostModel {
    fn extension(&self) -> &'static str {
        "io.cost.model"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        let figures: Result<Vec<String>, String> =
            KEYS.iter().map(|(key, kind)| Ok(format!("{key}={:.0}", highest(run, *kind)?.value))).collect();
        Ok(line(&number(run)?, &figures?))
    }
}

fn line(device: &str, figures: &[String]) -> String {
    format!("{device} ctrl=user model=linear {}\n", figures.join(" "))
}

/// `259:0`: the kernel's number of the whole device that was measured.
fn number(run: &Run) -> Result<String, String> {
    let name = run.info.device.chain.last().ok_or_else(|| {
        format!(
            "the block device below {} is not known; the kernel's model is one of a device",
            run.info.target
        )
    })?;
    let path = format!("/sys/class/block/{name}/dev");
    let number = std::fs::read_to_string(&path).map_err(|error| {
        format!("{path} cannot be read ({error}): write this on the machine that has the device {name}")
    })?;
    Ok(number.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::capacity::tests::measured;

    #[test]
    fn the_line_is_in_the_kernels_form() {
        let run = measured();
        let figures: Vec<String> = KEYS
            .iter()
            .map(|(key, kind)| format!("{key}={:.0}", highest(&run, *kind).unwrap().value))
            .collect();
        assert_eq!(
            line("259:0", &figures),
            "259:0 ctrl=user model=linear rbps=1000000000 rseqiops=100002 rrandiops=100003 wbps=1000000001 \
             wseqiops=100004 wrandiops=100005\n"
        );
    }

    #[test]
    fn a_device_that_is_not_here_is_refused() {
        let mut run = measured();
        run.info.device.chain.clear();
        assert!(IoCostModel.write(&run).unwrap_err().contains("is not known"));
        run.info.device.chain = vec!["nosuchdevice7".to_owned()];
        assert!(
            IoCostModel.write(&run).unwrap_err().contains("on the machine that has the device nosuchdevice7")
        );
    }
}
