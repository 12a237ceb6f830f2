/** The interface of a fleet's NATS connection. `nats-link.ts` implements it. */

import { pause } from '../../base/system/abort.ts';

/** A key with which a member proves its name. */
export interface Credentials {
  /** The seed of a user's nkey (Ed25519): 58 characters that begin with `SU`. */
  readonly seed: string;
  /** The public key of the seed: 56 characters that begin with `U`. */
  readonly publicKey: string;
  /** The token (JWT) of a credentials file; undefined for a bare seed. */
  readonly token: string | undefined;
}

export interface LinkSettings {
  /** URLs as `parseNatsUrl` gives them. With `tls://`, nothing is sent unless the server proves its name. */
  readonly servers: readonly string[];
  /** Absent if the servers ask for no credentials. */
  readonly credentials?: Credentials | undefined;
  /** Certificates of authorities as PEM texts; undefined for the authorities in Node.js. */
  readonly authorities?: readonly string[] | undefined;
  /** The client's name, which the servers' operator sees. */
  readonly name: string;
  /** First part of the subjects of answers to this member, without a final dot. */
  readonly inbox: string;
}

export interface LinkMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** The subject for an answer, which the sender chooses at will; undefined if no answer is expected. */
  readonly reply: string | undefined;
}

export type LinkState =
  | { readonly isConnected: true; readonly server: string }
  /** `reason` is a sentence for people. The link keeps trying to connect. */
  | { readonly isConnected: false; readonly reason: string };

export interface Link {
  readonly state: LinkState;
  /** Calls the listener with each new state. @returns a function that removes the listener */
  onState(listener: (state: LinkState) => void): () => void;
  /**
   * Subscribes now and after each reconnection. The listener must not throw.
   * @param queue the queue group to join: only one member of the group gets each message
   * @returns a function that unsubscribes
   */
  subscribe(subject: string, listener: (message: LinkMessage) => void, queue?: string): () => void;
  /** Sends a message at most once, and keeps none for later. @returns false if the message was not sent */
  publish(subject: string, data: Uint8Array): boolean;
  /** @returns the first answer's data @throws LinkError, or the reason of `stop` when it fires */
  request(subject: string, data: Uint8Array, timeoutMs: number, stop: AbortSignal): Promise<Uint8Array>;
  /**
   * Leaves the present server for the next one. Called when nothing arrives over it. Does nothing without a connection,
   * or if the connection is younger than ten seconds.
   */
  renew(): void;
}

/**
 * - `disconnected`: there was no connection, so nothing was sent.
 * - `no-responders`: nobody has subscribed to the subject, so nobody got the request.
 * - `denied`: the server does not permit this account to use the subject.
 * - `timeout`: no answer came in time, or the connection ended; somebody may have got the request.
 */
export type LinkFault = 'disconnected' | 'no-responders' | 'denied' | 'timeout';

export class LinkError extends Error {
  override readonly name = 'LinkError';
  readonly fault: LinkFault;

  constructor(fault: LinkFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }

  /** Whether somebody may have got the request. */
  get mayHaveBeenTaken(): boolean {
    return this.fault === 'timeout';
  }
}

/** Waits for a connection, but no longer than `timeoutMs` or until `stop`. @returns whether there is one */
export async function untilConnected(
  link: Pick<Link, 'state' | 'onState'>,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<boolean> {
  const connected = new AbortController();
  const forget = link.onState(({ isConnected }) => isConnected && connected.abort());
  if (!link.state.isConnected) await pause(timeoutMs, stop, connected.signal);
  forget();
  return link.state.isConnected;
}
