// A simulated Vulkan driver: Mesa's software GPU (the library REAL) under the names and at the PCI address that are
// compiled in, for rigs of identical cards on a machine without any. pretend-driver.ts compiles it.
//
//   cc -shared -fPIC -DREAL='"libvulkan_lvp.so"' -DMODEL='"GeForce RTX 3080"' -DDRIVER='"the one at 65"' -DBUS=0x65
//      -DOPENED='"opened.txt"' …
//
// Without BUS it does not report its address, as some drivers do not. Each process that opens the card adds its id to the
// file OPENED. The interface is the Vulkan loader's with drivers
// ("LoaderDriverInterface.md"), the structures are those of vulkan_core.h as far as they are touched.

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef void (*Proc)(void);
typedef struct { uint32_t apiVersion, driverVersion, vendorID, deviceID, deviceType; char deviceName[256]; } Properties;
typedef struct Structure { int32_t sType; struct Structure *pNext; } Structure;
typedef struct { Structure head; Properties properties; } Properties2;
typedef struct { Structure head; uint32_t driverID; char driverName[256], driverInfo[256]; } DriverProperties;
typedef struct { Structure head; uint32_t domain, bus, device, function; } BusProperties;
typedef struct { char name[256]; uint32_t version; } Extension;

enum { DISCRETE_GPU = 2, NVIDIA = 0x10de, INCOMPLETE = 5 };
enum { DRIVER_PROPERTIES = 1000196000, BUS_PROPERTIES = 1000212000 };

static Proc real(const char *name) {
    static void *library;
    if (!library) library = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);
    return library ? (Proc)dlsym(library, name) : NULL;
}

static void *lastInstance;

static Proc realOf(const char *name) {
    return ((Proc (*)(void *, const char *))real("vk_icdGetInstanceProcAddr"))(lastInstance, name);
}

static void pretend(Properties *properties) {
    properties->vendorID = NVIDIA;
    properties->deviceID = 0x2206;
    properties->deviceType = DISCRETE_GPU;
    strcpy(properties->deviceName, MODEL);
}

static void getProperties(void *gpu, Properties *properties) {
    ((void (*)(void *, Properties *))realOf("vkGetPhysicalDeviceProperties"))(gpu, properties);
    pretend(properties);
}

static void getProperties2(void *gpu, Properties2 *properties) {
    ((void (*)(void *, Properties2 *))realOf("vkGetPhysicalDeviceProperties2"))(gpu, properties);
    pretend(&properties->properties);
    for (Structure *each = properties->head.pNext; each; each = each->pNext) {
        if (each->sType == DRIVER_PROPERTIES) {
            strcpy(((DriverProperties *)each)->driverName, "pretended");
            strcpy(((DriverProperties *)each)->driverInfo, DRIVER);
        }
#ifdef BUS
        if (each->sType == BUS_PROPERTIES) {
            BusProperties *place = (BusProperties *)each;
            place->domain = place->device = place->function = 0;
            place->bus = BUS;
        }
#endif
    }
}

static int32_t enumerateExtensions(void *gpu, const char *layer, uint32_t *count, Extension *extensions) {
    typedef int32_t (*Enumerate)(void *, const char *, uint32_t *, Extension *);
    Enumerate enumerate = (Enumerate)realOf("vkEnumerateDeviceExtensionProperties");
#ifdef BUS
    if (!layer) { // one more than lavapipe has: the last
        if (extensions && *count == 0) return INCOMPLETE;
        if (extensions) --*count;
        int32_t result = enumerate(gpu, layer, count, extensions);
        if (extensions && result == 0) extensions[*count] = (Extension){"VK_EXT_pci_bus_info", 2};
        if (result == 0) ++*count;
        return result;
    }
#endif
    return enumerate(gpu, layer, count, extensions);
}

static int32_t createDevice(void *gpu, const void *wishes, const void *allocator, void *device) {
    typedef int32_t (*Create)(void *, const void *, const void *, void *);
    FILE *opened = fopen(OPENED, "a");
    if (opened) {
        fprintf(opened, "%d\n", getpid());
        fclose(opened);
    }
    return ((Create)realOf("vkCreateDevice"))(gpu, wishes, allocator, device);
}

static Proc instead(const char *name) {
    if (!strcmp(name, "vkGetPhysicalDeviceProperties")) return (Proc)getProperties;
    if (!strcmp(name, "vkGetPhysicalDeviceProperties2")) return (Proc)getProperties2;
    if (!strcmp(name, "vkGetPhysicalDeviceProperties2KHR")) return (Proc)getProperties2;
    if (!strcmp(name, "vkEnumerateDeviceExtensionProperties")) return (Proc)enumerateExtensions;
    if (!strcmp(name, "vkCreateDevice")) return (Proc)createDevice;
    return NULL;
}

Proc vk_icdGetInstanceProcAddr(void *instance, const char *name) {
    if (instance) lastInstance = instance;
    Proc own = instead(name);
    return own ? own : ((Proc (*)(void *, const char *))real("vk_icdGetInstanceProcAddr"))(instance, name);
}

Proc vk_icdGetPhysicalDeviceProcAddr(void *instance, const char *name) {
    if (instance) lastInstance = instance;
    Proc own = instead(name);
    return own ? own : ((Proc (*)(void *, const char *))real("vk_icdGetPhysicalDeviceProcAddr"))(instance, name);
}

int32_t vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) {
    return ((int32_t (*)(uint32_t *))real("vk_icdNegotiateLoaderICDInterfaceVersion"))(version);
}
