// Reads the instructions of a kernel from what ptxas writes, an ELF file.

import { parseDisassembly } from '../loop.mjs';

/** The opcodes of instructions of 16 bytes (compute capability 7.0 and later), which chips since then have kept. */
const OPCODES = {
  '002': 'MOV',
  '00c': 'ISETP',
  '010': 'IADD3',
  '011': 'LEA',
  '012': 'LOP3',
  '016': 'PRMT',
  '019': 'SHF',
  '024': 'IMAD',
  '025': 'IMAD',
  '036': 'VIADD',
  '08c': 'UISETP',
  '090': 'UIADD3',
  118: 'NOP',
  141: 'BSYNC',
  144: 'CALL',
  145: 'BSSY',
  147: 'BRA',
  '14d': 'EXIT',
  155: 'BMOV',
  '1a8': 'ATOMG',
  186: 'STG',
};
const INSTRUCTION_BYTES = 16;
const BRANCH = 'BRA';

/** An instruction of nvdisasm's text; two that a chip issues together are in braces. */
const LINE = /^\s*\/\*[0-9a-f]+\*\/\s+\{?\s*(@!?U?P\w+\s+)?([A-Z][\w.]*)\s*([^;}]*)[;}]/;

/**
 * @param file the ELF file
 * @param disassemble returns nvdisasm's text; undefined without nvdisasm
 * @param family such as `sm_86`
 * @returns `{ instructions, bytes }`; undefined when a chip's code can be read by nvdisasm only, and there is none
 */
export function readSass(file, disassemble, family) {
  const code = sectionOf(file, '.text.scan');
  const capability = Number(family.slice(3));
  // nvdisasm 11.8, the newest in Debian 12, knows chips up to 9.0.
  const known = disassemble && capability <= 90;
  if (known) return { instructions: parse(disassemble()), bytes: code.length };
  return capability < 70 ? undefined : { instructions: decode(code, capability), bytes: code.length };
}

/** @returns a section of a 64-bit little-endian ELF file */
function sectionOf(file, wanted) {
  const headers = Number(file.readBigUInt64LE(0x28));
  const [size, count, namesAt] = [0x3a, 0x3c, 0x3e].map((at) => file.readUInt16LE(at));
  const sections = Array.from({ length: count }, (_, i) => {
    const at = headers + i * size;
    const [offset, length] = [0x18, 0x20].map((field) => Number(file.readBigUInt64LE(at + field)));
    return { name: file.readUInt32LE(at), offset, length };
  });
  const nameOf = ({ name }) => {
    const from = sections[namesAt].offset + name;
    return file.toString('latin1', from, file.indexOf(0, from));
  };
  const section = sections.find((each) => nameOf(each) === wanted);
  if (!section) throw new Error(`ptxas wrote no section ${wanted}`);
  return file.subarray(section.offset, section.offset + section.length);
}

/** Parses nvdisasm's text: `.L_x_1:` before a block, and lines with an address and such as `@P0 BRA (.L_x_1) ;`. */
const parse = (text) =>
  parseDisassembly(text, /^(\.L_\w+):/, (line) => {
    const [, predicate, op, operands] = LINE.exec(line) ?? [];
    if (!op) return undefined;
    const [name] = op.split('.');
    // Before Volta, lanes that skip a block branch by SYNC.
    const branches = name === BRANCH || (name === 'SYNC' && predicate);
    const target = branches ? /\.L_\w+/.exec(operands)?.[0] : undefined;
    return { op: name, memory: /^(ATOM|RED|ST)/.test(name), target };
  });

/** Reads the opcodes of instructions and the targets of branches from the code itself. */
function decode(code, capability) {
  const instructions = [];
  for (let at = 0; at < code.length; at += INSTRUCTION_BYTES) {
    const low = code.readBigUInt64LE(at);
    const opcode = Number(low & 0x1ffn);
    const op = OPCODES[opcode.toString(16).padStart(3, '0')] ?? `0x${opcode.toString(16)}`;
    const label = `at ${at}`;
    const instruction = { op, label, memory: /^(ATOM|ST)/.test(op) };
    if (op === BRANCH) instruction.target = `at ${at + INSTRUCTION_BYTES + branchOffset(code, at, capability)}`;
    instructions.push(instruction);
  }
  return instructions;
}

/** @returns the distance of a branch in bytes. Since 9.0 it is in words of four, with the lowest eight bits apart */
function branchOffset(code, at, capability) {
  const high = code.readInt32LE(at + 4);
  return capability < 90 ? high : 4 * ((high >> 2) * 256 + code.readUInt8(at + 2));
}
