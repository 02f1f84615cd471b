/* A Vulkan loader in front of the system's, which pretends other memory types and queue families than the driver has, and
   logs calls. Each pretended memory type is the driver's type that can do what it promises and is most like it, all
   queues are the driver's first one. Memory that is not coherent is so for real: the program maps bytes of its own, which
   flushes and invalidations copy, range by range. Where the driver shares no signals of semaphores, they are shared as
   sync_fd: descriptors of events, which threads of this file write and wait for. Structures are written out, since the tests need no Vulkan headers elsewhere:
   Vulkan 1.3 specification, on a 64-bit machine. */

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef void *handle;
typedef void (*function)(void);
typedef struct { uint32_t type; const void *next; } base;
typedef struct { uint32_t flags, heap; } memory_type;
typedef struct { uint64_t size; uint32_t flags; } memory_heap;
typedef struct { uint32_t count; memory_type types[32]; uint32_t heap_count; memory_heap heaps[16]; } memory_properties;
typedef struct { base head; memory_properties properties; } memory_properties2;
typedef struct { uint64_t size, alignment; uint32_t bits; } requirements;
typedef struct { base head; requirements memory; } requirements2;
typedef struct { base head; uint64_t size; uint32_t index; } allocate_info;
typedef struct { base head; uint64_t memory, offset, size; } mapped_range;
typedef struct { uint32_t flags, count, stamp_bits, width, height, depth; } family;
typedef struct { base head; uint32_t flags, family, count; const float *priorities; } queue_info;
typedef struct {
    base head; uint32_t flags, queue_count; const queue_info *queues;
    uint32_t layer_count; const char *const *layers; uint32_t extension_count; const char *const *extensions;
    const void *features;
} device_info;
typedef struct { base head; uint32_t flags, family; } pool_info;
typedef struct {
    base head; uint32_t flags; uint64_t size; uint32_t usage, sharing, family_count; const uint32_t *families;
} buffer_info;
typedef struct {
    base head; uint32_t flags, kind, format, extent[3], mips, layers, samples, tiling, usage, sharing, family_count;
    const uint32_t *families; uint32_t layout;
} image_info;
typedef struct { base head; const void *info; uint32_t plane; } needs_info;
typedef struct {
    base head; uint64_t scopes[4]; uint32_t source, target; uint64_t buffer, offset, size;
} buffer_barrier;
typedef struct {
    base head; uint64_t scopes[4]; uint32_t old_layout, new_layout, source, target; uint64_t image; uint32_t range[5];
} image_barrier;
typedef struct {
    base head; uint32_t flags, memory_count; const void *memory; uint32_t buffer_count; const buffer_barrier *buffers;
    uint32_t image_count; const image_barrier *images;
} dependency_info;

enum { MOST_BARRIERS = 64, IGNORED = 0xffffffff, LOCAL = 1, VISIBLE = 2, COHERENT = 4, NONE = 32 };
static uint32_t types[32], type_count, behind_types[32], families[8], family_count;
static char written[1 << 18];
static size_t length;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What to pretend from the next device on; no types or families: those that the driver has. */
void interposer_pretend(uint32_t memory_count, const uint32_t *memory, uint32_t count, const uint32_t *flags) {
    type_count = memory_count, family_count = count;
    memcpy(types, memory, 4 * memory_count), memcpy(families, flags, 4 * count);
}

/* The calls since the last clearing, one per line. */
const char *interposer_log(void) { return written; }
void interposer_clear(void) { length = 0, written[0] = 0; }

static void note(const char *format, uint32_t one, uint32_t two) {
    pthread_mutex_lock(&lock);
    int more = snprintf(written + length, sizeof written - length, format, one, two);
    if (length + (size_t)more < sizeof written) length += (size_t)more;
    pthread_mutex_unlock(&lock);
}

/* A function of this table and the one behind it, as the loader gave it last: no handle is asked, since a device may be
   destroyed long after its instance was replaced by another one. */
typedef struct { const char *name; function own, behind; } entry;
static function behind(const char *name);
#define REAL(result, ...) ((result(*)(__VA_ARGS__))behind(__func__ + 3))

/* Signals of binary semaphores as descriptors. An export waits for the signal on the queue, behind which a thread writes
   the event; an import signals its semaphore on the queue behind a timeline, which a thread signals with the event. */
