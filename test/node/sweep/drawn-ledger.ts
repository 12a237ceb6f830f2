/** A ledger that answers at random, for sweeps and payments. */

import type { Random } from '#pickaxe/mock-node/random.js';
import {
  type AccountLook,
  type Proof,
  type Sent,
  SweepFault,
  type SweepLedger,
  type Trial,
} from '#pickaxe/node/sweep/sweep-ledger.js';
import { guardOfName } from '#pickaxe/node/sweep/transfer-commands.js';
import type { Keyset } from '#pickaxe/protocol/ledger/command/coin.js';
import { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import type { CommandResult } from '#pickaxe/protocol/ledger/command/results.js';
import { ONE } from '#pickaxe/protocol/ledger/decimal.js';
import { proofs } from '../../protocol/ledger/vectors.ts';
import { written } from '../../recorded.ts';
import { drawer } from '../../variants.ts';
import { PAIR } from './world.ts';

/** The time of the newest block at first, in seconds since 1970. */
export const NOW_S = 1_700_000_000;
export const OTHER = new KeyPair('77'.repeat(32)).publicKey;
export const KEYSETS: readonly Keyset[] = [
  { keys: [PAIR.publicKey], pred: 'keys-all' },
  { keys: [PAIR.publicKey, OTHER], pred: 'keys-any' },
  { keys: [PAIR.publicKey, OTHER], pred: 'keys-all' },
  { keys: [OTHER], pred: 'keys-all' },
  { keys: [PAIR.publicKey], pred: 'keys-2' },
  { keys: [PAIR.publicKey], pred: 'own.pred' },
  { keys: ['no key'], pred: 'keys-all' },
  { keys: [], pred: 'keys-all' },
];
/** A ledger whose answers are drawn at random. */
export class DrawnLedger implements SweepLedger {
  readonly network = 'development';
  readonly asked: string[] = [];
  timeS = NOW_S;
  height = 100;
  readonly #random: Random;
  readonly #one: ReturnType<typeof drawer>;
  readonly #known = new Map<string, AccountLook['details']>();

  constructor(random: Random) {
    this.#random = random;
    this.#one = drawer(random);
  }

  async chains(): Promise<readonly number[]> {
    return this.#answer('chains', this.#one([0, 1, 2], [0, 1, 2], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
  }

  async look(chain: number, account: string): Promise<AccountLook> {
    const place = `${chain} ${account}`;
    if (!this.#known.has(place)) this.#known.set(place, this.#details(account));
    const { timeS, height } = this;
    return this.#answer(`look ${place}`, { details: this.#known.get(place), timeS, height });
  }

  async lookElsewhere(chain: number, account: string): Promise<AccountLook | undefined> {
    const own = await this.look(chain, account);
    return this.#one(undefined, own, own, { ...own, details: undefined }, { ...own, details: this.#details(account) });
  }

  #details(account: string): AccountLook['details'] {
    const one = this.#one;
    const own = guardOfName(account) ?? KEYSETS[0];
    const keyset = one(undefined, own, own, own, own, own, own, own, own, own, ...KEYSETS);
    const balance = one(0n, 2_500n * 10_000n, 2_500n * 10_000n - 1n, ONE / 2n, ONE, ONE, 5n * ONE, 5n * ONE);
    const details = { account, balance, guard: null, ...(keyset && { keyset }) };
    return one(undefined, details, details, details, details, details);
  }

  async tryOut(chain: number, { cmd, sigs }: Parameters<SweepLedger['tryOut']>[1]) {
    const fails = this.#one('no coins', 'Gas limit (30) exceeded', 'pact completed');
    const success: Trial['outcome'] = { status: 'success', data: null };
    const failure = { status: 'failure', error: { message: fails } } as unknown as Trial['outcome'];
    const outcome = this.#one(success, success, success, failure);
    const gas = this.#one(0, 1, 497, 704, 2_083, 2_084, 3_000);
    return this.#answer(`try ${chain} ${cmd} ${sigs.length}`, { outcome, gas });
  }

  async send(chain: number, { cmd }: Parameters<SweepLedger['send']>[1]) {
    const sent = this.#one<Sent>({ kind: 'taken' }, { kind: 'taken' }, { kind: 'refused', reason: 'too dear' });
    return this.#answer(`send ${chain} ${cmd}`, sent);
  }

  #result(reqKey: string): CommandResult {
    const blockHeight = this.#one(97, 98, 98, 98, 98, 99, -1);
    const success = { status: 'success', data: 1 } as const;
    const failure = { status: 'failure', error: { message: 'no coins' } } as const;
    const result = this.#one<object>(success, success, success, success, failure);
    return {
      reqKey,
      gas: this.#one(7, 500),
      result,
      metaData: this.#one({ blockHeight }, { blockHeight }, null),
    } as never;
  }

  async result(chain: number, key: string) {
    return this.#answer(
      `result ${chain} ${key}`,
      this.#one(undefined, ...Array.from({ length: 4 }, () => this.#result(key))),
    );
  }

  async search(...[chain, query, range]: Parameters<SweepLedger['search']>) {
    const one = this.#one;
    const evidence = { work: one('enough', 'too little', 'none'), nodes: one(1, 2), why: 'few hashes' } as const;
    const found = { height: 98, depth: one(0, 1, 2, 3, 9), result: this.#result(one(query.key, 'another')) };
    return this.#answer(written(['search', chain, query, range]), {
      found: one(undefined, found, found),
      evidence,
    });
  }

  async proof(chain: number, key: string, target: number) {
    const refused = { kind: 'refused', reason: 'not yet', wait: this.#one(true, false) } as const;
    const proof = { kind: 'proof', proof: this.#one('abc', proofs[0].proof, proofs[2].proof) } as const;
    return this.#answer(`proof ${chain} ${key} ${target}`, this.#one<Proof>(refused, proof));
  }

  async hasBlock(chain: number, hash: Uint8Array, from: number) {
    return this.#answer(written(['block', chain, hash, from]), this.#one(true, false));
  }

  #answer<T>(asked: string, answer: T): T {
    this.asked.push(asked);
    if (this.#random() < 0.02) throw new SweepFault('the node is away');
    return answer;
  }
}
