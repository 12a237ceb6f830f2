/** The interface of a fleet's NATS connection. `nats-link.ts` implements it. */

import { pause } from '../../base/system/abort.ts';
import type { Clock } from '../../base/system/clock.ts';

/** What a member needs to prove its identity to a NATS server. */
export interface Credentials {
  /** The seed of a user's nkey (Ed25519): 58 characters that begin with `SU`. */
  readonly seed: string;
  /** The public key of the seed: 56 characters that begin with `U`. */
  readonly publicKey: string;
  /** The token (JWT) of a credentials file; undefined for a bare seed. */
  readonly token: string | undefined;
}

export interface LinkSettings {
  /**
   * URLs of the servers, as `parseNatsUrl` returns them. With a `tls://` URL, nothing is sent before the server's
   * certificate is verified.
   */
  readonly servers: readonly string[];
  /** Absent if the servers ask for no credentials. */
  readonly credentials?: Credentials | undefined;
  /** Certificates of the trusted authorities, as PEM texts; undefined for the authorities that Node.js trusts. */
  readonly authorities?: readonly string[] | undefined;
  /** The client's name, which the servers show in their logs and in their monitoring. */
  readonly name: string;
  /** First part of the subjects on which this member receives answers, without a final dot. */
  readonly inbox: string;
}

export interface LinkMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** The subject for an answer; undefined if the sender expects none. The sender can choose any subject. */
  readonly reply: string | undefined;
}

export type LinkState =
  | { readonly isConnected: true; readonly server: string }
  /** `reason` is a sentence for people. While the link is open, it keeps trying to connect. */
  | { readonly isConnected: false; readonly reason: string };

export interface Link {
  readonly state: LinkState;
  /** Calls the listener with each new state. @returns a function that removes the listener */
  onState(listener: (state: LinkState) => void): () => void;
  /**
   * Subscribes to a subject at once, and anew after each reconnection. The listener must not throw.
   * @param queue the queue group to join: only one member of the group gets each message
   * @returns a function that unsubscribes
   */
  subscribe(subject: string, listener: (message: LinkMessage) => void, queue?: string): () => void;
  /** Sends a message at once or never: it is not kept for a later connection. @returns whether the message was sent */
  publish(subject: string, data: Uint8Array): boolean;
  /** Sends a request. @returns the data of the first answer @throws LinkError, or the reason of `stop` when it fires */
  request(subject: string, data: Uint8Array, timeoutMs: number, stop: AbortSignal): Promise<Uint8Array>;
  /**
   * Ends the present connection, and connects to the next server. Called when no messages arrive. Does nothing without
   * a connection, or if the connection is younger than ten seconds.
   */
  renew(): void;
}

/**
 * - `disconnected`: there was no connection, so nothing was sent.
 * - `no-responders`: nobody has subscribed to the subject, so nobody got the request.
 * - `denied`: the server does not permit this account to use the subject, or to receive answers; or the client library
 *   has refused to send the request.
 * - `timeout`: no answer came in time, or the connection ended. Somebody may have got the request.
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

/** Waits for a connection, but at most for `timeoutMs`, or until `stop`. @returns whether there is a connection then */
export async function untilConnected(
  clock: Clock,
  link: Pick<Link, 'state' | 'onState'>,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<boolean> {
  const connected = new AbortController();
  const forget = link.onState(({ isConnected }) => isConnected && connected.abort());
  if (!link.state.isConnected) await pause(clock, timeoutMs, stop, connected.signal);
  forget();
  return link.state.isConnected;
}
