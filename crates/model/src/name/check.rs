//! Names of the checks, in the order in which they judge.

super::declare::names! {
    /// Name of a check: a rule over a trial, a point or a run.
    CheckName "check" {
        Errors "errors",
        Corrupted "corrupted",
        Units "units",
        CacheServed "cache-served",
        DirectIgnored "direct-ignored",
        Unmapped "unmapped",
        WriteBack "write-back",
        EarlyFlush "early-flush",
        AboveTheLimit "above-the-limit",
        Clock "clock",
        HostsApart "hosts-apart",
        Compressible "compressible",
        DepthNotReached "depth-not-reached",
        LittlesLaw "littles-law",
        GeneratorBound "generator-bound",
        Saturated "saturated",
        TooFewSamples "too-few-samples",
        MissedRate "missed-rate",
        Outliers "outliers" formerly "set-aside",
        NotSteady "not-steady",
        Drift "drift",
        Interference "interference",
        Throttled "throttled",
        Multimodal "multimodal",
        WorkingSet "working-set",
        OddHost "odd-host",
        HostSlowed "host-slowed",
    }
}
