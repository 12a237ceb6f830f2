/**
 * The control server accepts POST requests whose body is an instruction in JSON, or a list of instructions. It has a
 * port of its own, so that faults do not affect it.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { LONGEST_TIMER_MS } from '../base/system/clock.ts';
import { opaqueId } from '../protocol/ledger/fields.ts';
import { RefusedError } from './commands/command-checks.ts';
import type { CommandService } from './commands/command-service.ts';
import type { Ledger } from './ledger/ledger.ts';
import { type FaultInput, faultsSchema } from './server/faults.ts';
import { readBody } from './server/route.ts';
import type { MockServer } from './server/server.ts';

const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 262_144;
const MAX_INSTRUCTIONS = 100;

export interface ControlEvent {
  readonly type: 'instructed';
  readonly instruction: string;
}

interface Answer {
  readonly status: number;
  readonly json: unknown;
}

export class ControlServer {
  readonly #node: Instructed;
  readonly #port: number;
  readonly #emit: (event: ControlEvent) => void;
  readonly #http: Server;

  /** @param port 0 means any free port */
  constructor(node: Instructed, port: number, emit: (event: ControlEvent) => void) {
    this.#node = node;
    this.#port = port;
    this.#emit = emit;
    this.#http = createServer((request, response) => {
      request.on('error', () => {});
      response.on('error', () => {});
      this.#answer(request).then(
        (answer) => send(response, answer),
        (error) => send(response, { status: 500, json: { error: `the mock node failed: ${error}` } }),
      );
    });
  }

  /** @returns `http://127.0.0.1:port` @throws Error if the port is in use */
  async listen(): Promise<string> {
    this.#http.listen(this.#port, HOST);
    await once(this.#http, 'listening');
    return `http://${HOST}:${(this.#http.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    if (!this.#http.listening) return;
    const closed = once(this.#http, 'close');
    this.#http.close();
    this.#http.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    // Browsers send the header `origin` with the requests of web pages, and no web page may control the node.
    if (request.headers.origin !== undefined) return refusal(403, 'web pages may not tell the mock node what to do');
    if (request.method !== 'POST') return refusal(405, 'send an instruction: POST {"do": …}');
    const body = await readBody(request, MAX_BODY_BYTES);
    if (!body) return refusal(413, `more than ${MAX_BODY_BYTES} bytes`);
    let json: unknown;
    try {
      json = JSON.parse(body.toString());
    } catch (error) {
      return refusal(400, `an instruction is JSON: ${(error as Error).message}`);
    }
    try {
      return { status: 200, json: await this.#carryOut(json) };
    } catch (error) {
      if (error instanceof InstructionError) return refusal(400, error.message);
      throw error;
    }
  }

  /** Executes one instruction, or the instructions of a list in order until one fails. */
  async #carryOut(json: unknown): Promise<unknown> {
    if (!Array.isArray(json)) return await this.#carryOutOne(json);
    if (json.length > MAX_INSTRUCTIONS) throw new InstructionError(`at most ${MAX_INSTRUCTIONS} instructions at once`);
    const results: object[] = [];
    for (const each of json) results.push(await this.#carryOutOne(each));
    return results;
  }

  async #carryOutOne(json: unknown): Promise<object> {
    const { instruction, result } = await carryOut(this.#node, json);
    this.#emit({ type: 'instructed', instruction });
    return result;
  }
}

function refusal(status: number, error: string): Answer {
  return { status, json: { error } };
}

function send(response: ServerResponse, { status, json }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(json)}\n`);
}

/* The instructions: faults of the mock node, and events on its network. */

interface Instructed {
  readonly ledger: Ledger;
  readonly commands: CommandService;
  readonly server: MockServer;
  set faults(script: readonly FaultInput[]);
  goAwayFor(ms: number): Promise<void>;
}

class InstructionError extends Error {
  override readonly name = 'InstructionError';
}

type Instruction = (node: Instructed, json: unknown) => Promise<object>;

const MOST_BLOCKS = 1000;

const chain = z.number().int().min(0);
const nothing = z.strictObject({});

