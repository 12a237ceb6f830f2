/** Reads the vectors of commands, their results and request files, with their types. */

import { readFileSync } from 'node:fs';
import { type ExactJson, type ExactJsonObject, parseExactJson } from '#pickaxe/protocol/ledger/json.js';

const read = (name: string) => readFileSync(new URL(`./vectors/${name}`, import.meta.url), 'utf8');

export interface CommandVector {
  source: string;
  /** The keys of cmd in their order, separated by commas. */
  keyOrder: string;
  hashMatches: boolean;
  /** Null for a missing signature. */
  signaturesOk: (boolean | null)[];
  command: { cmd: string; hash: string; sigs: ({ sig: string } | null)[] };
}
export const commands: CommandVector[] = JSON.parse(read('commands.json')).commands;

export const keyOrder: { orders: string[][]; numbers: Record<string, string> } = JSON.parse(read('key-order.json'));

/** The file's JSON with exact numbers. */
export const results = parseExactJson(read('results.json')) as {
  commandResults: { source: string; result: ExactJsonObject }[];
  poll: ExactJsonObject;
  listen: ExactJsonObject;
  local: ExactJsonObject;
  send: ExactJson;
  outputs: { transferCrosschainStep0: ExactJsonObject; continuationStep1: ExactJsonObject };
};

export const requestFile = (name: string): string => read(`request-files/${name}`);

/** A request as an object, and the contract tool's command for it. */
export interface RequestPair {
  files: string;
  request: {
    code: string;
    data?: object;
    networkId?: string;
    meta?: { gasPrice: number } & Record<string, string | number>;
    signers: { public: string; caps?: { name: string; args: unknown[] }[] }[];
    nonce: string;
  };
  cmd: string;
  hash: string;
}
export const pairs: RequestPair[] = JSON.parse(requestFile('pairs.json')).pairs;

/** The published key from the documentation of the tool. */
export const ALICE = {
  public: '7d0c9ba189927df85c8c54f8b5c8acd76c1d27e923abbf25a957afdf25550804',
  secret: '2e8c91521479537221576a7c3c80c46d0fa3fc663804117f0c7011366dec35de',
};
export const BOB = {
  public: '87a4f2f179662829da6816b901ec1402b4baa30ce9d96048345aff9b346de6b7',
  secret: '0a61e065af30ce14d36e683b5394fdbf4573347a72fa44e6fcb6b42e20c64db1',
};
export const CAROL = {
  public: '1ba4d22bdcf499a8e27667b56e45222260a93806066ca5f82e79ef2f38cf8c0b',
  secret: '31f2554f16ca907073739a2441fcca4d2a54c6f773f61628c262f0f24ff776cb',
};
