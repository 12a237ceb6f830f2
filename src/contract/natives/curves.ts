/**
 * Natives for the pairing-friendly curve BN254 (alt_bn128): points of G1 over integers, and points of G2 over lists of
 * two integers. Where both coordinates are 0, an object stands for the point at infinity.
 */

import { bn254 } from '@noble/curves/bn254.js';
import { ContractError } from '../errors.ts';
import { type CurveGroup, chargeOfPairings, POINT_ADD, SCALAR_MULT } from '../gas/costs.ts';
import { type Call, type Evaluator, type Native, strict } from '../runtime/native.ts';
import { type ContractObject, isList, isObject, isText, sortedObject, type Value } from '../values/values.ts';

const { G1, G2, fields, utils } = bn254;
const { Fp, Fp2, Fp12 } = fields;
const TWIST_B = G2.Point.CURVE().b;

type Pair = Parameters<typeof bn254.millerLoopBatch>[0][number];
type Fp2Value = ReturnType<typeof Fp2.create>;

/** The evaluation steps of each operation. A step takes some 3 µs. */
const STEPS = { g1: { add: 50, multiply: 1_000 }, g2: { add: 1_500, multiply: 1_500 }, pair: 15_000 } as const;

interface Addable<Point> {
  add(other: Point): Point;
  /** @param scalar from 0 to below the order of the curve */
  multiplyUnsafe(scalar: bigint): Point;
}

/** One of the two groups: its name, and how its points are read and written. */
interface Group<Point extends Addable<Point>> {
  readonly name: CurveGroup;
  /** @returns undefined for an object that is no point */
  readonly read: (object: ContractObject) => { readonly point: Point; readonly isOnCurve: boolean } | undefined;
  readonly write: (point: Point) => ContractObject;
}

type Point1 = typeof G1.Point.BASE;
type Point2 = typeof G2.Point.BASE;

const GROUP_1: Group<Point1> = {
  name: 'g1',
  read: (object) => {
    const [x, y] = [object.get('x'), object.get('y')];
    if (typeof x !== 'bigint' || typeof y !== 'bigint') return undefined;
    const affine = { x: Fp.create(x), y: Fp.create(y) };
    if (affine.x === 0n && affine.y === 0n) return { point: G1.Point.ZERO, isOnCurve: true };
    // y² = x³ + 3
    const isOnCurve = Fp.eql(Fp.sqr(affine.y), Fp.add(Fp.mul(Fp.sqr(affine.x), affine.x), 3n));
    return { point: G1.Point.fromAffine(affine), isOnCurve };
  },
  write: (point) => sortedObject(Object.entries(point.is0() ? { x: 0n, y: 0n } : point.toAffine())),
};

const GROUP_2: Group<Point2> = {
  name: 'g2',
  read: (object) => {
    const [x, y] = [elementOf(object.get('x')), elementOf(object.get('y'))];
    if (!x || !y) return undefined;
    if (Fp2.is0(x) && Fp2.is0(y)) return { point: G2.Point.ZERO, isOnCurve: true };
    const isOnCurve = Fp2.eql(Fp2.sqr(y), Fp2.add(Fp2.mul(Fp2.sqr(x), x), TWIST_B));
    return { point: G2.Point.fromAffine({ x, y }), isOnCurve };
  },
  write: (point) => {
    const { x, y } = point.is0() ? { x: Fp2.ZERO, y: Fp2.ZERO } : point.toAffine();
    return sortedObject([
      ['x', point.is0() ? [0n] : listOf(x)],
      ['y', point.is0() ? [0n] : listOf(y)],
    ]);
  },
};

/** @returns the element of the field whose coefficients a list has, the lowest first; undefined for any other value */
function elementOf(value: Value | undefined): Fp2Value | undefined {
  if (value === undefined || !isList(value) || value.length > 2) return undefined;
  const [c0 = 0n, c1 = 0n] = value;
  return typeof c0 === 'bigint' && typeof c1 === 'bigint'
    ? Fp2.create({ c0: Fp.create(c0), c1: Fp.create(c1) })
    : undefined;
}

/** @returns the coefficients of an element without those that are 0 at the end */
function listOf({ c0, c1 }: Fp2Value): readonly bigint[] {
  if (c1 !== 0n) return [c0, c1];
  return c0 === 0n ? [] : [c0];
}

