//! Heat: a device that works for long slows down until it has cooled.
//!
//! Law: heat grows by t / `after` in a time t in which at least one request is inside the device, and falls
//! by t / `recover` in an idle one, between 0 and 1. When it reaches 1 the device is hot and its rate is
//! multiplied by
//! `factor`; it stays so until heat is 0 again. (A hysteresis as drives' thermal management has between its
//! two thresholds; NVMe base specification, host controlled thermal management.) So a device that is never
//! idle works at full rate for `after` and at `factor` from then on.
//!
//! ```toml
//! [thermal]
//! after = "60s at full rate"
//! factor = 0.5
//! recover = "30s"
//! ```

use iosonde_model::{
    FileError, Named,
    toml_file::from_text,
    units::{self, ParseQuantity, TimeNs},
};
use serde::{Deserialize, Deserializer};
use std::{str::FromStr, sync::Arc};

use crate::{
    flow::{Flow, Id},
    part::{Law, Load, Part, PartKind, PartPosition, Settings, Step},
    reader::Reader,
};

/// Reads `[thermal]`.
pub(crate) struct Thermal;

impl Named for Thermal {
    fn name(&self) -> &'static str {
        "thermal"
    }
}

impl PartKind for Thermal {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("thermal.after", "such as \"60s at full rate\""),
            ("thermal.factor", "the hot device's rate"),
            ("thermal.recover", "such as \"30s\""),
        ]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(thermal) = reader.section::<ThermalKeys>("thermal")? else { return Ok(None) };
        let (after_ns, recover_ns, factor) = (thermal.after.0, thermal.recover.0, thermal.factor);
        for (path, ns) in [("thermal.after", after_ns), ("thermal.recover", recover_ns)] {
            if ns == 0 {
                return Err(reader.impossible(path, "nothing heats or cools in no time"));
            }
        }
        if !(factor > 0.0 && factor <= 1.0) {
            let rule = "a hot device keeps a share of its rate, above 0 and at most 1";
            return Err(reader.impossible("thermal.factor", rule));
        }
        Ok(Some(Arc::new(ThermalSettings { after_ns, recover_ns, factor })))
    }
}

#[derive(Deserialize)]
struct ThermalKeys {
    after: WorkTimeNs,
    factor: f64,
    recover: TimeNs,
}

/// Nanoseconds of work: `"60s at full rate"`, or a time alone.
struct WorkTimeNs(u64);

impl FromStr for WorkTimeNs {
    type Err = ParseQuantity;
    fn from_str(text: &str) -> Result<Self, ParseQuantity> {
        let time = text.trim().strip_suffix("at full rate").unwrap_or(text);
        units::parse_time_with_unit(time).map(Self)
    }
}

impl<'de> Deserialize<'de> for WorkTimeNs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, "a time such as \"60s at full rate\"")
    }
}

#[derive(Debug, Clone, Copy)]
struct ThermalSettings {
    after_ns: u64,
    recover_ns: u64,
    factor: f64,
}

impl Settings for ThermalSettings {
    fn build(&self, _place: &PartPosition) -> Box<dyn Part> {
        Box::new(Body { settings: *self, heat: 0.0, hot: false, inside: 0, seen_ns: 0 })
    }

    fn scatters(&self) -> bool {
        true
    }

    fn wanders(&self) -> Option<&'static str> {
        Some("its rate depends on how long it has worked")
    }

    fn caveat(&self, _load: &Load, _law: Law) -> Option<String> {
        let after = units::duration(self.after_ns as f64 / 1e9);
        Some(format!("while cool; after {after} of work the medium's rate is multiplied by {}", self.factor))
    }
}

struct Body {
    settings: ThermalSettings,
    heat: f64,
    hot: bool,
    inside: u32,
    seen_ns: u64,
}

impl Body {
    fn pass_time(&mut self, now_ns: u64) {
        let passed_ns = (now_ns - self.seen_ns) as f64;
        self.seen_ns = now_ns;
        if self.inside > 0 {
            self.heat = (self.heat + passed_ns / self.settings.after_ns as f64).min(1.0);
            // A billionth: sums of rounded shares must still reach the whole.
            self.hot |= self.heat >= 1.0 - 1e-9;
        } else {
            self.heat = (self.heat - passed_ns / self.settings.recover_ns as f64).max(0.0);
            self.hot &= self.heat > 1e-9;
        }
    }
}

impl Part for Body {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        self.pass_time(now_ns);
        self.inside += 1;
        if self.hot {
            flow[id].stretch /= self.settings.factor;
        }
        Step::On(now_ns)
    }

    fn rises(&self) -> bool {
        true
    }

    fn up(&mut self, now_ns: u64, _id: Id, _flow: &mut Flow) -> Step {
        self.pass_time(now_ns);
        self.inside -= 1;
        Step::On(now_ns)
    }
}
