//! Functions that fit a pattern: for each one that may fail a wrapper that asks [`enter`](super::enter) first, for each
//! that makes or gives back objects one that keeps the ledger. Errors are those that `vk.xml` of 1.3 lists for the
//! call.

#![allow(non_snake_case, reason = "functions have their Vulkan names")]

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, Ordering};

use ash::vk;

use super::enter;
use super::ledger::name;
use super::notes::{
    allocator, counted_to, emptied, freed, given_back, made, made_each, made_memory, stands_still, too_much,
};

type Alloc<'a> = *const vk::AllocationCallbacks<'a>;
/// A function whose own type was set aside.
pub type Function = unsafe extern "system" fn();

/// A function of the table.
pub struct Call {
    /// Its name, with the zero at the end.
    pub symbol: &'static CStr,
    /// The table's function.
    pub wrapper: Function,
    /// The loader's, once anybody asked for it.
    pub real: AtomicPtr<c_void>,
    /// Errors that it may give.
    pub may: &'static [vk::Result],
}

impl Call {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.symbol.to_str().unwrap_or_default()
    }

    /// A function nobody asked for yet.
    pub const fn new(symbol: &'static CStr, wrapper: Function, may: &'static [vk::Result]) -> Self {
        Self { symbol, wrapper, real: AtomicPtr::new(std::ptr::null_mut()), may }
    }

    /// The loader's function.
    pub fn real(&self) -> *mut c_void {
        let real = self.real.load(Ordering::Acquire);
        assert!(!real.is_null(), "{} was called and never asked for", self.name());
        real
    }
}

/// What became of a call.
#[derive(Clone, Copy)]
pub struct Outcome {
    /// What the caller gets.
    pub result: vk::Result,
    /// Whether the driver was asked.
    pub real: bool,
}

const NOBODY: vk::Instance = vk::Instance::null();
const HOST: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
const DEVICE: vk::Result = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
const LOST: vk::Result = vk::Result::ERROR_DEVICE_LOST;
const INIT: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;
const LAYER: vk::Result = vk::Result::ERROR_LAYER_NOT_PRESENT;
const EXTENSION: vk::Result = vk::Result::ERROR_EXTENSION_NOT_PRESENT;
const FEATURE: vk::Result = vk::Result::ERROR_FEATURE_NOT_PRESENT;
const DRIVER: vk::Result = vk::Result::ERROR_INCOMPATIBLE_DRIVER;
const MANY: vk::Result = vk::Result::ERROR_TOO_MANY_OBJECTS;
const MAP: vk::Result = vk::Result::ERROR_MEMORY_MAP_FAILED;
const FRAGMENTED: vk::Result = vk::Result::ERROR_FRAGMENTED_POOL;
const POOL: vk::Result = vk::Result::ERROR_OUT_OF_POOL_MEMORY;
const FORMAT: vk::Result = vk::Result::ERROR_FORMAT_NOT_SUPPORTED;

/// The module of functions' slots, and `ALL` of them.
macro_rules! calls {
    ($module:ident; $($name:ident [$($may:ident),*])*) => {
        #[allow(non_upper_case_globals, reason = "they are called as the functions are")]
        pub mod $module {
            use super::*;
            $(pub static $name: Call = Call::new(
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(symbol) => symbol,
                    Err(_) => unreachable!(),
                },
                // SAFETY: a function pointer is only called after it was given its own type again.
                unsafe { transmute::<*const (), Function>(super::$name as *const ()) },
                &[$(super::$may),*],
            );)*
            pub static ALL: &[&Call] = &[$(&$name),*];
        }
    };
}

pub(super) use calls;

