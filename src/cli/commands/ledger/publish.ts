/** `pickaxe ledger put-cut` and `put-peer`: what changes the state of a node, and so of its network. */

import { readFileSync } from 'node:fs';
import { UsageError } from '../../../app/exit-codes.ts';
import type { Loaded } from '../../../config/load.ts';
import { type Cut, cutFromJson } from '../../../ledger/cut.ts';
import { LedgerFormatError } from '../../../ledger/errors.ts';
import { jsonInteger, parseExactJsonBytes } from '../../../ledger/exact-json.ts';
import { type Peer, peerFromJson } from '../../../ledger/peer.ts';
import { parseHttpAddress } from '../../../text/http-address.ts';
import { withFirstNode } from './client.ts';
import { note } from './print.ts';

/** @param file JSON of a cut that names its origin; `-` for stdin @throws UsageError for another file */
export function runPutCut(loaded: Loaded, file: string): Promise<number> {
  const cut = cutIn(file);
  note(
    'Warning: the node will try to take this cut for the state of the ledger, and will fetch its blocks from the ' +
      'origin that the cut names.',
  );
  return withFirstNode(loaded, async (api) => {
    await api.putCut(cut);
    note('The node has taken the cut to look at it. That does not say that it has accepted it.');
  });
}

/** @param address HOST:PORT @param id 43 characters; without it, an authority must have signed the peer's certificate */
export function runPutPeer(
  loaded: Loaded,
  address: string,
  { id = null, chain }: { id?: string | null; chain?: number },
): Promise<number> {
  const peer = peerAt(address, id);
  note('Warning: the node will pass this peer on to its network, which will then connect to it.');
  return withFirstNode(loaded, async (api) => {
    await (chain === undefined ? api.putPeer(peer) : api.putMempoolPeer(chain, peer));
    note('The node has reached the peer, and added it.');
  });
}

function cutIn(file: string): Cut {
  const cut = usable(`${file} is not a cut`, () =>
    cutFromJson(parseExactJsonBytes(readFileSync(file === '-' ? 0 : file))),
  );
  if (cut.origin) return cut;
  throw new UsageError(
    'The cut must name its origin, the node that has its blocks: "origin": {"id": …, "address": …}.',
  );
}

function peerAt(text: string, id: string | null): Peer {
  const address = /:\d+$/.test(text) ? parseHttpAddress(text) : undefined;
  if (!address) throw new UsageError(`${JSON.stringify(text)} is not an address: write it like 203.0.113.7:1789.`);
  const { host: hostname, port } = address;
  return usable(`${text} is not a peer`, () => peerFromJson({ id, address: { hostname, port: jsonInteger(port) } }));
}

/** @throws UsageError with the reason of a LedgerFormatError or of a file that cannot be read */
function usable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const isOfFile = error instanceof Error && 'code' in error;
    if (!(error instanceof LedgerFormatError) && !isOfFile) throw error;
    throw new UsageError(`${what}: ${error.message}.`);
  }
}
