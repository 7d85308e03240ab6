//! Under which circumstances something was measured that is no run.

use serde::{Deserialize, Serialize};

use crate::device::{Device, Host};

/// When, where and with which command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Circumstances {
    /// The command as it was typed.
    pub command: String,
    /// When it began: `2026-11-21T10:04:00Z`, of simulated devices in virtual time.
    pub started_at: String,
    /// The storage; `None` where the system does not describe it.
    pub device: Option<Device>,
    /// The machine.
    pub host: Host,
}
