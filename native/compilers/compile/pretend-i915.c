// Lets Mesa's ANV, the Vulkan driver for Intel's GPUs, compile shaders on a machine without such a chip: this library
// answers ANV's questions in place of the kernel's driver i915, and executes nothing. LD_PRELOAD it into a program that
// only makes pipelines, with the PCI device id of a chip that ANV knows:
//
//   cc -shared -fPIC -I/usr/include/libdrm -o pretend-i915.so pretend-i915.c
//   LD_PRELOAD=./pretend-i915.so I915_DEVICE=0x56a0 VK_DRIVER_FILES=…/intel_icd.json ./pipelines a.spirv
//
// Functions of libdrm that find devices are replaced, and so are open() and ioctl() for the device that they find. The
// device's file is in memory, so that ANV can map parts of it as buffers. The structures are those of i915_drm.h.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <i915_drm.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#define NODE "/dev/dri/renderD999"
// The file is sparse: only what is written takes memory.
#define FILE_BYTES (1ull << 36)
#define MEMORY_BYTES (8ull << 30)

static int the_fd = -1;
static uint32_t last_handle;
// Where the next buffer is in the file. Buffers are never given back.
static uint64_t end_of_buffers;
enum { MOST_BUFFERS = 4096 };
static uint64_t offsets[MOST_BUFFERS];

static uint16_t device_id(void) {
    const char *text = getenv("I915_DEVICE");
    return text ? strtoul(text, NULL, 0) : 0;
}

// The chip as libdrm describes it.

static drmDevicePtr new_device(void) {
    struct {
        drmDevice device;
        char *nodes[DRM_NODE_MAX];
        drmPciBusInfo bus;
        drmPciDeviceInfo info;
    } *all = calloc(1, sizeof *all);
    all->nodes[DRM_NODE_RENDER] = NODE;
    all->bus = (drmPciBusInfo){.dev = 2};
    all->info = (drmPciDeviceInfo){.vendor_id = 0x8086, .device_id = device_id()};
    all->device = (drmDevice){.nodes = all->nodes, .available_nodes = 1 << DRM_NODE_RENDER, .bustype = DRM_BUS_PCI,
                              .businfo.pci = &all->bus, .deviceinfo.pci = &all->info};
    return &all->device;
}

int drmGetDevices2(uint32_t flags, drmDevicePtr devices[], int most) {
    (void)flags;
    if (devices && most > 0) devices[0] = new_device();
    return 1;
}

int drmGetDevice2(int fd, uint32_t flags, drmDevicePtr *device) {
    (void)fd, (void)flags;
    *device = new_device();
    return 0;
}

void drmFreeDevice(drmDevicePtr *device) {
    free(*device);
    *device = NULL;
}

void drmFreeDevices(drmDevicePtr devices[], int count) {
    for (int i = 0; i < count; i++) drmFreeDevice(&devices[i]);
}

drmVersionPtr drmGetVersion(int fd) {
    (void)fd;
    drmVersionPtr version = calloc(1, sizeof *version);
    version->version_major = 1;
    version->version_minor = 6;
    version->name = strdup("i915");
    version->name_len = strlen(version->name);
    return version;
}

void drmFreeVersion(drmVersionPtr version) {
    free(version->name);
    free(version);
}

// What the kernel's driver reports about the chip.

static int get_parameter(struct drm_i915_getparam *parameter) {
    switch (parameter->param) {
    case I915_PARAM_CHIPSET_ID: *parameter->value = device_id(); return 0;
    case I915_PARAM_REVISION: *parameter->value = 0; return 0;
    case I915_PARAM_CS_TIMESTAMP_FREQUENCY: *parameter->value = 19200000; return 0;
    case I915_PARAM_HAS_ALIASING_PPGTT: *parameter->value = I915_GEM_PPGTT_FULL; return 0;
    case I915_PARAM_MMAP_GTT_VERSION:
    case I915_PARAM_MMAP_VERSION: *parameter->value = 4; return 0;
    case I915_PARAM_SUBSLICE_TOTAL: *parameter->value = 1; return 0;
    case I915_PARAM_EU_TOTAL: *parameter->value = 8; return 0;
    // Whether the driver has an ability. ANV requires those of every kernel since 5.
    default: *parameter->value = 1; return 0;
    }
}

// One slice with one subslice of eight engines: what ANV compiles does not depend on their number.
static void topology(struct drm_i915_query_item *item) {
    enum { MASKS = 3 };
    struct drm_i915_query_topology_info *info = (void *)(uintptr_t)item->data_ptr;
    if (item->length >= (int)(sizeof *info + MASKS)) {
        *info = (struct drm_i915_query_topology_info){
            .max_slices = 1, .max_subslices = 1, .max_eus_per_subslice = 8,
            .subslice_offset = 1, .subslice_stride = 1, .eu_offset = 2, .eu_stride = 1};
        memcpy(info->data, (uint8_t[MASKS]){1, 1, 0xff}, MASKS);
    }
    item->length = sizeof *info + MASKS;
}

