/** The readings of a device's sensors; public JSON has the same names. This file imports nothing, so that all rooms may use it. */

export const TELEMETRY_FIELDS = [
  /** The temperature of the chip in °C: at its edge, or the mean. */
  'temperatureCelsius',
  /** The temperature of the chip's hottest place, the junction, in °C. */
  'hotspotCelsius',
  /** The temperature of the memory in °C. */
  'memoryCelsius',
  /** The power in W: of the whole card if it is measured there, otherwise of the chip. */
  'powerWatts',
  /** The power that the card is allowed to draw at present. */
  'powerLimitWatts',
  /** The speed of the fan as a part of its full speed. NVIDIA's cards can report more than 1. */
  'fanRatio',
  'fanRpm',
  /** Clock rates of the chip's cores and of the memory. */
  'coreHertz',
  'memoryHertz',
] as const;
export type TelemetryField = (typeof TELEMETRY_FIELDS)[number];

/** A field is absent when the system does not report it. */
export type Telemetry = { readonly [Field in TelemetryField]?: number };
