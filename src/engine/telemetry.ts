/** What a device's own sensors tell. A leaf: engines fill it in, listeners show it, and public JSON has the same names. */

export const TELEMETRY_FIELDS = [
  /** Temperature of the chip: at its edge, or the mean. */
  'temperatureCelsius',
  /** Temperature of the chip's hottest place, the junction. */
  'hotspotCelsius',
  /** Temperature of the memory. */
  'memoryCelsius',
  /** Power of the whole card where it is measured there, else of the chip. */
  'powerWatts',
  /** The power that the card is allowed to draw at present. */
  'powerLimitWatts',
  /** Speed of the fan as a part of its full speed. NVIDIA's can exceed 1. */
  'fanRatio',
  'fanRpm',
  /** Clock rates of the chip's cores and of the memory. */
  'coreHertz',
  'memoryHertz',
] as const;
export type TelemetryField = (typeof TELEMETRY_FIELDS)[number];

/** A field is absent where the system does not tell it. */
export type Telemetry = { readonly [Field in TelemetryField]?: number };
