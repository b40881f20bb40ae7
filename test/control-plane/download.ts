import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type BuildPlan, PROGRAMS, type Program } from './build-plan.ts';
import type { Machine } from './machine.ts';

const KUBERNETES = 'https://dl.k8s.io/release';
const ETCD = 'https://github.com/etcd-io/etcd/releases/download';
const KWOK = 'https://github.com/kubernetes-sigs/kwok/releases/download';

/** Fetches what the cache folder lacks from the projects' own releases; the reason if that cannot be done. */
export async function downloadPrograms(machine: Machine, plan: BuildPlan, cache: string): Promise<string | undefined> {
  for (const program of PROGRAMS) {
    const target = join(cache, program);
    if (await machine.isExecutable(target)) continue;
    machine.say(`downloading ${program} to ${target}`);
    try {
      await downloadOne(machine, plan, program, cache);
    } catch (thrown) {
      return `${program}: ${describe(thrown)}`;
    }
  }
  return undefined;
}

/** `fetch failed` says nothing; its cause does. */
function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? `${thrown.message} (${thrown.cause.message})` : thrown.message;
}

async function downloadOne(machine: Machine, { versions }: BuildPlan, program: Program, cache: string): Promise<void> {
  const dashed = machine.platform.replace('/', '-');
  const target = join(cache, program);
  if (program === 'kwok') return machine.writeProgram(target, await machine.download(`${KWOK}/${versions.kwok}/kwok-${dashed}`));
  if (program === 'etcd') return downloadEtcd(machine, versions.etcd, `etcd-${versions.etcd}-${dashed}`, cache);
  const url = `${KUBERNETES}/${versions.kubernetes}/bin/${machine.platform}/${program}`;
  const content = await machine.download(url);
  check(url, content, textOf(await machine.download(`${url}.sha256`)));
  await machine.writeProgram(target, content);
}

/** Published as an archive, with one list of checksums for all of them. */
async function downloadEtcd(machine: Machine, version: string, name: string, cache: string): Promise<void> {
  const url = `${ETCD}/${version}/${name}.tar.gz`;
  const content = await machine.download(url);
  const sums = textOf(await machine.download(`${ETCD}/${version}/SHA256SUMS`));
  const sum = sums.split('\n').find((line) => line.endsWith(` ${name}.tar.gz`)) ?? '';
  check(url, content, sum);
  const archive = join(cache, `${name}.tar.gz`);
  await machine.writeProgram(archive, content);
  const unpacked = await machine.run('tar', ['-xzf', archive, '-C', cache, '--strip-components=1', `${name}/etcd`]);
  if (unpacked.exitCode !== 0) throw new Error(`tar could not unpack ${archive}: ${unpacked.output.trim()}`);
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function check(url: string, content: Uint8Array, published: string): void {
  const expected = published.trim().split(/\s+/)[0] ?? '';
  const actual = createHash('sha256').update(content).digest('hex');
  if (actual !== expected) throw new Error(`${url} has the sha256 ${actual}; published is ${expected || 'none'}`);
}
