//! Words of what an experiment lacks.

use iosonde_model::detail::Lack;

/// A clause without its full stop.
pub(super) fn words(lack: Lack) -> String {
    let needed = match lack {
        Lack::Spans => "the same requests within spans of different sizes",
        Lack::SequentialReads => "sequential reads at QD 1",
        Lack::LongWrites => "long writes and nothing else",
        Lack::LongLoad => "one long load in one direction",
        Lack::DurableWrites => "random writes of several sizes, each durable before the next",
        Lack::NarrowAndWide => {
            "random requests in a narrow part and random reads over a wider one (try `rw = \"randread\"`)"
        }
        Lack::SequentialAndWide => "small sequential reads and random reads over the whole span",
        Lack::Zones => "large sequential reads in two places or more",
        Lack::Strides => "the same requests at two strides or more",
        Lack::StridedReads => "reads in strides",
        Lack::Offsets => "the same requests at two offsets or more",
        Lack::OfferedLoads => "several offered loads with a latency limit",
        Lack::Records => "reads of training records",
        Lack::WholeFiles => "files that are written or read whole",
        Lack::Hosts => "reads or writes by several numbers of hosts",
        Lack::Workers => "several workers, and one worker with the same total queue depth",
    };
    format!("the experiment needs {needed}")
}
