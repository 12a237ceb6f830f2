/** What a row of the table of metrics is, and how rows are made that have a value for each device or relay. */

import type { RefusalCounts } from './refusals.ts';
import type { Status } from './schemas.ts';

type Labels = Record<string, string | number>;
/** There is no sample for a value that is not known now: null. */
export type Sample = readonly [labels: Labels, value: number | null];

export interface MetricRow {
  readonly kind: 'counter' | 'gauge';
  /** Without `pickaxe_`. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  samples(status: Status, refused: RefusalCounts): Sample[];
}

export function rig(
  kind: MetricRow['kind'],
  name: string,
  help: string,
  value: (status: Status) => number | null,
): MetricRow {
  return { kind, name, help, labels: [], samples: (status) => [[{}, value(status)]] };
}

/**
 * @param label that carries the name of the item
 * @returns what makes a row with one value per item; with another label, one for each value of that label
 */
export function perNamed<Item>(label: string, itemsOf: (status: Status) => Readonly<Record<string, Item>>) {
  return (
    kind: MetricRow['kind'],
    name: string,
    help: string,
    values: (item: Item) => number | null | Record<string, number | null>,
    other?: string,
  ): MetricRow => ({
    kind,
    name,
    help,
    labels: other === undefined ? [label] : [label, other],
    samples: (status) =>
      Object.entries(itemsOf(status)).flatMap(([item, each]): Sample[] => {
        const value = values(each);
        if (other === undefined || typeof value !== 'object' || value === null)
          return [[{ [label]: item }, value as number | null]];
        return Object.entries(value).map(([key, one]) => [{ [label]: item, [other]: key }, one]);
      }),
  });
}