/// `name(arguments) of first, may [errors], unless check => what the ledger notes;`
macro_rules! fallible {
    ($($name:ident($($arg:ident: $type:ty),*) of $of:expr, may [$($may:ident),*] $(, unless $check:ident($($checked:expr),*))?
        $(=> $note:ident($($noted:expr),*))?;)*) => {
        $(
            unsafe extern "system" fn $name($($arg: $type),*) -> vk::Result {
                $(allocator(slot::$name.name(), &$arg);)*
                let refused = enter(&slot::$name, name($of));
                // SAFETY: the caller's info structures are valid, as for the real call.
                $(let refused = refused.or_else(|| unsafe { $check($($checked),*) });)?
                let outcome = match refused {
                    Some(result) => Outcome { result, real: false },
                    None => {
                        // SAFETY: the loader gave this pointer for this name, whose type ash and the registry agree on.
                        let real: unsafe extern "system" fn($($type),*) -> vk::Result = unsafe { transmute(slot::$name.real()) };
                        // SAFETY: the caller's arguments are passed on as they are.
                        Outcome { result: unsafe { real($($arg),*) }, real: true }
                    }
                };
                // SAFETY: the out pointers are the caller's, filled by the real call if there was one.
                $(unsafe { $note(outcome, $($noted),*) };)?
                outcome.result
            }
        )*
        calls! { slot; $($name [$($may),*])* }
    };
}

/// `name(arguments) gives back object;`
macro_rules! destroys {
    ($($name:ident($owner:ident: $owner_type:ty, $($arg:ident: $type:ty),*) gives back $object:ident;)*) => {
        $(
            unsafe extern "system" fn $name($owner: $owner_type, $($arg: $type),*) {
                $(allocator(gone::$name.name(), &$arg);)*
                if given_back(&gone::$name, name($owner), name($object)) {
                    // SAFETY: the loader gave this pointer for this name, whose type ash and the registry agree on.
                    let real: unsafe extern "system" fn($owner_type, $($type),*) = unsafe { transmute(gone::$name.real()) };
                    // SAFETY: the caller's arguments are passed on as they are; the object is alive, says the ledger.
                    unsafe { real($owner, $($arg),*) }
                }
            }
        )*
        calls! { gone; $($name [])* }
    };
}

