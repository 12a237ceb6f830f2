/** Fields and functions that the reports of `pickaxe sweep` and `pickaxe tx transfer` share. */

import { z } from 'zod';
import { oneLine } from '../../../base/text/plain-text.ts';
import type { Keyset } from '../../../protocol/ledger/command/coin.ts';

/** Maximum length, in characters, of those texts of a report that may come from a node or from another person. */
export const MOST_FOREIGN = 300;

export const ShownGuard = z.strictObject({ predicate: z.string(), keys: z.array(z.string()) });

/** Makes the texts safe to print, because the guard may come from a node and contain any text. */
export function guardReport({ keys, pred }: Keyset): z.output<typeof ShownGuard> {
  return { predicate: oneLine(pred, MOST_FOREIGN), keys: keys.map((key) => oneLine(key, MOST_FOREIGN)) };
}

export const ShownSent = z.boolean().meta({ description: 'whether this is more than a plan' });

export const GAS_FIELDS = {
  mostGasCost: z.string().optional().meta({ description: 'of a plan: the most that gas costs, in coins' }),
  warning: z
    .string()
    .optional()
    .meta({ description: 'of a plan, and of what goes on: why the gas price may be a mistake' }),
};

/** The field of a report that names the proof of the outcome. */
export const ShownProof = z.enum(['work', 'nodes', 'node']).optional().meta({
  description:
    'of what is done or failed: proven by the work of its blocks, or believed on the word of several nodes or of one; absent where an earlier version has recorded it',
});
