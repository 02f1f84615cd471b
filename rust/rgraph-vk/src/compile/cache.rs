//! The file that keeps compiled pipelines between processes. Whatever is in it was written by this device's driver, or
//! it is ignored: drivers are known to crash on foreign bytes.

use std::path::PathBuf;

use ash::vk;
use xxhash_rust::xxh3::xxh3_64;

use rgraph_files::disk::{self, Allowed, Fault};

const MAGIC: &[u8; 8] = b"rgraphp1";

/// Who wrote a cache.
#[derive(Clone, Debug)]
pub(crate) struct CacheFile {
    path: PathBuf,
    device: [u8; 28],
}

impl CacheFile {
    /// The cache of a device at a path.
    pub(crate) fn new(path: PathBuf, properties: &vk::PhysicalDeviceProperties) -> Self {
        let mut device = [0; 28];
        device[..4].copy_from_slice(&properties.vendor_id.to_le_bytes());
        device[4..8].copy_from_slice(&properties.device_id.to_le_bytes());
        device[8..12].copy_from_slice(&properties.driver_version.to_le_bytes());
        device[12..].copy_from_slice(&properties.pipeline_cache_uuid);
        Self { path, device }
    }

    /// What the driver wrote last time, or nothing, with a note in the log where the file is of no use.
    pub(crate) fn read(&self) -> Vec<u8> {
        match self.try_read() {
            Ok(data) => data,
            Err(why) => {
                log::warn!(target: "rgraph", "pipeline cache {} is ignored: {why}", self.path.display());
                Vec::new()
            }
        }
    }

    fn try_read(&self) -> Result<Vec<u8>, String> {
        let file = match disk::read(&self.path, Allowed::Files) {
            Ok(file) => file,
            Err(Fault::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(fault) => return Err(format!("it {fault}")),
        };
        let rest = file.strip_prefix(MAGIC).ok_or("it is no cache of this version")?;
        let (device, rest) = rest.split_at_checked(self.device.len()).ok_or("it is cut short")?;
        if device != self.device {
            return Err("it is of another device or driver".to_owned());
        }
        let (sum, data) = rest.split_at_checked(8).ok_or("it is cut short")?;
        if sum != xxh3_64(data).to_le_bytes() {
            return Err("it is damaged".to_owned());
        }
        Ok(data.to_vec())
    }

    /// Writes a temporary file in the same folder, then renames it: the cache is never incomplete.
    pub(crate) fn write(&self, data: &[u8]) {
        let mut file = Vec::with_capacity(data.len() + 64);
        file.extend_from_slice(MAGIC);
        file.extend_from_slice(&self.device);
        file.extend_from_slice(&xxh3_64(data).to_le_bytes());
        file.extend_from_slice(data);
        if let Err(fault) = disk::replace(&self.path, &file) {
            log::warn!(target: "rgraph", "pipeline cache {} was not written: it {fault}", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_and_foreign_files_are_ignored() {
        let folder = std::env::temp_dir().join(format!("rgraph-cache-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("cache");
        let file = CacheFile::new(path.clone(), &vk::PhysicalDeviceProperties::default());
        assert!(file.read().is_empty());
        file.write(b"pipelines");
        assert_eq!(file.read(), b"pipelines");
        let foreign = vk::PhysicalDeviceProperties { vendor_id: 1, ..Default::default() };
        assert!(CacheFile::new(path.clone(), &foreign).read().is_empty());
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(file.read().is_empty(), "cut to {length} bytes");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert!(file.read().is_empty(), "byte {at} changed");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
