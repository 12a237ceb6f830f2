/** The coins that an output says have moved: the event TRANSFER of the module that keeps the coins. */

import { z } from 'zod';
import { type Decimal, decimalOf } from './decimal.ts';
import type { ExactJson } from './exact-json.ts';
import { checked, reading } from './fields.ts';

/** The module that keeps the coins, on the networks that are known. */
export const COIN = 'coin';

export interface Transfer {
  /** Empty when the coins are new: a block's reward, or what arrives from another chain. */
  readonly sender: string;
  /** Empty when the coins leave for another chain. */
  readonly receiver: string;
  readonly amount: Decimal;
}

const ModuleName = z.union([z.string(), z.object({ namespace: z.string().nullish(), name: z.string() })]);
const Event = z.object({ name: z.string(), module: ModuleName, params: z.custom<ExactJson>(Array.isArray) });
const Output = z.object({ events: z.array(Event).nullish() });
const Params = z.tuple([z.string(), z.string(), reading(z.custom<ExactJson>(), decimalOf)]);

/**
 * @param output the JSON of a coinbase or of a transaction's output
 * @param token the module that keeps the coins, with its namespace if it has one: `coin`
 * @returns the transfers in their order; undefined when the output has no events, as in old blocks
 * @throws LedgerFormatError when the events are not what they must be.
 */
export function transfersOf(output: ExactJson, token: string = COIN): Transfer[] | undefined {
  return checked(Output, output, 'output')
    .events?.filter(({ name, module }) => name === 'TRANSFER' && nameOf(module) === token)
    .map(({ params }) => {
      const [sender, receiver, amount] = checked(Params, params, 'TRANSFER');
      return { sender, receiver, amount };
    });
}

function nameOf(module: z.output<typeof ModuleName>): string {
  if (typeof module === 'string') return module;
  return module.namespace ? `${module.namespace}.${module.name}` : module.name;
}
