/** What a chart shows: lines over time. */

/** As many colours as colours.css has for lines; further lines use them again, dashed. */
export const COLOURS = 8;

export interface Line {
  readonly name: string;
  /** 0 for the total, devices count from 1: decides the colour. */
  readonly colour: number;
  readonly values: readonly (number | null)[];
}

export interface ChartData {
  readonly fromMs: number;
  readonly toMs: number;
  readonly timesMs: readonly number[];
  readonly lines: readonly Line[];
}
