import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { goPlatform, planBuild } from './build-plan.ts';

const goMod = `module x

require (
\tgo.etcd.io/etcd/server/v3 v3.6.8
\tk8s.io/kubernetes v1.36.1
\tsigs.k8s.io/kwok v0.8.0
)
replace k8s.io/api => k8s.io/api v0.36.1
`;
const plan = (sum = 'sums', mod = goMod, platform = 'linux/amd64') => planBuild(mod, sum, platform);

describe('the build plan of the control plane', () => {
  it('takes the versions from what go.mod requires', () => {
    assert.deepEqual(plan().versions, { kubernetes: 'v1.36.1', kwok: 'v0.8.0', etcd: 'v3.6.8' });
  });

  it('tells the programs their version, so that the server does not call itself v0.0.0', () => {
    const flags = plan().flags.join(' ');
    assert.match(flags, /-X k8s\.io\/component-base\/version\.gitVersion=v1\.36\.1 /);
    assert.match(flags, /-X k8s\.io\/client-go\/pkg\/version\.gitMinor=36 /);
  });

  it('has a key that changes with a pinned sum, a version and the platform, and with nothing else', () => {
    const keys = [plan(), plan('other sums'), plan('sums', goMod.replace('v1.36.1\n', 'v1.36.3\n')), plan('sums', goMod, 'darwin/arm64')];
    assert.equal(new Set(keys.map(({ key }) => key)).size, 4);
    assert.equal(plan().key, plan().key);
    assert.match(plan().key, /^[0-9a-f]{16}$/);
  });

  it('says which module go.mod lacks', () => {
    assert.throws(() => plan('sums', 'module x\n'), /go\.mod does not require k8s\.io\/kubernetes/);
  });

  it('can be made of the files beside it', () => {
    const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
    assert.match(planBuild(read('go.mod'), read('go.sum'), 'linux/amd64').versions.kubernetes, /^v1\.\d+\.\d+$/);
  });

  it('names platforms as Go does', () => {
    assert.deepEqual(
      [goPlatform('linux', 'x64'), goPlatform('darwin', 'arm64'), goPlatform('win32', 'x64')],
      ['linux/amd64', 'darwin/arm64', 'windows/amd64'],
    );
  });
});
