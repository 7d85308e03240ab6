//! Words of the time that a run still takes.

use iosonde_model::units;
use iosonde_plan::schedule::TimeLeft;

/// Below this a range counts in seconds, and in minutes from there on.
const SECONDS_BELOW_S: f64 = 100.0;

/// The time until a run ends: `40 s`, `30 to 55 s`, `2 to 5 min`, `up to 3 min`. Ends of a range are rounded outwards.
pub fn time_left(left: TimeLeft) -> String {
    if left.is_one_number() {
        return units::duration(left.likely_s);
    }
    let (unit_s, unit, step) =
        if left.most_s < SECONDS_BELOW_S { (1.0, "s", 5.0) } else { (60.0, "min", 1.0) };
    let (least, most) = (left.least_s / unit_s / step, left.most_s / unit_s / step);
    match ((least + 0.1).floor() * step, (most - 0.1).ceil() * step) {
        (0.0, most) => format!("up to {most:.0} {unit}"),
        (least, most) => format!("{least:.0} to {most:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_one_number_and_what_is_not_a_range() {
        let said = |least_s, likely_s, most_s| time_left(TimeLeft { least_s, likely_s, most_s });
        assert_eq!(time_left(TimeLeft::known(80.0)), "1 min 20 s");
        assert_eq!(said(90.0, 100.0, 110.0), "1 min 40 s");
        assert_eq!(said(31.0, 40.0, 54.0), "30 to 55 s");
        assert_eq!(said(3.0, 8.0, 14.0), "up to 15 s");
        assert_eq!(said(125.0, 200.0, 290.0), "2 to 5 min");
        assert_eq!(said(20.0, 90.0, 190.0), "up to 4 min");
    }
}
