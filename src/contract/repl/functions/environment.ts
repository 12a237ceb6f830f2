/** The functions that set what a transaction brings along: `env-…`. */

import { isExactJsonObject, parseExactJson } from '../../../ledger/json.ts';
import { appliedCapability } from '../../capabilities/applied.ts';
import type { Dialect } from '../../dialect.ts';
import { ContractError } from '../../errors.ts';
import { type Capability, type ChainData, type Environment, FLAGS, type Flag } from '../../runtime/environment.ts';
import { Member } from '../../runtime/module.ts';
import { type Argument, lazy, type Native, strict } from '../../runtime/native.ts';
import type { Defun } from '../../syntax/tree.ts';
import { Decimal } from '../../values/decimal.ts';
import { jsonOf } from '../../values/json.ts';
import { printed } from '../../values/printing.ts';
import { Time } from '../../values/time.ts';
import {
  type ContractObject,
  isList,
  isObject,
  isStorable,
  KeysetGuard,
  sortedObject,
  type Value,
} from '../../values/values.ts';
import type { TestRun } from '../test-run.ts';

/** What `env-data` takes, as messages show it. */
const JSON_TYPE = '<a[integer,string,time,decimal,bool,[<l>],object:<{o}>,keyset]>';

export function environment(run: TestRun): readonly Native[] {
  const set = (change: Partial<Environment>, text: string): string => {
    run.environment = { ...run.environment, ...change };
    return text;
  };
  return [
    strict('env-data', `json:${JSON_TYPE} -> string`, ([data, ...more]) => {
      if (data === undefined || more.length > 0) return undefined;
      return set({ data: dataOf(data, run) }, 'Setting transaction data');
    }),
    strict('env-keys', 'keys:[string] -> string', ([keys, ...more]) => {
      if (!isListOfTexts(keys) || more.length > 0) return undefined;
      const signatures = keys.map((key) => ({ key, capabilities: [] }));
      return set({ signatures }, 'Setting transaction keys');
    }),
    lazy('env-sigs', 'sigs:[object:*] -> string', ([sigs, ...more]) => {
      if (!sigs?.items || more.length > 0) return undefined;
      const signatures = sigs.items.map((each) => {
        const { name: key, capabilities } = named(run, each, 'key');
        return { key, capabilities };
      });
      return set({ signatures }, 'Setting transaction signatures/caps');
    }),
    lazy('env-verifiers', 'verifiers:[object:*] -> string', ([verifiers, ...more]) => {
      if (!verifiers?.items || more.length > 0) return undefined;
      const all = verifiers.items.map((each) => named(run, each, 'name'));
      return set({ verifiers: all }, 'Setting transaction verifiers/caps');
    }),
    strict('sig-keyset', ' -> keyset', (values, { evaluation }) =>
      values.length > 0 ? undefined : new KeysetGuard(evaluation.environment.signatures.map(({ key }) => key)),
    ),
    strict('env-hash', 'hash:string -> string', ([hash, ...more]) => {
      if (typeof hash !== 'string' || more.length > 0) return undefined;
      if (!/^[\w-]*$/.test(hash) || hash.length % 4 === 1) {
        throw new ContractError('eval', `Bad hash value: ${hash}: it is not base64url without padding`);
      }
      return set({ hash }, `Set tx hash to ${hash}`);
    }),
    strict('env-entity', [' -> string', 'entity:string -> string'], ([entity, ...more]) => {
      if (more.length > 0 || (entity !== undefined && typeof entity !== 'string')) return undefined;
      return set({ entity }, entity === undefined ? 'Unset entity' : `Set entity to ${entity}`);
    }),
    strict('env-chain-data', 'new-data:object:~{public-chain-data} -> string', ([data, ...more], { evaluation }) => {
      if (data === undefined || !isObject(data) || more.length > 0) return undefined;
      const chain = changedChain(run.environment.chain, data, evaluation.dialect);
      return set({ chain }, 'Updated public metadata');
    }),
    lazy(
      'env-namespace-policy',
      'allow-root:bool ns-policy-fun:(ns:string ns-admin:guard -> bool) -> string',
      ([allows, policy, ...more], { evaluation }) => {
        if (!policy || more.length > 0 || typeof allows.value !== 'boolean') return undefined;
        // Dialect 5 takes the name of a function, too.
        const member = policy.asCall()?.member ?? (evaluation.dialect === 5 ? policy.value : undefined);
        const isFunction = member !== undefined && isDefun(member);
        if (!isFunction) return undefined;
        return set({ namespacePolicy: { allowsRoot: allows.value, policy: member } }, 'Installed namespace policy');
      },
    ),
    strict('env-exec-config', ['flags:[string] -> [string]', ' -> [string]'], ([flags, ...more], { evaluation }) => {
      if (more.length > 0) return undefined;
      if (flags === undefined) return evaluation.dialect === 5 ? undefined : [...evaluation.environment.flags];
      if (!isListOfTexts(flags)) return undefined;
      const chosen = chosenFlags(flags, evaluation.dialect);
      run.environment = { ...run.environment, flags: new Set(chosen) };
      return chosen;
    }),
    strict('env-simulate-onchain', 'on-chain:bool -> string', ([isOnChain, ...more]) => {
      if (typeof isOnChain !== 'boolean' || more.length > 0) return undefined;
      return set({ isOnChain }, `Set on-chain simulation execution mode to: ${isOnChain}`);
    }),
    strict('env-enable-repl-natives', 'enable:bool -> string', ([allows, ...more], { evaluation }) => {
      if (typeof allows !== 'boolean' || more.length > 0) return undefined;
      run.allowInModules(allows);
      const repl = evaluation.dialect === 4 ? 'Repl' : 'repl';
      return `${repl} natives ${allows ? 'enabled' : 'disabled'}`;
    }),
    strict('env-events', 'clear:bool -> [object:*]', ([clear, ...more], { evaluation }) => {
      if (typeof clear !== 'boolean' || more.length > 0) return undefined;
      const events = evaluation.state.events.map(({ name, args, moduleHash }) =>
        sortedObject<Value>([
          ['name', name.text],
          ['params', args],
          ['module-hash', moduleHash],
        ]),
      );
      if (clear) evaluation.state = { ...evaluation.state, events: [] };
      return events;
    }),
    lazy('with-applied-env', 'exec:<a> -> <a>', ([action, ...more]) => {
      if (!action || more.length > 0) return undefined;
      const before = run.evaluator.environment;
      run.evaluator.environment = run.environment;
      try {
        return action.value;
      } finally {
        run.evaluator.environment = before;
        run.environment = before;
      }
    }),
  ];
}

