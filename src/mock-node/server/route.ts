/** What an endpoint of the mock node is, and what it gets to answer a request. */

import type { Dialect } from '../../ledger/header.ts';
import type { CommandService } from '../contract/command-desk.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ServerSettings } from '../options.ts';
import type { CutPipeline } from '../p2p/cut-pipeline.ts';
import type { PeerClient, Peers } from '../p2p/peers.ts';
import type { Answer, Message } from './answer.ts';
import type { Endpoint, Fault, Side } from './faults.ts';

/** What both sides of a node answer from. */
export interface NodeContent {
  readonly ledger: Ledger;
  readonly commands: CommandService;
  readonly peers: Peers;
  /** Asks other nodes. */
  readonly peerClient: PeerClient;
  /** Takes the cuts that are published. */
  readonly cuts: CutPipeline;
  /** @returns the port of the service side */
  readonly servicePort: () => number;
}

/** What the endpoints need to answer. */
export interface Backend extends NodeContent {
  readonly side: Side;
  readonly settings: ServerSettings;
  readonly miningEnabled: boolean;
  readonly streams: { readonly full: boolean };
}

/** A request that a route takes. */
export interface Asked {
  readonly backend: Backend;
  /** Of a path with a chain: that chain, which exists. */
  readonly chain: number;
  /** The named parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  readonly accept: string | undefined;
  readonly dialect: Dialect;
  readonly fault: Fault | undefined;
  /** Ends when the client has gone. */
  readonly signal: AbortSignal;
}

export interface Route {
  readonly endpoint: Endpoint;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below the base URL; `chain` names the part that is a chain. */
  readonly path: RegExp;
  /** Whether the path is at the host's root instead. */
  readonly atRoot?: true;
  /** The side that serves it; both when it is not given. */
  readonly side?: 'service' | 'p2p';
  /** Whether the route is there at the moment; always when it is not given. */
  readonly when?: (backend: Backend) => boolean;
  /** The type of the request's body. Another type is refused with 415. */
  readonly takes?: string;
  /** The types of a successful answer. A client that accepts none of them is refused with 406. */
  readonly gives?: readonly string[];
  readonly answer: (asked: Asked) => Answer | Promise<Answer>;
}

export const OCTETS = 'application/octet-stream';
export const JSON_TYPE = 'application/json';

/** A part of a path that is a chain. */
export const CHAIN = '/chain/(?<chain>\\d{1,9})';

export const NO_MORE_STREAMS: Message = {
  status: 503,
  text: 'No more update streams available currently. Retry later.',
};

/** The body of a 404 that names what was not found (document 1, "Not-found body"). */
export function keyNotFound(key: string): Message {
  return { status: 404, json: { reason: 'key not found', key } };
}
