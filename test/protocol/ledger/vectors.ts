/** Reads the vector files, with their types. */

import { readFileSync } from 'node:fs';
import { type BlockHeader, parseHeader } from '#pickaxe/protocol/ledger/header.js';
import { decodeBase64url } from '#pickaxe/protocol/ledger/json.js';

const load = (name: string) => JSON.parse(readFileSync(new URL(`./vectors/${name}`, import.meta.url), 'utf8'));

export interface HeaderVector {
  chain: number;
  height: number;
  network: string;
  versionCode: number;
  /** Base64url of the header and its block hash. */
  binary: string;
  /** The object form as text. */
  json: string;
  hash: string;
  powHash: string;
  powOk: boolean;
  featureFlags: string;
}
export const headers: HeaderVector[] = load('headers.json').headers;

export interface DifficultyVector {
  rule: string;
  header: string;
  parent: string;
  adjacents: string[];
}
const difficultyFile: { cases: DifficultyVector[]; newChain: { headers: string[] } } = load('difficulty.json');
export const difficulty = difficultyFile.cases;
/** The headers of a chain that began above height 0, in ascending order from its second block on. */
export const newChain = difficultyFile.newChain.headers;

export interface BranchVector {
  height: number;
  hash: string;
  parent: string;
  binary: string;
}
export const branches: Record<string, BranchVector[]> = load('branches.json').chains;

/** A cut as nodes write it. */
export type CutVector = Record<string, unknown> & { height: number; hashes: Record<string, { height: number }> };
const cutFile: { cuts: CutVector[]; finalCut: { cut: CutVector } } = load('cuts.json');
export const cuts: CutVector[] = [...cutFile.cuts, cutFile.finalCut.cut];

export interface PayloadVector {
  source: string;
  height?: number;
  header?: string;
  payloadWithOutputs: {
    transactions: [string, string][];
    minerData: string;
    coinbase: string;
    payloadHash: string;
  };
  expect: {
    miner: { account: string; predicate: string; 'public-keys': string[] };
    reward: number | null;
    rewardTo: string | null;
    coinbaseReqKeyDecodes: string;
  };
}
export const payloads: PayloadVector[] = load('payloads.json').payloads;

export interface SpvVector {
  proof: string;
  targetChain: number;
  steps: number;
  root: string;
  rootHeader: string | null;
  subjectReqKey: string;
}
export const proofs: SpvVector[] = load('spv.json').proofs;

export const transfer: { transferCrosschainStep0: object; continuationStep1: object } = load('transfer.json');

export const graphs: Record<'10' | '20', Record<string, number[]>> = load('graphs.json');

export const header = (binary: string): BlockHeader => parseHeader(decodeBase64url(binary));
