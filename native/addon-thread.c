/*
 * The N-API exports for threads and cores, which src/miner/engine/cpu/ uses in affinity.ts, threads.ts and
 * kernels/native-kernels.ts. Each throws an Error with the system's text where the system refuses.
 *
 * checkPinning(): throws unless threads may be pinned
 * pinThread(cpus: Uint32Array): confines the calling thread to these CPUs
 * setThreadPriority(niceness: 0 ... 19): gives the calling thread the priority that the system has for it
 * threadCpuMs(): processor time of the calling thread in milliseconds, with fractions
 * cores(): { cpus: number[], efficiencyClass: number }[]
 */
#include "addon.h"
#include "thread.h"

#define MAX_NICENESS 19

/* Throws an Error unless the fault is 0. */
static void throw_fault(napi_env env, int fault) {
  char text[1024]; /* Room for any sentence of Windows that explain_fault takes: 255 characters of at most 3 bytes. */
  if (fault == 0) return;
  explain_fault(fault, text, sizeof text);
  napi_throw_error(env, NULL, text);
}

static napi_value check_pinning_call(napi_env env, napi_callback_info info) {
  (void)info;
  throw_fault(env, check_pinning());
  return NULL;
}

static napi_value pin_thread_call(napi_env env, napi_callback_info info) {
  napi_value argument;
  size_t arguments = 1, count;
  napi_typedarray_type type;
  void *cpus;
  if (napi_get_cb_info(env, info, &arguments, &argument, NULL, NULL) != napi_ok || arguments != 1 ||
      napi_get_typedarray_info(env, argument, &type, &count, &cpus, NULL, NULL) != napi_ok ||
      type != napi_uint32_array || count < 1 || cpus == NULL) {
    napi_throw_type_error(env, NULL, "pinThread takes a Uint32Array of CPUs, at least one");
    return NULL;
  }
  throw_fault(env, pin_thread(cpus, count));
  return NULL;
}

static napi_value set_thread_priority_call(napi_env env, napi_callback_info info) {
  napi_value argument;
  size_t arguments = 1;
  uint32_t niceness;
  if (napi_get_cb_info(env, info, &arguments, &argument, NULL, NULL) != napi_ok || arguments != 1 ||
      napi_get_value_uint32(env, argument, &niceness) != napi_ok || niceness > MAX_NICENESS) {
    napi_throw_type_error(env, NULL, "setThreadPriority takes a niceness from 0 to 19");
    return NULL;
  }
  throw_fault(env, set_thread_priority(niceness));
  return NULL;
}

static napi_value thread_cpu_ms_call(napi_env env, napi_callback_info info) {
  (void)info;
  double ms;
  napi_value result;
  const int fault = read_thread_cpu_ms(&ms);
  if (fault != 0) {
    throw_fault(env, fault);
    return NULL;
  }
  return napi_create_double(env, ms, &result) == napi_ok ? result : NULL;
}

/* The array that `add_core` extends. */
struct core_list {
  napi_env env;
  napi_value array;
  uint32_t length;
};

static void add_core(void *context, const struct core *core) {
  struct core_list *list = context;
  napi_env env = list->env;
  napi_value object, cpus, number;
  napi_create_object(env, &object);
  napi_create_array(env, &cpus);
  for (size_t i = 0; i < core->count; i++) {
    napi_create_uint32(env, core->cpus[i], &number);
    napi_set_element(env, cpus, (uint32_t)i, number);
  }
  napi_set_named_property(env, object, "cpus", cpus);
  napi_create_uint32(env, core->efficiency_class, &number);
  napi_set_named_property(env, object, "efficiencyClass", number);
  napi_set_element(env, list->array, list->length++, object);
}

static napi_value cores_call(napi_env env, napi_callback_info info) {
  (void)info;
  struct core_list list = {.env = env};
  napi_create_array(env, &list.array);
  throw_fault(env, list_cores(add_core, &list));
  return list.array;
}

void export_thread_functions(napi_env env, napi_value exports) {
  static const struct {
    const char *name;
    napi_callback call;
  } functions[] = {
      {"checkPinning", check_pinning_call}, {"pinThread", pin_thread_call}, {"setThreadPriority", set_thread_priority_call},
      {"threadCpuMs", thread_cpu_ms_call},  {"cores", cores_call},
  };
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    napi_value function;
    napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].call, NULL, &function);
    napi_set_named_property(env, exports, functions[i].name, function);
  }
}
