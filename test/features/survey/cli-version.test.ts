import assert from 'node:assert/strict';
import { type CliAnswer, parseCliVersion } from '../../../src/features/survey/cli-version.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const CLIENT = `Client Version:    ${CALICO_TARGET}\nGit commit:        0000000\n`;
const answer = (over: Partial<CliAnswer>): CliAnswer => ({ stdout: CLIENT, stderr: '', exitCode: 0, ...over });

describe('parseCliVersion', () => {
  it('reads both versions of a healthy answer', () => {
    const stdout = `${CLIENT}Cluster Version:   ${CALICO_TARGET}\nCluster Type:      k8s,bgp\n`;
    assert.deepEqual(parseCliVersion(answer({ stdout })), { client: CALICO_TARGET, cluster: CALICO_TARGET });
  });

  const without: [string, Partial<CliAnswer>, RegExp][] = [
    [
      'a datastore without a version, exit 0',
      { stdout: `${CLIENT}Cluster Version:   unknown\nCluster Type:      unknown\n` },
      /no version yet/,
    ],
    ['no configuration, exit 0', { stdout: `${CLIENT}Unable to detect installed Calico version\n` }, /^Unable to detect/],
    [
      'no ClusterInformation',
      {
        exitCode: 1,
        stderr: 'unable to retrieve Cluster Version or Type: resource does not exist: ClusterInformation(default) with error: <nil>\n',
      },
      /resource does not exist/,
    ],
    ['a hang', { exitCode: undefined, problem: 'timed-out' }, /no answer in time/],
    ['no client', { exitCode: 1, stdout: `${CLIENT}Failed to create Calico API client: context "x" does not exist\n` }, /context "x"/],
    ['a program that cannot be run', { stdout: '', exitCode: undefined, problem: 'not-found' }, /could not be run/],
    ['silence', { stdout: '', exitCode: 3 }, /said nothing \(exit code 3\)/],
  ];
  for (const [title, over, because] of without) {
    it(`says why there is no cluster version: ${title}`, () => {
      const version = parseCliVersion(answer(over));
      assert.equal(version.cluster, undefined);
      assert.match(version.because ?? '', because);
    });
  }

  it('reads the old form with a build date', () => {
    const stdout = 'Client Version:    v3.15.5\nBuild date:        2020-01-01\nGit commit:        abc\nCluster Version:   v3.15.5\n';
    assert.deepEqual(parseCliVersion(answer({ stdout })), { client: 'v3.15.5', cluster: 'v3.15.5' });
  });
});