function isListOfTexts(value: Value | undefined): value is readonly string[] {
  return value !== undefined && isList(value) && value.every((each) => typeof each === 'string');
}

function isDefun(value: Value): value is Member<Defun> {
  return value instanceof Member && value.is('defun');
}

function dataOf(value: Value, run: TestRun): Environment['data'] {
  if (typeof value === 'string' && run.evaluator.dialect === 4) {
    try {
      return parseExactJson(value);
    } catch (error) {
      throw new ContractError('eval', `Invalid JSON: ${error instanceof Error ? error.message : error}`);
    }
  }
  if (!isStorable(value)) throw new ContractError('eval', `Only value-level terms permitted: ${value}`);
  const data = jsonOf(value);
  if (isExactJsonObject(data) || run.evaluator.dialect === 4) return data;
  throw new ContractError('eval', 'env-data: the data must be an object');
}

/** Reads `{ 'key: "…", 'caps: [(m.CAP 1)] }`. The capabilities are not acquired. */
function named(
  run: TestRun,
  argument: Argument,
  field: 'key' | 'name',
): { name: string; capabilities: readonly Capability[] } {
  const { fields, position } = argument;
  if (!fields) throw new ContractError('eval', 'Expected object', position);
  const [name, caps] = [fields.get(field), fields.get('caps')?.items];
  if (!name || !caps) {
    throw new ContractError('eval', `Expected object with '${field}': string, 'caps': [capability]`, position);
  }
  if (typeof name.value !== 'string') throw new ContractError('eval', 'Expected string value', name.position);
  const capabilities = caps.map((cap) => {
    const call = cap.asCapability();
    if (!call) throw new ContractError('eval', 'Expected capability invocation', cap.position);
    return appliedCapability(run.evaluator, call, cap.position).capability;
  });
  return { name: name.value, capabilities };
}

type Change = (value: Value) => Partial<ChainData> | undefined;

const CHAIN_DATA: Readonly<Record<string, Change>> = {
  'chain-id': (chainId) => (typeof chainId === 'string' ? { chainId } : undefined),
  sender: (sender) => (typeof sender === 'string' ? { sender } : undefined),
  'prev-block-hash': (hash) => (typeof hash === 'string' ? { previousBlockHash: hash } : undefined),
  'block-height': (blockHeight) => (typeof blockHeight === 'bigint' ? { blockHeight } : undefined),
  'gas-limit': (gasLimit) => (typeof gasLimit === 'bigint' ? { gasLimit } : undefined),
  'block-time': (blockTime) => (blockTime instanceof Time ? { blockTime } : undefined),
  'gas-price': (gasPrice) => (gasPrice instanceof Decimal ? { gasPrice } : undefined),
  // Document 3 names it, although nothing in the language reads it.
  'gas-fee': () => ({}),
};

function changedChain(before: ChainData, data: ContractObject, dialect: 4 | 5): ChainData {
  let chain = before;
  for (const [key, value] of data) {
    const change = Object.hasOwn(CHAIN_DATA, key) ? CHAIN_DATA[key](value) : undefined;
    if (!change) {
      const what = dialect === 4 ? `values: ("${key}", ${printed(value)})` : `value for key: ${key}`;
      throw new ContractError('eval', `envChainData: bad public metadata ${what}`);
    }
    chain = { ...chain, ...change };
  }
  return chain;
}

/**
 * @returns the flags that are set, in the order of their definition. The document calls some `DisableFlow…`. Dialect 5
 *   ignores those that it does not know
 */
function chosenFlags(flags: readonly string[], dialect: Dialect): readonly Flag[] {
  const wanted = new Set(flags.map((flag) => flag.replace(/^DisableFlow/, 'DisablePact')));
  const known: readonly Flag[] = FLAGS[dialect];
  const allowed = new Set<string>(known);
  if (dialect === 4 && [...wanted].some((flag) => !allowed.has(flag))) {
    const shown = [...known].sort().map((each) => `"${each}"`);
    throw new ContractError('eval', `Invalid flag, allowed: [${shown.join(',')}]`);
  }
  return known.filter((flag) => wanted.has(flag));
}
