/*
 * Prints, one a line, the results of native/thread.h on this system: a fault unless threads may be pinned, the cores,
 * and the properties of new threads that were pinned or given a niceness. Only for Windows: elsewhere Node.js can read
 * them itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "thread.h"

static void print_fault(int fault) {
  char text[256];
  explain_fault(fault, text, sizeof text);
  printf("fault: %s\n", text);
}

static void print_core(void *context, const struct core *core) {
  (void)context;
  printf("core of class %u:", (unsigned)core->efficiency_class);
  for (size_t i = 0; i < core->count; i++) printf(" %u", (unsigned)core->cpus[i]);
  printf("\n");
}

static void pin(const char *name, const uint32_t *cpus, size_t count) {
  printf("pin to %s: ", name);
  const int fault = pin_thread(cpus, count);
  if (fault != 0) {
    print_fault(fault);
    return;
  }
  GROUP_AFFINITY affinity;
  if (!GetThreadGroupAffinity(GetCurrentThread(), &affinity)) exit(1);
  printf("group %u, mask %llx\n", affinity.Group, (unsigned long long)affinity.Mask);
}

static DWORD WINAPI pin_here(void *unused) {
  (void)unused;
  pin("0", (uint32_t[]){0}, 1);
  pin("0 and 1", (uint32_t[]){0, 1}, 2);
  pin("1", (uint32_t[]){1}, 1);
  pin("1984", (uint32_t[]){1984}, 1);
  pin("64000000", (uint32_t[]){64000000}, 1);
  pin("1 and 65", (uint32_t[]){1, 65}, 2);
  return 0;
}

static DWORD WINAPI prioritize_here(void *unused) {
  (void)unused;
  for (uint32_t niceness = 0; niceness < 20; niceness++) {
    const int fault = set_thread_priority(niceness);
    if (fault != 0) print_fault(fault);
    else printf("niceness %u: %d\n", (unsigned)niceness, GetThreadPriority(GetCurrentThread()));
  }
  return 0;
}

static void in_new_thread(LPTHREAD_START_ROUTINE run) {
  const HANDLE thread = CreateThread(NULL, 0, run, NULL, 0, NULL);
  if (!thread || WaitForSingleObject(thread, INFINITE) != WAIT_OBJECT_0) exit(1);
  CloseHandle(thread);
}

/* With the argument `first`, the process may use only the first CPU. */
int main(int count, char **arguments) {
  if (count > 1 && strcmp(arguments[1], "first") == 0 && !SetProcessAffinityMask(GetCurrentProcess(), 1)) return 1;
  const int refused = check_pinning();
  if (refused != 0) print_fault(refused);
  const int fault = list_cores(print_core, NULL);
  if (fault != 0) print_fault(fault);
  in_new_thread(pin_here);
  in_new_thread(prioritize_here);
  return 0;
}
