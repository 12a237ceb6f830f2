/** The functions of the interpreter that load files, print, grant capabilities, and those that check nothing here. */

import { appliedCapability, grantForTransaction } from '../../evaluator/capabilities.ts';
import { lazy, type Native, strict } from '../../evaluator/native.ts';
import { areEqual, isObject, UNIT } from '../../values/values.ts';
import type { TestRun } from '../test-run.ts';

const GRANTED = {
  acquired: 'Capability acquired',
  already: 'Capability already acquired',
  installed: 'Capability installed',
};

export function otherFunctions(run: TestRun): readonly Native[] {
  return [
    strict('load', ['file:string -> string', 'file:string reset:bool -> string'], ([file, reset, ...more]) => {
      if (typeof file !== 'string' || more.length > 0) return undefined;
      if (reset !== undefined && typeof reset !== 'boolean') return undefined;
      run.load(file, reset ?? false);
      return `Loading ${file}...`;
    }),
    strict('print', 'value:<a> -> string', ([value, ...more], { evaluation }) => {
      if (value === undefined || more.length > 0) return undefined;
      const text = typeof value === 'string' ? value : evaluation.print(value);
      evaluation.spend(text.length);
      run.print(text);
      return evaluation.dialect === 4 ? '' : UNIT;
    }),
    lazy('test-capability', 'capability:( -> bool) -> string', ([argument, ...more], { evaluation }) => {
      const call = argument?.asCall();
      if (!call || more.length > 0) return undefined;
      const how = grantForTransaction(evaluation, appliedCapability(evaluation, call, argument.position));
      return evaluation.dialect === 4 ? GRANTED[how] : UNIT;
    }),
    strict('mock-spv', 'type:string payload:object:* output:object:* -> string', ([type, payload, output, ...more]) => {
      if (typeof type !== 'string' || payload === undefined || output === undefined || more.length > 0)
        return undefined;
      if (!isObject(payload) || !isObject(output)) return undefined;
      run.proofs.push({ type, payload, output });
      const proofs = [...run.proofs].reverse();
      run.environment = {
        ...run.environment,
        proofs: (wanted, proof) => proofs.find((each) => each.type === wanted && areEqual(each.payload, proof))?.output,
      };
      return `Added mock SPV for ${type}`;
    }),
    unchecked(run, 'typecheck', (module) => `Typecheck ${module}: success`),
    unchecked(run, 'verify', (module) => `Verification of ${module} succeeded`),
    lazy('bench', 'exprs:<a> -> string', (args) => {
      for (const arg of args) void arg.value;
      return 'Done';
    }),
    strict('env-dynref', ['iface:module{} impl:module{} -> string', ' -> string'], (values) => {
      if (values.length === 0) return 'Cleared dynamic ref environment.';
      return values.length === 2 ? 'Added dynamic ref to environment.' : undefined;
    }),
  ];
}

/** Neither types nor properties are checked before code runs. The answer is that of a check that has passed. */
function unchecked(run: TestRun, name: string, text: (module: string) => string): Native {
  const signatures = ['module:string -> string', 'module:string debug:bool -> string'];
  return strict(name, signatures, ([module, debug, ...more]) => {
    if (typeof module !== 'string' || more.length > 0) return undefined;
    if (debug !== undefined && typeof debug !== 'boolean') return undefined;
    run.note(`${name} has checked nothing of ${module}: this interpreter checks types only while code runs`);
    return text(module);
  });
}