fallible! {
    vkCreateInstance(
        info: *const vk::InstanceCreateInfo<'_>, alloc: Alloc<'_>, instance: *mut vk::Instance
    ) of NOBODY, may [HOST, DEVICE, INIT, LAYER, EXTENSION, DRIVER] => made(instance);
    vkEnumeratePhysicalDevices(
        instance: vk::Instance, physical_device_count: *mut u32, physical_devices: *mut vk::PhysicalDevice
    ) of instance, may [HOST, DEVICE, INIT];
    vkGetPhysicalDeviceImageFormatProperties(
        physical_device: vk::PhysicalDevice, format: vk::Format, ty: vk::ImageType, tiling: vk::ImageTiling,
        usage: vk::ImageUsageFlags, flags: vk::ImageCreateFlags,
        image_format_properties: *mut vk::ImageFormatProperties
    ) of physical_device, may [HOST, DEVICE, FORMAT];
    vkCreateDevice(
        physical_device: vk::PhysicalDevice, info: *const vk::DeviceCreateInfo<'_>, alloc: Alloc<'_>,
        device: *mut vk::Device
    ) of physical_device, may [HOST, DEVICE, INIT, EXTENSION, FEATURE, MANY, LOST] => made(device);
    vkEnumerateInstanceExtensionProperties(
        layer_name: *const c_char, property_count: *mut u32, properties: *mut vk::ExtensionProperties
    ) of NOBODY, may [HOST, DEVICE, LAYER];
    vkEnumerateDeviceExtensionProperties(
        physical_device: vk::PhysicalDevice, layer_name: *const c_char, property_count: *mut u32,
        properties: *mut vk::ExtensionProperties
    ) of physical_device, may [HOST, DEVICE, LAYER];
    vkEnumerateInstanceLayerProperties(
        property_count: *mut u32, properties: *mut vk::LayerProperties
    ) of NOBODY, may [HOST, DEVICE];
    vkQueueSubmit(
        queue: vk::Queue, submit_count: u32, submits: *const vk::SubmitInfo<'_>, fence: vk::Fence
    ) of queue, may [HOST, DEVICE, LOST];
    vkQueueWaitIdle(queue: vk::Queue) of queue, may [HOST, DEVICE, LOST];
    vkDeviceWaitIdle(device: vk::Device) of device, may [HOST, DEVICE, LOST];
    vkAllocateMemory(
        device: vk::Device, info: *const vk::MemoryAllocateInfo<'_>, alloc: Alloc<'_>, memory: *mut vk::DeviceMemory
    ) of device, may [HOST, DEVICE, MANY], unless too_much((*info).allocation_size)
        => made_memory(memory, (*info).allocation_size);
    vkMapMemory(
        device: vk::Device, memory: vk::DeviceMemory, offset: vk::DeviceSize, size: vk::DeviceSize,
        flags: vk::MemoryMapFlags, data: *mut *mut c_void
    ) of device, may [HOST, DEVICE, MAP];
    vkFlushMappedMemoryRanges(
        device: vk::Device, memory_range_count: u32, memory_ranges: *const vk::MappedMemoryRange<'_>
    ) of device, may [HOST, DEVICE];
    vkInvalidateMappedMemoryRanges(
        device: vk::Device, memory_range_count: u32, memory_ranges: *const vk::MappedMemoryRange<'_>
    ) of device, may [HOST, DEVICE];
    vkBindBufferMemory(
        device: vk::Device, buffer: vk::Buffer, memory: vk::DeviceMemory, memory_offset: vk::DeviceSize
    ) of device, may [HOST, DEVICE];
    vkBindImageMemory(
        device: vk::Device, image: vk::Image, memory: vk::DeviceMemory, memory_offset: vk::DeviceSize
    ) of device, may [HOST, DEVICE];
    vkCreateFence(
        device: vk::Device, info: *const vk::FenceCreateInfo<'_>, alloc: Alloc<'_>, fence: *mut vk::Fence
    ) of device, may [HOST, DEVICE] => made(fence);
    vkResetFences(device: vk::Device, fence_count: u32, fences: *const vk::Fence) of device, may [DEVICE];
    vkGetFenceStatus(device: vk::Device, fence: vk::Fence) of device, may [HOST, DEVICE, LOST];
    vkWaitForFences(
        device: vk::Device, fence_count: u32, fences: *const vk::Fence, wait_all: vk::Bool32, timeout: u64
    ) of device, may [HOST, DEVICE, LOST];
    vkCreateSemaphore(
        device: vk::Device, info: *const vk::SemaphoreCreateInfo<'_>, alloc: Alloc<'_>, semaphore: *mut vk::Semaphore
    ) of device, may [HOST, DEVICE] => made(semaphore);
    vkCreateEvent(
        device: vk::Device, info: *const vk::EventCreateInfo<'_>, alloc: Alloc<'_>, event: *mut vk::Event
    ) of device, may [HOST, DEVICE] => made(event);
    vkGetEventStatus(device: vk::Device, event: vk::Event) of device, may [HOST, DEVICE, LOST];
    vkSetEvent(device: vk::Device, event: vk::Event) of device, may [HOST, DEVICE];
    vkResetEvent(device: vk::Device, event: vk::Event) of device, may [DEVICE];
    vkCreateQueryPool(
        device: vk::Device, info: *const vk::QueryPoolCreateInfo<'_>, alloc: Alloc<'_>, query_pool: *mut vk::QueryPool
    ) of device, may [HOST, DEVICE] => made(query_pool);
    vkGetQueryPoolResults(
        device: vk::Device, query_pool: vk::QueryPool, first_query: u32, query_count: u32, data_size: usize,
        data: *mut c_void, stride: vk::DeviceSize, flags: vk::QueryResultFlags
    ) of device, may [HOST, DEVICE, LOST];
    vkCreateBuffer(
        device: vk::Device, info: *const vk::BufferCreateInfo<'_>, alloc: Alloc<'_>, buffer: *mut vk::Buffer
    ) of device, may [HOST, DEVICE] => made(buffer);
    vkCreateBufferView(
        device: vk::Device, info: *const vk::BufferViewCreateInfo<'_>, alloc: Alloc<'_>, view: *mut vk::BufferView
    ) of device, may [HOST, DEVICE] => made(view);
    vkCreateImage(
        device: vk::Device, info: *const vk::ImageCreateInfo<'_>, alloc: Alloc<'_>, image: *mut vk::Image
    ) of device, may [HOST, DEVICE] => made(image);
    vkCreateImageView(
        device: vk::Device, info: *const vk::ImageViewCreateInfo<'_>, alloc: Alloc<'_>, view: *mut vk::ImageView
    ) of device, may [HOST, DEVICE] => made(view);
    vkCreateShaderModule(
        device: vk::Device, info: *const vk::ShaderModuleCreateInfo<'_>, alloc: Alloc<'_>,
        shader_module: *mut vk::ShaderModule
    ) of device, may [HOST, DEVICE] => made(shader_module);
    vkCreatePipelineCache(
        device: vk::Device, info: *const vk::PipelineCacheCreateInfo<'_>, alloc: Alloc<'_>,
        pipeline_cache: *mut vk::PipelineCache
    ) of device, may [HOST, DEVICE] => made(pipeline_cache);
    vkGetPipelineCacheData(
        device: vk::Device, pipeline_cache: vk::PipelineCache, data_size: *mut usize, data: *mut c_void
    ) of device, may [HOST, DEVICE];
    vkCreateGraphicsPipelines(
        device: vk::Device, pipeline_cache: vk::PipelineCache, create_info_count: u32,
        infos: *const vk::GraphicsPipelineCreateInfo<'_>, alloc: Alloc<'_>, pipelines: *mut vk::Pipeline
    ) of device, may [HOST, DEVICE]
        => made_each(vk::PipelineCache::null(), pipelines, create_info_count as usize);
    vkCreateComputePipelines(
        device: vk::Device, pipeline_cache: vk::PipelineCache, create_info_count: u32,
        infos: *const vk::ComputePipelineCreateInfo<'_>, alloc: Alloc<'_>, pipelines: *mut vk::Pipeline
    ) of device, may [HOST, DEVICE]
        => made_each(vk::PipelineCache::null(), pipelines, create_info_count as usize);
    vkCreatePipelineLayout(
        device: vk::Device, info: *const vk::PipelineLayoutCreateInfo<'_>, alloc: Alloc<'_>,
        pipeline_layout: *mut vk::PipelineLayout
    ) of device, may [HOST, DEVICE] => made(pipeline_layout);
    vkCreateSampler(
        device: vk::Device, info: *const vk::SamplerCreateInfo<'_>, alloc: Alloc<'_>, sampler: *mut vk::Sampler
    ) of device, may [HOST, DEVICE] => made(sampler);
    vkCreateDescriptorSetLayout(
        device: vk::Device, info: *const vk::DescriptorSetLayoutCreateInfo<'_>, alloc: Alloc<'_>,
        set_layout: *mut vk::DescriptorSetLayout
    ) of device, may [HOST, DEVICE] => made(set_layout);
    vkCreateDescriptorPool(
        device: vk::Device, info: *const vk::DescriptorPoolCreateInfo<'_>, alloc: Alloc<'_>,
        descriptor_pool: *mut vk::DescriptorPool
    ) of device, may [HOST, DEVICE] => made(descriptor_pool);
    vkResetDescriptorPool(
        device: vk::Device, descriptor_pool: vk::DescriptorPool, flags: vk::DescriptorPoolResetFlags
    ) of device, may [] => emptied(descriptor_pool);
    vkAllocateDescriptorSets(
        device: vk::Device, info: *const vk::DescriptorSetAllocateInfo<'_>, descriptor_sets: *mut vk::DescriptorSet
    ) of device, may [HOST, DEVICE, FRAGMENTED, POOL]
        => made_each((*info).descriptor_pool, descriptor_sets, (*info).descriptor_set_count as usize);
    vkFreeDescriptorSets(
        device: vk::Device, descriptor_pool: vk::DescriptorPool, descriptor_set_count: u32,
        descriptor_sets: *const vk::DescriptorSet
    ) of device, may [] => freed(descriptor_sets, descriptor_set_count as usize);
    vkCreateCommandPool(
        device: vk::Device, info: *const vk::CommandPoolCreateInfo<'_>, alloc: Alloc<'_>,
        command_pool: *mut vk::CommandPool
    ) of device, may [HOST, DEVICE] => made(command_pool);
    vkResetCommandPool(
        device: vk::Device, command_pool: vk::CommandPool, flags: vk::CommandPoolResetFlags
    ) of device, may [DEVICE];
    vkAllocateCommandBuffers(
        device: vk::Device, info: *const vk::CommandBufferAllocateInfo<'_>, command_buffers: *mut vk::CommandBuffer
    ) of device, may [HOST, DEVICE]
        => made_each((*info).command_pool, command_buffers, (*info).command_buffer_count as usize);
    vkBeginCommandBuffer(
        command_buffer: vk::CommandBuffer, begin_info: *const vk::CommandBufferBeginInfo<'_>
    ) of command_buffer, may [HOST, DEVICE];
    vkEndCommandBuffer(command_buffer: vk::CommandBuffer) of command_buffer, may [HOST, DEVICE];
    vkResetCommandBuffer(
        command_buffer: vk::CommandBuffer, flags: vk::CommandBufferResetFlags
    ) of command_buffer, may [DEVICE];
    vkEnumerateInstanceVersion(api_version: *mut u32) of NOBODY, may [HOST];
    vkBindBufferMemory2(
        device: vk::Device, bind_info_count: u32, bind_infos: *const vk::BindBufferMemoryInfo<'_>
    ) of device, may [HOST, DEVICE];
    vkBindImageMemory2(
        device: vk::Device, bind_info_count: u32, bind_infos: *const vk::BindImageMemoryInfo<'_>
    ) of device, may [HOST, DEVICE];
    vkGetPhysicalDeviceImageFormatProperties2(
        physical_device: vk::PhysicalDevice, image_format_info: *const vk::PhysicalDeviceImageFormatInfo2<'_>,
        image_format_properties: *mut vk::ImageFormatProperties2<'_>
    ) of physical_device, may [HOST, DEVICE, FORMAT];
    vkCreateDescriptorUpdateTemplate(
        device: vk::Device, info: *const vk::DescriptorUpdateTemplateCreateInfo<'_>, alloc: Alloc<'_>,
        descriptor_update_template: *mut vk::DescriptorUpdateTemplate
    ) of device, may [HOST, DEVICE] => made(descriptor_update_template);
    vkGetSemaphoreCounterValue(
        device: vk::Device, semaphore: vk::Semaphore, value: *mut u64
    ) of device, may [HOST, DEVICE, LOST] => counted_to(semaphore, value);
    vkWaitSemaphores(
        device: vk::Device, wait_info: *const vk::SemaphoreWaitInfo<'_>, timeout: u64
    ) of device, may [HOST, DEVICE, LOST], unless stands_still(timeout);
    vkSignalSemaphore(
        device: vk::Device, signal_info: *const vk::SemaphoreSignalInfo<'_>
    ) of device, may [HOST, DEVICE];
    vkQueueSubmit2(
        queue: vk::Queue, submit_count: u32, submits: *const vk::SubmitInfo2<'_>, fence: vk::Fence
    ) of queue, may [HOST, DEVICE, LOST];
    vkMergePipelineCaches(
        device: vk::Device, dst_cache: vk::PipelineCache, src_cache_count: u32, src_caches: *const vk::PipelineCache
    ) of device, may [HOST, DEVICE];
    vkCreateFramebuffer(
        device: vk::Device, info: *const vk::FramebufferCreateInfo<'_>, alloc: Alloc<'_>,
        framebuffer: *mut vk::Framebuffer
    ) of device, may [HOST, DEVICE] => made(framebuffer);
    vkCreateRenderPass(
        device: vk::Device, info: *const vk::RenderPassCreateInfo<'_>, alloc: Alloc<'_>,
        render_pass: *mut vk::RenderPass
    ) of device, may [HOST, DEVICE] => made(render_pass);
    vkCreateRenderPass2(
        device: vk::Device, info: *const vk::RenderPassCreateInfo2<'_>, alloc: Alloc<'_>,
        render_pass: *mut vk::RenderPass
    ) of device, may [HOST, DEVICE] => made(render_pass);
    vkCreateDebugUtilsMessengerEXT(
        instance: vk::Instance, info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>, alloc: Alloc<'_>,
        messenger: *mut vk::DebugUtilsMessengerEXT
    ) of instance, may [HOST] => made(messenger);
    vkSetDebugUtilsObjectNameEXT(
        device: vk::Device, name_info: *const vk::DebugUtilsObjectNameInfoEXT<'_>
    ) of device, may [HOST, DEVICE];
}

