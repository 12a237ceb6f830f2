/**
 * Accounts for trying a contract. Anybody can compute their keys, so that scripts and tests can name them: the secret
 * key of account N is the SHA-256 hash of the text `pickaxe dev N`.
 */

import { hash } from 'node:crypto';
import { KeyPair } from '../protocol/ledger/command/command.ts';

export interface DevAccount {
  /** `k:` and the public key. */
  readonly account: string;
  /** 64 hex digits. */
  readonly publicKey: string;
  /** 64 hex digits. Anybody knows it: no real coins must ever be sent to this account. */
  readonly secretKey: string;
}

/** @returns the three accounts that have 1,000 coins on each chain of `pickaxe mock-node --dev` */
export function devAccounts(): DevAccount[] {
  return [1, 2, 3].map((number) => {
    const secretKey = hash('sha256', `pickaxe dev ${number}`);
    const { publicKey } = new KeyPair(secretKey);
    return { account: `k:${publicKey}`, publicKey, secretKey };
  });
}
