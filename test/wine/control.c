/*
 * Runs a command on a console of its own, and lets Windows' console report an event to it: 0 for Ctrl-C, 1 for Ctrl-Break, 2 for
 * the closing of its window. Its exit code is the command's.
 *
 *   control.exe FILE EVENT -- COMMAND     the event happens once FILE exists
 *
 * The console of Windows reports an event by starting a thread in each of its programs, at CtrlRoutine of kernel32. This program
 * does the same, because Wine 8's GenerateConsoleCtrlEvent knows only Ctrl-C, and nobody can close a window where there is none.
 */

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

enum { LOOK_MS = 20, FAILED = 99 };

static int fail(const char *what) {
  fprintf(stderr, "%s: error %lu\n", what, GetLastError());
  return FAILED;
}

int wmain(int argc, wchar_t **argv) {
  wchar_t *command = wcsstr(GetCommandLineW(), L" -- ");
  if (argc < 5 || command == NULL) return fail("usage: control.exe FILE EVENT -- COMMAND");

  // The command writes to the same files as this program, whatever the console is.
  STARTUPINFOW start = {
      .cb = sizeof start,
      .dwFlags = STARTF_USESTDHANDLES,
      .hStdInput = GetStdHandle(STD_INPUT_HANDLE),
      .hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE),
      .hStdError = GetStdHandle(STD_ERROR_HANDLE),
  };
  HANDLE streams[] = {start.hStdInput, start.hStdOutput, start.hStdError};
  for (int i = 0; i < 3; i++) SetHandleInformation(streams[i], HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
  FreeConsole();
  if (!AllocConsole()) return fail("no console");
  PROCESS_INFORMATION child;
  if (!CreateProcessW(NULL, command + 4, NULL, NULL, TRUE, 0, NULL, NULL, &start, &child)) return fail("no process");

  while (GetFileAttributesW(argv[1]) == INVALID_FILE_ATTRIBUTES) {
    if (WaitForSingleObject(child.hProcess, LOOK_MS) == WAIT_OBJECT_0) break;
  }
  FARPROC routine = GetProcAddress(GetModuleHandleA("kernel32.dll"), "CtrlRoutine");
  void *event = (void *)(UINT_PTR)_wtoi(argv[2]);
  if (!CreateRemoteThread(child.hProcess, NULL, 0, (LPTHREAD_START_ROUTINE)(void *)routine, event, 0, NULL))
    return fail("no event");

  DWORD code = FAILED;
  WaitForSingleObject(child.hProcess, INFINITE);
  GetExitCodeProcess(child.hProcess, &code);
  return (int)code;
}