static void engines(struct drm_i915_query_item *item) {
    enum { ENGINES = 2 };
    struct drm_i915_query_engine_info *info = (void *)(uintptr_t)item->data_ptr;
    int bytes = sizeof *info + ENGINES * sizeof info->engines[0];
    if (item->length >= bytes) {
        memset(info, 0, bytes);
        info->num_engines = ENGINES;
        info->engines[0].engine.engine_class = I915_ENGINE_CLASS_RENDER;
        info->engines[1].engine.engine_class = I915_ENGINE_CLASS_COPY;
    }
    item->length = bytes;
}

// All chips get a memory of their own, even if real ones have none: ANV then does not use it.
static void memory(struct drm_i915_query_item *item) {
    enum { REGIONS = 2 };
    struct drm_i915_query_memory_regions *info = (void *)(uintptr_t)item->data_ptr;
    int bytes = sizeof *info + REGIONS * sizeof info->regions[0];
    if (item->length >= bytes) {
        memset(info, 0, bytes);
        info->num_regions = REGIONS;
        info->regions[1].region.memory_class = I915_MEMORY_CLASS_DEVICE;
        for (int i = 0; i < REGIONS; i++)
            info->regions[i].probed_size = info->regions[i].unallocated_size = MEMORY_BYTES;
    }
    item->length = bytes;
}

static int query(struct drm_i915_query *query) {
    struct drm_i915_query_item *items = (void *)(uintptr_t)query->items_ptr;
    for (uint32_t i = 0; i < query->num_items; i++) {
        switch (items[i].query_id) {
        case DRM_I915_QUERY_TOPOLOGY_INFO:
        case DRM_I915_QUERY_GEOMETRY_SUBSLICES: topology(&items[i]); break;
        case DRM_I915_QUERY_ENGINE_INFO: engines(&items[i]); break;
        case DRM_I915_QUERY_MEMORY_REGIONS: memory(&items[i]); break;
        default: items[i].length = -EINVAL;
        }
    }
    return 0;
}

// Buffers, contexts and the rest.

static uint32_t new_buffer(uint64_t bytes) {
    if (last_handle + 1 >= MOST_BUFFERS) abort();
    offsets[++last_handle] = end_of_buffers;
    end_of_buffers += (bytes + 0xffff) & ~0xffffull;
    return last_handle;
}

static int answer(unsigned long request, void *argument) {
    switch (request) {
    case DRM_IOCTL_I915_GETPARAM: return get_parameter(argument);
    case DRM_IOCTL_I915_QUERY: return query(argument);
    case DRM_IOCTL_I915_GEM_CREATE: {
        struct drm_i915_gem_create *create = argument;
        create->handle = new_buffer(create->size);
        return 0;
    }
    case DRM_IOCTL_I915_GEM_CREATE_EXT: {
        struct drm_i915_gem_create_ext *create = argument;
        create->handle = new_buffer(create->size);
        return 0;
    }
    case DRM_IOCTL_I915_GEM_USERPTR: {
        struct drm_i915_gem_userptr *user = argument;
        user->handle = new_buffer(user->user_size);
        return 0;
    }
    case DRM_IOCTL_I915_GEM_MMAP_OFFSET: {
        struct drm_i915_gem_mmap_offset *map = argument;
        map->offset = offsets[map->handle];
        return 0;
    }
    case DRM_IOCTL_I915_GEM_VM_CREATE: ((struct drm_i915_gem_vm_control *)argument)->vm_id = 1; return 0;
    case DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT: ((struct drm_i915_gem_context_create_ext *)argument)->ctx_id = 1; return 0;
    case DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM: {
        struct drm_i915_gem_context_param *parameter = argument;
        parameter->value = parameter->param == I915_CONTEXT_PARAM_GTT_SIZE ? 1ull << 48 : 0;
        return 0;
    }
    case DRM_IOCTL_GET_CAP: ((struct drm_get_cap *)argument)->value = 1; return 0;
    case DRM_IOCTL_SYNCOBJ_CREATE: ((struct drm_syncobj_create *)argument)->handle = 1; return 0;
    // Everything else succeeds at once, above all the execution of what sets a device up.
    default: return 0;
    }
}

int ioctl(int fd, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (fd == the_fd && fd >= 0) return answer(request, argument);
    return ((int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl"))(fd, request, argument);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
    va_end(arguments);
    if (strcmp(path, NODE) != 0) return ((int (*)(const char *, int, int))dlsym(RTLD_NEXT, "open64"))(path, flags, mode);
    if (the_fd < 0) {
        the_fd = memfd_create("i915", 0);
        if (the_fd < 0 || ftruncate(the_fd, FILE_BYTES) != 0) abort();
    }
    return the_fd;
}
