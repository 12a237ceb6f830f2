/*
 * Finds Node-API on Windows. A Windows library names the file that each of its imports comes from, which would be node.exe. The
 * program that loads the addon may have another name, so its functions are looked up in the program itself.
 */
#if defined(_WIN32)
#include <windows.h>

/* Where compilers look for the address of an imported function: scripts/compile-addon.mjs declares Node-API as imported. */
#define FUNCTIONS(X)                                                                                         \
  X(napi_create_array)                                                                                       \
  X(napi_create_double)                                                                                      \
  X(napi_create_function)                                                                                    \
  X(napi_create_object)                                                                                      \
  X(napi_create_string_utf8)                                                                                 \
  X(napi_create_uint32)                                                                                      \
  X(napi_get_boolean)                                                                                        \
  X(napi_get_cb_info)                                                                                        \
  X(napi_get_typedarray_info)                                                                                \
  X(napi_get_value_uint32)                                                                                   \
  X(napi_set_element)                                                                                        \
  X(napi_set_named_property)                                                                                 \
  X(napi_throw_error)                                                                                        \
  X(napi_throw_range_error)                                                                                  \
  X(napi_throw_type_error)

#define DEFINE(name) FARPROC __imp_##name;
FUNCTIONS(DEFINE)

#define FIND(name) (__imp_##name = GetProcAddress(program, #name)) != NULL &&

/* Windows calls this when it loads the addon. Loading fails in a program that has no Node-API. */
BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, LPVOID reserved) {
  (void)self, (void)reserved;
  const HMODULE program = GetModuleHandleW(NULL);
  return reason != DLL_PROCESS_ATTACH || (FUNCTIONS(FIND) TRUE);
}
#endif
