/** Imports the names of modules and interfaces with the form `use`. */

import type { Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import type { ModuleName } from '../names.ts';
import { resolveModule } from '../runtime/lookup.ts';
import { isHashOf4, isInterface, type LoadedModule } from '../runtime/module.ts';
import type { Evaluator } from '../runtime/native.ts';
import type { Use } from '../syntax/tree.ts';
import { isHashText } from '../values/hash.ts';
import { compareTexts } from '../values/values.ts';

/**
 * The form `use` outside of modules. The code that follows in the transaction can then use the names of the module.
 * @returns the text that the interpreter prints
 * @throws ContractError for an unknown module, for a hash that is not the module's, for a hash in a `use` of an
 *   interface, or for names that cannot be imported
 */
export function use(evaluator: Evaluator, syntax: Use): string {
  evaluator.gas.useModule();
  bringInFrom(evaluator, syntax);
  return `Using ${syntax.module.text}`;
}

export function bringInFrom(evaluator: Evaluator, { module: name, hash, names }: Use): void {
  const module = resolveModule(evaluator, name);
  if (!module) {
    throw new ContractError(
      'eval',
      evaluator.dialect === 4 ? `Module ${name.text} not found` : unknownModuleText(name),
    );
  }
  if (hash !== undefined) checkHash(evaluator, name, module, hash);
  if (names) checkImports(module, names, hash, evaluator.dialect);
  bringIn(evaluator, module, names);
}

/** @returns the message of dialect 5 for a name in code; it has two blanks */
export function unknownModuleText({ text }: ModuleName): string {
  return `Cannot find module:  ${text}`;
}

/**
 * @throws ContractError for a hash that the module does not have. In dialect 5, it may also have that of generation 4,
 *   with a note
 */
function checkHash(evaluator: Evaluator, name: ModuleName, module: LoadedModule, hash: string): void {
  const { dialect } = evaluator;
  const { text } = module.name;
  if (dialect === 4 && isInterface(module)) {
    throw new ContractError('eval', `Interfaces should not have associated hashes: ${text}`);
  }
  if (dialect === 5) requireHash(hash);
  if (hash === module.hash) return;
  if (dialect === 5 && isHashOf4(hash, module)) {
    evaluator.note?.(
      `use has taken ${hash}, generation 4's hash of ${text}: only nodes that have loaded it in generation 4 do`,
    );
    return;
  }
  const message4 = `Module ${text} does not match specified hash: ${hash}, ${module.hash}`;
  const message5 = `Import error for module ${name.text}, hash not blessed: ${module.hash}`;
  throw new ContractError('eval', dialect === 4 ? message4 : message5);
}

/** @throws ContractError of dialect 5 if this is not the text of a hash */
export function requireHash(text: string): void {
  if (!isHashText(text)) throw new ContractError('eval', `Invalid blessed hash, incorrect format: ${text}`);
}

function checkImports(
  { name: module, members }: LoadedModule,
  names: readonly string[],
  hash: string | undefined,
  dialect: Dialect,
): void {
  if (names.length === 0 && hash === undefined) {
    throw new ContractError('eval', 'empty imports are only allowed if a module hash is referenced');
  }
  if (dialect === 5) {
    const isMissing = (name: string) => members.get(name)?.definition.kind.endsWith('-signature') ?? true;
    const missing = [...new Set(names)].filter(isMissing).sort(compareTexts);
    if (missing.length === 0) return;
    const message = `Invalid imports, module or interface ${module.text} does not implement the following members:`;
    throw new ContractError('eval', `${message} [${missing.join(', ')}]`);
  }
  for (const name of names) {
    const kind = members.get(name)?.definition.kind;
    if (kind === undefined) throw new ContractError('eval', `imported name not found: ${name}`);
    if (kind === 'defcap') throw new ContractError('eval', `cannot import capabilities: ${name}`);
    if (kind === 'deftable') {
      const message = `invalid import - only function, schema, and constant symbols allowed: ${name}`;
      throw new ContractError('eval', message);
    }
  }
}

export function bringIn(evaluator: Evaluator, module: LoadedModule, names?: readonly string[]): void {
  evaluator.spend(evaluator.state.imported.size);
  const imported = new Map(evaluator.state.imported);
  for (const [name, member] of module.members) {
    // The signatures in an interface cannot be called, so they are not imported.
    const isUsable = !member.definition.kind.endsWith('-signature');
    if (isUsable && (!names || names.includes(name))) imported.set(name, member);
  }
  evaluator.state = { ...evaluator.state, imported };
}
