/** The gas models, and the flags that change charges. */

import type { Dialect } from '../dialect.ts';

/** `fixed` charges the same for every operation, and `table` charges by the kind of operation. */
export type GasModel =
  | { readonly kind: 'fixed'; readonly rate: bigint }
  /** `rowsCost` is the charge for `keys`, `select` and `fold-db` before they read. */
  | { readonly kind: 'table'; readonly rowsCost: number };

/**
 * Execution flags of the native `env-exec-config`, such as `DisablePact45`. Flags that gas does not depend on are
 * ignored.
 */
export type Flags = ReadonlySet<string>;

export const NO_FLAGS: Flags = new Set();
const ROWS_COST = 40_000;
const OLD_ROWS_COST = 200;

export const FREE_OF_CHARGE: GasModel = { kind: 'fixed', rate: 0n };

/** @param flags the flags at the time when the model is chosen. Later changes have no effect on the model itself */
export function tableModel(flags: Flags = NO_FLAGS): GasModel {
  return { kind: 'table', rowsCost: flags.has('DisableInlineMemCheck') ? OLD_ROWS_COST : ROWS_COST };
}

/** @returns the name and description of a model in the interactive interpreter */
export function describeModel(model: GasModel): { readonly name: string; readonly description: string } {
  if (model.kind === 'table') return { name: 'table', description: 'table-based cost model' };
  return { name: `fixed ${model.rate}`, description: `constant rate gas model with fixed rate ${model.rate}` };
}

/**
 * The initial gas limit of the interactive interpreter. In dialect 4, the table model refuses every charge until code
 * sets a limit.
 */
export function initialGasLimit(dialect: Dialect): bigint | undefined {
  return dialect === 4 ? 0n : undefined;
}
