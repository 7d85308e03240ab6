//! Chance, and the noise that every device has.

/// Numbers from a seed (SplitMix64: Steele, Lea and Flood, 2014).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between 0 and 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Evenly.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// Evenly on a logarithmic scale.
    pub fn log(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// A power of two, each exponent as likely.
    pub fn power(&mut self, low: u32, high: u32) -> u64 {
        1 << (u64::from(low) + self.below(u64::from(high - low) + 1))
    }

    /// 0 .. bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Whether, with this chance.
    pub fn chance(&mut self, share: f64) -> bool {
        self.share() < share
    }
}

/// The noise of a device.
#[derive(Debug, Clone, Copy)]
pub struct Noise {
    /// Scatter of throughput over windows of 100 ms.
    pub rate_cv: f64,
    /// By how much the mean time of a request grows through rare slow ones.
    pub tail: f64,
    /// Share by which the rate changes in an hour.
    pub drift: f64,
    text: [f64; 2],
}

impl Noise {
    /// Single requests scatter by 1 to 10 %, rates over 100 ms by 0.3 to 6 %, with a correlation of 0.3 to 0.7 from
    /// one to the next; half of the devices have a tail of 1 request in 1,000 that takes 3 to 10 times as long; they
    /// drift by up to 10 % an hour.
    pub fn draw(dice: &mut Dice) -> Self {
        let rate_cv = dice.log(0.003, 0.06);
        let tail = if dice.chance(0.5) { 0.001 * (dice.log(3.0, 10.0) - 1.0) } else { 0.0 };
        Self {
            rate_cv,
            tail,
            drift: dice.between(-0.1, 0.1),
            text: [dice.log(0.01, 0.1), dice.between(0.3, 0.7)],
        }
    }

    /// As a section of a device's file.
    pub fn section(&self) -> String {
        let [cv, lag] = self.text;
        let tail = match self.tail {
            0.0 => String::new(),
            tail => format!("tail = {{ share = \"0.1%\", factor = {:.3} }}\n", 1.0 + tail * 1000.0),
        };
        format!(
            "[noise]\nlatency_cv = {cv:.4}\nrate_cv_100ms = {:.4}\nlag1_100ms = {lag:.3}\n{tail}drift_per_hour = \
             \"{:.2}%\"\n",
            self.rate_cv,
            self.drift * 100.0
        )
    }

    /// Whether a finding may not blame the noise: at most 3 % over 100 ms.
    pub fn is_quiet(&self) -> bool {
        self.rate_cv <= 0.03
    }
}
