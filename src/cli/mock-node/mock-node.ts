import type { Command } from 'commander';
import { z } from 'zod';
import type { Loaded } from '../../app/config/load.ts';
import { EXIT, UsageError, whyNotListening } from '../../app/process/exit.ts';
import { aborted, onAbort, setLongTimeout } from '../../base/system/abort.ts';
import { systemClock } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { GenesisError } from '../../mock-node/genesis-error.ts';
import { MockNode, type MockNodeEvent } from '../../mock-node/mock-node.ts';
import { StateError } from '../../mock-node/state-error.ts';
import { makeLog } from '../../rig/terminal/log.ts';
import type { Io, Line } from '../io.ts';
import { collect, positiveInteger, settingsOf, timeOf, withSettings } from '../usage/options.ts';
import { devFunds, devText } from './dev.ts';
import { fundedAccount, readContract } from './mock-contracts.ts';
import { readStateFile, StateFile } from './state-file.ts';

/** Maximum length of a logged reason why a peer's cut was dropped, in characters. Parts of it come from that peer. */
const MAX_REASON = 200;
/** Number of characters of a request key in the log. */
const KEY_CHARACTERS = 10;
/** Time between two writes of the file of `--state`. */
const SAVE_MS = 10_000;
/** Port with `--dev`: the one that real nodes have by default. */
const DEV_PORT = 1848;

export function declare(command: Command, { io, action }: Line): void {
  withSettings(command, 'log')
    .option('--port <n>', 'port to listen on (default: a free one)', positiveInteger(65_535))
    .option(
      '--control-port <n>',
      'port of this machine to take instructions on (default: a free one)',
      positiveInteger(65_535),
    )
    .option('--network <id>', 'network: mainnet01, testnet04, development or test-singleton', 'development')
    .option('--difficulty <hashes>', 'average number of hashes for a block', positiveInteger(2 ** 53), 50_000_000)
    .option(
      '--load <file>',
      'contract code to run on every chain before the first block; may be given several times',
      collect,
    )
    .option(
      '--fund <account=amount>',
      'k: account that has coins from the start, on every chain, like k:KEY=100.0; may be given several times',
      collect,
    )
    .option(
      '--dev',
      `for trying contracts: accounts with coins whose keys are printed, --mine-on-send, and port ${DEV_PORT}`,
    )
    .option('--mine-on-send', 'put commands into a block as soon as they come')
    .option('--state <file>', 'file in which the blocks are kept, from which the next start goes on')
    .option('--options <json>', 'any options of the mock node as a JSON object, like {"rivalMs":5000,"streamMs":5000}')
    .option('--faults <json>', 'faults as a JSON array, like [{"endpoint":"work","kind":"unavailable","times":3}]')
    .option('--duration <time>', 'stop after this time: seconds, or a time like 90m or 1h30m', timeOf)
    .action(action(async (options) => runMockNode(await settingsOf(command), options, io)));
}

interface MockNodeCommand {
  readonly port?: number;
  readonly controlPort?: number;
  readonly network: string;
  readonly difficulty: number;
  readonly load?: readonly string[];
  readonly fund?: readonly string[];
  readonly dev?: true;
  readonly mineOnSend?: true;
  readonly state?: string;
  readonly options?: string;
  readonly faults?: string;
  /** Time after which the mock node ends, in seconds; absent if only the user ends it. */
  readonly duration?: number;
}

async function runMockNode({ config }: Loaded, command: MockNodeCommand, io: Io): Promise<number> {
  const log = makeLog(config.log.level, config.log.format).child({ tag: 'mock' });
  const { node, address } = await started(command, (event) => log[levelOf(event)](describe(event)));
  if (command.dev) io.out(devText(address.url));
  log.info(`mock node at ${address.url}, network ${command.network}, difficulty ${command.difficulty}`);
  log.info(
    `to mine on it: pickaxe mine --node ${address.url} --network ${command.network} --public-key ${'0'.repeat(64)}`,
  );

  if (address.p2pUrl !== undefined) log.info(`what nodes serve to each other is at ${address.p2pUrl}`);
  log.info(`to tell it what to do wrong: curl ${address.controlUrl} -d '{"do":"orphan-next"}' (docs/mock-node.md)`);

  const stop = new AbortController();
  onAbort(io.stop, () => stop.abort());
  if (command.duration !== undefined) setLongTimeout(systemClock, () => stop.abort(), command.duration * 1000);
  const file = command.state === undefined ? undefined : new StateFile(command.state, node);
  const saved = await keepingState(file, (why) => log.warn(why), stop.signal);
  await node.close();
  const { accepted, orphaned, rejected, stale } = node.ledger.stats;
  log.info(`${accepted} accepted (${orphaned} orphaned), ${rejected} rejected, ${stale} stale`);
  return saved ? EXIT.done : EXIT.failed;
}

