//! The fit of closed-loop curves against curves whose knee is known.

use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

#[test]
fn explore() {
    for (name, curve) in [("k=2", 1), ("sharp", 3), ("units", 4)] {
        for (knee, cv, deep) in
            [(8.0, 0.03, 11), (8.0, 0.05, 8), (16.0, 0.08, 8), (30.0, 0.03, 8), (3.0, 0.05, 8)]
        {
            let mut cover = 0;
            let mut cover95 = 0;
            let mut refused = 0;
            let mut width = 0.0;
            let mut width95 = 0.0;
            let mut mean95 = 0.0;
            let mut meank = 0.0;
            let mut meankn = 0.0;
            for seed in 0..200 {
                let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                let k = [1.0, 2.0, 3.0, 1000.0, 1.0][curve];
                let se = cv / 6f64.sqrt();
                let law = Normal::new(0.0, se).unwrap();
                let points: Vec<_> = (0..deep)
                    .map(|i| {
                        let n = f64::from(1 << i);
                        let units = [1.0f64, 1.874, 3.256, 4.927, 6.282, 7.08, 7.511, 7.757];
                        Depth {
                            in_flight: n,
                            log_rate: (if curve == 4 {
                                units[i.min(7)].ln()
                            } else {
                                log_rate((80e-6f64).ln(), f64::ln(knee), k, n)
                            }) + law.sample(&mut rng),
                            standard_error: se,
                            degrees_of_freedom: 40.0,
                        }
                    })
                    .collect();
                if curve == 4 && (knee != 8.0 || deep > 8) {
                    refused += 1;
                    continue;
                }
                let Ok(fit) = fit(&points, 0.95) else {
                    refused += 1;
                    continue;
                };
                let e = fit.knee();
                cover += usize::from(e.low.unwrap() <= knee && knee <= e.high.unwrap());
                width += (e.high.unwrap() - e.low.unwrap()) / e.value;
                let e = fit.depth_for(0.95);
                let truth = if curve == 4 {
                    46.0
                } else {
                    reaches(0.95, f64::from(1 << (deep - 1)), k, f64::ln(knee)).ceil()
                };
                cover95 += usize::from(e.low.unwrap() <= truth && truth <= e.high.unwrap());
                mean95 += e.value;
                meank += fit.shapes[fit.best].k;
                meankn += fit.knee().value;
                width95 += (e.high.unwrap() - e.low.unwrap()) / e.value;
            }
            let n = 200 - refused;
            let share = |c: usize| c as f64 / n as f64;
            let w = n as f64;
            eprintln!(
                "{name} knee {knee} cv {cv} depths {deep}: refused {refused} cover {:.3} width {:.3}  95: {:.3} {:.2} mean {:.1} k {:.2} knee {:.2}",
                share(cover),
                width / w,
                share(cover95),
                width95 / w,
                mean95 / w,
                meank / w,
                meankn / w
            );
        }
    }
}
