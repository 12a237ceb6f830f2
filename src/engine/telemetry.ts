/** What a device's own sensors tell. A leaf: engines fill it in, and what listens shows it. */

/** What the system does not tell is left out. */
export interface Telemetry {
  /** Of the chip: its edge, or the mean of it. */
  readonly temperatureC?: number;
  /** Of the chip's hottest place, the junction. */
  readonly hotspotC?: number;
  readonly memoryC?: number;
  /** Of the whole card where it is measured there, else of the chip. */
  readonly powerW?: number;
  /** Of the fan's full speed. NVIDIA's can go beyond 100. */
  readonly fanPercent?: number;
  readonly fanRpm?: number;
  readonly coreMHz?: number;
  readonly memoryMHz?: number;
}