enum { SYNC_FD = 16, EXPORT_INFO = 1000077000, KIND_INFO = 1000207002, MOST_SHARED = 256 };
static const char FD_EXTENSION[] = "VK_KHR_external_semaphore_fd";
typedef struct { char name[256]; uint32_t version; } extension;
typedef struct { base head; uint32_t kind; } handle_info;
typedef struct { base head; uint32_t imported, compatible, features; } handle_properties;
typedef struct { base head; uint32_t kind; uint64_t value; } kind_info;
typedef struct { base head; uint32_t flags; } plain_info;
typedef struct { base head; uint64_t semaphore; uint32_t kind; } export_info;
typedef struct { base head; uint64_t semaphore; uint32_t flags, kind; int fd; } import_info;
typedef struct { base head; uint64_t semaphore, value, stages; uint32_t device; } semaphore_point;
typedef struct { base head; uint64_t semaphore, value; } semaphore_value;
typedef struct {
    base head; uint32_t flags, wait_count; const semaphore_point *waits; uint32_t command_count; const void *commands;
    uint32_t signal_count; const semaphore_point *signals;
} submit_info;
typedef struct { handle owner; uint64_t fence, timeline; int fd; pthread_t thread; } shared_signal;
static int sharing, failing;
static struct { handle owner, queue; } device_queues[64];
static shared_signal shared_signals[MOST_SHARED];
static uint32_t shared_count;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;

/* Which of the next submits fails once, for want of memory; 0: none. */
void interposer_fail(int submit) { failing = submit; }

/* Whether signals are shared from the next device on. */
void interposer_share(int on) { sharing = on; }

static int32_t submitted(handle queue, uint32_t count, const void *submits, uint64_t fence);
static handle queue_of(handle owner) {
    for (size_t at = 0; at < sizeof device_queues / sizeof *device_queues; at++) {
        if (device_queues[at].owner == owner) return device_queues[at].queue;
    }
    return 0;
}
/* The driver's type that can do what a pretended one promises, and differs least from it; where memory lies counts more
   than how the CPU reads it. NONE: no resource may have the pretended type. */
