/**
 * The names, apart from natives, that code can use without defining or importing them: constants, and in dialect 4 the
 * schemas of the objects that `chain-data` and `describe-namespace` return.
 */

import { LANGUAGE_MODULE } from '../names.ts';
import { parseProgram } from '../syntax/program.ts';
import type { Defschema } from '../syntax/tree.ts';
import { hashText } from '../values/hash.ts';
import type { Value } from '../values/values.ts';
import { type LoadedModule, Member } from './module.ts';

/** The numbers by which the native `is-charset` distinguishes the character sets. */
export const CHARSET_ASCII = 0n;
export const CHARSET_LATIN1 = 1n;

export const CONSTANTS: ReadonlyMap<string, Value> = new Map(Object.entries({ CHARSET_ASCII, CHARSET_LATIN1 }));

const CODE = `(interface ${LANGUAGE_MODULE.name}
  (defschema public-chain-data
    chain-id:string block-height:integer block-time:time prev-block-hash:string
    sender:string gas-limit:integer gas-price:decimal)
  (defschema described-namespace
    user-guard:guard admin-guard:guard namespace-name:string))`;

function schemas(): ReadonlyMap<string, Member<Defschema>> {
  const all = new Map<string, Member<Defschema>>();
  for (const syntax of parseProgram(CODE, 4)) {
    if (syntax.kind !== 'interface') continue;
    const module: LoadedModule = {
      dialect: 4,
      name: LANGUAGE_MODULE,
      syntax,
      hash: hashText(syntax.code),
      blessed: new Set(),
      interfaces: [],
      referredInterfaces: [],
      members: all,
      names: { find: (name) => all.get(name) },
      transactionHash: hashText(''),
    };
    for (const item of syntax.items) if (item.kind === 'defschema') all.set(item.name, new Member(module, item));
  }
  return all;
}

/** The schemas that code of dialect 4 can use, by their names without a module. */
export const BUILT_IN_SCHEMAS = schemas();
