/** The readings of a device's sensors. This file imports nothing, so that all rooms may use it. */

export const TELEMETRY_FIELDS = [
  /** The temperature of the chip in °C: at its edge, or the mean. */
  'temperatureC',
  /** The temperature of the chip's hottest place, the junction, in °C. */
  'hotspotC',
  /** The temperature of the memory in °C. */
  'memoryC',
  /** The power in W: of the whole card if it is measured there, otherwise of the chip. */
  'powerW',
  /** The speed of the fan in percent of its full speed. NVIDIA's cards can report more than 100. */
  'fanPercent',
  'fanRpm',
  'coreMHz',
  'memoryMHz',
] as const;
export type TelemetryField = (typeof TELEMETRY_FIELDS)[number];

/** A field is absent when the system does not report it. */
export type Telemetry = { readonly [Field in TelemetryField]?: number };