/** @throws ContractError for a point that is not on the curve; in dialect 4 for an object that is no point, too */
function readPoint<Point extends Addable<Point>>(
  group: Group<Point>,
  value: Value,
  evaluator: Evaluator,
): Point | undefined {
  const read = isObject(value) ? group.read(value) : undefined;
  if (read === undefined) {
    if (evaluator.dialect === 5) return undefined;
    const message = isObject(value) ? `unable to decode point in ${group.name}` : 'not a point';
    throw new ContractError('eval', message);
  }
  if (!read.isOnCurve) throw notOnCurve(evaluator);
  return read.point;
}

function notOnCurve({ dialect }: Evaluator): ContractError {
  return new ContractError('eval', dialect === 4 ? 'Point not on curve' : 'Point lies outside of elliptic curve');
}

/** Calls `run` with the group that a text names, in any case. @returns undefined for any other value */
function inGroup(
  type: Value | undefined,
  run: <Point extends Addable<Point>>(group: Group<Point>) => Value | undefined,
): Value | undefined {
  const name = type !== undefined && isText(type) ? type.toLowerCase() : undefined;
  if (name === 'g1') return run(GROUP_1);
  return name === 'g2' ? run(GROUP_2) : undefined;
}

function pointAdd([type, a, b, ...more]: readonly Value[], { evaluator }: Call): Value | undefined {
  if (a === undefined || b === undefined || more.length > 0 || !isObject(a) || !isObject(b)) return undefined;
  return inGroup(type, (group) => {
    const [first, second] = [readPoint(group, a, evaluator), readPoint(group, b, evaluator)];
    if (first === undefined || second === undefined) return undefined;
    evaluator.gas.cryptography('point-add', POINT_ADD[group.name]);
    evaluator.spend(STEPS[group.name].add);
    return group.write(first.add(second));
  });
}

function scalarMult([type, a, scalar, ...more]: readonly Value[], { evaluator }: Call): Value | undefined {
  if (a === undefined || typeof scalar !== 'bigint' || more.length > 0 || !isObject(a)) return undefined;
  return inGroup(type, (group) => {
    const point = readPoint(group, a, evaluator);
    if (point === undefined) return undefined;
    evaluator.gas.cryptography('scalar-mult', SCALAR_MULT[group.name]);
    evaluator.spend(STEPS[group.name].multiply);
    return group.write(point.multiplyUnsafe(fields.Fr.create(scalar)));
  });
}

/**
 * The native `pairing-check`. If the lists differ in length, the rest of the longer one is only read.
 * @returns whether the product of the pairings is 1
 */
function pairingCheck([first, second, ...more]: readonly Value[], { evaluator }: Call): boolean | undefined {
  if (first === undefined || second === undefined || more.length > 0) return undefined;
  if (!isList(first) || !isList(second)) return undefined;
  const { dialect, environment } = evaluator;
  const count = Math.min(first.length, second.length);
  const charged = dialect === 4 ? count : Math.max(first.length, second.length);
  evaluator.gas.cryptography('pairing-check', chargeOfPairings(charged, dialect));
  evaluator.spend(STEPS.pair * (1 + charged));
  const points1 = first.map((value) => readPoint(GROUP_1, value, evaluator));
  const points2 = second.map((value) => readPoint(GROUP_2, value, evaluator));
  if ([...points1, ...points2].includes(undefined)) return undefined;
  // Since version 5.4, the points must be in the subgroup of prime order.
  const mustBeInSubgroup = dialect === 5 && !environment.flags.has('DisablePact54');
  if (mustBeInSubgroup && points2.some((point) => !point!.isTorsionFree())) throw notOnCurve(evaluator);
  const pairs = points1.slice(0, count).flatMap((point, i): Pair[] => {
    const other = points2[i]!;
    if (point!.is0() || other.is0()) return [];
    const { x, y } = point!.toAffine();
    return [[utils.calcPairingPrecomputes(other), x, y]];
  });
  return Fp12.eql(Fp12.finalExponentiate(bn254.millerLoopBatch(pairs)), Fp12.ONE);
}

export const CURVES: readonly Native[] = [
  strict('point-add', 'type:string point1:<a> point2:<a> -> <a>', pointAdd),
  strict('scalar-mult', 'type:string point1:<a> scalar:integer -> <a>', scalarMult),
  strict('pairing-check', 'points-g1:[<a>] points-g2:[<b>] -> bool', pairingCheck),
];
