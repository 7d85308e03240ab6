//! Counters of a disk from IOKit's registry of devices. What they mean is read in `apple::disk_statistics`.

use std::{
    ffi::{CString, c_char, c_void},
    ptr,
};

use crate::platform::{apple::disk_statistics, moved::Moved};

/// A reference to an object of Core Foundation.
type CfType = *const c_void;

/// `kCFStringEncodingUTF8` and `kCFPropertyListXMLFormat_v1_0` (Core Foundation's headers).
const UTF_8: u32 = 0x0800_0100;
const XML: isize = 100;
/// `kIORegistryIterateRecursively | kIORegistryIterateParents`: the driver is above its disk.
const ALL_PARENTS: u32 = 1 | 2;

#[link(name = "CoreFoundation", kind = "framework")]
unsafe extern "C" {
    fn CFStringCreateWithCString(allocator: CfType, text: *const c_char, encoding: u32) -> CfType;
    fn CFPropertyListCreateData(
        allocator: CfType,
        list: CfType,
        format: isize,
        options: usize,
        error: *mut CfType,
    ) -> CfType;
    fn CFDataGetBytePtr(data: CfType) -> *const u8;
    fn CFDataGetLength(data: CfType) -> isize;
    fn CFRelease(object: CfType);
}

#[link(name = "IOKit", kind = "framework")]
unsafe extern "C" {
    fn IOBSDNameMatching(port: u32, options: u32, name: *const c_char) -> CfType;
    /// Takes the reference to `matching`.
    fn IOServiceGetMatchingService(port: u32, matching: CfType) -> u32;
    fn IORegistryEntrySearchCFProperty(
        entry: u32,
        plane: *const c_char,
        key: CfType,
        allocator: CfType,
        options: u32,
    ) -> CfType;
    fn IOObjectRelease(object: u32) -> i32;
}

/// An object of Core Foundation that is released with this.
#[derive(Debug)]
struct Owned(CfType);

impl Owned {
    fn some(object: CfType) -> Option<Self> {
        (!object.is_null()).then_some(Self(object))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: one reference is ours, and the object is not null.
        unsafe { CFRelease(self.0) };
    }
}

/// A disk in the registry, found once.
#[derive(Debug)]
pub(super) struct Disk {
    service: u32,
    key: Owned,
}

// SAFETY: a service is a number of the kernel's, and an immutable string may be used from any thread.
unsafe impl Send for Disk {}

impl Disk {
    /// Finds a disk by its name: `disk0`.
    pub(super) fn find(name: &str) -> Option<Self> {
        let name = CString::new(name).ok()?;
        // SAFETY: both texts end with a zero. The search takes the reference to the dictionary; a service of 0 is none.
        unsafe {
            let key = Owned::some(CFStringCreateWithCString(ptr::null(), c"Statistics".as_ptr(), UTF_8))?;
            let matching = IOBSDNameMatching(0, 0, name.as_ptr());
            if matching.is_null() {
                return None;
            }
            let service = IOServiceGetMatchingService(0, matching);
            (service != 0).then_some(Self { service, key })
        }
    }

    /// Bytes that its driver has moved.
    pub(super) fn moved(&self) -> Option<Moved> {
        // SAFETY: the service and the key are ours; what is returned is released here. The bytes are those of the data,
        // as many as it says, and are copied before it goes.
        let answer = unsafe {
            let plane = c"IOService".as_ptr();
            let found =
                IORegistryEntrySearchCFProperty(self.service, plane, self.key.0, ptr::null(), ALL_PARENTS);
            let found = Owned::some(found)?;
            let data = CFPropertyListCreateData(ptr::null(), found.0, XML, 0, ptr::null_mut());
            let data = Owned::some(data)?;
            let length = usize::try_from(CFDataGetLength(data.0)).ok()?;
            std::slice::from_raw_parts(CFDataGetBytePtr(data.0), length).to_vec()
        };
        disk_statistics::moved(&String::from_utf8(answer).ok()?)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // SAFETY: one reference is ours.
        unsafe { IOObjectRelease(self.service) };
    }
}