/** Writes the file at intervals until `stop` fires, and then. @returns whether the last state is in the file, if any */
async function keepingState(file: StateFile | undefined, warn: (why: string) => void, stop: AbortSignal) {
  let last: string | undefined;
  const save = () => {
    const why = file?.write();
    if (why !== undefined && why !== last) warn(`the state is not saved: ${why}`);
    last = why;
  };
  const timer = setInterval(save, SAVE_MS);
  await aborted(stop);
  clearInterval(timer);
  save();
  return last === undefined;
}

async function started(command: MockNodeCommand, onEvent: (event: MockNodeEvent) => void) {
  try {
    const state = command.state === undefined ? undefined : readStateFile(command.state);
    const node = new MockNode(optionsOf(command) as never, { onEvent, ...(state !== undefined && { state }) });
    if (command.faults !== undefined) node.faults = parse('--faults', command.faults) as never;
    return { node, address: await node.start() };
  } catch (fault) {
    if (fault instanceof z.ZodError)
      throw new UsageError(`The mock node cannot be started with these options:\n${z.prettifyError(fault)}`);
    if (fault instanceof StateError) {
      throw new UsageError(
        `--state ${oneLine(command.state ?? '')}: ${fault.message}. To begin anew, delete the file.`,
      );
    }
    if (fault instanceof GenesisError) throw new UsageError(`The mock node cannot be started: ${fault.message}`);
    if (['listen', 'getaddrinfo'].includes((fault as NodeJS.ErrnoException).syscall ?? '')) {
      const { port = 0 } = fault as { readonly port?: number };
      throw new UsageError(`The mock node cannot listen: ${whyNotListening(fault as NodeJS.ErrnoException, port)}.`);
    }
    throw fault;
  }
}

/** Appends the contracts of `--load` and the accounts of `--fund` and `--dev` to those of `--options`. */
function optionsOf(command: MockNodeCommand) {
  const { controlPort = 0, network, difficulty, load = [], dev, options } = command;
  const { port = dev && DEV_PORT, mineOnSend = dev } = command;
  const fund = [...(dev ? devFunds() : []), ...(command.fund ?? []).map(fundedAccount)];
  const own: { contracts?: unknown; accounts?: unknown } = parse('--options', options);
  return {
    network,
    difficulty,
    controlPort,
    ...(port !== undefined && { port }),
    ...(mineOnSend && { mineOnSend }),
    ...own,
    ...(load.length > 0 && { contracts: joined(own.contracts, load.map(readContract)) }),
    ...(fund.length > 0 && { accounts: joined(own.accounts, fund) }),
  };
}

/** @returns the given list with more items. A value that is no list is returned as it is: MockNode then refuses it */
function joined(given: unknown = [], more: readonly object[]): unknown {
  return Array.isArray(given) ? [...given, ...more] : given;
}

function parse(option: string, text: string | undefined): object {
  if (text === undefined) return {};
  try {
    return (JSON.parse(text) ?? {}) as object;
  } catch {
    throw new UsageError(`${option} is not valid JSON: ${text}`);
  }
}

function levelOf(event: MockNodeEvent): 'error' | 'info' | 'debug' {
  if (event.type === 'internal fault') return 'error';
  // A network has a block every second and a half: at the usual level, they would hide the rest.
  return event.type === 'block' && event.by === 'rival' ? 'debug' : 'info';
}

function describe(event: MockNodeEvent): string {
  switch (event.type) {
    case 'work':
      return `gave work of chain ${event.chain} height ${event.height} to ${event.account}`;
    case 'submission': {
      const why = event.orphaned ? 'orphaned: the chain has advanced' : event.reason;
      return `${event.outcome} chain ${event.chain} height ${event.height} nonce ${event.nonce} ${why}`.trimEnd();
    }
    case 'command': {
      const { requestKey, chain, height, gas, outcome } = event;
      const key = requestKey.slice(0, KEY_CHARACTERS);
      return `command ${key}… on chain ${chain} height ${height}, ${gas} gas: ${oneLine(outcome, MAX_REASON)}`;
    }
    case 'block':
      return `block of a ${event.by} on chain ${event.chain} height ${event.height}`;
    case 'join':
      return event.chains.length === 0
        ? 'the cut of a peer changes nothing'
        : `took the cut of a peer on the chains ${event.chains.join(', ')}`;
    case 'cut dropped':
      return `did not take the cut of a peer: ${oneLine(event.reason, MAX_REASON)}`;
    case 'stream':
      return `stream for chain ${event.chain}, ${event.open} open`;
    case 'instructed':
      return `was told: ${event.instruction}`;
    case 'internal fault':
      return `internal error, please report it: ${event.what}`;
    case 'fault':
      return `fault ${event.kind} on ${event.endpoint}`;
  }
}
