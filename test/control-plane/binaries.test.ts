import assert from 'node:assert/strict';
import { findPrograms } from './binaries.ts';
import { PROGRAMS, planBuild } from './build-plan.ts';
import { type FakeFacts, fakeMachine } from './fake-machine.ts';
import { cacheFolder } from './go-build.ts';

const goMod = 'require (\n k8s.io/kubernetes v1.36.1\n sigs.k8s.io/kwok v0.8.0\n go.etcd.io/etcd/server/v3 v3.6.8\n)';
const plan = planBuild(goMod, 'sums', 'linux/amd64');
const cache = cacheFolder({ env: {}, home: '/home/me' }, plan.key);
const all = (folder: string) => PROGRAMS.map((program) => `${folder}/${program}`);
const says = (version: string) => ({ exitCode: 0, output: `Kubernetes ${version}` });
const go = { 'go version': { exitCode: 0, output: 'go version go1.26.8' } };

const find = async (facts: FakeFacts) => {
  const machine = fakeMachine(facts);
  return { machine, programs: await findPrograms(machine, plan, '/module') };
};

describe('looking for the control plane’s programs', () => {
  it('takes them from KUBEBUILDER_ASSETS before the PATH and the cache', async () => {
    const { programs } = await find({
      env: { KUBEBUILDER_ASSETS: '/assets', PATH: '/bin' },
      files: [...all('/assets'), ...all('/bin'), ...all(cache)],
      answers: { '/assets/kube-apiserver': says('v1.35.4'), '/bin/kube-apiserver': says('v1.36.1') },
    });
    assert.equal(programs.etcd, '/assets/etcd');
  });

  it('takes them from the PATH, wherever on it each of them is', async () => {
    const { programs } = await find({
      env: { PATH: '/one:/two' },
      files: [...all('/one').slice(0, 3), ...all('/two').slice(3), ...all(cache)],
      answers: { '/one/kube-apiserver': says('v1.34.4') },
    });
    assert.deepEqual([programs['kube-apiserver'], programs.etcd], ['/one/kube-apiserver', '/two/etcd']);
  });

  it('passes by a PATH with an API server that is too old', async () => {
    const { programs } = await find({
      env: { PATH: '/bin' },
      files: [...all('/bin'), ...all(cache)],
      answers: { '/bin/kube-apiserver': says('v1.27.16') },
    });
    assert.equal(programs.kwok, `${cache}/kwok`);
  });

  it('passes by a PATH that lacks one of them', async () => {
    const { programs, machine } = await find({ env: { PATH: '/bin' }, files: [...all('/bin').slice(1), ...all(cache)] });
    assert.equal(programs.kubectl, `${cache}/kubectl`);
    assert.deepEqual(machine.ran, []);
  });

  it('puts the cache below XDG_CACHE_HOME when that is set', () => {
    assert.equal(cacheFolder({ env: { XDG_CACHE_HOME: '/cache' }, home: '/home/me' }, 'k'), '/cache/netsvc-upgrade-control-plane/k');
    assert.equal(cacheFolder({ env: {}, home: '/home/me' }, 'k'), '/home/me/.cache/netsvc-upgrade-control-plane/k');
  });

  it('builds only what the cache lacks, and tells a person about each', async () => {
    const present = all(cache).slice(0, 4);
    const { programs, machine } = await find({ files: present, answers: { ...go, 'go build': { exitCode: 0, output: '' } } });
    assert.equal(programs.kwok, `${cache}/kwok`);
    assert.equal(machine.ran.filter((line) => line.startsWith('go build')).length, 2);
    assert.match(machine.said.join('\n'), /building kwok \(5 of 6\)[\s\S]*building etcd \(6 of 6\)/);
    assert.deepEqual(
      [...machine.files].filter((file) => file.endsWith('.half-built')),
      [],
    );
  });

  it('waits while another process builds, and says so once', async () => {
    const { machine } = await find({ holders: [42, 42, 42], answers: { ...go, 'go build': { exitCode: 0, output: '' } } });
    assert.equal(machine.slept.length, 3);
    assert.equal(machine.said.filter((line) => line.includes('another process (42) is building')).length, 1);
  });

  it('tells everything it tried, and why it failed', async () => {
    const broken = {
      ...go,
      'go build': { exitCode: 1, output: 'first line\nno space left on device' },
      '/bin/kube-apiserver': says('v1.27.16'),
    };
    const failure = await find({ env: { PATH: '/bin' }, files: all('/bin'), answers: broken }).catch((thrown: Error) => thrown.message);
    const expected = [
      /KUBEBUILDER_ASSETS: not set/,
      /PATH: its kube-apiserver says "Kubernetes v1\.27\.16"; v1\.30 or newer is needed/,
      /cache \/home\/me\/.*: has no kube-apiserver, kube-controller-manager/,
      /Go build: go build of k8s\.io\/kubernetes\/cmd\/kube-apiserver failed: .*no space left on device/,
      /download: kube-apiserver: https:\/\/dl\.k8s\.io\/.* answered 404/,
    ];
    for (const line of expected) assert.match(String(failure), line);
  });

  it('says that there is no Go compiler', async () => {
    await assert.rejects(find({}), /Go build: there is no Go compiler on the PATH/);
  });
});
