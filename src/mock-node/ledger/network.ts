/** The networks that the mock can be, and their numbers in headers. */

import { versionCodeOf } from '../../ledger/version-codes.ts';

export const networks = ['test-singleton', 'development', 'mainnet01', 'testnet04'] as const;
export type Network = (typeof networks)[number];

/** A number for networks whose own is not known; it is made up. */
const MADE_UP_CODE = 9;

/** @returns the number in the headers of the network */
export function codeOf(network: Network): number {
  return versionCodeOf(network) ?? MADE_UP_CODE;
}
