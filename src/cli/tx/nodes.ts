/** The nodes that commands of `pickaxe tx` ask: those of the settings, in order of preference. */

import { UsageError } from '../../app/exit-codes.ts';
import { nodeTrust } from '../../app/node-trust.ts';
import type { Config } from '../../config/settings.ts';
import { ApiError } from '../../node/api/api-error.ts';
import { NodeApi, type NodeApiSurroundings } from '../../node/api/node-api.ts';
import { hasPath, shownUrl } from '../../node/url.ts';
import { version } from '../../system/version.ts';
import type { Io } from './io.ts';

/** What a command is about. */
export interface Subject {
  /** Its file or its request key, for errors. */
  readonly name: string;
  /** That of the command; null where it names none. */
  readonly network: string | null;
}

export class Nodes {
  readonly #settings: Pick<Config, 'node' | 'ledger'>;
  readonly #io: Pick<Io, 'say'>;
  readonly #surroundings: NodeApiSurroundings;

  /** @param surroundings what the clients use from outside; tests use shorter pauses */
  constructor(settings: Pick<Config, 'node' | 'ledger'>, io: Pick<Io, 'say'>, surroundings: NodeApiSurroundings = {}) {
    this.#settings = settings;
    this.#io = io;
    this.#surroundings = surroundings;
  }

  /**
   * Asks the first node that can be reached.
   * @throws UsageError for settings without a node or a network, and for a node of another network than the command's.
   * ApiError when no node can be reached, and what `question` throws
   */
  async ask<T>({ name, network }: Subject, question: (api: NodeApi) => Promise<T>): Promise<T> {
    const { urls = [] } = this.#settings.node;
    if (urls.length === 0) {
      throw new UsageError('No node is configured. Name one with --node URL, or write one to a file: pickaxe init');
    }
    for (const [i, url] of urls.entries()) {
      const api = this.#open(url, network);
      if (network !== null && api.network !== network) {
        throw new UsageError(
          `${name} is for the network ${network}, but ${shownUrl(url)} is asked for ${api.network}: name a node of the ` +
            'right network, or build the command again.',
        );
      }
      try {
        return await question(api);
      } catch (error) {
        const isLast = i === urls.length - 1;
        if (isLast || !(error instanceof ApiError) || error.kind !== 'unreachable') throw error;
        this.#io.say(`warning: ${error.message} The next node is asked.`);
      } finally {
        await api.close();
      }
    }
    throw new Error('there is a last node');
  }

  #open(url: string, network: string | null): NodeApi {
    const { node, ledger } = this.#settings;
    const { dialect, commandPath } = ledger;
    const id = node.network ?? network;
    if (id === null && !hasPath(url)) {
      throw new UsageError('Name the network of the node with --network, like --network mainnet01.');
    }
    const options = {
      url,
      network: id ?? '',
      trust: nodeTrust(url, node),
      userAgent: `pickaxe/${version}`,
      dialect,
      ...(commandPath !== undefined && { commandPath }),
    };
    return new NodeApi(options, this.#surroundings);
  }
}

/**
 * Sends what a node may have taken even if its answer is lost.
 * @param hint what to do then
 * @throws what `send` throws
 */
export async function sending<T>(send: () => Promise<T>, io: Pick<Io, 'say'>, hint: string): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof ApiError && error.mayHaveBeenTaken) io.say(`The node may have taken it all the same. ${hint}`);
    throw error;
  }
}
