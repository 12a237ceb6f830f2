/** Writes the text `cmd` of a new command, with the same bytes as the contract tool, and signs the command. */

import { LedgerFormatError } from '../json.ts';
import { amountFault } from './coin.ts';
import { type Command, hashOfCmd, type KeyPair, requestKeyOfCmd } from './command.ts';
import type { Capability, Message, Payload, PublicMeta, Signer } from './command-payload.ts';
import { jsonList, jsonObject, jsonText, numberText, scientificOfDecimal, toolJson } from './tool-json.ts';

/** Maximum time to live that nodes accept, in seconds: two days. */
export const MAX_TTL = 172_800;
/** Maximum number of signatures that nodes accept. */
export const MAX_SIGNATURES = 100;

/**
 * @returns the text `cmd`. In this text, the network id, the proof and the data can be null. A signer's scheme or
 *   address is left out if it is absent. A signer's list of capabilities is left out if it is absent or empty
 * @throws LedgerFormatError if a text is not Unicode, or if a number has an exponent of more than 9 digits
 */
export function cmdOf({ networkId, payload, signers, meta, nonce }: Payload): string {
  return jsonObject([
    ['networkId', textOrNull(networkId)],
    ['payload', messageJson(payload)],
    ['signers', jsonList(signers.map(signerJson))],
    ['meta', metaJson(meta)],
    ['nonce', jsonText(nonce)],
  ]);
}

/**
 * @param pairs the key pairs of all signers, in any order
 * @throws LedgerFormatError for a missing network id, for metadata that nodes refuse, for more than 100 signers, for a
 *   signer without a key pair, for a capability with a wrong amount (`amountFault`), and like `cmdOf`. Also for a
 *   signer without capabilities, because the signature would then be valid for everything
 */
export function buildCommand(payload: Payload, pairs: readonly KeyPair[]): Command {
  checkPayload(payload);
  const cmd = cmdOf(payload);
  const hash = hashOfCmd(cmd);
  const sigs = payload.signers.map(({ pubKey }) => {
    const pair = pairs.find(({ publicKey }) => publicKey === pubKey);
    if (!pair) throw new LedgerFormatError(`The secret key of the signer ${pubKey} is missing`);
    return { sig: pair.sign(hash) };
  });
  return { cmd, hash: requestKeyOfCmd(cmd), sigs };
}

function checkPayload({ networkId, payload, signers, meta }: Payload): void {
  if (!networkId) throw new LedgerFormatError('A command needs the id of its network');
  if (signers.length > MAX_SIGNATURES) {
    throw new LedgerFormatError(`A command has at most ${MAX_SIGNATURES} signers, but this one has ${signers.length}`);
  }
  checkMeta(meta);
  for (const { pubKey, clist } of signers) {
    if (!clist?.length)
      throw new LedgerFormatError(`The signer ${pubKey} has no capabilities, so it would sign for everything`);
    for (const capability of clist) {
      const fault = amountFault(capability, 'exec' in payload ? payload.exec.code : '');
      if (fault !== undefined) throw new LedgerFormatError(`The capability ${capability.name} of ${pubKey}: ${fault}`);
    }
  }
}

function checkMeta({ chainId, gasLimit, gasPrice, ttl, creationTime }: PublicMeta): void {
  const isWhole = (value: number, least: number, most = Number.MAX_SAFE_INTEGER) =>
    Number.isInteger(value) && value >= least && value <= most;
  const fault = (message: string) => new LedgerFormatError(`The metadata of a command: ${message}`);
  if (!/^\d{1,9}$/.test(chainId)) throw fault('chainId must be the digits of a number');
  if (!isWhole(gasLimit, 1)) throw fault('gasLimit must be a whole number of at least 1');
  if (gasPrice < 0n) throw fault('gasPrice must not be negative');
  if (!isWhole(ttl, 1, MAX_TTL)) throw fault(`ttl must be 1 to ${MAX_TTL} seconds`);
  if (!isWhole(creationTime, 0)) throw fault('creationTime must be whole seconds since 1970');
}

function messageJson(message: Message): string {
  if ('exec' in message) {
    const { data, code } = message.exec;
    return jsonObject([
      [
        'exec',
        jsonObject([
          ['data', toolJson(data)],
          ['code', jsonText(code)],
        ]),
      ],
    ]);
  }
  const { proof, data, pactId, rollback, step } = message.cont;
  const fields: [string, string][] = [
    ['proof', textOrNull(proof)],
    ['data', toolJson(data)],
    ['pactId', jsonText(pactId)],
    ['rollback', `${rollback}`],
    ['step', `${step}`],
  ];
  return jsonObject([['cont', jsonObject(fields)]]);
}

function signerJson({ addr, scheme, pubKey, clist }: Signer): string {
  return jsonObject([
    ['addr', addr === undefined ? undefined : jsonText(addr)],
    ['scheme', scheme === undefined ? undefined : jsonText(scheme)],
    ['pubKey', jsonText(pubKey)],
    ['clist', clist?.length ? jsonList(clist.map(capabilityJson)) : undefined],
  ]);
}

function capabilityJson({ args, name }: Capability): string {
  return jsonObject([
    ['args', toolJson(args)],
    ['name', jsonText(name)],
  ]);
}

function metaJson({ creationTime, ttl, gasLimit, chainId, gasPrice, sender }: PublicMeta): string {
  return jsonObject([
    ['creationTime', `${creationTime}`],
    ['ttl', `${ttl}`],
    ['gasLimit', `${gasLimit}`],
    ['chainId', jsonText(chainId)],
    ['gasPrice', numberText(scientificOfDecimal(gasPrice))],
    ['sender', jsonText(sender)],
  ]);
}

function textOrNull(text: string | null): string {
  return text === null ? 'null' : jsonText(text);
}