static uint32_t behind_type(uint32_t wanted, const memory_properties *real) {
    uint32_t found = NONE, least = NONE;
    uint32_t needs = wanted == LOCAL ? LOCAL : wanted & (VISIBLE | COHERENT);
    for (uint32_t at = 0; at < real->count; at++) {
        uint32_t has = real->types[at].flags, differ = has ^ wanted;
        uint32_t apart = (uint32_t)__builtin_popcount(differ) + 2 * (differ & LOCAL);
        if ((has & needs) == needs && apart < least) found = at, least = apart;
    }
    return found;
}
static void pretend_types(memory_properties *out) {
    if (!type_count) return;
    for (uint32_t at = 0; at < type_count; at++) behind_types[at] = behind_type(types[at], out);
    for (uint32_t at = 0; at < type_count; at++) out->types[at] = (memory_type){types[at], 0};
    out->count = type_count;
}
static void my_vkGetPhysicalDeviceMemoryProperties(handle physical, memory_properties *out) {
    REAL(void, handle, memory_properties *)(physical, out), pretend_types(out);
}
static void my_vkGetPhysicalDeviceMemoryProperties2(handle physical, memory_properties2 *out) {
    REAL(void, handle, memory_properties2 *)(physical, out), pretend_types(&out->properties);
}
static void my_vkGetPhysicalDeviceQueueFamilyProperties(handle physical, uint32_t *count, family *out) {
    family all[8];
    uint32_t known = 8;
    REAL(void, handle, uint32_t *, family *)(physical, &known, all);
    for (uint32_t at = 0; family_count && at < family_count; at++) {
        all[at] = all[0], all[at].flags = families[at], all[at].count = 1;
    }
    known = family_count ? family_count : known;
    for (uint32_t at = 0; out && at < known && at < *count; at++) out[at] = all[at];
    *count = known;
}
static int32_t my_vkCreateDevice(handle physical, const device_info *info, const void *allocator, handle *out) {
    device_info own = *info;
    queue_info queue = info->queues[0];
    if (family_count) queue.family = 0, queue.count = 1, own.queues = &queue, own.queue_count = 1;
    const char *names[64];
    uint32_t kept = 0;
    for (uint32_t at = 0; sharing && at < info->extension_count && kept < 64; at++) {
        if (strcmp(info->extensions[at], FD_EXTENSION)) names[kept++] = info->extensions[at];
    }
    if (sharing) own.extensions = names, own.extension_count = kept;
    return REAL(int32_t, handle, const device_info *, const void *, handle *)(physical, &own, allocator, out);
}
static void my_vkGetDeviceQueue(handle owner, uint32_t index, uint32_t at, handle *out) {
    REAL(void, handle, uint32_t, uint32_t, handle *)(owner, family_count ? 0 : index, at, out);
    for (size_t found = 0; found < sizeof device_queues / sizeof *device_queues; found++) {
        if (device_queues[found].owner && device_queues[found].owner != owner) continue;
        device_queues[found].owner = owner, device_queues[found].queue = *out;
        break;
    }
}
static int32_t my_vkCreateCommandPool(handle owner, const pool_info *info, const void *allocator, uint64_t *out) {
    pool_info own = *info;
    if (family_count) own.family = 0;
    return REAL(int32_t, handle, const pool_info *, const void *, uint64_t *)(owner, &own, allocator, out);
}
static buffer_info alone(const buffer_info *info) {
    buffer_info own = *info;
    if (family_count) own.sharing = 0, own.family_count = 0;
    return own;
}
static image_info image_alone(const image_info *info) {
    image_info own = *info;
    if (family_count) own.sharing = 0, own.family_count = 0;
    return own;
}
static int32_t my_vkCreateBuffer(handle owner, const buffer_info *info, const void *allocator, uint64_t *out) {
    buffer_info own = alone(info);
    return REAL(int32_t, handle, const buffer_info *, const void *, uint64_t *)(owner, &own, allocator, out);
}
static int32_t my_vkCreateImage(handle owner, const image_info *info, const void *allocator, uint64_t *out) {
    image_info own = image_alone(info);
    return REAL(int32_t, handle, const image_info *, const void *, uint64_t *)(owner, &own, allocator, out);
}
static void pretend_bits(requirements *out) {
    uint32_t bits = 0;
    for (uint32_t at = 0; at < type_count; at++) {
        if (behind_types[at] != NONE && out->bits >> behind_types[at] & 1) bits |= 1u << at;
    }
    if (type_count) out->bits = bits;
}
static void pretend_image_bits(requirements *out) { pretend_bits(out), note("image %u\n", out->bits, 0); }
static void my_vkGetDeviceBufferMemoryRequirements(handle owner, const needs_info *info, requirements2 *out) {
    buffer_info made = alone(info->info);
    needs_info own = *info;
    own.info = &made;
    REAL(void, handle, const needs_info *, requirements2 *)(owner, &own, out), pretend_bits(&out->memory);
}
static void my_vkGetDeviceImageMemoryRequirements(handle owner, const needs_info *info, requirements2 *out) {
    image_info made = image_alone(info->info);
    needs_info own = *info;
    own.info = &made;
    REAL(void, handle, const needs_info *, requirements2 *)(owner, &own, out), pretend_image_bits(&out->memory);
}
static void my_vkGetBufferMemoryRequirements(handle owner, uint64_t buffer, requirements *out) {
    REAL(void, handle, uint64_t, requirements *)(owner, buffer, out), pretend_bits(out);
}
static void my_vkGetBufferMemoryRequirements2(handle owner, const void *info, requirements2 *out) {
    REAL(void, handle, const void *, requirements2 *)(owner, info, out), pretend_bits(&out->memory);
}
static void my_vkGetImageMemoryRequirements2(handle owner, const void *info, requirements2 *out) {
    REAL(void, handle, const void *, requirements2 *)(owner, info, out), pretend_image_bits(&out->memory);
}
/* What the program sees of memory that is not coherent, and the driver's own bytes; filled so that reads without an
   invalidation and submits without a flush show. */
