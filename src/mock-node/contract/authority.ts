/** The permissions that a command's signers have given. Its signatures must have been checked before. */

import type { Keyset } from '../../ledger/command/coin.ts';
import type { Capability, Signer } from '../../ledger/command/payload.ts';
import { type Decimal, decimalOf, formatDecimal } from '../../ledger/decimal.ts';
import { type ExactJson, LedgerFormatError } from '../../ledger/json.ts';
import { ContractError, keysetFailure, notInstalled, type Words } from './contract-error.ts';
import type { Guard } from './state.ts';

/** A capability that allows an amount. */
export interface Allowance {
  readonly name: 'coin.TRANSFER' | 'coin.TRANSFER_XCHAIN';
  /** Its arguments without the amount. */
  readonly args: readonly string[];
  readonly amount: Decimal;
}

/** Index of the amount among the arguments of both. */
const AMOUNT_AT = 2;

export class Authority {
  readonly #signers: readonly Signer[];
  readonly #words: Words;
  /** The remaining amounts of capabilities. */
  readonly #left = new Map<Capability, Decimal>();

  constructor(signers: readonly Signer[], words: Words) {
    this.#signers = signers;
    this.#words = words;
  }

  /**
   * Uses a capability: for transfers on the same chain until its amount is used up, for a transfer to another chain
   * once.
   * @returns the capability, for the check of guards
   * @throws ContractError if no signer has it, or its amount is too small
   */
  spend({ name, args, amount }: Allowance): Capability {
    const fits = (capability: Capability) =>
      capability.name === name &&
      capability.args.length === args.length + 1 &&
      capability.args.filter((_, i) => i !== AMOUNT_AT).every((arg, i) => arg === args[i]);
    const capability = this.#signers.flatMap(({ clist = [] }) => clist).find(fits);
    if (!capability) throw notInstalled(name, written({ name, args, amount }), this.#words);
    const allowed = this.#left.get(capability) ?? amountIn(capability.args[AMOUNT_AT]);
    if (allowed < amount) {
      throw new ContractError(`${name.replace('coin.', '')} exceeded for balance ${formatDecimal(allowed)}`);
    }
    this.#left.set(capability, name === 'coin.TRANSFER' ? allowed - amount : 0n);
    return capability;
  }

  /** @throws ContractError unless enough of the guard's keys have signed for the capability */
  enforce(guard: Guard, capability: Pick<Capability, 'name'>): void {
    if (guard === 'gas station') throw new ContractError('the gas station does not pay for this');
    if (!this.#satisfies(guard, capability)) throw keysetFailure(guard, this.#words);
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

/** A capability found among the signers' own is compared with its arguments; others by name only. */
function isSame(capability: Capability, asked: Pick<Capability, 'name'>): boolean {
  return 'args' in asked ? sameArgs(capability, asked as Capability) : capability.name === asked.name;
}

function sameArgs(a: Capability, b: Capability): boolean {
  return a.name === b.name && a.args.every((arg, i) => JSON.stringify(arg) === JSON.stringify(b.args[i]));
}

/** @returns the arguments as the contract language writes them */
function written({ args, amount }: Allowance): string {
  const texts = args.map((arg) => JSON.stringify(arg));
  return [...texts.slice(0, AMOUNT_AT), formatDecimal(amount), ...texts.slice(AMOUNT_AT)].join(' ');
}

function amountIn(arg: ExactJson | undefined): Decimal {
  try {
    return decimalOf(arg ?? null);
  } catch (error) {
    if (error instanceof LedgerFormatError) throw new ContractError(`The amount of a capability: ${error.message}`);
    throw error;
  }
}
