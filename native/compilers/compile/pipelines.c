// Compiles compute shaders with a Vulkan driver and prints what the driver reports about the machine code, without
// running anything: so it also works on a driver without a chip, such as Mesa's RADV with RADV_FORCE_FAMILY. Drivers
// must have VK_KHR_pipeline_executable_properties.
//
//   cc -o pipelines pipelines.c -lvulkan
//   VK_DRIVER_FILES=…/radeon_icd.json RADV_FORCE_FAMILY=navi31 ./pipelines a.spirv b.spirv …
//
// The entry point of each shader must be Dawn's (`dawn_entry_point`), with its three buffers in set 0. The output is
// the device's name in a line `device NAME`, the driver's version in a line `driver TEXT`, and then for each file
// `shader FILE`, lines `statistic NAME: VALUE`, and the disassembly between `assembly` and `end`.

#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

#define ENTRY_POINT "dawn_entry_point"
#define EXTENSION VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME
#define MOST_STATISTICS 64

static void fail(const char *what, int result) {
    fprintf(stderr, "%s failed with VkResult %d\n", what, result);
    exit(1);
}

static void check(const char *what, VkResult result) {
    if (result != VK_SUCCESS) fail(what, result);
}

static VkPhysicalDevice first_device(void) {
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkInstance instance;
    check("vkCreateInstance", vkCreateInstance(&create, NULL, &instance));
    VkPhysicalDevice physical;
    uint32_t count = 1;
    VkResult result = vkEnumeratePhysicalDevices(instance, &count, &physical);
    if (count == 0 || (result != VK_SUCCESS && result != VK_INCOMPLETE)) fail("vkEnumeratePhysicalDevices", result);
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
    vkGetPhysicalDeviceProperties2(physical, &properties);
    printf("device %s\ndriver %s\n", properties.properties.deviceName, driver.driverInfo);
    return physical;
}

static VkDevice open_device(VkPhysicalDevice physical) {
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
        .pipelineExecutableInfo = VK_TRUE};
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &executables,
        .vulkanMemoryModel = VK_TRUE, .vulkanMemoryModelDeviceScope = VK_TRUE};
    const char *extensions[] = {EXTENSION};
    VkDeviceCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &features, .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue, .enabledExtensionCount = 1, .ppEnabledExtensionNames = extensions};
    VkDevice device;
    check("vkCreateDevice with " EXTENSION, vkCreateDevice(physical, &create, NULL, &device));
    return device;
}

static VkPipelineLayout layout_of(VkDevice device) {
    VkDescriptorSetLayoutBinding bindings[3];
    for (uint32_t i = 0; i < 3; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i, .descriptorCount = 1, .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
            .descriptorType = i < 2 ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER};
    }
    VkDescriptorSetLayoutCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 3, .pBindings = bindings};
    VkDescriptorSetLayout set;
    check("vkCreateDescriptorSetLayout", vkCreateDescriptorSetLayout(device, &create, NULL, &set));
    VkPipelineLayoutCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &set};
    VkPipelineLayout layout;
    check("vkCreatePipelineLayout", vkCreatePipelineLayout(device, &pipeline, NULL, &layout));
    return layout;
}

static uint32_t *read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    *bytes = ftell(file);
    rewind(file);
    uint32_t *words = malloc(*bytes);
    if (!words || fread(words, 1, *bytes, file) != *bytes) {
        fprintf(stderr, "%s was not read\n", path);
        exit(1);
    }
    fclose(file);
    return words;
}

static VkPipeline compile(VkDevice device, VkPipelineLayout layout, const char *path) {
    VkShaderModuleCreateInfo create = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    uint32_t *words = read_file(path, &create.codeSize);
    create.pCode = words;
    VkShaderModule module;
    check("vkCreateShaderModule", vkCreateShaderModule(device, &create, NULL, &module));
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
                 VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = module, .pName = ENTRY_POINT},
        .layout = layout};
    VkPipeline made;
    check("vkCreateComputePipelines", vkCreateComputePipelines(device, NULL, 1, &pipeline, NULL, &made));
    free(words);
    return made;
}

static void print_statistics(VkDevice device, const VkPipelineExecutableInfoKHR *executable) {
    PFN_vkGetPipelineExecutableStatisticsKHR get =
        (PFN_vkGetPipelineExecutableStatisticsKHR)vkGetDeviceProcAddr(device, "vkGetPipelineExecutableStatisticsKHR");
    static VkPipelineExecutableStatisticKHR statistics[MOST_STATISTICS];
    uint32_t count = MOST_STATISTICS;
    for (uint32_t i = 0; i < count; i++) statistics[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    VkResult result = get(device, executable, &count, statistics);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE) fail("vkGetPipelineExecutableStatisticsKHR", result);
    for (uint32_t i = 0; i < count; i++) {
        if (statistics[i].format == VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR)
            printf("statistic %s: %g\n", statistics[i].name, statistics[i].value.f64);
        else printf("statistic %s: %llu\n", statistics[i].name, (unsigned long long)statistics[i].value.u64);
    }
}

// Drivers list their representations in the order of compilation: the last one is the disassembly.
static void print_assembly(VkDevice device, const VkPipelineExecutableInfoKHR *executable) {
    PFN_vkGetPipelineExecutableInternalRepresentationsKHR get =
        (PFN_vkGetPipelineExecutableInternalRepresentationsKHR)vkGetDeviceProcAddr(
            device, "vkGetPipelineExecutableInternalRepresentationsKHR");
    uint32_t count = 0;
    check("counting representations", get(device, executable, &count, NULL));
    if (count == 0) return;
    VkPipelineExecutableInternalRepresentationKHR *all = calloc(count, sizeof *all);
    for (uint32_t i = 0; i < count; i++) all[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR;
    check("measuring representations", get(device, executable, &count, all));
    for (uint32_t i = 0; i < count; i++) all[i].pData = calloc(1, all[i].dataSize + 1);
    check("vkGetPipelineExecutableInternalRepresentationsKHR", get(device, executable, &count, all));
    printf("assembly\n%s\nend\n", (const char *)all[count - 1].pData);
}

int main(int count, char **paths) {
    if (count < 2) {
        fprintf(stderr, "name files of SPIR-V whose entry point is " ENTRY_POINT "\n");
        return 2;
    }
    VkDevice device = open_device(first_device());
    VkPipelineLayout layout = layout_of(device);
    for (int i = 1; i < count; i++) {
        VkPipelineExecutableInfoKHR executable = {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = compile(device, layout, paths[i])};
        printf("shader %s\n", paths[i]);
        print_statistics(device, &executable);
        print_assembly(device, &executable);
    }
    return 0;
}
