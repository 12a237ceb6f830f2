/** The container file, read as a builder reads it: no container engine is needed, and none is tried. */

import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'packaging/container');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** Joins continued lines, and removes comments, also within a continued line. */
function instructions(text: string): Instruction[] {
  return text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name, rest] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
      if (!name) throw new Error(`no instruction: ${line}`);
      return { name, rest: rest.replace(/\s+/g, ' ').trim() };
    });
}

interface Stage {
  readonly name: string;
  readonly base: string;
  readonly steps: Instruction[];
}

const all = instructions(readFileSync(join(folder, 'Containerfile'), 'utf8'));
const stages: Stage[] = [];
for (const instruction of all) {
  const from = instruction.name === 'FROM' && /^(\S+) AS (\w+)$/.exec(instruction.rest);
  if (from) stages.push({ name: from[2], base: from[1], steps: [] });
  else stages.at(-1)?.steps.push(instruction);
}
const stage = (name: string) => stages.find((each) => each.name === name)!;
const of = (name: string, instruction: string) =>
  stage(name)
    .steps.filter((step) => step.name === instruction)
    .map(({ rest }) => rest);

/** What is copied out of the checkout, from all stages. */
const sources = all
  .filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from='))
  .flatMap(({ rest }) => rest.split(' ').slice(0, -1));

describe('the container file', () => {
  test('has two targets, the one for GPUs on top of the other', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', 'dependencies', 'cpu', 'gpu']);
    expect(stage('gpu').base).toBe('cpu');
  });

  test('stands on an image pinned by its tag, of a Node that pickaxe runs on', () => {
    const [image, ...others] = all.filter(({ name }) => name === 'ARG').map(({ rest }) => rest);
    expect(others).toEqual([]);
    expect(image).toMatch(/^NODE_IMAGE=docker\.io\/library\/node:\d+(\.\d+)*-[a-z]+-slim$/);
    const bases = stages.filter(({ base }) => base !== 'cpu').map(({ base }) => base);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the container file's own
    expect(new Set(bases)).toEqual(new Set(['${NODE_IMAGE}']));
    // Newer than every minor version of 20 that is too old.
    expect(manifest.engines.node).toBe('>=20.19');
    expect(Number(/node:(\d+)/.exec(image)?.[1])).toBeGreaterThan(20);
  });

  test('can be built on an image named by its digest, as the document says', () => {
    const text = readFileSync(join(folder, 'Containerfile'), 'utf8');
    expect(text).toContain('--build-arg NODE_IMAGE=docker.io/library/node@sha256:');
    const page = readFileSync(join(root, 'docs/platforms.md'), 'utf8');
    expect(page).toContain('--build-arg NODE_IMAGE=NAME@sha256:DIGEST');
    const [image] = all.filter(({ name }) => name === 'ARG').map(({ rest }) => rest.replace('NODE_IMAGE=', ''));
    expect(page).toContain(`podman pull ${image}\n`);
  });

  test('copies what there is', () => {
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
    expect(sources).not.toContain('.');
  });

  test('copies from stages before what they have made', () => {
    const copies = stages.flatMap(({ name }) => of(name, 'COPY').map((rest) => ({ name, rest })));
    const between = copies.filter(({ rest }) => rest.startsWith('--from='));
    expect(between.length).toBeGreaterThan(0);
    for (const { name, rest } of between) {
      const [, from, path] = /^--from=(\w+) \/build\/(\S+) \S+$/.exec(rest) ?? [];
      const before = stages
        .slice(
          0,
          stages.findIndex((each) => each.name === name),
        )
        .map((each) => each.name);
      expect(before).toContain(from);
      expect(['node_modules', 'dist', 'native/build/pickaxe.node']).toContain(path);
    }
  });

  test('sends the builder what it copies, and neither what is installed nor what is built', () => {
    const lines = readFileSync(join(folder, 'Containerfile.dockerignore'), 'utf8').split('\n');
    const admitted = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(lines.find((line) => line !== '' && !line.startsWith('#'))).toBe('*');
    const tops = new Set(sources.map((source) => source.split('/')[0]));
    expect(new Set(admitted)).toEqual(tops);
    expect(lines).toContain('native/build');
    expect([...tops].filter((top) => ['node_modules', 'dist', '.git'].includes(top))).toEqual([]);
  });

  test('has in the end all that the package says it needs to mine', () => {
    const targets = of('cpu', 'COPY').map((rest) => posix.normalize(rest.split(' ').at(-1)!));
    for (const needed of ['dist', 'shaders', 'native/prebuilt', 'node_modules']) expect(targets).toContain(needed);
    expect(of('cpu', 'COPY')[0]).toMatch(/^package\.json /);
  });

  test.each(['cpu', 'gpu'])('%s runs pickaxe, and not as root', (name) => {
    expect(of('cpu', 'ENTRYPOINT').map((rest) => JSON.parse(rest))).toEqual([
      ['node', posix.join(of('cpu', 'WORKDIR')[0], manifest.bin.pickaxe)],
    ]);
    expect(of('gpu', 'ENTRYPOINT')).toEqual([]);
    expect(of(name, 'USER').at(-1)).toBe('node');
  });

  test('installs what is locked, runs no install scripts, and leaves no package lists behind', () => {
    const runs = all.filter(({ name }) => name === 'RUN').map(({ rest }) => rest);
    const npm = runs.filter((rest) => rest.includes('npm '));
    expect(npm).toEqual(['npm ci --ignore-scripts', 'npm ci --omit=dev --ignore-scripts']);
    for (const rest of runs.filter((each) => each.includes('apt-get'))) {
      expect(rest).toMatch(/--no-install-recommends .*&& rm -rf \/var\/lib\/apt\/lists\/\*$/);
    }
  });

  test('for GPUs has a Vulkan driver, and asks NVIDIA’s toolkit for its part', () => {
    expect(of('gpu', 'RUN').join()).toContain('mesa-vulkan-drivers');
    expect(of('gpu', 'ENV').join()).toMatch(/NVIDIA_DRIVER_CAPABILITIES=\S*graphics/);
  });
});
