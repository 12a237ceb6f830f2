/** The command API (document 2). */

import { NEVER } from '../../base/system/abort.ts';
import { type Command, commandJson, sendJson } from '../../protocol/ledger/command/command.ts';
import {
  type CommandResult,
  type LocalAnswer,
  type ProofRefusal,
  parseListenAnswer,
  parseLocalAnswer,
  parsePollAnswer,
  parseProofAnswer,
  parseSendAnswer,
  readProofRefusal,
  readSendRefusal,
  type SendRefusal,
} from '../../protocol/ledger/command/results.ts';
import { LedgerFormatError, quoted, stringifyExactJson } from '../../protocol/ledger/json.ts';
import { NodeError } from '../http/node-error.ts';
import {
  type Asker,
  type Call,
  type CommandPaths,
  chainPath,
  commandPathsOf,
  json,
  query,
  requestKey,
} from '../http/request.ts';

export interface LocalOptions {
  /** Whether the node also checks the command's metadata, and simulates the payment of the gas. */
  readonly preflight?: boolean;
  /** The command runs at the block that is this many blocks below the newest one. */
  readonly rewindDepth?: number;
  /** Whether the node checks the signatures. Default of real nodes: true. */
  readonly signatureVerification?: boolean;
}

export interface PollOptions {
  /**
   * Minimum number of blocks on top of the block that has the command. Until that number is reached, the result is left
   * out.
   */
  readonly confirmationDepth?: number;
}

/** The node answered `/send` with 400: this attempt has submitted none of the commands. */
export class SendRefusedError extends NodeError {
  override readonly name = 'SendRefusedError';
  readonly refusal: SendRefusal;

  constructor(error: NodeError) {
    super(error.kind, error.message, { ...error, cause: error });
    this.refusal = readSendRefusal(error.text);
  }
}

/**
 * The node answered `/spv` with 400: it has no proof now. `refusal` shows whether the proof will probably come later.
 */
export class ProofRefusedError extends NodeError {
  override readonly name = 'ProofRefusedError';
  readonly refusal: ProofRefusal;

  constructor(error: NodeError) {
    super(error.kind, error.message, { ...error, cause: error });
    this.refusal = readProofRefusal(error.text);
  }
}

export class CommandApi {
  readonly #asker: Asker;
  readonly #commandPath: string | undefined;

  /** @param commandPath see `commandPathsOf` */
  constructor(asker: Asker, commandPath?: string) {
    this.#asker = asker;
    this.#commandPath = commandPath;
  }

  /** `POST /local` @throws NodeError: `bad request` if the command cannot run, for example because of its metadata */
  async local(
    chain: number,
    command: Command,
    options: LocalOptions = {},
    stop: AbortSignal = NEVER,
  ): Promise<LocalAnswer> {
    const { preflight, rewindDepth, signatureVerification } = options;
    const asked = query({ preflight, rewindDepth, signatureVerification });
    return await this.#post(chain, `/local${asked}`, commandJson(command), json(parseLocalAnswer), stop);
  }

  /**
   * `POST /send`
   * @returns the request keys, in the order of the commands. If the only command is refused because it is on the chain
   *   already, its key is returned, too
   * @throws SendRefusedError if the node refuses the commands; NodeError if the request fails; RangeError if there are
   *   no commands
   */
  async send(chain: number, commands: readonly Command[], stop: AbortSignal = NEVER): Promise<readonly string[]> {
    if (commands.length === 0) throw new RangeError('at least one command is sent');
    const hashes = commands.map(({ hash }) => hash);
    const read = json((value) => sameKeys(parseSendAnswer(value), hashes));
    try {
      return await this.#post(chain, '/send', sendJson(commands), read, stop);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const refused = new SendRefusedError(error);
      // The node has the command from an earlier attempt, perhaps from an attempt of this call whose answer was lost.
      if (commands.length === 1 && refused.refusal.isKnown) return hashes;
      throw refused;
    }
  }