destroys! {
    vkDestroyInstance(instance: vk::Instance, alloc: Alloc<'_>) gives back instance;
    vkDestroyDevice(device: vk::Device, alloc: Alloc<'_>) gives back device;
    vkFreeMemory(device: vk::Device, memory: vk::DeviceMemory, alloc: Alloc<'_>) gives back memory;
    vkDestroyFence(device: vk::Device, fence: vk::Fence, alloc: Alloc<'_>) gives back fence;
    vkDestroySemaphore(device: vk::Device, semaphore: vk::Semaphore, alloc: Alloc<'_>) gives back semaphore;
    vkDestroyEvent(device: vk::Device, event: vk::Event, alloc: Alloc<'_>) gives back event;
    vkDestroyQueryPool(device: vk::Device, query_pool: vk::QueryPool, alloc: Alloc<'_>) gives back query_pool;
    vkDestroyBuffer(device: vk::Device, buffer: vk::Buffer, alloc: Alloc<'_>) gives back buffer;
    vkDestroyBufferView(device: vk::Device, buffer_view: vk::BufferView, alloc: Alloc<'_>) gives back buffer_view;
    vkDestroyImage(device: vk::Device, image: vk::Image, alloc: Alloc<'_>) gives back image;
    vkDestroyImageView(device: vk::Device, image_view: vk::ImageView, alloc: Alloc<'_>) gives back image_view;
    vkDestroyShaderModule(
        device: vk::Device, shader_module: vk::ShaderModule, alloc: Alloc<'_>
    ) gives back shader_module;
    vkDestroyPipelineCache(
        device: vk::Device, pipeline_cache: vk::PipelineCache, alloc: Alloc<'_>
    ) gives back pipeline_cache;
    vkDestroyPipeline(device: vk::Device, pipeline: vk::Pipeline, alloc: Alloc<'_>) gives back pipeline;
    vkDestroyPipelineLayout(
        device: vk::Device, pipeline_layout: vk::PipelineLayout, alloc: Alloc<'_>
    ) gives back pipeline_layout;
    vkDestroySampler(device: vk::Device, sampler: vk::Sampler, alloc: Alloc<'_>) gives back sampler;
    vkDestroyDescriptorSetLayout(
        device: vk::Device, descriptor_set_layout: vk::DescriptorSetLayout, alloc: Alloc<'_>
    ) gives back descriptor_set_layout;
    vkDestroyDescriptorPool(
        device: vk::Device, descriptor_pool: vk::DescriptorPool, alloc: Alloc<'_>
    ) gives back descriptor_pool;
    vkDestroyCommandPool(device: vk::Device, command_pool: vk::CommandPool, alloc: Alloc<'_>) gives back command_pool;
    vkDestroyDescriptorUpdateTemplate(
        device: vk::Device, descriptor_update_template: vk::DescriptorUpdateTemplate, alloc: Alloc<'_>
    ) gives back descriptor_update_template;
    vkDestroyFramebuffer(device: vk::Device, framebuffer: vk::Framebuffer, alloc: Alloc<'_>) gives back framebuffer;
    vkDestroyRenderPass(device: vk::Device, render_pass: vk::RenderPass, alloc: Alloc<'_>) gives back render_pass;
    vkDestroyDebugUtilsMessengerEXT(
        instance: vk::Instance, messenger: vk::DebugUtilsMessengerEXT, alloc: Alloc<'_>
    ) gives back messenger;
}
