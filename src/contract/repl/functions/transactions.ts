/** The functions of the interpreter that begin and end transactions, and that read and change a transaction's state. */

import { appliedCapability } from '../../capabilities/applied.ts';
import { testCapability } from '../../capabilities/capabilities.ts';
import { grantAdministration } from '../../capabilities/guards.ts';
import { ContractError } from '../../errors.ts';
import { type Evaluator, lazy, type Native, strict } from '../../runtime/native.ts';
import { ModuleRef, sortedObject, type Value } from '../../values/values.ts';
import type { TestRun, TestTransaction } from '../test-run.ts';

export function transactions(run: TestRun): readonly Native[] {
  return [
    strict('begin-tx', [' -> string', 'name:string -> string'], ([name, ...more]) => {
      if (more.length > 0 || (name !== undefined && typeof name !== 'string')) return undefined;
      return text(run, 'Begin', { number: run.begin(name), name });
    }),
    ending(run, 'commit-tx', 'commit'),
    ending(run, 'rollback-tx', 'rollback'),
    lazy('test-capability', 'capability:( -> bool) -> string', ([argument, ...more], { evaluator }) => {
      const call = argument?.asCapability();
      if (!call || more.length > 0) return undefined;
      return testCapability(evaluator, appliedCapability(evaluator, call, argument.position));
    }),
    {
      ...strict('env-module-admin', 'module:module{} -> string', ([module, ...more], { evaluator }) => {
        if (!(module instanceof ModuleRef) || more.length > 0) return undefined;
        grantAdministration(evaluator, module.name);
        return `Acquired module admin for: ${module.name.text}`;
      }),
      dialect: 5,
    },
    strict('env-events', 'clear:bool -> [object:*]', ([clear, ...more], { evaluator }) => {
      if (typeof clear !== 'boolean' || more.length > 0) return undefined;
      const events = evaluator.state.events.map(({ name, args, moduleHash }) =>
        sortedObject<Value>([
          ['name', name.text],
          ['params', args],
          ['module-hash', moduleHash],
        ]),
      );
      if (clear) evaluator.state = { ...evaluator.state, events: [] };
      return events;
    }),
    {
      ...strict('env-stackframe', ' -> [string]', (values, { evaluator }) =>
        values.length === 0 ? calls(evaluator) : undefined,
      ),
      dialect: 5,
    },
  ];
}

function ending(run: TestRun, native: string, how: 'commit' | 'rollback'): Native {
  return strict(native, ' -> string', (values) => {
    if (values.length > 0) return undefined;
    const ended = run.end(how);
    const what = how === 'commit' ? 'Commit' : 'Rollback';
    if (ended) return text(run, what, ended);
    if (run.evaluator.dialect === 5) {
      const message = `No Transaction currently in progress, cannot execute "${how}"`;
      throw new ContractError('db', `Error during database operation: ${message}`);
    }
    if (how === 'commit') throw new ContractError('db', 'doCommit: Not in transaction');
    return `${what} Tx`;
  });
}

function text(run: TestRun, what: string, { number, name }: TestTransaction): string {
  const colon = run.evaluator.dialect === 5 ? ' ' : ': ';
  return `${what} Tx ${number}${name === undefined ? '' : colon + name}`;
}

/** @returns the full names of the members that are running, the innermost first */
function calls({ context }: Evaluator): readonly string[] {
  const names: string[] = [];
  for (let { frame } = context; frame; frame = frame.outer) names.push(frame.member.name.text);
  return names;
}
