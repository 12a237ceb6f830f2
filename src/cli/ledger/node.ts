/**
 * `pickaxe ledger cut`, `peers`, `config` and `info` print what a node reports. `put-cut` and `put-peer` change the
 * node's state.
 */

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Loaded } from '../../app/config/load.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { parseHttpAddress } from '../../base/text/addresses.ts';
import type { Block } from '../../node/client/blocks.ts';
import { type PeersQuery, urlOfPeer } from '../../node/client/info.ts';
import type { NodeApi } from '../../node/client/node-api.ts';
import { equalBytes } from '../../protocol/chain/bytes.ts';
import { integerToTarget } from '../../protocol/chain/target.ts';
import {
  type Cut,
  checkCut,
  cutFromJson,
  cutToJson,
  type Head,
  type Peer,
  peerFromJson,
  peerToJson,
  sumOfHeights,
} from '../../protocol/ledger/cut.ts';
import { cutWeight } from '../../protocol/ledger/difficulty.ts';
import { blockHash } from '../../protocol/ledger/header.ts';
import {
  encodeBase64url,
  jsonInteger,
  LedgerFormatError,
  parseExactJsonBytes,
  stringifyExactJson,
} from '../../protocol/ledger/json.ts';
import type { Io, Line } from '../io.ts';
import { chainNumber, settingsOf, wholeNumber, withSettings } from '../usage/options.ts';
import { BlockChecks } from './check-blocks.ts';
import {
  Progress,
  peerLine,
  printJson,
  printTable,
  RARE,
  reading,
  safe,
  withFirstNode,
  withNode,
  withNodes,
} from './ledger-client.ts';

export function declareNodeCommands(ledger: Command, { io, action }: Line): void {
  reading(ledger, 'cut', 'print the newest block of each chain')
    .option('--max-height <n>', 'a cut of at most this height, which is the sum of its blocks’ heights', wholeNumber)
    .option('--verify', 'prove each block, and that the blocks belong together', false)
    .action(action(async (options, command) => runCut(await settingsOf(command), options, io)));

  reading(ledger, 'peers', 'list the peers that the node knows')
    .option('--chain <n>', 'list the peers of this chain’s mempool instead', chainNumber)
    .action(action(async (options, command) => runPeers(await settingsOf(command), options, io)));

  reading(ledger, 'config', 'print the configuration that the node reports').action(
    action(async (options, command) => runConfig(await settingsOf(command), options, io)),
  );

  reading(ledger, 'info', 'print the network, the chains and the version of the node').action(
    action(async (options, command) => runInfo(await settingsOf(command), options, io)),
  );

  withSettings(ledger.command('put-cut', RARE), 'node', 'ledger')
    .description('publish a cut: the node will try to take it for the state of the ledger')
    .argument('<file>', 'JSON of a cut that names its origin; - for stdin')
    .action(action(async (file, _, command) => runPutCut(await settingsOf(command), file, io)));

  withSettings(ledger.command('put-peer', RARE), 'node', 'ledger')
    .description('add a peer to those that the node knows and tells others about')
    .argument('<address>', 'HOST:PORT of the peer’s P2P port')
    .option('--id <id>', 'fingerprint of its certificate, 43 characters; not needed if an authority has signed it')
    .option('--chain <n>', 'add it to the peers of this chain’s mempool instead', chainNumber)
    .action(action(async (address, options, command) => runPutPeer(await settingsOf(command), address, options, io)));
}

interface CutOptions {
  readonly json: boolean;
  readonly maxHeight?: number;
  readonly verify: boolean;
}

function runCut(loaded: Loaded, { json, verify, ...query }: CutOptions, io: Io): Promise<number> {
  return withNodes(loaded, io, async (nodes) => {
    const { cut, isRight } = await nodes.ask(async (api) => {
      const cut = await api.cut(query);
      return { cut, isRight: !verify || (await verifyCut(api, cut, io)) };
    });
    printCut(cut, json, io);
    return isRight ? EXIT.done : EXIT.failed;
  });
}

function printCut(cut: Cut, isJson: boolean, io: Io): void {
  if (isJson) {
    printJson(io, cutToJson(cut));
    return;
  }
  for (const [chain, { height, hash }] of cut.heads) {
    io.out(`${`${chain}`.padStart(3)}  ${`${height}`.padStart(10)}  ${encodeBase64url(hash)}\n`);
  }
  const sum = sumOfHeights(cut);
  printTable(io, [
    ['height', cut.height === sum ? `${sum}` : `${cut.height}, but the heights of its chains add up to ${sum}`],
    ['weight', encodeBase64url(integerToTarget(cut.weight))],
    ['network', cut.network === undefined ? 'not said' : safe(cut.network)],
    ['id', cut.id ?? 'none'],
    ['origin', cut.origin ? urlOfPeer(cut.origin) : 'none'],
  ]);
}

/**
 * @returns whether all checks of the heads have succeeded
 * @throws LedgerFormatError when the heads do not belong together, when the node does not answer with the block of each
 *   head, or when the cut's weight is wrong
 */