const INSTRUCTIONS: Readonly<Record<string, Instruction>> = {
  /** Replaces the script of faults; an empty list ends all faults. */
  faults: instruction(z.strictObject({ faults: faultsSchema }), (node, { faults }) => {
    node.faults = faults;
  }),
  /** Makes an orphan of the next block that a miner finds, as soon as `depth` blocks of its chain are above it. */
  'orphan-next': instruction(
    z.strictObject({ depth: z.number().int().min(0).max(100).default(0) }),
    ({ ledger }, { depth }) => ledger.orphanNext(depth),
  ),
  /** Replaces a canonical block, and all blocks that build on it (also on other chains), by other miners' blocks. */
  orphan: instruction(z.strictObject({ chain, hash: opaqueId }), ({ ledger }, { chain, hash }) => {
    const block = ledger.chains.graph[chain] && ledger.chains.blocksOf(chain).get(hash);
    if (!block || !ledger.chains.isCanonical(chain, hash)) {
      throw new InstructionError(`chain ${chain} has no such block that is not an orphan yet`);
    }
    ledger.reorganise(block);
  }),
  /**
   * Adds `blocks` blocks of other miners to the given chain. If no chain is given, adds each block to a random chain.
   */
  advance: instruction(
    z.strictObject({ chain: chain.optional(), blocks: z.number().int().min(1).max(MOST_BLOCKS).default(1) }),
    ({ ledger }, { chain, blocks }) => {
      if (chain !== undefined) checkChain(ledger, chain);
      for (let i = 0; i < blocks; i++) ledger.advance(chain);
    },
  ),
  /** Suspends the regular blocks of other miners (`rivalMs`). */
  'stand-still': instruction(nothing, ({ ledger }) => {
    ledger.standsStill = true;
  }),
  /** Resumes the regular blocks of other miners. */
  'go-on': instruction(nothing, ({ ledger }) => {
    ledger.standsStill = false;
  }),
  /** Keeps a command out of all new blocks. While no block contains the command, its result is a failure. */
  badlist: instruction(z.strictObject({ requestKey: opaqueId }), ({ commands }, { requestKey }) => {
    commands.badlist(requestKey);
  }),
  /**
   * Sends the second step of a transfer between chains, and adds the necessary blocks. The answer contains the request
   * key of the second step.
   */
  'finish-transfer': instruction(
    z.strictObject({ chain, requestKey: opaqueId }),
    ({ ledger, commands }, { chain, requestKey }) => {
      checkChain(ledger, chain);
      return { requestKey: commands.finishTransfer(chain, requestKey) };
    },
  ),
  /** Sets the average number of hashes for a solution. */
  difficulty: instruction(z.strictObject({ hashes: z.number().min(1) }), ({ ledger }, { hashes }) => {
    if (ledger.settings.retargets) throw new InstructionError('with the option retargets, the ledger sets the targets');
    ledger.difficulty = hashes;
  }),
  /** Sets the time by which the node's clock is ahead of the real time. */
  'clock-skew': instruction(
    z.strictObject({ ms: z.number().int().min(-LONGEST_TIMER_MS).max(LONGEST_TIMER_MS) }),
    ({ ledger }, { ms }) => {
      ledger.clockSkewMs = ms;
    },
  ),
  /** Enables or disables the endpoints for mining. */
  mining: instruction(z.strictObject({ enabled: z.boolean() }), ({ server }, { enabled }) => {
    server.miningEnabled = enabled;
  }),
  /**
   * Ends the open streams (`end`), stops their events until they end as usual (`silence`), or stops their events and
   * never ends them (`lose`).
   */
  streams: instruction(z.strictObject({ what: z.enum(['end', 'silence', 'lose']) }), ({ server }, { what }) => {
    if (what === 'end') server.streams.endAll();
    else if (what === 'silence') server.streams.silenceAll();
    else server.streams.loseAll();
  }),
  /**
   * Closes all connections to the service side and the P2P side of the node, and refuses new ones for `ms`
   * milliseconds.
   */
  'go-away': instruction(z.strictObject({ ms: z.number().int().min(1).max(LONGEST_TIMER_MS) }), (node, { ms }) =>
    node.goAwayFor(ms),
  ),
};

export const instructionNames: readonly string[] = Object.keys(INSTRUCTIONS);

/**
 * @param json an object whose `do` names the instruction
 * @returns the instruction's name and result
 * @throws InstructionError if the instruction is unknown or invalid, or cannot be executed
 */
async function carryOut(node: Instructed, json: unknown): Promise<{ instruction: string; result: object }> {
  const { success, data } = z.looseObject({ do: z.enum(instructionNames) }).safeParse(json);
  if (!success) throw new InstructionError(`"do" must be one of ${instructionNames.join(', ')}`);
  const { do: name, ...rest } = data;
  return { instruction: name, result: await INSTRUCTIONS[name](node, rest) };
}

function instruction<T>(
  schema: z.ZodType<T>,
  act: (node: Instructed, given: T) => object | void | Promise<void>,
): Instruction {
  return async (node, json) => {
    const parsed = schema.safeParse(json);
    if (!parsed.success) throw new InstructionError(z.prettifyError(parsed.error));
    try {
      return (await act(node, parsed.data)) ?? {};
    } catch (error) {
      throw error instanceof RefusedError ? new InstructionError(error.message) : error;
    }
  };
}

function checkChain({ chains }: Ledger, chain: number): void {
  if (!chains.graph[chain]) throw new InstructionError(`there is no chain ${chain}`);
}
