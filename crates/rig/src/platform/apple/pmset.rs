//! The answers of `pmset`: on battery, saving power, slowed by heat.

/// Whether the machine draws from its battery (`pmset -g batt`).
pub(in crate::platform) fn on_battery(answer: &str) -> Option<bool> {
    let (_, source) = answer.lines().find_map(|line| line.split_once("drawing from '"))?;
    match source.trim_end().trim_end_matches('\'') {
        "Battery Power" | "UPS Power" => Some(true),
        "AC Power" => Some(false),
        _ => None,
    }
}

/// Settings that save power, and limits by heat, in words; and whether one of them costs speed. From `pmset -g` and
/// `pmset -g therm`.
pub(in crate::platform) fn settings(general: &str, heat: &str) -> (Option<String>, Option<bool>) {
    let number = |answer: &str, name: &str| -> Option<u32> {
        let line = answer.lines().find(|line| line.split_whitespace().next() == Some(name))?;
        line.split_whitespace().last()?.parse().ok()
    };
    // Apple names it `powermode` where there is a third one, for more speed: 0, 1 low, 2 high.
    let mode = number(general, "lowpowermode").or_else(|| number(general, "powermode"));
    let speed = number(heat, "CPU_Speed_Limit");
    let mode_word = mode.map(|mode| match mode {
        0 => "power mode automatic",
        1 => "power mode low",
        _ => "power mode high",
    });
    let heat_word =
        speed.filter(|&percent| percent < 100).map(|percent| format!("processor at {percent} % by heat"));
    let words: Vec<String> = mode_word.map(str::to_owned).into_iter().chain(heat_word).collect();
    let slow = [mode.map(|mode| mode == 1), speed.map(|percent| percent < 100)];
    let costs = slow.into_iter().flatten().reduce(|one, other| one || other);
    ((!words.is_empty()).then(|| words.join(", ")), costs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BATTERY: &str = "Now drawing from 'Battery Power'\n -InternalBattery-0 (id=4653155)\t87%; discharging; 5:12 \
        remaining present: true\n";
    const GENERAL: &str = "System-wide power settings:\nCurrently in use:\n standby              1\n Sleep On Power \
        Button 1\n lowpowermode         0\n disksleep            10\n";
    const COOL: &str = "Note: No thermal warning level has been recorded\nNote: No performance warning level has been \
        recorded\n";
    const HOT: &str = "2026-11-20 10:11:12 +0100 CPU Power notify\n\tCPU_Scheduler_Limit \t= 100\n\
        \tCPU_Available_CPUs \t= 8\n\tCPU_Speed_Limit \t= 62\n";

    #[test]
    fn the_source_of_power() {
        assert_eq!(on_battery(BATTERY), Some(true));
        assert_eq!(on_battery("Now drawing from 'AC Power'\n"), Some(false));
        assert_eq!(on_battery(""), None);
    }

    #[test]
    fn what_saves_power_or_is_hot_costs_speed() {
        assert_eq!(settings(GENERAL, COOL), (Some("power mode automatic".into()), Some(false)));
        let low = GENERAL.replace("lowpowermode         0", "lowpowermode         1");
        assert_eq!(settings(&low, COOL), (Some("power mode low".into()), Some(true)));
        let hot = (Some("power mode automatic, processor at 62 % by heat".into()), Some(true));
        assert_eq!(settings(GENERAL, HOT), hot);
        let newer = GENERAL.replace("lowpowermode ", "powermode ");
        assert_eq!(settings(&newer, "").1, Some(false));
        assert_eq!(settings("", ""), (None, None), "nothing is guessed");
    }
}
