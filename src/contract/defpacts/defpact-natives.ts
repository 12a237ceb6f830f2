/** The natives of defpacts: `yield`, `resume`, `pact-id` and `continue`. */

import { currentPactId } from '../capabilities/guards.ts';
import { ContractError } from '../errors.ts';
import { type Argument, type Call, lazy, type Native, strict } from '../runtime/native.ts';
import { isObject, type Value } from '../values/values.ts';
import { continueNested } from './defpacts.ts';
import { resumedObject, yieldObject } from './yields.ts';

function yieldToNext(values: readonly Value[], { evaluator }: Call): Value | undefined {
  const [object, targetChain] = values;
  if (values.length < 1 || values.length > 2 || !isObject(object)) return undefined;
  if (targetChain !== undefined && typeof targetChain !== 'string') return undefined;
  yieldObject(evaluator, object, targetChain);
  return object;
}

function resume(args: readonly Argument[], { evaluator, scope, binding }: Call): Value | undefined {
  if (args.length > 0 || !binding) return undefined;
  return evaluator.evaluateBinding(binding, resumedObject(evaluator), scope);
}

function continueStep(args: readonly Argument[], { evaluator, position }: Call): Value | undefined {
  if (args.length !== 1) return undefined;
  const [argument] = args;
  // In dialect 5, `continue` has no effect: a later step continues a nested defpact by calling the defpact again.
  if (evaluator.dialect === 5) return argument.value;
  if (evaluator.environment.flags.has('DisablePact43')) {
    throw new ContractError('eval', 'Cannot resolve continue', position);
  }
  const call = argument.asCall();
  if (call) return continueNested(evaluator, call, position);
  throw new ContractError('eval', `continue: argument must be a defpact ${argument.text}`, argument.position);
}

export const DEFPACTS: readonly Native[] = [
  strict(
    'yield',
    ['object:object:<{y}> -> object:<{y}>', 'object:object:<{y}> target-chain:string -> object:<{y}>'],
    yieldToNext,
  ),
  lazy('resume', 'binding:binding:<{r}> -> <a>', resume),
  strict('pact-id', ' -> string', (values, { evaluator }) =>
    values.length === 0 ? currentPactId(evaluator) : undefined,
  ),
  lazy('continue', 'value:* -> *', continueStep),
];
