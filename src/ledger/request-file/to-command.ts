/** Makes commands of request files, byte for byte as the contract tool does. */

import { cmdOf } from '../command/build.ts';
import type { Command } from '../command/command.ts';
import { hashOfCmd, requestKeyOfCmd } from '../command/hash.ts';
import type { Payload, PublicMeta } from '../command/payload.ts';
import type { Request } from './parse.ts';
import { showText, timeText } from './tool-text.ts';
import type { UnsignedForm } from './unsigned-form.ts';

const NO_META: PublicMeta = { chainId: '', sender: '', gasLimit: 0, gasPrice: 0n, ttl: 0, creationTime: 0 };

/** @param now milliseconds since 1970, for what the request leaves out */
export function signedCommand(request: Request, now: number): Command {
  const cmd = cmdOf(payloadOf(request, now));
  const hash = hashOfCmd(cmd);
  return { cmd, hash: requestKeyOfCmd(cmd), sigs: request.keyPairs.map((pair) => ({ sig: pair.sign(hash) })) };
}

/** @param now milliseconds since 1970, for what the request leaves out */
export function unsignedForm(request: Request, now: number): UnsignedForm {
  const cmd = cmdOf(payloadOf(request, now));
  return { hash: requestKeyOfCmd(cmd), sigs: new Map(request.signers.map(({ pubKey }) => [pubKey, null])), cmd };
}

function payloadOf({ kind, message, signers, networkId, meta, nonce }: Request, now: number): Payload {
  const text = nonce ?? timeText(now);
  // The tool quotes the nonce of such a request once more.
  const isShown = kind === 'unsigned' && 'cont' in message;
  return {
    networkId,
    payload: message,
    signers,
    meta: meta ? { creationTime: Math.floor(now / 1000), ...meta } : NO_META,
    nonce: isShown ? showText(text) : text,
  };
}
