/** Points of BN254: vectors of EIP-196 and EIP-197, the laws of the groups, and what is no point. */

import { checkOutcomes } from '../outcomes.ts';

const ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const FIELD = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;

const P = "{'x: 1, 'y: 2}";
const MINUS_P = `{'x: 1, 'y: ${FIELD - 2n}}`;
const NONE = "{'x: 0, 'y: 0}";
/** The doubled generator of EIP-196. */
const DOUBLED =
  '{"x": 1368015179489954701390400359078579693043519447331113978918064868415326638035,"y": 9918110051302171585080402603319702774565515993150576347155970296011118125764}';
/** The generator of the second group in EIP-197, the real part first. */
const Q = `{'x: [10857046999023057135944570762232829481370756359578518086990519993285655852781 11559732032986387107991004021392285783925812861821192530917403151452391805634],
  'y: [8495653923123431417604973247489272438418190587263600148770280649306958101930 4082367875863433681332203403145435568316851327593401208105741076214120093531]}`;
const MINUS_Q = `{'x: [10857046999023057135944570762232829481370756359578518086990519993285655852781 11559732032986387107991004021392285783925812861821192530917403151452391805634],
  'y: [${FIELD - 8495653923123431417604973247489272438418190587263600148770280649306958101930n} ${FIELD - 4082367875863433681332203403145435568316851327593401208105741076214120093531n}]}`;
const NO_Q = "{'x: [0], 'y: [0]}";
/** On the twisted curve, but not in the subgroup of prime order. */
const OUTSIDE =
  "{'x: [1 0], 'y: [3610091866386166428467545612961983990332663701371483510632385378352395651980 15975588672102553735566230729081043132501226101599136527557730645158523614371]}";

const OFF = ['Point not on curve', 'Point lies outside of elliptic curve'] as const;
const G1 = 'unable to decode point in g1';
const G2 = 'unable to decode point in g2';
const wrong = (native: string, types: string) =>
  `Type error: failed to call native function ${native} with argument(s) of type(s): ${types}`;
const ADD = wrong('point-add', 'string, object, object');
const ADD_4 = 'for type:string point1:<a> point2:<a> -> <a>';

checkOutcomes(
  [],
  [
    [`(point-add 'g1 ${P} ${P})`, DOUBLED],
    [`(point-add 'G1 ${P} ${NONE})`, '{"x": 1,"y": 2}'],
    [`(point-add 'g1 ${P} ${MINUS_P})`, '{"x": 0,"y": 0}'],
    [`(point-add 'g1 {'x: ${FIELD + 1n}, 'y: 2} ${NONE})`, '{"x": 1,"y": 2}'],
    [`(scalar-mult 'g1 ${P} 2)`, DOUBLED],
    [`(scalar-mult 'g1 ${P} ${ORDER + 2n})`, DOUBLED],
    [`(scalar-mult 'g1 ${MINUS_P} -2)`, DOUBLED],
    [`(scalar-mult 'g1 ${P} 0)`, '{"x": 0,"y": 0}'],
    [`(= (point-add 'g2 ${Q} ${Q}) (scalar-mult 'g2 ${Q} 2))`, 'true'],
    [`(= (scalar-mult 'g2 ${Q} -1) ${MINUS_Q})`, 'true'],
    [`(point-add 'g2 ${Q} ${MINUS_Q})`, '{"x": [0],"y": [0]}'],
    [`(= (point-add 'g2 ${NO_Q} ${Q}) ${Q})`, 'true'],
    [`(pairing-check [${P} ${P}] [${Q} ${MINUS_Q}])`, 'true'],
    [`(pairing-check [${P} ${MINUS_P}] [${Q} ${Q}])`, 'true'],
    [`(pairing-check [(scalar-mult 'g1 ${P} 6) ${MINUS_P}] [${Q} (scalar-mult 'g2 ${Q} 6)])`, 'true'],
    [`(pairing-check [${P} ${P}] [${Q} ${Q}])`, 'false'],
    [`(pairing-check [${P}] [${Q}])`, 'false'],
    ['(pairing-check [] [])', 'true'],
    [`(pairing-check [${P}] [])`, 'true'],
    [`(pairing-check [${NONE} ${P}] [${Q} ${NO_Q}])`, 'true'],
    [`(point-add 'g1 ${P} {'x: 1, 'y: 3})`, ...OFF],
    [`(point-add 'g1 {'x: 1, 'y: 3} ${P})`, ...OFF],
    [`(scalar-mult 'g1 {'x: 0, 'y: 1} 1)`, ...OFF],
    [`(scalar-mult 'g2 {'x: [1], 'y: [1]} 1)`, ...OFF],
    [`(pairing-check [{'x: 1, 'y: 3}] [])`, ...OFF],
    [`(pairing-check [] [{'x: [1], 'y: [1]}])`, ...OFF],
    [`(point-add 'g1 ${P} {'x: 1})`, G1, ADD],
    [`(point-add 'g1 {'y: 1} ${P})`, G1, ADD],
    [`(point-add 'g1 ${P} {'x: 1.0, 'y: 2})`, G1, ADD],
    [`(point-add 'g1 ${P} ${Q})`, G1, ADD],
    [`(point-add 'g2 ${P} ${Q})`, G2, ADD],
    [`(point-add 'g2 {'x: [1 2 3], 'y: [1]} ${Q})`, G2, ADD],
    [`(point-add 'g2 {'x: [1 2], 'y: ["a"]} ${Q})`, G2, ADD],
    [`(scalar-mult 'g2 {'x: ["a"], 'y: [1]} 1)`, G2, wrong('scalar-mult', 'string, object, integer')],
    [`(pairing-check [1] [${Q}])`, 'not a point', wrong('pairing-check', 'list, list')],
    [`(pairing-check [${P}] [true])`, 'not a point', wrong('pairing-check', 'list, list')],
    [`(point-add 'g3 ${P} ${P})`, `Invalid arguments, received ["g3" {"x": 1,"y": 2} {"x": 1,"y": 2}] ${ADD_4}`, ADD],
    [`(at 'x (point-add 'g2 ${OUTSIDE} ${NO_Q}))`, '[1]'],
    [`(pairing-check [${P}] [${OUTSIDE}])`, 'false', OFF[1]],
    [['(env-exec-config ["DisablePact54"])', `(pairing-check [${P}] [${OUTSIDE}])`], null, 'false'],
  ],
);

const table = (code: string) => ['(env-gaslimit 1000000)', '(env-gasmodel "table")', '(env-gas 0)', code, '(env-gas)'];

/** The gas of a call, with that of its parts. */
checkOutcomes(
  [],
  [
    [table(`(point-add 'g1 ${P} ${P})`), '6'],
    [table(`(point-add 'g2 ${Q} ${Q})`), '31', '32'],
    [table(`(scalar-mult 'g1 ${P} 5)`), '361'],
    [table(`(scalar-mult 'g2 ${Q} 5)`), '1451'],
    [table(`(pairing-check [${P}] [${Q}])`), '15361', '17'],
    [table(`(pairing-check [${P} ${P}] [${Q}])`), '15361', '21'],
    [table('(pairing-check [] [])'), '101'],
  ],
);
