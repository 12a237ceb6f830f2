/** Asks the configured nodes: one as long as it can be reached, and then the next. */

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

/** Time for which `askOther` does not ask an unreachable node. */
const AWAY_MS = 60_000;

export interface Subject {
  /** The thing that names the network (a file, a request key or a node), for errors. */
  readonly name: string;
  /** Null where it names no network. */
  readonly network: string | null;
}

export class OtherNetworkError extends UsageError {}

type Attempt<T> =
  | { readonly kind: 'answered'; readonly answer: T }
  /** `mayGoOn`: the node has answered nothing, so another node may be asked. */
  | { readonly kind: 'failed'; readonly error: Error; readonly mayGoOn: boolean };

export class NodesInTurn {
  readonly #settings: ApiSettings;
  readonly #warn: (text: string) => void;
  readonly #context: NodeApiContext;
  readonly #nodes: readonly ConfiguredNode[];
  readonly #apis = new Map<ConfiguredNode, Promise<NodeApi>>();
  /** Index of the node that is asked. */
  #at = 0;
  /** The first node with a known network. Nodes of other networks are not asked. */
  #first: Subject | undefined;
  readonly #clock: Clock;
  /** Times until which unreachable nodes are not asked by `askOther`, by the monotonic clock. */
  readonly #awayUntilMs = new Map<ConfiguredNode, number>();

  /** @param warn called when the next node is asked, with the reason @throws UsageError when no node is configured */
  constructor(settings: ApiSettings, warn: (text: string) => void, context: NodeApiContext = {}) {
    this.#settings = settings;
    this.#warn = warn;
    this.#context = context;
    this.#clock = context.clock ?? systemClock;
    this.#nodes = configuredNodes(settings);
    if (this.#nodes.length === 0) throw noNode(settings);
  }

  /**
   * Asks the present node, which is the first one at the beginning. If this node cannot be reached or is of another
   * network, the next node is asked instead, unless this node has already answered a part of the question.
   * @param question is asked of each node from its beginning
   * @throws the last node's error: NodeError when none can be reached, UsageError as `openNodeApi`, OtherNetworkError
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
   * Like `ask`, but a question that fails is not repeated: only the next question goes to the next node.
   * @param question gets the node's name for messages @param stop ends the requests that open the node's client
   */
  async askOne<T>(question: (api: NodeApi, name: string) => Promise<T>, stop?: AbortSignal): Promise<T> {
    const attempt = await this.#attempt(question, undefined, stop);
    if (attempt.kind === 'answered') return attempt.answer;
    throw attempt.error;
  }

  /**
   * Asks a node other than the present one, and keeps the present one. A node out of reach is skipped for a minute.
   * @param question as for `askOne`. When it returns undefined, or throws NodeError or UsageError, the next is asked
   * @returns undefined when no other node is configured, or none answers
   * @throws any other error of the question, and every error once `stop` has fired
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
        // An aborted question is not the fault of a node.
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

  /** Makes the next node the present one: only once, even if several concurrent questions find `node` unreachable. */
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
    if (api.network === '') return api; // The URL has a path that does not name the network.
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

/** @returns the settings with a network: if they name none, that of the first node that can be reached */
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
