import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { emptyFolder } from './folders.ts';
import { installStandIn } from './stand-in-cli.ts';
import { NETSVC_TARGET } from './target.ts';
import { assertSucceeded } from './upgrade-process.ts';

/** A kubectl that notes what it is asked, and answers from files: `hostendpoints` for `get hostendpoints.crd.netsvc.io …`. */
const KUBECTL = `#!/bin/sh
echo "$*" >>"$CALLS"
case $1 in
  get) cat "$ANSWERS/\${2%%.*}" ;;
  *) cat >>"$CALLS" ;;
esac
`;

describe('the stand-in for the service’s CLI on a cluster', () => {
  const folder = emptyFolder('stand-in-cluster-');
  const file = (name: string) => join(folder, name);
  const resource = (name: string, spec: object, labels: object = {}) => ({ metadata: { name, labels }, spec });
  const answer = (plural: string, value: object | undefined) =>
    writeFileSync(file(plural), value === undefined ? '' : JSON.stringify(value));
  beforeEach(() => {
    writeFileSync(file('kubectl'), KUBECTL);
    chmodSync(file('kubectl'), 0o755);
    installStandIn(file('ctl'), { client: NETSVC_TARGET }, { cluster: { kubectl: file('kubectl'), group: 'netsvc.io' } });
    writeFileSync(file('config'), 'apiVersion: v1\n');
    answer('clusterinformations', { ...resource('default', { netsvcVersion: NETSVC_TARGET }) });
  });

  const run = (args: readonly string[], input = '') =>
    execa(file('ctl'), [...args], {
      input,
      reject: false,
      extendEnv: false,
      env: { PATH: '/usr/bin:/bin', CALLS: file('calls'), ANSWERS: folder, KUBECONFIG: file('config'), DATASTORE_TYPE: 'kubernetes' },
    });
  const calls = () => (existsSync(file('calls')) ? readFileSync(file('calls'), 'utf8').trim().split('\n') : []);

  it('tells its own release without asking the cluster', async () => {
    const { stdout, exitCode } = await run(['version', '--client']);
    assert.deepEqual([stdout.split('\n')[0], exitCode, calls()], [`Client Version:    ${NETSVC_TARGET}`, 0, []]);
    await run(['--version']);
    assert.deepEqual(calls(), []);
  });

  it('asks for the cluster’s release alone where it is asked for that', async () => {
    assertSucceeded(await run(['version']));
    assert.deepEqual(calls(), ['get clusterinformations.crd.netsvc.io default --ignore-not-found -o json']);
  });

  it('reads of thousands of endpoints those that it is to delete', async () => {
    answer('hostendpoints', resource('a', { node: 'n1' }));
    const { stdout, exitCode, stderr } = await run(['delete', 'hostendpoint', 'a']);
    assert.deepEqual([stdout, exitCode], ["Successfully deleted 1 'HostEndpoint' resource(s)", 0], stderr);
    assert.deepEqual(calls().slice(1), [
      'get hostendpoints.crd.netsvc.io a --ignore-not-found -o json',
      'delete hostendpoints.crd.netsvc.io a',
    ]);
  });

  it('lists a fleet whose list is larger than what Node takes of a program unless told', async () => {
    const items = Array.from({ length: 5000 }, (_, index) => resource(`old-${index}`, { node: `n-${index}`, note: 'x'.repeat(300) }));
    answer('hostendpoints', { items });
    const { stdout, exitCode } = await run(['get', 'hostendpoints', '-o', 'json']);
    assert.deepEqual([exitCode, JSON.parse(stdout).items.length], [0, 5000]);
  });

  it('says with an empty answer that what was named is not there', async () => {
    answer('hostendpoints', undefined);
    const { stderr, exitCode } = await run(['get', 'hostendpoint', 'nosuch']);
    assert.deepEqual([exitCode, /resource does not exist: HostEndpoint\(nosuch\)/.test(stderr)], [1, true]);
  });

  it('applies onto what is there in the manner of a new client: labels in the annotation, none on the object', async () => {
    answer('kubecontrollersconfigurations', undefined);
    answer('tiers', { items: ['default', 'kube-admin', 'kube-baseline'].map((name) => resource(name, {})) });
    answer('hostendpoints', resource('a', { node: 'n1' }, { old: 'yes' }));
    const object = { kind: 'HostEndpoint', metadata: { name: 'a', labels: { role: 'host' } }, spec: { node: 'n1' } };
    const { stdout, exitCode, stderr } = await run(['apply', '-f', '-'], JSON.stringify(object));
    assert.deepEqual([stdout, exitCode], ["Successfully applied 1 'HostEndpoint' resource(s)", 0], stderr);
    const patch = calls().find((one) => one.startsWith('patch')) ?? '';
    const [, change = '{}'] = patch.split(' -p ');
    const annotations = { 'netsvc.io/metadata': JSON.stringify({ labels: { role: 'host' } }) };
    assert.deepEqual(JSON.parse(change), { metadata: { labels: null, annotations }, spec: { node: 'n1' } });
  });
});
