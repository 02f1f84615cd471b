//! Commands that cannot fail and make nothing: the table only counts them.

#![allow(non_snake_case, reason = "functions have their Vulkan names")]

use std::ffi::{CStr, c_void};
use std::mem::transmute;

use ash::vk;

use super::calls::{Call, Function, calls};
use super::state;

/// `name(arguments);` counts the call and passes it on.
macro_rules! counted {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => {
        $(
            unsafe extern "system" fn $name($($arg: $type),*) {
                *state().counts.entry(counted::$name.name()).or_default() += 1;
                // SAFETY: the loader gave this pointer for this name, whose type ash and the registry agree on.
                let real: unsafe extern "system" fn($($type),*) = unsafe { transmute::<*mut c_void, _>(counted::$name.real()) };
                // SAFETY: the caller's arguments are passed on as they are.
                unsafe { real($($arg),*) }
            }
        )*
        calls! { counted; $($name [])* }
    };
}

counted! {
    vkCmdPipelineBarrier2(commands: vk::CommandBuffer, info: *const vk::DependencyInfo<'_>);
    vkCmdBindPipeline(commands: vk::CommandBuffer, point: vk::PipelineBindPoint, pipeline: vk::Pipeline);
    vkCmdWriteTimestamp(
        commands: vk::CommandBuffer, stage: vk::PipelineStageFlags, pool: vk::QueryPool, query: u32
    );
    vkCmdWriteTimestamp2(
        commands: vk::CommandBuffer, stage: vk::PipelineStageFlags2, pool: vk::QueryPool, query: u32
    );
    vkCmdResetQueryPool(commands: vk::CommandBuffer, pool: vk::QueryPool, first: u32, count: u32);
    vkResetQueryPool(device: vk::Device, pool: vk::QueryPool, first: u32, count: u32);
    vkCmdBeginQuery(commands: vk::CommandBuffer, pool: vk::QueryPool, query: u32, flags: vk::QueryControlFlags);
    vkCmdSetLineWidth(commands: vk::CommandBuffer, width: f32);
}
