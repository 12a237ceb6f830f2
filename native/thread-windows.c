/*
 * Threads on Windows. Windows numbers CPUs in groups of at most 64, and confines a thread to CPUs of one group. Here
 * CPU 64 is the first of the second group, even if the first group has fewer than 64.
 */
#if defined(_WIN32)
#define _WIN32_WINNT 0x0A00 /* Windows 10 */
#include "thread.h"

#include <string.h>
#include <windows.h>

#define GROUP_CPUS 64

/* A fault for which Windows has no text. */
enum { SEVERAL_GROUPS = -1 };

/* Returns why the last call failed. Never returns 0 after a failure, although some calls set no error. */
static int last_fault(void) {
  const DWORD fault = GetLastError();
  return fault ? (int)fault : ERROR_GEN_FAILURE;
}

static int fault_unless(BOOL done) { return done ? 0 : last_fault(); }

/* Sets the CPUs of the calling thread to those that it may use already. */
static DWORD WINAPI try_pinning(void *unused) {
  (void)unused;
  GROUP_AFFINITY affinity;
  const HANDLE thread = GetCurrentThread();
  return (DWORD)fault_unless(GetThreadGroupAffinity(thread, &affinity) && SetThreadGroupAffinity(thread, &affinity, NULL));
}

int check_pinning(void) {
  /* A new thread is used, because a thread whose CPUs were set stays in one group. */
  const HANDLE thread = CreateThread(NULL, 0, try_pinning, NULL, 0, NULL);
  if (!thread) return last_fault();
  DWORD fault;
  const BOOL done = WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0 && GetExitCodeThread(thread, &fault);
  const int failed = fault_unless(done);
  CloseHandle(thread);
  return failed ? failed : (int)fault;
}

int pin_thread(const uint32_t *cpus, size_t count) {
  GROUP_AFFINITY affinity = {.Group = (WORD)(cpus[0] / GROUP_CPUS)};
  if (cpus[0] / GROUP_CPUS > MAXWORD) return ERROR_INVALID_PARAMETER;
  for (size_t i = 0; i < count; i++) {
    if (cpus[i] / GROUP_CPUS != affinity.Group) return SEVERAL_GROUPS;
    affinity.Mask |= (KAFFINITY)1 << cpus[i] % GROUP_CPUS;
  }
  return fault_unless(SetThreadGroupAffinity(GetCurrentThread(), &affinity, NULL));
}

/*
 * Windows slows threads down for efficiency when it takes them for unimportant. This requests full speed for the
 * thread. Windows 10 before 1709 does not know the request, and slows no thread down.
 */
static void ask_for_full_speed(HANDLE thread) {
  /* THREAD_POWER_THROTTLING_STATE: the version, what is decided here (the execution speed), and that it is not to be lowered. */
  ULONG state[] = {1, 1, 0};
  SetThreadInformation(thread, ThreadPowerThrottling, state, sizeof state);
}

int set_thread_priority(uint32_t niceness) {
  const HANDLE thread = GetCurrentThread();
  const int priority = niceness == 0   ? THREAD_PRIORITY_NORMAL
                       : niceness < 10 ? THREAD_PRIORITY_BELOW_NORMAL
                       : niceness < 19 ? THREAD_PRIORITY_LOWEST
                                       : THREAD_PRIORITY_IDLE;
  ask_for_full_speed(thread);
  return fault_unless(SetThreadPriority(thread, priority));
}

#if defined(__x86_64__)
/* When the library was loaded, on the chip's counter of cycles and on the system's clock. */
static uint64_t start_cycles;
static LARGE_INTEGER start_ticks;
__attribute__((constructor)) static void note_start(void) {
  QueryPerformanceCounter(&start_ticks);
  start_cycles = __builtin_ia32_rdtsc();
}

/*
 * Windows counts a thread's time in cycles of a counter. It does not report the counter's rate, which is constant, so
 * the rate is measured since the start. Wine does not count cycles. GetThreadTimes is no substitute: it moves in steps
 * of 10 or 15.6 ms.
 */
