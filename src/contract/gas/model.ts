/** The gas models, and the flags that change the charges of a model. */

import type { Dialect } from '../dialect.ts';

/** `fixed` charges `rate` units for every operation. `table` has a charge for each kind of operation. */
export type GasModel =
  | { readonly kind: 'fixed'; readonly rate: bigint }
  /** `rowsCost` is the charge for `keys`, `select` and `fold-db` before they read a row, in units. */
  | { readonly kind: 'table'; readonly rowsCost: number };

/** The execution flags of a transaction, such as `DisablePact45`. Flags that do not change charges are ignored. */
export type Flags = ReadonlySet<string>;

export const NO_FLAGS: Flags = new Set();
/** `rowsCost` of a model without the flag `DisableInlineMemCheck`, in units. */
const ROWS_COST = 40_000;
/** `rowsCost` of a model with the flag `DisableInlineMemCheck`, in units. */
const OLD_ROWS_COST = 200;

export const FREE_OF_CHARGE: GasModel = { kind: 'fixed', rate: 0n };

/** @param flags the flags when the model is chosen. The model does not change with later flags */
export function tableModel(flags: Flags = NO_FLAGS): GasModel {
  return { kind: 'table', rowsCost: flags.has('DisableInlineMemCheck') ? OLD_ROWS_COST : ROWS_COST };
}

/** @returns the name and the description of a model, as the interactive interpreter prints them */
export function describeModel(model: GasModel): { readonly name: string; readonly description: string } {
  if (model.kind === 'table') return { name: 'table', description: 'table-based cost model' };
  return { name: `fixed ${model.rate}`, description: `constant rate gas model with fixed rate ${model.rate}` };
}

/**
 * @returns the initial gas limit of the interactive interpreter, in units; undefined for no limit. In dialect 4, the
 *   limit is 0, so the table model refuses every charge above 0 until code sets another limit
 */
export function initialGasLimit(dialect: Dialect): bigint | undefined {
  return dialect === 4 ? 0n : undefined;
}
