/** What the signers of a command have allowed. Its signatures must have been checked before. */

import type { Keyset } from '../../ledger/command/coin.ts';
import type { Capability, Signer } from '../../ledger/command/payload.ts';
import { type Decimal, decimalOf } from '../../ledger/decimal.ts';
import { LedgerFormatError } from '../../ledger/errors.ts';
import type { ExactJson } from '../../ledger/exact-json.ts';
import { ContractError } from './contract-error.ts';
import type { Guard } from './state.ts';

export class Authority {
  readonly #signers: readonly Signer[];
  /** What is left of the amounts that capabilities allow. */
  readonly #left = new Map<Capability, Decimal>();

  constructor(signers: readonly Signer[]) {
    this.#signers = signers;
  }

  /**
   * Uses a capability that allows an amount, such as `coin.TRANSFER`.
   * @param args its arguments but for the amount
   * @param at where among its arguments the amount is
   * @returns the capability, with which guards can be checked
   * @throws ContractError when no signer has it, or nothing is left of it.
   */
  spend(name: string, args: readonly string[], at: number, amount: Decimal): Capability {
    const fits = (capability: Capability) =>
      capability.name === name && withoutItem(capability.args, at).every((arg, i) => arg === args[i]);
    const capability = this.#signers.flatMap(({ clist = [] }) => clist).find(fits);
    if (!capability) throw new ContractError(`Managed capability not installed: (${name} ${args.join(' ')})`);
    const left = (this.#left.get(capability) ?? amountIn(capability.args[at])) - amount;
    if (left < 0n) throw new ContractError(`TRANSFER exceeded for balance ${amountIn(capability.args[at])}`);
    this.#left.set(capability, left);
    return capability;
  }

  /** @throws ContractError unless enough of the guard's keys have signed for the capability. */
  enforce(guard: Guard, capability: Pick<Capability, 'name'>): void {
    if (guard === 'gas station' || !this.#satisfies(guard, capability)) {
      throw new ContractError(`Keyset failure (${guard === 'gas station' ? guard : guard.pred}): [...]`);
    }
  }

  #satisfies({ keys, pred }: Keyset, capability: Pick<Capability, 'name'>): boolean {
    const signed = keys.filter((key) =>
      this.#signers.some(({ pubKey, clist = [] }) => {
        return pubKey === key && (clist.length === 0 || clist.some((each) => isSame(each, capability)));
      }),
    ).length;
    const needed = { 'keys-all': keys.length, 'keys-any': 1, 'keys-2': 2 }[pred];
    return needed !== undefined && signed >= needed;
  }
}

/** A capability that was found among the signers' own is the very same one; others are known by their names. */
function isSame(capability: Capability, asked: Pick<Capability, 'name'>): boolean {
  return 'args' in asked ? sameArgs(capability, asked as Capability) : capability.name === asked.name;
}

function sameArgs(a: Capability, b: Capability): boolean {
  return a.name === b.name && a.args.every((arg, i) => JSON.stringify(arg) === JSON.stringify(b.args[i]));
}

function withoutItem(args: readonly ExactJson[], at: number): readonly ExactJson[] {
  return args.filter((_, i) => i !== at);
}

function amountIn(arg: ExactJson | undefined): Decimal {
  try {
    return decimalOf(arg ?? null);
  } catch (error) {
    if (error instanceof LedgerFormatError) throw new ContractError(`The amount of a capability: ${error.message}`);
    throw error;
  }
}