async function verifyCut(api: NodeApi, cut: Cut, io: Io): Promise<boolean> {
  const checks = new BlockChecks(api, io.say);
  checkCut(cut, await checks.graphs.ofCut(cut));
  const progress = new Progress(io);
  const headers = [];
  for (const [chain, head] of cut.heads) {
    const block = await blockOf(api, chain, head);
    await checks.check(block);
    headers.push(block.header);
    progress.show(() => `${headers.length} of ${cut.heads.size} heads checked`);
  }
  const weight = cutWeight(headers);
  if (weight !== cut.weight) throw new LedgerFormatError(`cut.weight: the heads weigh ${weight}, not ${cut.weight}`);
  return checks.finish('head', ['heights']);
}

/** @throws LedgerFormatError unless the node answers with the head's block, and only with that block */
async function blockOf(api: NodeApi, chain: number, { height, hash }: Head): Promise<Block> {
  const range = { minHeight: height, maxHeight: height };
  let found: Block | undefined;
  for await (const block of api.blockBranch(chain, { upper: [hash] }, range)) {
    const answered = blockHash(block.header);
    if (!equalBytes(answered, hash)) {
      throw new LedgerFormatError(`cut.hashes.${chain}: the node answers with the block ${encodeBase64url(answered)}`);
    }
    if (found) throw new LedgerFormatError(`cut.hashes.${chain}: the node answers with the block more than once`);
    found = block;
  }
  if (found) return found;
  throw new LedgerFormatError(`cut.hashes.${chain}: the node does not have the block of height ${height}`);
}

/** @param chain the chain whose mempool's peers are listed; absent for the peers of the node */
function runPeers(loaded: Loaded, { json, chain }: { json: boolean; chain?: number }, io: Io): Promise<number> {
  return withNode(loaded, io, async (api) => {
    const progress = new Progress(io);
    let count = 0;
    let areLeftOut = false;
    const query: PeersQuery = {
      onLeftOut: ({ message }) => {
        areLeftOut = true;
        io.say(`warning: ${message}`);
      },
    };
    for await (const peer of chain === undefined ? api.peers(query) : api.mempoolPeers(chain, query)) {
      if (json) printJson(io, peerToJson(peer));
      else io.out(`${peerLine(peer)}\n`);
      count += 1;
      progress.show(() => `${count} peers so far`);
    }
    if (count === 0 && !areLeftOut) io.say('The node knows no peers.');
  });
}

function runConfig(loaded: Loaded, { json }: { json: boolean }, io: Io): Promise<number> {
  return withNode(loaded, io, async (api) => {
    const report = await api.config();
    if (json) return printJson(io, report);
    printTable(
      io,
      Object.entries(report).map(([key, value]) => [safe(key), safe(stringifyExactJson(value))]),
    );
  });
}

function runInfo(loaded: Loaded, { json }: { json: boolean }, io: Io): Promise<number> {
  return withNode(loaded, io, async (api) => {
    const { network, apiVersion, chains, graphs } = await api.info();
    if (json) {
      return printJson(io, {
        network,
        apiVersion,
        ...(api.nodeVersion !== undefined && { version: api.nodeVersion }),
        chains: chains.map(jsonInteger),
        graphs: graphs.map(({ fromHeight, graph }) => ({
          fromHeight: jsonInteger(fromHeight),
          neighbours: graph.map((each) => each.map(jsonInteger)),
        })),
      });
    }
    printTable(io, [
      ['network', safe(network)],
      ['chains', `${chains.length}`],
      ['API version', safe(apiVersion)],
      ['software', api.nodeVersion ?? 'not said'],
      ...graphs.map(
        ({ fromHeight, graph }) => ['graph', `of ${graph.length} chains from height ${fromHeight} on`] as const,
      ),
    ]);
  });
}

/* `put-cut` and `put-peer` change the state of a node, and so the state of the node's network. */

/** @param file JSON of a cut; `-` for stdin @throws UsageError unless the file has a cut that names its origin */
function runPutCut(loaded: Loaded, file: string, io: Io): Promise<number> {
  const cut = cutIn(file);
  io.say(
    'Warning: the node will try to take this cut for the state of the ledger, and will fetch its blocks from the ' +
      'origin that the cut names.',
  );
  return withFirstNode(loaded, io, async (api) => {
    await api.putCut(cut);
    io.say('The node has taken the cut to look at it. That does not say that it has accepted it.');
  });
}

/** @param id the fingerprint of the peer's certificate; absent if an authority has signed the certificate */
function runPutPeer(
  loaded: Loaded,
  address: string,
  { id = null, chain }: { id?: string | null; chain?: number },
  io: Io,
): Promise<number> {
  const peer = peerAt(address, id);
  io.say('Warning: the node will pass this peer on to its network, which will then connect to it.');
  return withFirstNode(loaded, io, async (api) => {
    await (chain === undefined ? api.putPeer(peer) : api.putMempoolPeer(chain, peer));
    io.say('The node has reached the peer, and added it.');
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

/** @throws UsageError, whose message begins with `what`, for a LedgerFormatError or a file that cannot be read */
function usable<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const isOfFile = error instanceof Error && 'code' in error;
    if (!(error instanceof LedgerFormatError) && !isOfFile) throw error;
    throw new UsageError(`${what}: ${error.message}.`);
  }
}
