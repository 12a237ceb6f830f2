/** Cuts (document 1, "Cut"): one block of each chain, which together are a node's view of the ledger. Also peers. */

import { sha256 } from '@noble/hashes/sha2.js';
import { z } from 'zod';
import { integerToTarget } from '../chain/target.ts';
import { byChain, checked, hash, MAX_U64, natural, opaqueId, weight } from './fields.ts';
import { type GraphSpan, graphAt } from './graphs.ts';
import { type ExactJson, type ExactJsonObject, encodeBase64url, jsonInteger, LedgerFormatError } from './json.ts';

/* Peers (document 1, "Peer information"). */

export interface Peer {
  /**
   * The fingerprint of the peer's certificate, 43 characters, see `peerIdOf`. Null only for a certificate of an
   * authority.
   */
  readonly id: string | null;
  readonly address: {
    /** A domain name, an IPv4 address, or an IPv6 address without brackets. */
    readonly hostname: string;
    /** 1 … 65535 */
    readonly port: number;
  };
}

/** These characters need no escape in a URL. */
const Hostname = z.union([z.ipv4(), z.ipv6(), z.string().regex(/^[a-z\d_](?:[a-z\d_.-]{0,251}[a-z\d])?$/i)], {
  error: 'must be a domain name or an IP address',
});

const Port = natural(65_535n)
  .refine((port) => port > 0n, { error: 'must not be 0' })
  .transform(Number);

const PeerObject: z.ZodType<Peer> = z.object({
  id: opaqueId.nullable(),
  address: z.object({ hostname: Hostname, port: Port }),
});

/** @throws LedgerFormatError for a missing or wrong field */
export function peerFromJson(json: ExactJson): Peer {
  return checked(PeerObject, json, 'peer');
}

export function peerToJson({ id, address }: Peer): ExactJsonObject {
  return { id, address: { hostname: address.hostname, port: jsonInteger(address.port) } };
}

/** @param certificate the peer's own, in DER @returns its SHA-256, 43 characters of base64url */
export function peerIdOf(certificate: Uint8Array): string {
  return encodeBase64url(sha256(certificate));
}

export interface Head {
  readonly height: bigint;
  /** The block hash, 32 bytes. */
  readonly hash: Uint8Array;
}

export interface Cut {
  /** The node that published the cut; null in answers of a bootstrap node. */
  readonly origin: Peer | null;
  /** The sum of the heads' heights. Document 1 reserves the right to change this meaning. */
  readonly height: bigint;
  /** The sum of the heads' weights. */
  readonly weight: bigint;
  /** In ascending order of the chains. */
  readonly heads: ReadonlyMap<number, Head>;
  readonly network?: string;
  /** 43 characters. Each node chooses their meaning. */
  readonly id?: string;
}

const CutObject = z.object({
  origin: PeerObject.nullish(),
  height: natural(MAX_U64),
  weight,
  hashes: byChain(z.object({ height: natural(MAX_U64), hash })),
  instance: z.string().nullish(),
  id: opaqueId.nullish(),
});

/** @throws LedgerFormatError for a missing or wrong field, and for a cut without chains */
export function cutFromJson(json: ExactJson): Cut {
  const { origin, height, weight, hashes, instance, id } = checked(CutObject, json, 'cut');
  if (hashes.length === 0) throw new LedgerFormatError('cut.hashes: names no chain');
  return {
    origin: origin ?? null,
    height,
    weight,
    heads: new Map(hashes),
    ...(instance != null && { network: instance }),
    ...(id != null && { id }),
  };
}

export function cutToJson({ origin, height, weight, heads, network, id }: Cut): ExactJsonObject {
  const hashes = [...heads].map(([chain, head]) => {
    return [chain, { height: jsonInteger(head.height), hash: encodeBase64url(head.hash) }];
  });
  return {
    origin: origin && peerToJson(origin),
    height: jsonInteger(height),
    weight: encodeBase64url(integerToTarget(weight)),
    hashes: Object.fromEntries(hashes),
    ...(network !== undefined && { instance: network }),
    ...(id !== undefined && { id }),
  };
}

export function sumOfHeights({ heads }: Cut): bigint {
  return [...heads.values()].reduce((sum, { height }) => sum + height, 0n);
}

/**
 * @param graphs newest first; without them, only the cut's height is checked
 * @throws LedgerFormatError if the cut has other chains than the network, if a head builds on a block above the head of
 *   a neighbour, or if the cut's height is not the sum of the heads' heights
 */
export function checkCut(cut: Cut, graphs?: readonly GraphSpan[]): void {
  if (graphs) {
    checkChains(cut, graphs);
    checkHeads(cut, graphs);
  }
  const sum = sumOfHeights(cut);
  if (cut.height !== sum) throw new LedgerFormatError(`cut.height: is ${cut.height}, but the heights add up to ${sum}`);
}

/** A cut gets the chains of a new graph when the last of the old chains has reached it. */
function checkChains({ heads }: Cut, graphs: readonly GraphSpan[]): void {
  const lowest = lowestHeight(heads);
  const graph = graphAt(graphs, lowest);
  if (!graph) throw new LedgerFormatError(`cut.hashes: the network has no chains at height ${lowest}`);
  const chains = [...heads.keys()];
  if (chains.length !== graph.length || chains.some((chain, i) => chain !== i)) {
    throw new LedgerFormatError(`cut.hashes: has the chains ${chains.join(', ')}, but the network has ${graph.length}`);
  }
}

/**
 * The neighbours of a block of height h are those of the graph at h − 1. So the neighbours of a head in a graph must
 * have reached the last height of this graph below the head.
 */
function checkHeads({ heads }: Cut, graphs: readonly GraphSpan[]): void {
  for (const [chain, { height }] of heads) {
    graphs.forEach(({ fromHeight, graph }, i) => {
      const last = lower(height, graphs[i - 1]?.fromHeight ?? height) - 1n;
      if (last < fromHeight) return;
      for (const neighbour of graph[chain] ?? []) {
        const other = heads.get(neighbour);
        if (!other || other.height >= last) continue;
        throw new LedgerFormatError(
          `cut.hashes: chain ${neighbour} is at height ${other.height}, and its neighbour ${chain} at ${height}`,
        );
      }
    });
  }
}

export function lowestHeight(heads: Cut['heads']): bigint {
  return [...heads.values()].map(({ height }) => height).reduce(lower);
}

function lower(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
