/* A stand-in for NVIDIA's management library, with the functions that pickaxe calls and one card. Macros change it:
 *
 *   CARDS=n        n cards; the one at 0000:65:00.0 is the first
 *   INIT=code      nvmlInit_v2 fails
 *   MODEST         the card reports neither fan, power limit nor memory temperature
 *   ABSURD         every reading is nonsense
 *   OLD            nvmlDeviceGetFieldValues, nvmlDeviceGetFanSpeed and nvmlDeviceGetEnforcedPowerLimit do not exist
 *   ANCIENT        nvmlInit_v2 does not exist
 *   GATE           nvmlDeviceGetPowerUsage takes until stub_open_gate is called
 */

#include <string.h>
#include <unistd.h>

#ifndef CARDS
#define CARDS 1
#endif
#ifndef INIT
#define INIT 0
#endif

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9, TIMEOUT = 10 };

typedef struct {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int result;
  union {
    double d;
    unsigned u;
    unsigned long long ull;
  } value;
} FieldValue;

static int card; /* its address is the handle */
static unsigned cards = CARDS;
static int starts, stops, power_calls;
static volatile int waiting, open;

int stub_running(void) { return starts - stops; }
int stub_power_calls(void) { return power_calls; }
int stub_waiting(void) { return waiting; }
void stub_open_gate(void) { open = 1; }

const char *nvmlErrorString(int code) {
  switch (code) {
  case NOT_FOUND: return "Not Found";
  case DRIVER_NOT_LOADED: return "Driver Not Loaded";
  default: return "Unknown Error";
  }
}

#ifndef ANCIENT
int nvmlInit_v2(void) {
  if (INIT != SUCCESS) return INIT;
  starts++;
  return SUCCESS;
}
#endif

int nvmlShutdown(void) {
  stops++;
  return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
  *count = cards;
  return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  if (index >= cards) return INVALID_ARGUMENT;
  *device = &card;
  return SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
  if (cards == 0 || strcmp(bus, "0000:65:00.0") != 0) return NOT_FOUND;
  *device = &card;
  return SUCCESS;
}

static int tell(void *device, unsigned *out, unsigned value) {
  if (device != &card) return INVALID_ARGUMENT;
#ifdef ABSURD
  value = 0xffffffff;
#endif
  *out = value;
  return SUCCESS;
}

int nvmlDeviceGetTemperature(void *device, unsigned sensor, unsigned *celsius) {
  return sensor == 0 ? tell(device, celsius, 61) : INVALID_ARGUMENT;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
  power_calls++;
#ifdef GATE
  waiting = 1;
  for (int ms = 0; !open; ms++) {
    if (ms == 20000) return TIMEOUT; /* left by a test that has failed */
    usleep(1000);
  }
  waiting = 0;
#endif
  return tell(device, milliwatts, 287654);
}

#ifndef OLD
int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts) {
#ifdef MODEST
  (void)device, (void)milliwatts;
  return NOT_SUPPORTED;
#else
  return tell(device, milliwatts, 350000);
#endif
}

int nvmlDeviceGetFanSpeed(void *device, unsigned *percent) {
#ifdef MODEST
  (void)device, (void)percent;
  return NOT_SUPPORTED;
#else
  return tell(device, percent, 43);
#endif
}

int nvmlDeviceGetFieldValues(void *device, int count, FieldValue *values) {
  if (device != &card || count != 1 || values->field != 82 || values->scope != 0) return INVALID_ARGUMENT;
  values->timestamp = values->latency = -1;
#ifdef MODEST
  values->result = NOT_SUPPORTED;
  values->type = values->value.u = 77;
#elif defined ABSURD
  values->result = SUCCESS;
  values->type = 0; /* a double */
  values->value.d = 72.0;
#else
  values->result = SUCCESS;
  values->type = 1; /* an unsigned int, beside which the rest of the union is left as it was */
  values->value.ull = 0xdeadbeefdeadbeefull;
  values->value.u = 72;
#endif
  return SUCCESS;
}
#endif

int nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *mhz) {
  switch (type) {
  case 1: return tell(device, mhz, 1980);
  case 2: return tell(device, mhz, 3201);
  default: return INVALID_ARGUMENT;
  }
}
