//! Status codes of completions.

/// The status of a completion: code in bits 7:0, its type in bits 10:8, do not retry in bit 14.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandStatus(pub u16);

impl CommandStatus {
    /// Successful completion.
    pub const SUCCESS: Self = Self(0x0000);
    /// The controller has no such command.
    pub const INVALID_OPCODE: Self = Self::final_of(0x0001);
    /// A field has a value that is reserved or unsupported.
    pub const INVALID_FIELD: Self = Self::final_of(0x0002);
    /// The command was aborted on request.
    pub const ABORTED: Self = Self(0x0007);
    /// There is no such namespace.
    pub const INVALID_NAMESPACE: Self = Self::final_of(0x000b);
    /// The command came at the wrong time.
    pub const SEQUENCE: Self = Self::final_of(0x000c);
    /// The length of the data is not that of the command.
    pub const DATA_LENGTH: Self = Self::final_of(0x000f);
    /// The descriptor of the data is of an unsupported type.
    pub const SGL_TYPE: Self = Self::final_of(0x0011);
    /// The data in the capsule is not where the descriptor says.
    pub const SGL_OFFSET: Self = Self::final_of(0x0016);
    /// A sanitize is going on.
    pub const SANITIZING: Self = Self(0x001d);
    /// The namespace takes no changes.
    pub const WRITE_PROTECTED: Self = Self::final_of(0x0020);
    /// The transport has changed the data.
    pub const TRANSPORT: Self = Self(0x0022);
    /// The command set of the namespace is not that of the command.
    pub const COMMAND_SET: Self = Self::final_of(0x0029);
    /// A block lies outside the namespace.
    pub const LBA_OUT_OF_RANGE: Self = Self::final_of(0x0080);
    /// No space is left for the data.
    pub const CAPACITY: Self = Self::final_of(0x0081);
    /// There are as many outstanding Asynchronous Event Requests as permitted.
    pub const EVENT_REQUESTS: Self = Self::final_of(0x0105);
    /// There is no such log page.
    pub const INVALID_LOG: Self = Self::final_of(0x0109);
    /// The namespace cannot have this format.
    pub const INVALID_FORMAT: Self = Self::final_of(0x010a);
    /// The feature cannot be saved.
    pub const NOT_SAVEABLE: Self = Self::final_of(0x010d);
    /// The feature cannot be changed.
    pub const NOT_CHANGEABLE: Self = Self::final_of(0x010e);
    /// No range of the drive is free that is long enough for the namespace.
    pub const NAMESPACE_CAPACITY: Self = Self::final_of(0x0115);
    /// There are as many namespaces as may be.
    pub const NAMESPACE_IDS: Self = Self::final_of(0x0116);
    /// The controller has the namespace already.
    pub const ALREADY_ATTACHED: Self = Self::final_of(0x0118);
    /// The controller does not have the namespace.
    pub const NOT_ATTACHED: Self = Self::final_of(0x011a);
    /// The size of a namespace must be its capacity.
    pub const THIN: Self = Self::final_of(0x011b);
    /// The list of controllers is empty, too long, out of order, or names one that there is not.
    pub const CONTROLLER_LIST: Self = Self::final_of(0x011c);
    /// A self-test is going on.
    pub const SELF_TEST: Self = Self::final_of(0x011d);
    /// Connect asks for a format of the fabric that is unknown.
    pub const CONNECT_FORMAT: Self = Self::final_of(0x0180);
    /// The controller is in use by another association, or there are too many.
    pub const CONTROLLER_BUSY: Self = Self(0x0181);
    /// A parameter of Connect is not valid.
    pub const CONNECT_PARAMETERS: Self = Self::final_of(0x0182);
    /// This host may not connect.
    pub const CONNECT_HOST: Self = Self::final_of(0x0184);
    /// The command has more ranges, or more blocks, than the namespace permits.
    pub const SIZE_LIMIT: Self = Self::final_of(0x0183);
    /// The blocks lie in two zones, or beyond the capacity of one.
    pub const ZONE_BOUNDARY: Self = Self::final_of(0x01b8);
    /// The zone is full.
    pub const ZONE_FULL: Self = Self::final_of(0x01b9);
    /// The zone takes no changes.
    pub const ZONE_READ_ONLY: Self = Self::final_of(0x01ba);
    /// The zone can no longer be used.
    pub const ZONE_OFFLINE: Self = Self::final_of(0x01bb);
    /// The write does not begin at the write pointer.
    pub const ZONE_INVALID_WRITE: Self = Self::final_of(0x01bc);
    /// As many zones are open or closed as may be.
    pub const TOO_MANY_ACTIVE_ZONES: Self = Self::final_of(0x01bd);
    /// As many zones are open as may be.
    pub const TOO_MANY_OPEN_ZONES: Self = Self::final_of(0x01be);
    /// The zone is in no state for the order.
    pub const ZONE_TRANSITION: Self = Self::final_of(0x01bf);
    /// The blocks could not be written.
    pub const WRITE_FAULT: Self = Self(0x0280);
    /// The blocks could not be read.
    pub const READ_ERROR: Self = Self(0x0281);
    /// The blocks have other data.
    pub const COMPARE_FAILURE: Self = Self::final_of(0x0285);

    /// A status that no repetition of the command changes.
    const fn final_of(code: u16) -> Self {
        Self(code | 1 << 14)
    }
}
