/*
 * Lists the kernels of an addon as it is shipped (the file ADDON), with the part of Node-API that native/addon.c calls.
 * It is linked to driver.c instead of the kernels themselves.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <node_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"

/* A value of JavaScript: enough of it for the addon's exports and the arguments of its search. */
struct napi_value__ {
  uint32_t number; /* or a truth value, or the length of an array */
  char text[32];
  napi_callback function;
  void *data; /* of a typed array */
  napi_typedarray_type type;
  struct napi_value__ *kernel_name, *kernel_supported, *kernels, *search;
  struct napi_value__ *elements[MAX_KERNELS];
};

/* The arguments of the call that runs. */
struct napi_callback_info__ {
  napi_value arguments[4];
};

static _Noreturn void fail(const char *fault) {
  fprintf(stderr, "pretend-node: %s\n", fault);
  exit(1);
}

static napi_value make(void) {
  napi_value value = calloc(1, sizeof *value);
  if (!value) fail("no memory");
  return value;
}

napi_status napi_create_array(napi_env env, napi_value *result) {
  (void)env;
  *result = make();
  return napi_ok;
}

napi_status napi_create_object(napi_env env, napi_value *result) { return napi_create_array(env, result); }

napi_status napi_set_element(napi_env env, napi_value array, uint32_t index, napi_value value) {
  (void)env;
  if (index >= MAX_KERNELS) fail("too many kernels");
  array->elements[index] = value;
  if (array->number <= index) array->number = index + 1;
  return napi_ok;
}

napi_status napi_create_string_utf8(napi_env env, const char *text, size_t length, napi_value *result) {
  (void)env, (void)length;
  *result = make();
  snprintf((*result)->text, sizeof(*result)->text, "%s", text);
  return napi_ok;
}

napi_status napi_get_boolean(napi_env env, bool truth, napi_value *result) {
  (void)env;
  *result = make();
  (*result)->number = truth;
  return napi_ok;
}

napi_status napi_create_uint32(napi_env env, uint32_t number, napi_value *result) {
  (void)env;
  *result = make();
  (*result)->number = number;
  return napi_ok;
}

napi_status napi_create_function(napi_env env, const char *name, size_t length, napi_callback function, void *data,
                                 napi_value *result) {
  (void)env, (void)name, (void)length, (void)data;
  *result = make();
  (*result)->function = function;
  return napi_ok;
}

napi_status napi_set_named_property(napi_env env, napi_value object, const char *name, napi_value value) {
  (void)env;
  if (strcmp(name, "name") == 0) object->kernel_name = value;
  if (strcmp(name, "supported") == 0) object->kernel_supported = value;
  if (strcmp(name, "kernels") == 0) object->kernels = value;
  if (strcmp(name, "search") == 0) object->search = value;
  return napi_ok;
}

napi_status napi_get_cb_info(napi_env env, napi_callback_info info, size_t *count, napi_value *arguments,
                             napi_value *receiver, void **data) {
  (void)env, (void)receiver, (void)data;
  if (*count != 4) fail("a function other than search was called");
  memcpy(arguments, info->arguments, sizeof info->arguments);
  return napi_ok;
}

napi_status napi_get_value_uint32(napi_env env, napi_value value, uint32_t *result) {
  (void)env;
  *result = value->number;
  return napi_ok;
}

napi_status napi_get_typedarray_info(napi_env env, napi_value value, napi_typedarray_type *type, size_t *length,
                                     void **data, napi_value *buffer, size_t *offset) {
  (void)env, (void)buffer, (void)offset;
  *type = value->type;
  *length = value->number;
  *data = value->data;
  return napi_ok;
}

static napi_status thrown(const char *message) { fail(message); }
napi_status napi_throw_error(napi_env env, const char *code, const char *message) {
  (void)env, (void)code;
  return thrown(message);
}
napi_status napi_throw_type_error(napi_env env, const char *code, const char *message) {
  (void)env, (void)code;
  return thrown(message);
}
napi_status napi_throw_range_error(napi_env env, const char *code, const char *message) {
  (void)env, (void)code;
  return thrown(message);
}

static napi_callback search_of_addon;

static uint32_t search_with(uint32_t kernel, const struct search *search, const volatile int32_t *current_run,
                            uint32_t *hits) {
  struct napi_value__ index = {.number = kernel};
  struct napi_value__ arrays[3] = {
      {.type = napi_uint32_array, .number = sizeof *search / 4, .data = (void *)(uintptr_t)search},
      {.type = napi_int32_array, .number = 1, .data = (void *)(uintptr_t)current_run},
      {.type = napi_uint32_array, .number = HIT_WORDS, .data = hits},
  };
  struct napi_callback_info__ info = {{&index, &arrays[0], &arrays[1], &arrays[2]}};
  napi_value rows = search_of_addon(NULL, &info);
  if (!rows) fail("search gave nothing");
  uint32_t count = rows->number;
  free(rows);
  return count;
}

/* A function for each kernel, because a search_function does not know its own index. */
#define SEARCH(i) \
  static uint32_t search_##i(const struct search *s, const volatile int32_t *job, uint32_t *hits) { \
    return search_with(i, s, job, hits); \
  }
SEARCH(0) SEARCH(1) SEARCH(2) SEARCH(3) SEARCH(4) SEARCH(5) SEARCH(6) SEARCH(7) SEARCH(8)
static search_function *const searches[MAX_KERNELS] = {search_0, search_1, search_2, search_3, search_4,
                                                       search_5, search_6, search_7, search_8};

uint32_t list_kernels(struct kernel kernels[MAX_KERNELS]) {
  const char *path = getenv("ADDON");
  if (!path) fail("ADDON names no file");
  /* Lazily, as Node does: functions that are never called here need not be defined. */
  void *addon = dlopen(path, RTLD_LAZY);
  if (!addon) fail(dlerror());
  napi_addon_register_func init;
  *(void **)&init = dlsym(addon, "napi_register_module_v1");
  if (!init) fail("it is not an addon");
  napi_value exports = init(NULL, make());
  search_of_addon = exports->search->function;
  for (uint32_t i = 0; i < exports->kernels->number; i++) {
    napi_value kernel = exports->kernels->elements[i];
    kernels[i] = (struct kernel){kernel->kernel_name->text, searches[i], (int)kernel->kernel_supported->number};
  }
  return exports->kernels->number;
}
