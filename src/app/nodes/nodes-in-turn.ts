/** Asks one of the configured nodes as long as it can be reached, and after that the next one. */

import { type Clock, systemClock } from '../../base/system/clock.ts';
import type { NodeApi, NodeApiContext } from '../../node/client/node-api.ts';
import { NodeError } from '../../node/http/node-error.ts';
import { hasPath } from '../../node/http/url.ts';
import { UsageError } from '../process/exit.ts';
import {
  type ApiSettings,
  type ConfiguredNode,
  configuredNodes,
  noNode,
  openNodeApi,
  shownNode,
} from './node-clients.ts';

/** Time for which `askOther` skips a node that could not be reached. */
const AWAY_MS = 60_000;

export interface Subject {
  /** Name of the thing that determines the network, such as a file, a request key or a node, for errors. */
  readonly name: string;
  /** Null if the thing names no network. */
  readonly network: string | null;
}

export class OtherNetworkError extends UsageError {}

type Attempt<T> =
  | { readonly kind: 'answered'; readonly answer: T }
  /**
   * `mayGoOn`: whether another node may be asked. True if this node is unreachable or belongs to another network, and
   * has not answered any part of the question.
   */
  | { readonly kind: 'failed'; readonly error: Error; readonly mayGoOn: boolean };

export class NodesInTurn {
  readonly #settings: ApiSettings;
  readonly #warn: (text: string) => void;
  readonly #context: NodeApiContext;
  readonly #nodes: readonly ConfiguredNode[];
  readonly #apis = new Map<ConfiguredNode, Promise<NodeApi>>();
  /** Index of the present node, which is asked. */
  #at = 0;
  /** The first node whose network was known. Questions whose subject names no network are for this node's network. */
  #first: Subject | undefined;
  readonly #clock: Clock;
  /** Times, by the monotonic clock, until which `askOther` skips nodes that could not be reached. */
  readonly #awayUntilMs = new Map<ConfiguredNode, number>();

  /** @param warn called with the reason when the next node is asked @throws UsageError when no node is configured */
  constructor(settings: ApiSettings, warn: (text: string) => void, context: NodeApiContext = {}) {
    this.#settings = settings;
    this.#warn = warn;
    this.#context = context;
    this.#clock = context.clock ?? systemClock;
    this.#nodes = configuredNodes(settings);
    if (this.#nodes.length === 0) throw noNode(settings);
  }

  /**
   * Asks the present node, which is at first the first one of the settings. If this node cannot be reached or is of
   * another network, the next node is asked, unless this node has already answered a part of the question.
   * @param question runs from its beginning for each node that is asked
   * @param subject determines the network that the node must have
   * @throws the error of the last node that was asked: OtherNetworkError, or an error of `openNodeApi` or of `question`
   */
  async ask<T>(question: (api: NodeApi) => Promise<T>, subject?: Subject): Promise<T> {
    for (let left = this.#nodes.length - 1; ; left--) {
      const attempt = await this.#attempt(question, subject);
      if (attempt.kind === 'answered') return attempt.answer;
      if (left === 0 || !attempt.mayGoOn) throw attempt.error;
      this.#warn(`${attempt.error.message} The next node is asked.`);
    }
  }

  /**
   * Like `ask`, but a question that fails is not asked again. If the node cannot be reached, the next question goes to
   * the next node.
   * @param question gets the node's name for messages @param stop ends the request for the node's network
   */
  async askOne<T>(question: (api: NodeApi, name: string) => Promise<T>, stop?: AbortSignal): Promise<T> {
    const attempt = await this.#attempt(question, undefined, stop);
    if (attempt.kind === 'answered') return attempt.answer;
    throw attempt.error;
  }

  /**
   * Asks another node than the present one, without making that node the present one. A node that could not be reached
   * is skipped for a minute.
   * @param question as for `askOne`. When it returns undefined, or throws NodeError or UsageError, the next node is
   *   asked
   * @returns the first answer; undefined when no other node is configured, or no other node gives an answer
   * @throws errors other than NodeError and UsageError. After `stop` has fired, throws these two as well
   */
  async askOther<T>(
    question: (api: NodeApi, name: string) => Promise<T | undefined>,
    stop?: AbortSignal,
  ): Promise<T | undefined> {
    for (let i = 1; i < this.#nodes.length; i++) {
      const node = this.#nodes[(this.#at + i) % this.#nodes.length];
      const nowMs = this.#clock.monotonicMs();
      if (nowMs < (this.#awayUntilMs.get(node) ?? nowMs)) continue;
      try {
        const answer = await question(await this.#open(node, undefined, stop), shownNode(node));
        if (answer !== undefined) return answer;
      } catch (error) {
        // After `stop`, the error does not show that the node is faulty.
        if (stop?.aborted || !(error instanceof NodeError || error instanceof UsageError)) throw error;
        if (error instanceof NodeError && error.kind === 'unreachable') this.#awayUntilMs.set(node, nowMs + AWAY_MS);
      }
    }
    return undefined;
  }

  /** Closes all connections, even those with pending requests. */
  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#apis.values());
    await Promise.all(opened.map((each) => each.status === 'fulfilled' && each.value.close()));
  }

  async #attempt<T>(
    question: (api: NodeApi, name: string) => Promise<T>,
    subject: Subject | undefined,
    stop?: AbortSignal,
  ): Promise<Attempt<T>> {
    const node = this.#nodes[this.#at];
    let api: NodeApi | undefined;
    let answersBefore: number | undefined;
    try {
      api = await this.#open(node, subject, stop);
      answersBefore = api.answers;
      return { kind: 'answered', answer: await question(api, shownNode(node)) };
    } catch (fault) {
      const error = fault as Error;
      const isOut = error instanceof OtherNetworkError || (error instanceof NodeError && error.kind === 'unreachable');
      if (isOut) this.#leave(node);
      return { kind: 'failed', error, mayGoOn: isOut && api?.answers === answersBefore };
    }
  }

  /** Makes the next node the present one, unless another question that ran at the same time has done so already. */
  #leave(node: ConfiguredNode): void {
    if (this.#nodes[this.#at] === node) this.#at = (this.#at + 1) % this.#nodes.length;
  }

  async #open(node: ConfiguredNode, subject: Subject | undefined, stop: AbortSignal | undefined): Promise<NodeApi> {
    const known = this.#apis.get(node);
    const opening = known ?? openNodeApi(node, this.#settings, this.#context, subject?.network ?? undefined, stop);
    this.#apis.set(node, opening);
    const api = await opening.catch((fault) => {
      this.#apis.delete(node);
      throw fault;
    });
    if (api.network === '') return api; // The network is not known, because the URL has a path that does not name it.
    const wanted = subject?.network != null ? subject : this.#first;
    if (wanted && wanted.network !== api.network) {
      throw new OtherNetworkError(
        `${wanted.name} is for the network ${wanted.network}, but ${shownNode(node)} is asked for ${api.network}: name a ` +
          'node of the right network.',
      );
    }
    this.#first ??= { name: shownNode(node), network: api.network };
    return api;
  }
}

/**
 * @returns the settings as they are if they name a network, or if all URLs have paths. Otherwise, the settings with the
 *   network of the first node that can be reached
 */
export async function withNetwork<T extends ApiSettings>(settings: T, warn: (text: string) => void): Promise<T> {
  const { node } = settings;
  if (node.network !== undefined || node.urls?.every(hasPath)) return settings;
  const nodes = new NodesInTurn(settings, warn);
  try {
    const network = await nodes.ask(async (api) => api.network);
    return { ...settings, node: { ...node, network } };
  } finally {
    await nodes.close();
  }
}
