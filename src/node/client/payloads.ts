/** Payloads (document 1, "Payloads"). Each payload is checked: its content must hash to the requested payload hash. */

import { z } from 'zod';
import { checked, reading } from '../../protocol/ledger/fields.ts';
import {
  type ExactJson,
  encodeBase64url,
  jsonInteger,
  LedgerFormatError,
  stringifyExactJson,
} from '../../protocol/ledger/json.ts';
import {
  type Payload,
  type PayloadWithOutputs,
  type Proven,
  payloadFromJson,
  payloadWithOutputsFromJson,
  provePayload,
} from '../../protocol/ledger/payload.ts';
import { NodeError } from '../http/node-error.ts';
import { type Asker, type Call, chainPath, json, nothing, query } from '../http/request.ts';

export interface PayloadQuery {
  /** The block's height, with which real nodes find the payload faster. */
  readonly height?: number | bigint;
  /** Whether the payload's header has just appeared. If so, a missing payload is requested again. */
  readonly isFresh?: boolean;
}

export interface PayloadPlace {
  /** The payload hash, 32 bytes. */
  readonly payloadHash: Uint8Array;
  readonly height: number | bigint;
}

interface Kind<T> {
  readonly single: (hash: string) => string;
  readonly batch: string;
  readonly read: (json: ExactJson) => T;
}

export const BARE: Kind<Payload> = {
  single: (hash) => `payload/${hash}`,
  batch: 'payload/batch',
  read: payloadFromJson,
};

export const WITH_OUTPUTS: Kind<PayloadWithOutputs> = {
  single: (hash) => `payload/${hash}/outputs`,
  batch: 'payload/outputs/batch',
  read: payloadWithOutputsFromJson,
};

/** Maximum number of payloads in one request. Real nodes ignore further ones. */
const MOST_IN_BATCH = 1000;

export class PayloadReader<T extends Payload> {
  readonly #asker: Asker;
  readonly #kind: Kind<T>;
  readonly #chain: number;

  constructor(asker: Asker, kind: Kind<T>, chain: number) {
    this.#asker = asker;
    this.#kind = kind;
    this.#chain = chain;
  }

  /**
   * @param payloadHash 32 bytes
   * @throws NodeError: for example, `not found`, with the hash as the error's `key` if the body of the 404 has it
   */
  async one(payloadHash: Uint8Array, { height, isFresh = false }: PayloadQuery, stop: AbortSignal): Promise<Proven<T>> {
    const path = this.#pathOf(payloadHash) + query({ height });
    const read = json((value) => provePayload(this.#kind.read(value), payloadHash));
    return await this.#asker.ask({ side: 'both', path, mayAppear: isFresh, isLong: true, read }, stop);
  }

  /**
   * A node leaves out payloads that it lacks or that do not fit into an answer. So the payloads that are still missing
   * are requested again, until an answer has none of them.
   * @returns the payload of each place; undefined if the node does not have it
   * @throws NodeError
   */
  async many(places: readonly PayloadPlace[], stop: AbortSignal): Promise<(Proven<T> | undefined)[]> {
    const wanted = new Map(places.map((place) => [encodeBase64url(place.payloadHash), place]));
    const found = new Map<string, Proven<T>>();
    const all = [...wanted];
    for (let from = 0; from < all.length; from += MOST_IN_BATCH) {
      let missing = all.slice(from, from + MOST_IN_BATCH);
      for (let before = -1; missing.length > 0 && found.size > before; ) {
        before = found.size;
        for (const payload of await this.#askBatch(new Map(missing), stop)) {
          found.set(encodeBase64url(payload.payloadHash), payload);
        }
        missing = missing.filter(([hash]) => !found.has(hash));
      }
    }
    return places.map(({ payloadHash }) => found.get(encodeBase64url(payloadHash)));
  }

  async #askBatch(group: ReadonlyMap<string, PayloadPlace>, stop: AbortSignal): Promise<readonly Proven<T>[]> {
    const item = reading(z.custom<ExactJson>(), (value) => {
      const payload = this.#kind.read(value);
      const hash = encodeBase64url(payload.payloadHash);
      const place = group.get(hash);
      if (!place) throw new LedgerFormatError(`the payload ${hash} was not asked for`);
      return provePayload(payload, place.payloadHash);
    });
    // Nodes pair the hashes with the heights. If one list were shorter, they would ignore the end of the other one.
    const body = stringifyExactJson({
      hashes: [...group.keys()],
      heights: [...group.values()].map(({ height }) => jsonInteger(height)),
    });
    const call: Call<readonly Proven<T>[]> = {
      side: 'service',
      method: 'POST',
      path: chainPath(this.#chain, this.#kind.batch),
      body,
      isLong: true,
      read: json((value) => checked<Proven<T>[]>(z.array(item), value, 'batch')),
    };
    try {
      return await this.#asker.ask(call, stop);
    } catch (error) {
      if (!(error instanceof NodeError) || error.kind !== 'not found') throw error;
      await this.#checkMissing(group, error, stop);
      return [];
    }
  }

  /**
   * Finds out what a 404 to a batch means. In document 1, it means that the node has none of the payloads. But nodes
   * that do not serve batches answer 404, too. So one of the payloads is requested. If the answer is a 404 that names a
   * key, the node serves payloads, and nothing is thrown.
   * @throws `error` if the answer has that payload, or if the 404 names no key; every other error of that request
   */
  async #checkMissing(group: ReadonlyMap<string, PayloadPlace>, error: NodeError, stop: AbortSignal): Promise<void> {
    const [{ payloadHash, height }] = group.values();
    const path = this.#pathOf(payloadHash) + query({ height });
    try {
      await this.#asker.ask({ side: 'service', path, isLong: true, read: nothing }, stop);
    } catch (second) {
      if (!(second instanceof NodeError) || second.kind !== 'not found') throw second;
      if (second.key !== undefined) return;
    }
    throw error;
  }

  #pathOf(payloadHash: Uint8Array): string {
    return chainPath(this.#chain, this.#kind.single(encodeBase64url(payloadHash)));
  }
}
