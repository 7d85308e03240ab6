//! Parameters of a fitted device, by section and key of a device's file.

use crate::Unit;

super::declare::names! {
    /// Parameter of a fitted device.
    TraitKey "parameter of a device" {
        HostRequestCost "host.request_cost",
        LinkLatency "link.latency",
        LinkRead "link.bandwidth.read",
        LinkWrite "link.bandwidth.write",
        FlashUnits "flash.units",
        FlashRead "flash.read",
        FlashPage "flash.page",
        FlashStripe "flash.stripe",
        FlashMappingUnit "flash.mapping_unit",
        FlashProgram "flash.program",
        BufferSize "flash.write_buffer.size",
        BufferLatency "flash.write_buffer.latency",
        BufferDrain "flash.write_buffer.drain",
        BufferFlush "flash.write_buffer.flush",
        QueueServers "queue.servers",
        QueueService "queue.service.fixed",
        DiskRpm "disk.rpm",
        DiskOuter "disk.outer",
        DiskInner "disk.inner",
        DiskSeekTrack "disk.seek.track",
        DiskSeekAverage "disk.seek.average",
        DiskCache "disk.cache",
        DiskWriteCache "disk.write_cache",
        DiskQueueSlots "disk.queue.slots",
    }
}

impl TraitKey {
    /// Unit of the value; none for a number.
    pub const fn unit(self) -> Unit {
        match self {
            Self::HostRequestCost
            | Self::LinkLatency
            | Self::FlashRead
            | Self::FlashProgram
            | Self::BufferLatency
            | Self::BufferFlush
            | Self::QueueService
            | Self::DiskSeekTrack
            | Self::DiskSeekAverage => Unit::Time,
            Self::LinkRead | Self::LinkWrite | Self::BufferDrain | Self::DiskOuter | Self::DiskInner => {
                Unit::Rate
            }
            Self::FlashPage
            | Self::FlashStripe
            | Self::FlashMappingUnit
            | Self::BufferSize
            | Self::DiskCache
            | Self::DiskWriteCache => Unit::Bytes,
            Self::FlashUnits | Self::QueueServers | Self::DiskRpm | Self::DiskQueueSlots => Unit::None,
        }
    }
}
