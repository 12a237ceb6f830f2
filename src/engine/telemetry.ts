/** What a device's own sensors tell. A leaf: engines fill it in, and what listens shows it. */

export const TELEMETRY_FIELDS = [
  /** Temperature of the chip: at its edge, or the mean. */
  'temperatureC',
  /** Temperature of the chip's hottest place, the junction. */
  'hotspotC',
  /** Temperature of the memory. */
  'memoryC',
  /** Power of the whole card where it is measured there, else of the chip. */
  'powerW',
  /** The power that the card is allowed to draw at present. */
  'powerLimitWatts',
  /** Speed of the fan as a part of its full speed. NVIDIA's can exceed 100. */
  'fanPercent',
  'fanRpm',
  /** Clock of the cores. */
  'coreMHz',
  /** Clock of the memory. */
  'memoryMHz',
] as const;
export type TelemetryField = (typeof TELEMETRY_FIELDS)[number];

/** A field is absent where the system does not tell it. */
export type Telemetry = { readonly [Field in TelemetryField]?: number };
