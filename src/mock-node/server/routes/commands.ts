/**
 * The endpoints for commands (document 2). Each chain has such endpoints. Further ones at the host's root are like
 * those of a stand-alone server, which has only one chain.
 */

import { z } from 'zod';
import { parseCommand } from '../../../protocol/ledger/command/command.ts';
import { parsePayload } from '../../../protocol/ledger/command/command-payload.ts';
import { checked, opaqueId } from '../../../protocol/ledger/fields.ts';
import {
  type ExactJson,
  isExactJsonObject,
  jsonInteger,
  LedgerFormatError,
  parseExactJsonBytes,
} from '../../../protocol/ledger/json.ts';
import { RefusedError } from '../../commands/command-checks.ts';
import type { Endpoint } from '../faults.ts';
import { type Asked, CHAIN, JSON_TYPE, type Message, type Route } from '../route.ts';

type Ask = (asked: Asked, body: ExactJson) => ExactJson | Promise<ExactJson | undefined>;

const Send = z.object({ cmds: z.array(z.custom<ExactJson>()).min(1) });
const Poll = z.object({ requestKeys: z.array(opaqueId).min(1) });
const Listen = z.object({ listen: opaqueId });
const Spv = z.object({ requestKey: opaqueId, targetChainId: z.string().regex(/^\d{1,9}$/) });

const COMMANDS: readonly (readonly [Endpoint, Ask])[] = [
  ['local', local],
  ['send', ({ backend, chain }, body) => keys(backend.commands.send(chain, checked(Send, body, 'body').cmds))],
  ['poll', poll],
  ['listen', listen],
  ['private', sendPrivate],
];

/** The segment of a path after the number of the chain. Document 2 does not define this segment. */
const LANGUAGE = { document: 'flow', chainweb: 'pact' } as const;
const DIALECTS = ['document', 'chainweb'] as const;

export const commandRoutes: readonly Route[] = [
  ...DIALECTS.flatMap((dialect) => {
    const commands = `${CHAIN}/${LANGUAGE[dialect]}`;
    return [
      ...COMMANDS.map(([endpoint, ask]) => ({ ...routeAt(endpoint, `${commands}/api/v1/${endpoint}`, ask), dialect })),
      { ...routeAt('spv', `${commands}/spv`, spv), dialect },
    ];
  }),
  ...COMMANDS.map(([endpoint, ask]) => standAlone(endpoint, ask)),
  standAlone('spv', spv),
];

function routeAt(endpoint: Endpoint, path: string, ask: Ask): Route {
  const answer = (asked: Asked) => answerTo(asked, ask);
  const types = { takes: JSON_TYPE, gives: [JSON_TYPE] };
  return { endpoint, side: 'service', method: 'POST', path: new RegExp(`^${path}$`), ...types, answer };
}

/**
 * A stand-alone server answers `{status, response}` (document 2). For `/local`, the response is only the field `result`
 * of the command's result. With the option `standAlone: 'new'`, answers are not wrapped.
 */
function standAlone(endpoint: Endpoint, ask: Ask): Route {
  const wrapped: Ask = async (asked, body) => {
    const answer = await ask(asked, body);
    if (answer === undefined || asked.backend.settings.standAlone === 'new') return answer;
    const isLocal = endpoint === 'local' && isExactJsonObject(answer) && answer.result !== undefined;
    return { status: 'success', response: isLocal ? answer.result : answer };
  };
  return { ...routeAt(endpoint, `/api/v1/${endpoint}`, wrapped), atRoot: true };
}

async function answerTo(asked: Asked, ask: Ask): Promise<Message> {
  try {
    const json = await ask(asked, parseExactJsonBytes(asked.body));
    return json === undefined ? noResult(asked) : { status: 200, json };
  } catch (error) {
    if (error instanceof RefusedError) return { status: 400, text: error.message };
    if (error instanceof LedgerFormatError) return { status: 400, text: `Error in $: ${error.message}` };
    throw error;
  }
}

function noResult({ backend: { commands } }: Asked): Message {
  const { listenTimeout, listenMs } = commands.settings;
  if (listenTimeout === '504') return { status: 504, text: 'Gateway Timeout' };
  return { status: 200, json: { status: 'timeout', 'timeout-micros': jsonInteger(listenMs * 1000) } };
}

function local({ backend, chain, query }: Asked, body: ExactJson): ExactJson {
  return backend.commands.local(chain, body, {
    preflight: flag(query, 'preflight') ?? false,
    rewindDepth: Number(natural(query, 'rewindDepth')),
    // Real nodes check signatures by default.
    signatureVerification: flag(query, 'signatureVerification') ?? true,
  });
}

function poll({ backend, chain, query }: Asked, body: ExactJson): ExactJson {
  const { requestKeys } = checked(Poll, body, 'body');
  return backend.commands.poll(chain, requestKeys, natural(query, 'confirmationDepth'));
}

function listen({ backend, chain, signal }: Asked, body: ExactJson): Promise<ExactJson | undefined> {
  return backend.commands.listen(chain, checked(Listen, body, 'body').listen, signal);
}

function spv({ backend, chain }: Asked, body: ExactJson): ExactJson {
  const { requestKey, targetChainId } = checked(Spv, body, 'body');
  return backend.commands.spv(chain, requestKey, Number(targetChainId));
}

/** Accepts a private command, and does nothing with it: the mock node has no entities that could run it. */
function sendPrivate(_asked: Asked, body: ExactJson): ExactJson {
  const command = parseCommand(body);
  const { meta } = parsePayload(command.cmd);
  if (meta.address === undefined) throw new RefusedError('Private metadata are required: from and to whom');
  return keys([command.hash]);
}

function keys(requestKeys: readonly string[]): ExactJson {
  return { requestKeys };
}

function flag(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (text !== 'true' && text !== 'false') throw new RefusedError(`${name} is true or false`);
  return text === 'true';
}

function natural(query: URLSearchParams, name: string): bigint {
  const text = query.get(name) ?? '0';
  if (!/^\d{1,9}$/.test(text)) throw new RefusedError(`${name} is an integer >= 0`);
  return BigInt(text);
}