typedef struct { uint64_t memory, size; char *own, *real; } apart;
static apart apart_memory[256];
static apart *apart_of(uint64_t memory) {
    for (size_t at = 0; memory && at < sizeof apart_memory / sizeof *apart_memory; at++) {
        if (apart_memory[at].memory == memory) return apart_memory + at;
    }
    return 0;
}
static void keep(uint64_t memory, uint64_t size) {
    pthread_mutex_lock(&lock);
    for (size_t at = 0; at < sizeof apart_memory / sizeof *apart_memory; at++) {
        if (apart_memory[at].memory) continue;
        char *own = aligned_alloc(4096, (size + 4095) & ~4095ull);
        if (!own) break;
        apart_memory[at] = (apart){memory, size, memset(own, 0xcd, size), 0};
        break;
    }
    pthread_mutex_unlock(&lock);
}
static int32_t my_vkAllocateMemory(handle owner, const allocate_info *info, const void *allocator, uint64_t *out) {
    allocate_info own = *info;
    note("allocate %u\n", info->index, 0);
    if (type_count) own.index = behind_types[info->index];
    int32_t made = REAL(int32_t, handle, const allocate_info *, const void *, uint64_t *)(owner, &own, allocator, out);
    if (!made && type_count && (types[info->index] & (VISIBLE | COHERENT)) == VISIBLE) keep(*out, info->size);
    return made;
}
static void my_vkFreeMemory(handle owner, uint64_t memory, const void *allocator) {
    pthread_mutex_lock(&lock);
    apart *one = apart_of(memory);
    if (one) free(one->own), *one = (apart){0};
    pthread_mutex_unlock(&lock);
    REAL(void, handle, uint64_t, const void *)(owner, memory, allocator);
}
static int32_t my_vkMapMemory(handle owner, uint64_t memory, uint64_t offset, uint64_t size, uint32_t flags, void **out) {
    pthread_mutex_lock(&lock);
    apart *one = apart_of(memory);
    void *whole = 0;
    int32_t done = REAL(int32_t, handle, uint64_t, uint64_t, uint64_t, uint32_t, void **)(
        owner, memory, one ? 0 : offset, one ? ~0ull : size, flags, &whole);
    *out = whole;
    if (!done && one) one->real = whole, *out = one->own + offset;
    pthread_mutex_unlock(&lock);
    return done;
}
static int32_t copied(const mapped_range *ranges, uint32_t count, int flushed) {
    pthread_mutex_lock(&lock);
    for (uint32_t at = 0; at < count; at++) {
        apart *one = apart_of(ranges[at].memory);
        if (!one || !one->real) continue;
        uint64_t from = ranges[at].offset, bytes = ranges[at].size == ~0ull ? one->size - from : ranges[at].size;
        if (flushed) memcpy(one->real + from, one->own + from, bytes);
        else memcpy(one->own + from, one->real + from, bytes);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}
static int32_t my_vkFlushMappedMemoryRanges(handle owner, uint32_t count, const mapped_range *ranges) {
    note("flush %u\n", count, 0);
    copied(ranges, count, 1);
    return REAL(int32_t, handle, uint32_t, const mapped_range *)(owner, count, ranges);
}
static int32_t my_vkInvalidateMappedMemoryRanges(handle owner, uint32_t count, const mapped_range *ranges) {
    note("invalidate %u\n", count, 0);
    int32_t done = REAL(int32_t, handle, uint32_t, const mapped_range *)(owner, count, ranges);
    copied(ranges, count, 0);
    return done;
}
static int32_t my_vkQueueSubmit2(handle queue, uint32_t count, const void *submits, uint64_t fence) {
    note("submit %u\n", count, 0);
    if (failing && !--failing) return -1;
    return submitted(queue, count, submits, fence);
}
static function of_device(handle owner, const char *name);
#define CALL(owner, name, ...) ((int32_t(*)(__VA_ARGS__))of_device(owner, #name))

static int32_t my_vkEnumerateDeviceExtensionProperties(handle physical, const char *layer, uint32_t *count, extension *out) {
    uint32_t room = *count;
    int32_t done = REAL(int32_t, handle, const char *, uint32_t *, extension *)(physical, layer, count, out);
    if (!sharing || layer || done < 0) return done;
    for (uint32_t at = 0; out && at < *count; at++) {
        if (!strcmp(out[at].name, FD_EXTENSION)) return done;
    }
    if (out && *count == room) return 5;
    if (out) memset(out + *count, 0, sizeof *out), strcpy(out[*count].name, FD_EXTENSION), out[*count].version = 1;
    ++*count;
    return done;
}
static void my_vkGetPhysicalDeviceExternalSemaphoreProperties(handle physical, const handle_info *info, handle_properties *out) {
    REAL(void, handle, const handle_info *, handle_properties *)(physical, info, out);
    if (sharing && info->kind == SYNC_FD && !info->head.next) out->features = 3, out->compatible = SYNC_FD;
}
static int32_t my_vkCreateSemaphore(handle owner, const plain_info *info, const void *allocator, uint64_t *out) {
    plain_info own = *info;
    const base *next = info->head.next;
    if (sharing && next && next->type == EXPORT_INFO) own.head.next = next->next;
    return REAL(int32_t, handle, const plain_info *, const void *, uint64_t *)(owner, &own, allocator, out);
}
static int32_t submitted(handle queue, uint32_t count, const void *submits, uint64_t fence) {
    pthread_mutex_lock(&queue_lock);
    int32_t done = ((int32_t(*)(handle, uint32_t, const void *, uint64_t))behind("vkQueueSubmit2"))(queue, count, submits, fence);
    pthread_mutex_unlock(&queue_lock);
    return done;
}
static void *exporting(void *of) {
    shared_signal *one = of;
    uint64_t event = 1;
    CALL(one->owner, vkWaitForFences, handle, uint32_t, const uint64_t *, uint32_t, uint64_t)(one->owner, 1, &one->fence, 1, ~0ull);
    if (write(one->fd, &event, sizeof event) != sizeof event) abort();
    close(one->fd);
    return 0;
}
static void *importing(void *of) {
    shared_signal *one = of;
    struct pollfd event = {one->fd, POLLIN, 0};
    while (one->fd >= 0 && poll(&event, 1, -1) != 1) {}
    if (one->fd >= 0) close(one->fd);
    semaphore_value value = {{1000207005, 0}, one->timeline, 1};
    CALL(one->owner, vkSignalSemaphore, handle, const semaphore_value *)(one->owner, &value);
    return 0;
}
static shared_signal *shared_signal_of(handle owner) {
    if (shared_count == MOST_SHARED) abort();
    shared_signals[shared_count] = (shared_signal){.owner = owner, .fd = -1};
    return shared_signals + shared_count++;
}
static int32_t my_vkGetSemaphoreFdKHR(handle owner, const export_info *info, int *out) {
    if (info->kind != SYNC_FD) return REAL(int32_t, handle, const export_info *, int *)(owner, info, out);
    note("export sync_fd\n", 0, 0);
    shared_signal *one = shared_signal_of(owner);
    plain_info fence = {{8, 0}, 0};
    semaphore_point wait = {{1000314005, 0}, info->semaphore, 0, 0x10000, 0};
    submit_info submit = {{1000314004, 0}, 0, 1, &wait, 0, 0, 0, 0};
    one->fd = eventfd(0, EFD_CLOEXEC);
    CALL(owner, vkCreateFence, handle, const plain_info *, const void *, uint64_t *)(owner, &fence, 0, &one->fence);
    *out = dup(one->fd);
    int32_t done = submitted(queue_of(owner), 1, &submit, one->fence);
    if (done || one->fd < 0 || *out < 0) abort();
    pthread_create(&one->thread, 0, exporting, one);
    return 0;
}
static int32_t my_vkImportSemaphoreFdKHR(handle owner, const import_info *info) {
    if (info->kind != SYNC_FD) return REAL(int32_t, handle, const import_info *)(owner, info);
    note(info->flags == 1 ? "import sync_fd\n" : "import for ever\n", 0, 0);
    shared_signal *one = shared_signal_of(owner);
    kind_info kind = {{KIND_INFO, 0}, 1, 0};
    plain_info timeline = {{9, &kind}, 0};
    CALL(owner, vkCreateSemaphore, handle, const plain_info *, const void *, uint64_t *)(owner, &timeline, 0, &one->timeline);
    semaphore_point wait = {{1000314005, 0}, one->timeline, 1, 0x10000, 0};
    semaphore_point signal = {{1000314005, 0}, info->semaphore, 0, 0x10000, 0};
    submit_info submit = {{1000314004, 0}, 0, 1, &wait, 0, 0, 1, &signal};
    one->fd = info->fd;
    if (submitted(queue_of(owner), 1, &submit, 0)) abort();
    pthread_create(&one->thread, 0, importing, one);
    return 0;
}
static void my_vkDestroyDevice(handle owner, const void *allocator) {
    for (uint32_t at = 0; at < shared_count; at++) {
        shared_signal *one = shared_signals + at;
        if (one->owner != owner) continue;
        pthread_join(one->thread, 0);
        CALL(owner, vkDeviceWaitIdle, handle)(owner);
        if (one->fence) CALL(owner, vkDestroyFence, handle, uint64_t, const void *)(owner, one->fence, 0);
        if (one->timeline) CALL(owner, vkDestroySemaphore, handle, uint64_t, const void *)(owner, one->timeline, 0);
        one->owner = 0;
    }
    REAL(void, handle, const void *)(owner, allocator);
    for (size_t at = 0; at < sizeof device_queues / sizeof *device_queues; at++) {
        if (device_queues[at].owner == owner) device_queues[at].owner = 0;
    }
}
static void transfer(uint32_t *source, uint32_t *target) {
    if (*source != *target) note("transfer %u to %u\n", *source, *target);
    if (family_count) *source = *target = IGNORED;
}
static void my_vkCmdPipelineBarrier2(handle commands, const dependency_info *info) {
    dependency_info own = *info;
    buffer_barrier buffers[MOST_BARRIERS];
    image_barrier images[MOST_BARRIERS];
    if (info->buffer_count <= MOST_BARRIERS && info->image_count <= MOST_BARRIERS) {
        memcpy(buffers, info->buffers, info->buffer_count * sizeof *buffers), own.buffers = buffers;
        memcpy(images, info->images, info->image_count * sizeof *images), own.images = images;
        for (uint32_t at = 0; at < info->buffer_count; at++) transfer(&buffers[at].source, &buffers[at].target);
        for (uint32_t at = 0; at < info->image_count; at++) transfer(&images[at].source, &images[at].target);
    }
    REAL(void, handle, const dependency_info *)(commands, &own);
}

static function answer(const char *name, function found);
static function my_vkGetDeviceProcAddr(handle owner, const char *name) {
    return answer(name, REAL(function, handle, const char *)(owner, name));
}
static entry table[] = {
#define OWN(name) {#name, (function)my_##name, 0}
    OWN(vkGetDeviceProcAddr), OWN(vkGetPhysicalDeviceMemoryProperties), OWN(vkGetPhysicalDeviceMemoryProperties2),
    OWN(vkGetPhysicalDeviceQueueFamilyProperties), OWN(vkCreateDevice), OWN(vkGetDeviceQueue),
    OWN(vkCreateCommandPool), OWN(vkCreateBuffer), OWN(vkCreateImage), OWN(vkGetDeviceBufferMemoryRequirements),
    OWN(vkGetDeviceImageMemoryRequirements), OWN(vkGetBufferMemoryRequirements),
    OWN(vkGetBufferMemoryRequirements2), OWN(vkGetImageMemoryRequirements2), OWN(vkAllocateMemory),
    OWN(vkFreeMemory), OWN(vkMapMemory),    OWN(vkFlushMappedMemoryRanges), OWN(vkInvalidateMappedMemoryRanges), OWN(vkQueueSubmit2),
    OWN(vkCmdPipelineBarrier2), OWN(vkEnumerateDeviceExtensionProperties), OWN(vkCreateSemaphore), OWN(vkDestroyDevice),
    OWN(vkGetPhysicalDeviceExternalSemaphoreProperties), OWN(vkGetSemaphoreFdKHR), OWN(vkImportSemaphoreFdKHR),
};
static entry *find(const char *name) {
    for (size_t at = 0; at < sizeof table / sizeof *table; at++) {
        if (!strcmp(table[at].name, name)) return table + at;
    }
    return 0;
}
static function behind(const char *name) { return find(name)->behind; }
static function of_device(handle owner, const char *name) {
    entry *one = find(name);
    return one ? one->behind : ((function(*)(handle, const char *))behind("vkGetDeviceProcAddr"))(owner, name);
}
static function answer(const char *name, function found) {
    entry *one = find(name);
    // The extension's functions are not the driver's.
    if (!found && !(sharing && one && strstr(name, "SemaphoreFdKHR"))) return 0;
    if (one) one->behind = found;
    return one ? one->own : found;
}

__attribute__((visibility("default"))) function vkGetInstanceProcAddr(handle owner, const char *name) {
    static function (*loader)(handle, const char *);
    if (!loader) {
        void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library) return 0;
        loader = (function(*)(handle, const char *))dlsym(library, "vkGetInstanceProcAddr");
    }
    function found = loader(owner, name);
    return owner ? answer(name, found) : found;
}
