/* Node-API, and the parts of the addon. */
#pragma once
#include <node_api.h>

/* Adds the functions of addon-thread.c to the exports. */
void export_thread_functions(napi_env env, napi_value exports);