int read_thread_cpu_ms(double *ms) {
  ULONG64 thread_cycles;
  LARGE_INTEGER ticks, ticks_per_second;
  if (!QueryThreadCycleTime(GetCurrentThread(), &thread_cycles)) return last_fault();
  QueryPerformanceFrequency(&ticks_per_second);
  QueryPerformanceCounter(&ticks);
  const double cycles = (double)(__builtin_ia32_rdtsc() - start_cycles);
  const double elapsed_ms = 1e3 * (double)(ticks.QuadPart - start_ticks.QuadPart) / (double)ticks_per_second.QuadPart;
  *ms = (double)thread_cycles / cycles * elapsed_ms;
  return 0;
}
#else
int read_thread_cpu_ms(double *ms) {
  (void)ms;
  return ERROR_CALL_NOT_IMPLEMENTED;
}
#endif

/* The CPUs that this process was confined to, which are of one group; a mask of 0 when it may use all. */
static int read_confinement(GROUP_AFFINITY *confinement) {
  DWORD_PTR allowed, present;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &allowed, &present) ||
      !GetThreadGroupAffinity(GetCurrentThread(), confinement)) {
    return last_fault();
  }
  /* Both masks are 0 when threads of the process are in several groups. */
  confinement->Mask = allowed == present ? 0 : allowed;
  return 0;
}

static void add_core_of(const PROCESSOR_RELATIONSHIP *processor, const GROUP_AFFINITY *confinement,
                        add_core_function *add, void *context) {
  const GROUP_AFFINITY *const affinity = &processor->GroupMask[0]; /* A core belongs to one group. */
  uint32_t cpus[GROUP_CPUS];
  size_t count = 0;
  KAFFINITY mask = affinity->Mask;
  if (confinement->Mask != 0) mask &= affinity->Group == confinement->Group ? confinement->Mask : 0;
  for (uint32_t cpu = 0; cpu < GROUP_CPUS; cpu++) {
    if (mask >> cpu & 1) cpus[count++] = affinity->Group * GROUP_CPUS + cpu;
  }
  /* The byte after the flags is the class; older headers do not name it. */
  const uint32_t efficiency_class = (&processor->Flags)[1];
  if (count > 0) add(context, &(struct core){efficiency_class, cpus, count});
}

int list_cores(add_core_function *add, void *context) {
  GROUP_AFFINITY confinement;
  const int fault = read_confinement(&confinement);
  if (fault != 0) return fault;
  DWORD bytes = 0;
  GetLogicalProcessorInformationEx(RelationProcessorCore, NULL, &bytes);
  if (GetLastError() != ERROR_INSUFFICIENT_BUFFER) return last_fault();
  uint8_t *const list = HeapAlloc(GetProcessHeap(), 0, bytes);
  if (!list) return ERROR_NOT_ENOUGH_MEMORY;
  const BOOL done = GetLogicalProcessorInformationEx(RelationProcessorCore, (void *)list, &bytes);
  const int failed = fault_unless(done);
  for (DWORD at = 0; done && at < bytes;) {
    const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *const each = (const void *)(list + at);
    add_core_of(&each->Processor, &confinement, add, context);
    at += each->Size;
  }
  HeapFree(GetProcessHeap(), 0, list);
  return failed;
}

/* Copies what fits. */
static void copy_text(char *text, size_t bytes, const char *from) {
  const size_t length = strlen(from) < bytes ? strlen(from) : bytes - 1;
  memcpy(text, from, length);
  text[length] = '\0';
}

void explain_fault(int fault, char *text, size_t bytes) {
  WCHAR wide[256];
  if (fault == SEVERAL_GROUPS) {
    copy_text(text, bytes, "Windows puts CPUs into groups of 64, and confines a thread to CPUs of one group");
    return;
  }
  DWORD length = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK,
                                NULL, (DWORD)fault, 0, wide, sizeof wide / sizeof wide[0], NULL);
  /* Windows ends a sentence with a full stop and a blank. */
  while (length > 0 && (wide[length - 1] == L' ' || wide[length - 1] == L'.')) length--;
  const int written = WideCharToMultiByte(CP_UTF8, 0, wide, (int)length, text, (int)bytes - 1, NULL, NULL);
  if (written > 0) text[written] = '\0';
  else copy_text(text, bytes, "a fault that Windows has no words for");
}
#endif
