/** How gas is reckoned, and what decides about it. */

import type { Dialect } from '../dialect.ts';

/** `fixed` charges the same for every operation, and `table` what the operation takes. */
export type GasModel =
  | { readonly kind: 'fixed'; readonly rate: bigint }
  /** `rowsCost` is what `keys`, `select` and `fold-db` cost before they read. */
  | { readonly kind: 'table'; readonly rowsCost: number };

/** Execution flags, as the native `env-exec-config` names them: `DisablePact45`. Others have no effect on gas. */
export type Flags = ReadonlySet<string>;

export const NO_FLAGS: Flags = new Set();
const ROWS_COST = 40_000;
const OLD_ROWS_COST = 200;

export const FREE_OF_CHARGE: GasModel = { kind: 'fixed', rate: 0n };

/** @param flags that are set when the model is chosen. Later changes have no effect on the model itself */
export function tableModel(flags: Flags = NO_FLAGS): GasModel {
  return { kind: 'table', rowsCost: flags.has('DisableInlineMemCheck') ? OLD_ROWS_COST : ROWS_COST };
}

/** @returns how the interactive interpreter names a model and describes it */
export function describeModel(model: GasModel): { readonly name: string; readonly description: string } {
  if (model.kind === 'table') return { name: 'table', description: 'table-based cost model' };
  return { name: `fixed ${model.rate}`, description: `constant rate gas model with fixed rate ${model.rate}` };
}

/**
 * The limit with which the interactive interpreter starts. In dialect 4, the table model refuses everything until a
 * limit is set.
 */
export function initialGasLimit(dialect: Dialect): bigint | undefined {
  return dialect === 4 ? 0n : undefined;
}
