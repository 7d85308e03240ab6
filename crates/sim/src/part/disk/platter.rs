//! The geometry of a disk: where addresses lie, how long the arm and the platter take to bring one to the
//! head.

/// One surface with continuous tracks. Positions are counted in turns from the outer edge: the whole part is
/// the track, the fraction the angle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Platter {
    /// One turn.
    pub(super) turn_ns: f64,
    /// Bytes a second at the outer edge.
    pub(super) outer: f64,
    /// Bytes a second at the inner edge.
    pub(super) inner: f64,
    capacity_bytes: f64,
    /// Turns from the outer edge to the inner one.
    tracks: f64,
    seek_track_ns: f64,
    /// Seek time per sqrt(d), where d is the distance as a share of the full stroke.
    seek_root_ns: f64,
}

impl Platter {
    /// `seek_average_ns` is the mean over random pairs of addresses.
    pub(super) fn new(
        capacity_bytes: u64,
        turn_ns: f64,
        outer: f64,
        inner: f64,
        seek_track_ns: f64,
        seek_average_ns: f64,
    ) -> Self {
        let capacity_bytes = capacity_bytes as f64;
        let mean_track_bytes = (outer + inner) / 2.0 * turn_ns / 1e9;
        let tracks = capacity_bytes / mean_track_bytes;
        let mut platter =
            Self { turn_ns, outer, inner, capacity_bytes, tracks, seek_track_ns, seek_root_ns: 0.0 };
        platter.seek_root_ns = (seek_average_ns - seek_track_ns) / platter.mean_root_distance();
        platter
    }

    /// The share of the stroke at which an address lies: the root of the quadratic in the law.
    fn stroke(&self, offset_bytes: f64) -> f64 {
        let share = offset_bytes / self.capacity_bytes;
        let fall = self.outer - self.inner;
        // (outer - sqrt(outer^2 - 2 fall mean share)) / fall, in the form that also holds for fall = 0.
        let product = (self.outer + self.inner) * share;
        product / (self.outer + (self.outer * self.outer - fall * product).max(0.0).sqrt())
    }

    /// Position of an address, in turns from the outer edge.
    pub(super) fn turns(&self, offset_bytes: u64) -> f64 {
        self.stroke(offset_bytes as f64) * self.tracks
    }

    /// The mean of sqrt(d) over random pairs of addresses: 8/15 when all tracks are equally long.
    fn mean_root_distance(&self) -> f64 {
        // 400 x 400 midpoints: off by less than 0.01 %.
        const STEPS: usize = 400;
        let places: Vec<f64> =
            (0..STEPS).map(|i| self.stroke((i as f64 + 0.5) / STEPS as f64 * self.capacity_bytes)).collect();
        let sum: f64 = places.iter().flat_map(|x| places.iter().map(move |y| (x - y).abs().sqrt())).sum();
        sum / (STEPS * STEPS) as f64
    }

    /// The time until the head, standing at `from`, is over `to`, both in turns: seek, then wait for the
    /// angle.
    pub(super) fn positioning_ns(&self, now_ns: f64, from: f64, to: f64) -> f64 {
        let distance = (to.floor() - from.floor()).abs() / self.tracks;
        let seek_ns =
            if distance == 0.0 { 0.0 } else { self.seek_track_ns + self.seek_root_ns * distance.sqrt() };
        let angle = ((now_ns + seek_ns) / self.turn_ns).fract();
        let ahead = (to.fract() - angle).rem_euclid(1.0);
        // A millionth of a turn short of a whole one is no wait but rounding: the head is just there.
        let ahead = if ahead > 1.0 - 1e-6 { 0.0 } else { ahead };
        seek_ns + ahead * self.turn_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platter(outer: f64, inner: f64) -> Platter {
        // 7,200 rpm.
        Platter::new(1_000_000_000_000, 60e9 / 7200.0, outer, inner, 0.6e6, 8.5e6)
    }

    #[test]
    fn a_track_passes_in_a_turn_everywhere() {
        let disk = platter(210e6, 105e6);
        // One turn at 210 MB/s is 1.75 MB, at the inner edge half of it.
        assert!((disk.turns(1_750_000) - 1.0).abs() < 1e-5, "{}", disk.turns(1_750_000));
        let last = disk.turns(1_000_000_000_000) - disk.turns(1_000_000_000_000 - 875_000);
        assert!((last - 1.0).abs() < 1e-4, "{last}");
    }

    #[test]
    fn equal_tracks_have_the_textbooks_mean_root() {
        assert!((platter(150e6, 150e6).mean_root_distance() / (8.0 / 15.0) - 1.0).abs() < 2e-4);
    }

    #[test]
    fn the_head_waits_for_the_angle() {
        let disk = platter(150e6, 150e6);
        let turn_ns = 60e9 / 7200.0;
        // On the same track, a quarter of a turn ahead; just missed.
        assert!((disk.positioning_ns(0.0, 5.0, 5.25) - turn_ns / 4.0).abs() < 1.0);
        assert!((disk.positioning_ns(turn_ns / 2.0, 5.5, 5.25) - turn_ns * 0.75).abs() < 1.0);
        assert_eq!(disk.positioning_ns(3.0 * turn_ns, 5.0, 5.0), 0.0);
    }
}
