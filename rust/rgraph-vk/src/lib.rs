//! Runs plans on Vulkan 1.3: an obedient executor that decides nothing.

pub mod work;
