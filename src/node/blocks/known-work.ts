/**
 * Estimates how much work a block of a network takes. The sources are the table of networks, the newest block that this
 * rig has found, and the hardest block that nodes have shown. A branch of blocks with less work proves nothing.
 */

import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { renameFileSync } from '../../base/system/files.ts';
import { blockWeight } from '../../protocol/ledger/difficulty.ts';
import { type BlockHeader, checkWork, encodeHeader, parseHeader } from '../../protocol/ledger/header.ts';
import { LedgerFormatError } from '../../protocol/ledger/json.ts';
import { leastWork } from '../../protocol/ledger/least-work.ts';
import { BlockStore } from './block-log.ts';

/**
 * A block of a network must have at least the work of the newest block that this rig has found, and of the hardest
 * block that nodes have shown, each divided by this number. Real difficulties change less within months, and blocks
 * with a sixteenth of the work are still expensive to forge.
 */
const FRACTION = 16n;
const FILE_NAME = 'known-work.json';
/** Maximum number of networks in the file, far more than anybody uses. */
const MOST_NETWORKS = 100;

/** The headers of the kept blocks (see `KnownWork.see`), in base64url, by the name of the network. */
const Seen = z.record(z.string(), z.string());

interface KnownWorkOptions {
  /** The folder of the file in which the hardest blocks are kept. If undefined, they are kept in memory only. */
  readonly folder?: string | undefined;
  /** For each network, the header of the newest block that this rig has found. */
  readonly mined?: ReadonlyMap<string, BlockHeader>;
  /**
   * Whether the user trusts the nodes. If so, every block that they show replaces the kept block, even if the kept
   * block is harder.
   */
  readonly trustsNodes?: boolean;
  /** Called when the file cannot be read or written. */
  readonly warn?: (text: string) => void;
  /** Returns the least work from the table of networks. Tests replace this function. */
  readonly table?: (network: string) => bigint | undefined;
}

export class KnownWork {
  readonly #options: KnownWorkOptions;
  readonly #seen: Map<string, BlockHeader>;

  constructor(options: KnownWorkOptions = {}) {
    this.#options = options;
    this.#seen = this.#load();
  }

  /**
   * @returns the least number of hashes that a block must have taken. Undefined if no source knows the work of the
   *   network
   */
  leastWork(network: string): bigint | undefined {
    const { table = leastWork, mined } = this.#options;
    const known = [mined?.get(network), this.#seen.get(network)].flatMap((header) =>
      header ? [blockWeight(header.target) / FRACTION] : [],
    );
    const least = table(network);
    if (least !== undefined) known.push(least);
    return known.length === 0 ? undefined : known.reduce((a, b) => (a > b ? a : b));
  }

  /**
   * Keeps a block if it is harder than the kept block of the network. The first block is kept only if the work of the
   * network is known (see `leastWork`). If the user trusts the nodes, every block is kept. A genesis block (height 0)
   * is never kept.
   * @param header must have passed the check of its proof of work, so that nobody can raise the least work without
   *   doing the work of such a block
   */
  see(network: string, header: BlockHeader): void {
    const before = this.#seen.get(network);
    const isHarder = before
      ? blockWeight(header.target) > blockWeight(before.target)
      : this.leastWork(network) !== undefined;
    if (header.height === 0n || (!isHarder && !this.#options.trustsNodes)) return;
    this.#seen.set(network, header);
    this.#save();
  }

  #load(): Map<string, BlockHeader> {
    const { folder } = this.#options;
    if (folder === undefined) return new Map();
    try {
      const json = Seen.parse(JSON.parse(readFileSync(join(folder, FILE_NAME), 'utf8')));
      return new Map(Object.entries(json).map(([network, text]) => [network, headerOf(text)]));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#warn('cannot be read, and begins anew', error);
      return new Map();
    }
  }

  #save(): void {
    const { folder } = this.#options;
    if (folder === undefined) return;
    const file = join(folder, FILE_NAME);
    const unfinished = `${file}.${randomBytes(6).toString('hex')}`;
    const newest = [...this.#seen].slice(-MOST_NETWORKS);
    const json = Object.fromEntries(
      newest.map(([network, header]) => [network, Buffer.from(encodeHeader(header)).toString('base64url')]),
    );
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(unfinished, `${JSON.stringify(json, undefined, 1)}\n`, { flag: 'wx', mode: 0o600 });
      renameFileSync(unfinished, file);
    } catch (error) {
      rmSync(unfinished, { force: true });
      this.#warn('cannot be written', error);
    }
  }

  #warn(what: string, error: unknown): void {
    this.#options.warn?.(`${join(this.#options.folder ?? '', FILE_NAME)} ${what}: ${(error as Error).message}`);
  }
}

/** @throws LedgerFormatError if the header is malformed or lacks its proof of work */
function headerOf(text: string): BlockHeader {
  const header = parseHeader(Buffer.from(text, 'base64url'));
  checkWork(header);
  return header;
}

/**
 * @param folder the folder of the block log
 * @returns for each network, the header of the newest block that this rig has found. Damaged headers are left out
 */
export async function minedHeaders(
  folder: string | undefined,
  warn: (text: string) => void,
): Promise<ReadonlyMap<string, BlockHeader>> {
  const newest = new Map<string, { readonly header: BlockHeader; readonly foundMs: number }>();
  if (folder === undefined) return new Map();
  const store = new BlockStore({ folder, warn });
  try {
    await store.refresh();
    for (const { network, header: bytes, foundMs } of store.blocks) {
      if (foundMs < (newest.get(network)?.foundMs ?? 0)) continue;
      try {
        const header = parseHeader(bytes);
        checkWork(header);
        newest.set(network, { header, foundMs });
      } catch (error) {
        if (!(error instanceof LedgerFormatError)) throw error;
      }
    }
  } finally {
    await store.close();
  }
  return new Map([...newest].map(([network, { header }]) => [network, header]));
}
