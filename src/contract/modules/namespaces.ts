/** Defines and enters namespaces, and decides who may install modules in a namespace. */

import { withReserved } from '../capabilities/grants.ts';
import { enforceGuard } from '../capabilities/guards.ts';
import { ContractError } from '../errors.ts';
import { READ_BYTE } from '../gas/natives5.ts';
import { characterCount } from '../gas/sizes.ts';
import { isDottedName } from '../names.ts';
import { requireAccess } from '../runtime/access.ts';
import type { Namespace } from '../runtime/database.ts';
import { type Evaluator, nativeFailure } from '../runtime/native.ts';
import { shownValue } from '../runtime/shown.ts';
import type { Value } from '../values/values.ts';

/**
 * Defines a namespace, or replaces the guards of an existing namespace.
 * @throws ContractError if the namespace policy refuses a new namespace, if the admin guard of an existing namespace
 *   fails, or for an invalid name
 */
export function defineNamespace(evaluator: Evaluator, namespace: Namespace): void {
  const { name } = namespace;
  requireAccess(evaluator, 'write', 'writeRow');
  checkName(evaluator, name);
  const existing = evaluator.database.namespaces.get(name);
  chargeForReading(evaluator, 'define-namespace', name, existing);
  if (existing) {
    evaluator.gas.readNamespace();
    withReserved(evaluator, 'DEFINE_NAMESPACE', name, () => enforceGuard(evaluator, existing.admin));
  } else {
    enforcePolicy(evaluator, namespace);
  }
  evaluator.gas.defineNamespace(name, namespace.user, namespace.admin);
  evaluator.gas.write5('define-namespace', (sizes) => sizes.namespace(name, namespace.user, namespace.admin));
  evaluator.kept?.addEntry([name, namespace.user, namespace.admin]);
  evaluator.database.namespaces.set(name, namespace);
}

/** Charges in dialect 5 for looking up a namespace. @param found undefined if there is none */
export function chargeForReading({ gas }: Evaluator, native: string, name: string, found: Namespace | undefined): void {
  gas.charge5(native, () => READ_BYTE * characterCount(name));
  if (found) gas.read5(native, (sizes) => sizes.namespace(found.name, found.user, found.admin));
}

/**
 * Matches the names that dialect 5 accepts for namespaces. The letters and digits of such a name are characters of
 * Latin-1.
 */
const NAME5 = /^[A-Za-zªµºÀ-ÖØ-öø-ÿ][0-9A-Za-zªµºÀ-ÖØ-öø-ÿ²³¹¼-¾%#+\-_&$@<>=^?*!|/~]*$/;

function checkName({ dialect }: Evaluator, name: string): void {
  if (dialect === 5 && !NAME5.test(name)) {
    throw nativeFailure({ name: 'define-namespace' }, 'invalid namespace format');
  }
  if (dialect === 4 && !isDottedName(name)) {
    throw new ContractError('eval', `invalid namespace name format: ${name}`);
  }
}

/**
 * @throws ContractError unless the namespace policy permits the new namespace. Without a policy, every new namespace is
 *   permitted
 */
function enforcePolicy(evaluator: Evaluator, { name, admin }: Namespace): void {
  const { dialect, environment } = evaluator;
  if (!environment.namespacePolicy) return;
  const { policy: member } = environment.namespacePolicy;
  evaluator.gas.call5(member.definition.name, 2);
  const answer = evaluator.applyMember({ member, args: [name, admin] });
  if (answer === true) return;
  if (answer !== false) {
    throw new ContractError('eval', unexpectedAnswer(evaluator, answer));
  }
  const message = 'Namespace definition not permitted';
  throw dialect === 4 ? new ContractError('eval', message) : nativeFailure({ name: 'define-namespace' }, message);
}

function unexpectedAnswer(evaluator: Evaluator, answer: Value): string {
  if (evaluator.dialect === 5) return `expected bool value, got ${evaluator.print(answer)}`;
  const message = 'Unexpected return value from namespace policy';
  return `${message}${shownValue(evaluator, answer, [': ', ', received value of type: '])}`;
}

/**
 * Makes a namespace the current one, until the end of the transaction or the next call of this function.
 * @param name the name of the namespace; since version 4.7, also the empty text, after which no namespace is current
 * @throws ContractError for an unknown namespace
 */
export function enterNamespace(evaluator: Evaluator, name: string): void {
  const { flags } = evaluator.environment;
  if (name === '' && !flags.has('DisablePact47')) {
    evaluator.state = { ...evaluator.state, namespace: undefined };
    return;
  }
  const namespace = evaluator.database.namespaces.get(name);
  chargeForReading(evaluator, 'namespace', name, namespace);
  if (!namespace) {
    const message = evaluator.dialect === 4 ? `namespace: '${name}' not defined` : `Namespace not found: ${name}`;
    throw new ContractError('eval', message);
  }
  evaluator.gas.readNamespace();
  // Before version 4.4, entering a namespace enforced its user guard. Since then, the installation of a new module or
  // keyset in the namespace enforces the guard.
  if (flags.has('DisablePact44')) enforceGuard(evaluator, namespace.user);
  evaluator.state = { ...evaluator.state, namespace };
}

/**
 * @param isUpgrade whether a new version replaces an installed module. Since version 4.4, this function permits every
 *   upgrade
 * @throws ContractError if the user guard of the current namespace does not pass (since version 4.4), or if no
 *   namespace is current and the policy requires a namespace
 */
export function enforceInstallation(evaluator: Evaluator, isUpgrade: boolean): void {
  const { state, environment, dialect } = evaluator;
  const isOlderRule = environment.flags.has('DisablePact44');
  if (state.namespace) {
    const { name, user } = state.namespace;
    if (!isUpgrade && !isOlderRule) withReserved(evaluator, 'NAMESPACE', name, () => enforceGuard(evaluator, user));
  } else if ((!isUpgrade || isOlderRule) && environment.namespacePolicy?.allowsRoot === false) {
    throw new ContractError(
      'eval',
      dialect === 4
        ? 'Definitions in default namespace are not authorized'
        : 'Namespace installation error: cannot install in root namespace',
    );
  }
}
