/** The functions that set parts of a command: its data, its hash, and its signers with their capabilities. */

import { isExactJsonObject, parseExactJson } from '../../../protocol/ledger/json.ts';
import { appliedCapability } from '../../capabilities/applied.ts';
import { ContractError } from '../../errors.ts';
import type { Capability, Environment } from '../../runtime/environment.ts';
import { type Argument, lazy, type Native, strict } from '../../runtime/native.ts';
import { jsonOf } from '../../values/json.ts';
import { isList, isStorable, KeysetGuard, type Value } from '../../values/values.ts';
import type { TestRun } from '../test-run.ts';

/** The argument type of `env-data`, as messages show it. */
const JSON_TYPE = '<a[integer,string,time,decimal,bool,[<l>],object:<{o}>,keyset]>';

export function command(run: TestRun): readonly Native[] {
  return [
    strict('env-data', `json:${JSON_TYPE} -> string`, ([data, ...more]) => {
      if (data === undefined || more.length > 0) return undefined;
      return run.set({ data: dataOf(data, run) }, 'Setting transaction data');
    }),
    strict('env-hash', 'hash:string -> string', ([hash, ...more]) => {
      if (typeof hash !== 'string' || more.length > 0) return undefined;
      if (!/^[\w-]*$/.test(hash) || hash.length % 4 === 1) {
        throw new ContractError('eval', `Bad hash value: ${hash}: it is not base64url without padding`);
      }
      return run.set({ hash }, `Set tx hash to ${hash}`);
    }),
    strict('env-keys', 'keys:[string] -> string', ([keys, ...more]) => {
      if (keys === undefined || !isList(keys) || more.length > 0) return undefined;
      if (!keys.every((key) => typeof key === 'string')) return undefined;
      const signatures = keys.map((key) => ({ key, capabilities: [] }));
      return run.set({ signatures }, 'Setting transaction keys');
    }),
    lazy('env-sigs', 'sigs:[object:*] -> string', ([sigs, ...more]) => {
      if (!sigs?.items || more.length > 0) return undefined;
      const signatures = sigs.items.map((each) => {
        const { name: key, capabilities } = named(run, each, 'key');
        return { key, capabilities };
      });
      return run.set({ signatures }, 'Setting transaction signatures/caps');
    }),
    lazy('env-verifiers', 'verifiers:[object:*] -> string', ([verifiers, ...more]) => {
      if (!verifiers?.items || more.length > 0) return undefined;
      const all = verifiers.items.map((each) => named(run, each, 'name'));
      return run.set({ verifiers: all }, 'Setting transaction verifiers/caps');
    }),
    strict('sig-keyset', ' -> keyset', (values, { evaluator }) =>
      values.length > 0 ? undefined : new KeysetGuard(evaluator.environment.signatures.map(({ key }) => key)),
    ),
  ];
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

/**
 * Reads `{ 'key: "…", 'caps: [(m.CAP 1)] }`. The field `key` can have another name. The capabilities are not acquired.
 */
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
