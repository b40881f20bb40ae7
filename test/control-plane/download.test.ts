import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { PROGRAMS, planBuild } from './build-plan.ts';
import { downloadPrograms } from './download.ts';
import { fakeMachine } from './fake-machine.ts';

const plan = planBuild('k8s.io/kubernetes v1.36.1\nsigs.k8s.io/kwok v0.8.0\ngo.etcd.io/etcd/server/v3 v3.6.8', 'sums', 'linux/amd64');
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const kubernetes = 'https://dl.k8s.io/release/v1.36.1/bin/linux/amd64';
const etcd = 'https://github.com/etcd-io/etcd/releases/download/v3.6.8';
const archive = 'etcd-v3.6.8-linux-amd64.tar.gz';

const published: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    PROGRAMS.filter((program) => program.startsWith('kube')).flatMap((program) => [
      [`${kubernetes}/${program}`, program],
      [`${kubernetes}/${program}.sha256`, sha(program)],
    ]),
  ),
  'https://github.com/kubernetes-sigs/kwok/releases/download/v0.8.0/kwok-linux-amd64': 'kwok',
  [`${etcd}/${archive}`]: 'archive',
  [`${etcd}/SHA256SUMS`]: `${sha('other')}  etcd-v3.6.8-darwin-arm64.zip\n${sha('archive')}  ${archive}\n`,
};
const tar = { tar: { exitCode: 0, output: '' } };
const download = async (urls: Readonly<Record<string, string>>, answers = tar) => {
  const machine = fakeMachine({ urls, answers });
  return { machine, problem: await downloadPrograms(machine, plan, '/cache') };
};

describe('downloading the control plane’s programs', () => {
  it('fetches each from its project’s releases and unpacks etcd', async () => {
    const { machine, problem } = await download(published);
    assert.equal(problem, undefined);
    assert.deepEqual(
      [...machine.files].filter((file) => !file.endsWith('.tar.gz')).sort(),
      PROGRAMS.filter((program) => program !== 'etcd')
        .map((program) => `/cache/${program}`)
        .sort(),
    );
    assert.deepEqual(machine.ran, [`tar -xzf /cache/${archive} -C /cache --strip-components=1 etcd-v3.6.8-linux-amd64/etcd`]);
  });

  it('writes nothing whose sha256 is not the published one', async () => {
    const { machine, problem } = await download({ ...published, [`${kubernetes}/kubectl.sha256`]: sha('another') });
    assert.match(problem ?? '', /kubectl: .*\/kubectl has the sha256 [0-9a-f]{64}; published is [0-9a-f]{64}/);
    assert.equal(machine.files.has('/cache/kubectl'), false);
  });

  it('does not unpack an archive that the list of sums does not name', async () => {
    const { machine, problem } = await download({ ...published, [`${etcd}/SHA256SUMS`]: `${sha('archive')}  other.tar.gz\n` });
    assert.match(problem ?? '', /etcd: .*published is none/);
    assert.deepEqual(machine.ran, []);
  });

  it('says what tar said', async () => {
    const { problem } = await download(published, { tar: { exitCode: 2, output: 'tar: not in gzip format' } });
    assert.match(problem ?? '', /tar could not unpack .*not in gzip format/);
  });
});
