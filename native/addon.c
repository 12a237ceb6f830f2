/*
 * The N-API exports of the kernels (used by src/miner/engine/cpu/kernels/native-kernels.ts):
 *
 * kernels: { name: string, supported: boolean }[], the usually fastest first
 * search(kernel: index, search: Uint32Array, currentRun: Int32Array, hits: Uint32Array): rows searched
 *
 * addon-thread.c adds those for threads and cores.
 */
#include "addon.h"
#include "dispatch.h"

#define SEARCH_WORDS (sizeof(struct search) / 4)

static struct kernel kernels[MAX_KERNELS];
static uint32_t kernel_count;

/* Returns the array's data; NULL, with an exception pending, unless it has this type and at least `length` elements. */
static void *typed_array(napi_env env, napi_value value, napi_typedarray_type type, size_t length, const char *fault) {
  napi_typedarray_type actual_type;
  size_t actual_length;
  void *data;
  if (napi_get_typedarray_info(env, value, &actual_type, &actual_length, &data, NULL, NULL) == napi_ok &&
      actual_type == type && actual_length >= length && data != NULL) {
    return data;
  }
  napi_throw_type_error(env, NULL, fault);
  return NULL;
}

static napi_value search(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  size_t count = 4;
  uint32_t index;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count != 4 ||
      napi_get_value_uint32(env, arguments[0], &index) != napi_ok || index >= kernel_count ||
      !kernels[index].supported) {
    napi_throw_type_error(env, NULL, "search takes the index of a supported kernel and three arrays");
    return NULL;
  }
  const struct search *search =
      typed_array(env, arguments[1], napi_uint32_array, SEARCH_WORDS, "a search is a Uint32Array of 31 words");
  if (!search) return NULL;
  const volatile int32_t *current_run =
      typed_array(env, arguments[2], napi_int32_array, 1, "the current run is an Int32Array of one word");
  if (!current_run) return NULL;
  uint32_t *hits = typed_array(env, arguments[3], napi_uint32_array, HIT_WORDS, "hits are a Uint32Array of 513 words");
  if (!hits) return NULL;
  if (search->counters < 1 || search->counters > ROW_COUNTERS) {
    napi_throw_range_error(env, NULL, "a row has 1 to 512 counters");
    return NULL;
  }

  napi_value rows;
  napi_create_uint32(env, kernels[index].search(search, current_run, hits), &rows);
  return rows;
}

static napi_value describe(napi_env env, const struct kernel *kernel) {
  napi_value object, name, supported;
  napi_create_object(env, &object);
  napi_create_string_utf8(env, kernel->name, NAPI_AUTO_LENGTH, &name);
  napi_set_named_property(env, object, "name", name);
  napi_get_boolean(env, kernel->supported != 0, &supported);
  napi_set_named_property(env, object, "supported", supported);
  return object;
}

/* Runs once, before any thread can search. The module below is initialized again in each thread. */
__attribute__((constructor)) static void find_kernels(void) { kernel_count = list_kernels(kernels); }

NAPI_MODULE_INIT() {
  napi_value list, function;
  napi_create_array(env, &list);
  for (uint32_t i = 0; i < kernel_count; i++) napi_set_element(env, list, i, describe(env, &kernels[i]));
  napi_set_named_property(env, exports, "kernels", list);
  napi_create_function(env, "search", NAPI_AUTO_LENGTH, search, NULL, &function);
  napi_set_named_property(env, exports, "search", function);
  export_thread_functions(env, exports);
  return exports;
}
