/**
 * The functions that load files, print texts and control the interpreter. The functions of static checks, `typecheck`
 * and `verify`, check nothing here.
 */

import { lazy, type Native, strict } from '../../runtime/native.ts';
import { UNIT } from '../../values/values.ts';
import type { TestRun } from '../test-run.ts';

export function interpreter(run: TestRun): readonly Native[] {
  const verify = unchecked(run, 'verify', (module) => `Verification of ${module} succeeded`);
  return [
    strict(
      'load',
      ['file:string -> string', 'file:string reset:bool -> string'],
      ([file, reset, ...more], { evaluator }) => {
        if (typeof file !== 'string' || more.length > 0) return undefined;
        if (reset !== undefined && typeof reset !== 'boolean') return undefined;
        run.load(file, reset ?? false);
        return evaluator.dialect === 4 ? `Loading ${file}...` : UNIT;
      },
    ),
    strict('print', 'value:<a> -> string', ([value, ...more], { evaluator }) => {
      if (value === undefined || more.length > 0) return undefined;
      const text = typeof value === 'string' ? value : evaluator.print(value);
      evaluator.spend(text.length);
      run.print(text);
      return evaluator.dialect === 4 ? '' : UNIT;
    }),
    strict('env-enable-repl-natives', 'enable:bool -> string', ([allows, ...more], { evaluator }) => {
      if (typeof allows !== 'boolean' || more.length > 0) return undefined;
      run.allowInModules(allows);
      const repl = evaluator.dialect === 4 ? 'Repl' : 'repl';
      return `${repl} natives ${allows ? 'enabled' : 'disabled'}`;
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
    unchecked(run, 'typecheck', (module) => `Typecheck ${module}: success`),
    { ...verify, signatures: ['module:string debug:bool -> string'] },
    lazy('bench', 'exprs:* -> string', (args) => {
      for (const arg of args) void arg.value;
      return 'Done';
    }),
    strict('env-dynref', ['iface:module{} impl:module{} -> string', ' -> string'], (values) => {
      if (values.length === 0) return 'Cleared dynamic ref environment.';
      return values.length === 2 ? 'Added dynamic ref to environment.' : undefined;
    }),
  ];
}

/**
 * Makes the function of a static check. The function checks nothing, and adds a note about this to the result of the
 * run.
 * @param text returns the text of a passed check, which is the function's value in dialect 4
 */
function unchecked(run: TestRun, name: string, text: (module: string) => string): Native {
  const signatures = ['module:string -> string', 'module:string debug:bool -> string'];
  return strict(name, signatures, ([module, debug, ...more], { evaluator }) => {
    if (typeof module !== 'string' || more.length > 0) return undefined;
    if (debug !== undefined && typeof debug !== 'boolean') return undefined;
    run.note(`${name} has checked nothing of ${module}: this interpreter checks types only while code runs`);
    return evaluator.dialect === 4 ? text(module) : UNIT;
  });
}
