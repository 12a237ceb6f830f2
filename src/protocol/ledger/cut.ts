/** Peers, and cuts (document 1, "Cut"). A cut has one block of each chain. It describes a node's view of the ledger. */

import { sha256 } from '@noble/hashes/sha2.js';
import { z } from 'zod';
import { integerToTarget } from '../chain/target.ts';
import { byChain, checked, hash, MAX_U64, natural, opaqueId, weight } from './fields.ts';
import { type GraphSpan, graphAt } from './graphs.ts';
import { type ExactJson, type ExactJsonObject, encodeBase64url, jsonInteger, LedgerFormatError } from './json.ts';

/* Peers (document 1, "Peer information"). */

export interface Peer {
  /**
   * The fingerprint of the peer's certificate, 43 characters: see `peerIdOf`. Null only if the certificate was issued
   * by an authority, or if the peer has no certificate.
   */
  readonly id: string | null;
  readonly address: {
    /** A domain name, an IPv4 address, or an IPv6 address without brackets. */
    readonly hostname: string;
    /** Number of the port: 1 … 65,535. */
    readonly port: number;
  };
}

/** A host name. None of the permitted characters needs an escape in a URL. */
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

/** @param certificate the peer's certificate, in DER @returns its SHA-256 hash: 43 characters of base64url */
export function peerIdOf(certificate: Uint8Array): string {
  return encodeBase64url(sha256(certificate));
}

export interface Head {
  readonly height: bigint;
  /** The block hash of the chain's newest block, 32 bytes. */
  readonly hash: Uint8Array;
}

export interface Cut {
  /** The node that published the cut; null in answers of a bootstrap node. */
  readonly origin: Peer | null;
  /** The sum of the heads' heights. According to document 1, this meaning may change. */
  readonly height: bigint;
  /** The sum of the heads' weights. */
  readonly weight: bigint;
  /** The head of each chain, in ascending order of chains. */
  readonly heads: ReadonlyMap<number, Head>;
  readonly network?: string;
  /** An id of the cut, 43 characters of base64url. Nodes make this id in different ways. */
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
 * @param graphs the network's graphs, newest first. If they are absent, only the cut's height is checked
 * @throws LedgerFormatError if the chains of the cut are not those of the network, if the heights of two heads on
 *   neighbouring chains cannot belong together (see `checkHeads`), or if the cut's height is not the sum of the heads'
 *   heights
 */
export function checkCut(cut: Cut, graphs?: readonly GraphSpan[]): void {
  if (graphs) {
    checkChains(cut, graphs);
    checkHeads(cut, graphs);
  }
  const sum = sumOfHeights(cut);
  if (cut.height !== sum) throw new LedgerFormatError(`cut.height: is ${cut.height}, but the heights add up to ${sum}`);
}

/** A cut has the chains of a new graph as soon as the cut's lowest head has reached the graph's first height. */
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
 * A block of height h has its parents on the chains that are neighbours in the graph at h − 1. So if a head has height
 * h, the heads of its chain's neighbours are at h − 1 or higher. The heads of chains that were neighbours only in an
 * older graph have at least the last height of that graph.
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
