//! Memory and semaphores that other devices, processes and APIs use, too: exported and imported as file descriptors
//! (`VK_KHR_external_memory_fd`, `VK_KHR_external_semaphore_fd`).
//!
//! Blocks of memory are shared, not resources: both sides place images and buffers at equal offsets of one block. A
//! resource in a block has one user at a time. [`DeviceResource::release`](crate::DeviceResource::release) leaves it to
//! another one, [`DeviceResource::acquire`](crate::DeviceResource::acquire) takes it back; in between, runs refuse it.
//! Images change hands in layout `general`, which every user knows.
//!
//! Drivers do not check descriptors: lavapipe imports a descriptor of SwiftShader and reads wrong bytes. So imports
//! compare the UUIDs of driver and device first.

pub(crate) mod binary;
pub(crate) mod block;
mod exported;
mod holder;
pub(crate) mod lent;
mod semaphore;
pub(crate) mod semaphore_fd;
pub(crate) mod spans;

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::fs::MetadataExt;

use ash::{khr, vk};

use crate::device::Shared;
use crate::device::physical::uuid_text;
use crate::error::{Code, DeviceError, Error};

pub use binary::BinarySemaphore;
pub use block::{SharedMemoryInfo, SharedPlace};
pub use exported::SharedMemory;
pub use lent::Holder;
pub(crate) use lent::{Lent, elsewhere, released};
pub use semaphore_fd::SemaphoreFd;

/// The one kind of handle that is shared: a descriptor that means something to drivers with the same UUIDs only.
pub(crate) const HANDLE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
/// The same of semaphores.
pub(crate) const SEMAPHORE_HANDLE: vk::ExternalSemaphoreHandleTypeFlags =
    vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;

/// The device and driver that made a descriptor: only they can import it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    /// UUID of the device, as of [`DeviceInfo::uuid`](crate::DeviceInfo).
    pub device: [u8; 16],
    /// UUID of the driver, as of [`DeviceInfo::driver_uuid`](crate::DeviceInfo).
    pub driver: [u8; 16],
}

impl Shared {
    /// The origin of this device's descriptors.
    pub(crate) fn origin(&self) -> Origin {
        Origin { device: self.info.uuid, driver: self.info.driver_uuid }
    }

    /// Refuses a descriptor of another device or driver.
    fn check_origin(&self, what: &str, origin: Origin) -> Result<(), Error> {
        let own = self.origin();
        let other = match (origin.driver == own.driver, origin.device == own.device) {
            (true, true) => return Ok(()),
            (false, _) => "driver",
            (true, false) => "device",
        };
        let message = format!("{what} was exported by another {other} than that of {}", self.info.name);
        let of = |origin: Origin| format!("device {}, driver {}", uuid_text(&origin.device), uuid_text(&origin.driver));
        let help = "import it on the same device with the same driver, or copy through the host";
        let error = DeviceError::new(Code::Foreign, message, help);
        Err(error.note(format!("exported by {}", of(origin))).note(format!("imported by {}", of(own))).into())
    }

    /// The functions that turn memory into descriptors.
    fn memory_fds(&self) -> Result<khr::external_memory_fd::Device, Error> {
        match self.enabled.memory_fd {
            true => Ok(khr::external_memory_fd::Device::new(self.context.raw(), &self.raw)),
            false => Err(self.cannot_share("memory", "VK_KHR_external_memory_fd")),
        }
    }

    fn cannot_share(&self, what: &str, lacks: &str) -> Error {
        let message = format!("{} cannot share {what}: it has no {lacks}", self.info.name);
        let help = if self.is_borrowed() {
            "open the device with rgraph, which enables the extension"
        } else {
            "copy through the host, or use another driver"
        };
        DeviceError::new(Code::Missing, message, help).into()
    }
}

/// A descriptor of one's own for the driver, and the file behind it.
fn duplicate(what: &str, fd: BorrowedFd<'_>) -> Result<OwnedFd, Error> {
    fd.try_clone_to_owned().map_err(|error| {
        let message = format!("descriptor {} for {what} cannot be used: {error}", fd.as_raw_fd());
        Error::input("?", message, "import a descriptor while it is open; the importer makes a copy")
    })
}

/// Closes the descriptor of an import that failed, a duplicate of `original`. By the specification it still belongs to
/// the application (`VkImportMemoryFdInfoKHR`: ownership is transferred by success). NVIDIA's driver (580.159 on Linux)
/// has closed it all the same, and another thread may have been given its number since: it is left alone unless it is
/// the same file still.
fn take_back(fd: RawFd, original: BorrowedFd<'_>) {
    let file = |fd: BorrowedFd<'_>| {
        let about = File::from(fd.try_clone_to_owned().ok()?).metadata().ok()?;
        Some((about.dev(), about.ino()))
    };
    // SAFETY: it is only duplicated, which fails if it is closed.
    let left = file(unsafe { BorrowedFd::borrow_raw(fd) });
    if left.is_some() && left == file(original) {
        // SAFETY: the driver left it to its caller, who uses it no more.
        drop(unsafe { OwnedFd::from_raw_fd(fd) });
    }
}

/// Refuses descriptors that cannot be exported objects. Drivers take them for memory and crash later.
fn check_file(what: &str, fd: OwnedFd, least: u64) -> Result<OwnedFd, Error> {
    let file = File::from(fd);
    let failed = |message: String, help: &str| Err(Error::input("?", message, help));
    let about = match file.metadata() {
        Ok(about) => about,
        Err(error) => return failed(format!("the descriptor for {what} cannot be examined: {error}"), "export again"),
    };
    let kind = about.file_type();
    let wrong = [
        (kind.is_dir(), "a directory"),
        (kind.is_fifo(), "a pipe"),
        (kind.is_socket(), "a socket"),
        (kind.is_block_device(), "a block device"),
    ];
    if let Some((_, wrong)) = wrong.into_iter().find(|(is, _)| *is) {
        return failed(format!("the descriptor for {what} is {wrong}"), "give the descriptor that export returned");
    }
    // A driver on the CPU exports files in memory, whose size shows; those of GPUs have none.
    if kind.is_file() && about.len() < least {
        let message = format!("the descriptor for {what} holds {} bytes, and {least} are expected", about.len());
        return failed(message, "import with the size that the exporter reports");
    }
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write, pipe};
    use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

    use super::take_back;

    #[test]
    fn a_descriptor_that_a_driver_refused_is_closed_once_whoever_closes_it() {
        let (mut reader, writer) = pipe().expect("pipes can be made");
        let left = writer.try_clone().expect("it is duplicated").into_raw_fd();
        take_back(left, writer.as_fd());
        drop(writer);
        assert_eq!(reader.read(&mut [0]).expect("it is read"), 0, "no writer is left");

        let (_reader, writer) = pipe().expect("pipes can be made");
        let (mut other, mut own) = pipe().expect("pipes can be made");
        let number = writer.try_clone().expect("it is duplicated").into_raw_fd();
        // SAFETY: what a driver does that closes what it refuses.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
        take_back(number, writer.as_fd());
        take_back(own.as_raw_fd(), writer.as_fd());
        own.write_all(&[7]).expect("a descriptor of somebody else is still open");
        let mut got = [0];
        other.read_exact(&mut got).expect("it is read");
        assert_eq!(got, [7]);
    }
}