  /**
   * `POST /poll`
   * @returns the results by request key. A command that is unknown or pending has no result
   * @throws NodeError
   */
  async poll(
    chain: number,
    requestKeys: readonly string[],
    { confirmationDepth }: PollOptions = {},
    stop: AbortSignal = NEVER,
  ): Promise<ReadonlyMap<string, CommandResult>> {
    if (requestKeys.length === 0) return new Map();
    const body = stringifyExactJson({ requestKeys: requestKeys.map(requestKey) });
    const read = json((value) => {
      const results = parsePollAnswer(value);
      for (const key of results.keys()) checkAsked(key, requestKeys);
      return results;
    });
    return await this.#post(chain, `/poll${query({ confirmationDepth })}`, body, read, stop);
  }

  /**
   * `POST /listen`: the node waits for the result of a command, for minutes if necessary
   * @returns the result; undefined if the node has ended the wait without a result
   * @throws NodeError, at the first failure: the request is not repeated
   */
  async listen(chain: number, key: string, stop: AbortSignal = NEVER): Promise<CommandResult | undefined> {
    const body = stringifyExactJson({ listen: requestKey(key) });
    const readAnswer = json((value) => {
      const answer = parseListenAnswer(value);
      if ('timeoutMicros' in answer) return undefined;
      checkAsked(answer.reqKey, [key]);
      return answer;
    });
    const more = {
      timeoutMs: this.#asker.limits.listenTimeoutMs,
      isRepeatable: false,
      isAnswer: (status: number) => status === 200 || status === GATEWAY_TIMEOUT,
    };
    const read: Call<CommandResult | undefined>['read'] = (answer) =>
      answer.status === GATEWAY_TIMEOUT ? undefined : readAnswer(answer);
    return await this.#post(chain, '/listen', body, read, stop, more);
  }

  /**
   * `POST /private`, which real nodes do not serve. The request is never repeated.
   * @returns the request key
   * @throws NodeError
   */
  async sendPrivate(chain: number, command: Command, stop: AbortSignal = NEVER): Promise<string> {
    const read = json((value) => sameKeys(parseSendAnswer(value), [command.hash])[0]);
    return await this.#post(chain, '/private', commandJson(command), read, stop, { isRepeatable: false });
  }

  /**
   * `POST /spv`
   * @param chain where the command ran
   * @returns the proof in the form that a continuation takes. The proof is not verified here: see
   *   `protocol/ledger/spv-proof.ts`
   * @throws ProofRefusedError, or NodeError
   */
  async proof(chain: number, key: string, targetChain: number, stop: AbortSignal = NEVER): Promise<string> {
    const body = stringifyExactJson({ requestKey: requestKey(key), targetChainId: `${targetChain}` });
    const read = json(parseProofAnswer);
    const { proofs } = await this.#paths(chain, stop);
    try {
      return await this.#asker.ask({ side: 'service', method: 'POST', path: proofs, body, isLong: true, read }, stop);
    } catch (error) {
      throw isRefusal(error) ? new ProofRefusedError(error) : error;
    }
  }

  async #post<T>(
    chain: number,
    path: string,
    body: string,
    read: Call<T>['read'],
    stop: AbortSignal,
    more: Partial<Call<T>> = {},
  ): Promise<T> {
    const { commands } = await this.#paths(chain, stop);
    return await this.#asker.ask(
      { side: 'service', method: 'POST', path: `${commands}${path}`, body, isLong: true, read, ...more },
      stop,
    );
  }

  async #paths(chain: number, stop: AbortSignal): Promise<CommandPaths> {
    chainPath(chain, ''); // Throws for an invalid chain.
    const dialect = this.#commandPath === undefined ? await this.#asker.dialect(stop) : 'document';
    return commandPathsOf(dialect, chain, this.#commandPath);
  }
}

/** The status with which real nodes end a `/listen` without a result. */
const GATEWAY_TIMEOUT = 504;

function isRefusal(error: unknown): error is NodeError {
  return error instanceof NodeError && error.kind === 'bad request';
}

function sameKeys(keys: readonly string[], hashes: readonly string[]): readonly string[] {
  if (keys.length === hashes.length && keys.every((key, i) => key === hashes[i])) return keys;
  throw new LedgerFormatError(`The request keys are ${quoted(keys.join(' '))}, not ${quoted(hashes.join(' '))}`);
}

function checkAsked(key: string, asked: readonly string[]): void {
  if (!asked.includes(key)) throw new LedgerFormatError(`The result of ${key} was not asked for`);
}
