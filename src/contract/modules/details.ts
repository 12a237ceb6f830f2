/**
 * Describes functions, capabilities and defpacts as dialect 4 prints them: `(defun m.f:<b> (a:<c>))`. A letter stands
 * for each missing type. The description of a native shows its signatures.
 */

import type { Callable, Definition, Member } from '../runtime/module.ts';
import type { Native } from '../runtime/native.ts';
import { textOfType } from '../runtime/typecheck.ts';
import type { Binding, Expression, Parameter, Type } from '../syntax/tree.ts';
import { metaText } from './interfaces.ts';

export function detailsOf({ module, definition, name }: Member<Callable>): string {
  let letter = 0;
  // The letters are numbered through the whole module. Therefore, this loop counts the letters of all definitions that
  // are written before this one. Items such as `use` have no letters.
  for (const item of module.syntax.items) {
    if (item === definition) break;
    if (item.kind !== 'use' && item.kind !== 'bless' && item.kind !== 'implements') letter += lettersOf(item);
  }
  const typeText = (type: Type | undefined) => (type ? textOfType(type) : `<${letterAt(letter++)}>`);
  const returnType = typeText(definition.returnType);
  const parameters = definition.parameters.map((each) => `${each.name}:${typeText(each.type)}`);
  const meta = definition.kind === 'defcap' ? metaText(definition.meta) : '';
  const more = [definition.documentation ?? '', meta].filter((text) => text !== '').map((text) => ` ${text}`);
  return `(${definition.kind} ${name.text}:${returnType} (${parameters.join(' ')})${more.join('')})`;
}

export function detailsOfNative({ name, signatures }: Native): string {
  return [`native \`${name}\``, '', 'Type:', ...signatures.map((each) => each.replace(/[()]/g, ''))].join('\n');
}

const LETTERS = 26;

/**
 * @param at the number of a letter, from 0
 * @returns its text: `a` to `z`, then `aa` to `az` and so on up to `za`, then `b0`, `c0` and so on
 */
function letterAt(at: number): string {
  const letter = (index: number) => String.fromCharCode('a'.charCodeAt(0) + index);
  if (at < LETTERS) return letter(at);
  if (at <= LETTERS * LETTERS) return letter(Math.floor(at / LETTERS) - 1) + letter(at % LETTERS);
  return `${letter(at % LETTERS)}${Math.floor((at - LETTERS * LETTERS) / LETTERS)}`;
}

/** @returns the number of letters that a definition uses */
function lettersOf(definition: Definition): number {
  switch (definition.kind) {
    case 'defconst':
      return (definition.type ? 0 : 1) + lettersIn(definition.value);
    case 'defschema':
      return untyped(definition.fields);
    case 'deftable':
      return 0;
  }
  const signature = (definition.returnType ? 0 : 1) + untyped(definition.parameters);
  switch (definition.kind) {
    case 'defun':
    case 'defcap':
      return signature + lettersOfAll(definition.body);
    case 'defpact': {
      const parts = definition.steps.flatMap(({ entity, value, rollback }) => [entity, value, rollback]);
      return signature + lettersOfAll(parts.filter((each) => each !== undefined));
    }
    default:
      return signature;
  }
}

function untyped(parameters: readonly Parameter[]): number {
  return parameters.filter(({ type }) => !type).length;
}

function lettersOfAll(expressions: readonly Expression[]): number {
  return expressions.reduce((sum, each) => sum + lettersIn(each), 0);
}

function lettersIn(expression: Expression): number {
  switch (expression.kind) {
    case 'list':
      return 1 + lettersOfAll(expression.items);
    case 'object':
      return lettersOfAll(expression.fields.map(({ value }) => value));
    case 'application':
      return lettersOfAll(expression.arguments) + (expression.binding ? lettersOfBinding(expression.binding) : 0);
    case 'let': {
      const { variables, body } = expression;
      return (
        untyped(variables.map(({ variable }) => variable)) +
        lettersOfAll(variables.map(({ value }) => value)) +
        lettersOfAll(body)
      );
    }
    case 'lambda':
      // A lambda has two more letters: one for its name, and one for the type of its result.
      return 2 + untyped(expression.parameters) + lettersOfAll(expression.body);
    case 'cond':
      return (
        lettersOfAll(expression.branches.flatMap(({ condition, value }) => [condition, value])) +
        lettersIn(expression.otherwise)
      );
    case 'with-capability':
      return lettersIn(expression.capability) + lettersOfAll(expression.body);
    default:
      return 0;
  }
}

function lettersOfBinding({ pairs, body }: Binding): number {
  return untyped(pairs.map(({ variable }) => variable)) + lettersOfAll(body);
}
