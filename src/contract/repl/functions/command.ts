/**
 * The functions of the interpreter that set parts of a command: its data, its hash, its signatures and its verifiers.
 * `sig-keyset` makes a keyset of the keys that have signed.
 */

import { parseExactJson } from '../../../protocol/ledger/json.ts';
import { appliedCapability } from '../../capabilities/applied.ts';
import { ContractError } from '../../errors.ts';
import { WRITTEN_ITEM } from '../../gas/natives5.ts';
import type { Capability, Environment } from '../../runtime/environment.ts';
import { type Argument, lazy, type Native, strict } from '../../runtime/native.ts';
import { jsonOf } from '../../values/json.ts';
import { isList, isStorable, KeysetGuard, type Value } from '../../values/values.ts';
import type { TestRun } from '../test-run.ts';

/** The type of the argument of `env-data`, as messages show it. */
const JSON_TYPE = '<a[integer,string,time,decimal,bool,[<l>],object:<{o}>,keyset]>';

/** Length of a transaction's hash. */
const HASH_BYTES = 32;

export function command(run: TestRun): readonly Native[] {
  return [
    strict('env-data', `json:${JSON_TYPE} -> string`, ([data, ...more]) => {
      if (data === undefined || more.length > 0) return undefined;
      return run.set({ data: dataOf(data) }, 'Setting transaction data');
    }),
    strict('env-hash', 'hash:string -> string', ([hash, ...more]) => {
      if (typeof hash !== 'string' || more.length > 0) return undefined;
      const bytes = Buffer.from(hash, 'base64url');
      if (bytes.toString('base64url') !== hash) {
        throw new ContractError('eval', `Bad hash value: ${hash}: it is not base64url without padding`);
      }
      // The language's own suites use shorter hashes, too.
      if (bytes.length !== HASH_BYTES) run.note(`env-hash has set ${hash}, but real hashes have 256 bits`);
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
      chargeForList(run, sigs.items);
      const signatures = sigs.items.map((each) => {
        const { name: key, capabilities } = named(run, each, 'key');
        return { key, capabilities };
      });
      return run.set({ signatures }, 'Setting transaction signatures/caps');
    }),
    lazy('env-verifiers', 'verifiers:[object:*] -> string', ([verifiers, ...more]) => {
      if (!verifiers?.items || more.length > 0) return undefined;
      chargeForList(run, verifiers.items);
      const all = verifiers.items.map((each) => named(run, each, 'name'));
      return run.set({ verifiers: all }, 'Setting transaction verifiers/caps');
    }),
    strict('sig-keyset', ' -> keyset', (values, { evaluator }) =>
      values.length > 0 ? undefined : new KeysetGuard(evaluator.environment.signatures.map(({ key }) => key)),
    ),
  ];
}

/**
 * @returns the argument of `env-data` as JSON. A text is parsed as JSON
 * @throws ContractError for a text that is not JSON, and for a value without a JSON form
 */
function dataOf(value: Value): Environment['data'] {
  if (typeof value === 'string') {
    try {
      return parseExactJson(value);
    } catch (error) {
      throw new ContractError('eval', `Invalid JSON: ${error instanceof Error ? error.message : error}`);
    }
  }
  if (!isStorable(value)) throw new ContractError('eval', `Only value-level terms permitted: ${value}`);
  return jsonOf(value);
}

/** Charges in dialect 5 for a list that is not evaluated as a whole. */
function chargeForList({ evaluator }: TestRun, items: readonly Argument[]): void {
  evaluator.gas.charge5('list', () => WRITTEN_ITEM * items.length);
}

/**
 * Reads an object such as `{ 'key: "…", 'caps: [(m.CAP 1)] }`. Its capabilities are read, but not acquired.
 * @param field the name of the field with a text: `key` for a signature, `name` for a verifier
 * @returns the text and the capabilities
 * @throws ContractError for an argument of another form
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
  run.evaluator.gas.charge5('object', () => WRITTEN_ITEM * fields.size);
  chargeForList(run, caps);
  if (typeof name.value !== 'string') throw new ContractError('eval', 'Expected string value', name.position);
  const capabilities = caps.map((cap) => {
    const call = cap.asCapability();
    if (!call) throw new ContractError('eval', 'Expected capability invocation', cap.position);
    return appliedCapability(run.evaluator, call, cap.position).capability;
  });
  return { name: name.value, capabilities };
}
