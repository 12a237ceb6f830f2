/** Flows: functions whose steps run in transactions of their own. */

import { ContractError, type Position } from '../errors.ts';
import type { Value } from '../values/values.ts';
import type { Evaluation, MemberCall } from './native.ts';

export function beginFlow(_evaluation: Evaluation, { member }: MemberCall, position: Position | undefined): Value {
  throw new ContractError('eval', `flows are not there yet: ${member}`, position);
}
