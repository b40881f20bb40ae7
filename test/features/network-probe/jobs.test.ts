import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientJob, listenerJob } from '../../../src/features/network-probe/jobs.ts';
import { answeringJob, keepingJob } from '../../../src/features/network-probe/kept-jobs.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { emptyFolder } from '../../support/folders.ts';

const place = { namespace: 'probe', image: 'busybox:1.37', id: 'k3f9', node: 'node-1$(x)', part: 'client-1' };

interface JobSpec {
  readonly activeDeadlineSeconds: number;
  readonly ttlSecondsAfterFinished: number;
  readonly backoffLimit: number;
  readonly template: {
    readonly spec: Readonly<Record<string, unknown>> & { readonly containers: readonly { readonly command: readonly string[] }[] };
  };
}
const specOf = (job: KubeObject) => job.spec as JobSpec;
const commandOf = (job: KubeObject) => specOf(job).template.spec.containers[0]?.command ?? [];

describe('a Job of the network probe', () => {
  it('is ended and removed by the cluster itself', () => {
    const { activeDeadlineSeconds, ttlSecondsAfterFinished, backoffLimit } = specOf(listenerJob(place));
    assert.deepEqual([activeDeadlineSeconds, ttlSecondsAfterFinished, backoffLimit], [240, 60, 0]);
  });

  it('that keeps connections is ended by the cluster at the limit of the wait, and removed a minute later', () => {
    for (const job of [answeringJob({ ...place, endsAfter: 900 }, 2), keepingJob({ ...place, endsAfter: 900 }, [], true)]) {
      const { activeDeadlineSeconds, ttlSecondsAfterFinished, backoffLimit } = specOf(job);
      assert.deepEqual([activeDeadlineSeconds, ttlSecondsAfterFinished, backoffLimit], [900, 60, 0]);
    }
  });

  it('that keeps connections has the texts of others as arguments, and the network of its node only from outside', () => {
    const dialled = [{ link: 1, address: '"; reboot', place: 1 }];
    const [inside, outside] = [false, true].map((host) => keepingJob({ ...place, endsAfter: 900 }, dialled, host));
    assert.ok(inside && outside);
    assert.deepEqual(commandOf(outside).slice(3), ['keeps', 'k3f9', '3000', '1', '"; reboot', '8082']);
    assert.doesNotMatch(commandOf(outside)[2] ?? '', /reboot/);
    assert.deepEqual([specOf(inside).template.spec.hostNetwork, specOf(outside).template.spec.hostNetwork], [undefined, true]);
  });

  it('has the texts of others as arguments, never in its script', () => {
    const [ours, theirs] = [clientJob(place, '10.0.0.1'), clientJob({ ...place, id: '$(reboot)' }, '"; reboot')];
    assert.equal(commandOf(ours)[2], commandOf(theirs)[2]);
    assert.deepEqual(commandOf(theirs).slice(4), ['kubernetes.default.svc', '"; reboot', '8080', '$(reboot)', '5']);
  });

  it('binds its pod to the node by affinity, and tolerates nothing', () => {
    const pod = specOf(listenerJob(place)).template.spec;
    assert.match(JSON.stringify(pod.affinity), /"matchFields":\[\{"key":"metadata\.name","operator":"In","values":\["node-1\$\(x\)"\]\}\]/);
    assert.deepEqual([pod.nodeName, pod.tolerations, pod.hostNetwork], [undefined, undefined, undefined]);
  });
});

/** The client as a shell runs it, beside programs that play those of the image. */
describe('the client of the network probe', function () {
  this.timeout(20_000);
  const folder = emptyFolder('network-probe-');
  beforeEach(async () => {
    await program('sleep', 'exit 0');
  });

  const program = (name: string, script: string) => writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const run = (tries = '2') =>
    new Promise<{ readonly code: number; readonly text: string }>((resolve) => {
      const [, , script = '', ...args] = commandOf(clientJob(place, '10.0.0.1'));
      execFile('/bin/sh', ['-c', script, ...args.slice(0, -1), tries], { env: { PATH: folder } }, (error, stdout) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, text: stdout.trim() }),
      );
    });

  for (const [title, named, answer, code, says] of [
    ['everything works', 'exit 0', 'echo k3f9', 0, /^$/],
    ['no name', 'exit 2', 'echo k3f9', 10, /^kubernetes\.default\.svc was not resolved$/],
    ['no answer', 'exit 0', 'echo refused >&2; exit 1', 20, /^no answer from 10\.0\.0\.1 port 8080: refused$/],
    ['another answers', 'exit 0', 'echo hello', 20, /: hello$/],
    ['neither', 'exit 2', 'exit 1', 30, /was not resolved\nno answer from/],
  ] as const)
    it(`ends with ${code}: ${title}`, async () => {
      await program('getent', named);
      await program('nc', answer);
      const { code: ended, text } = await run();
      assert.equal(ended, code);
      assert.match(text, says);
    });

  it('asks again before it says so', async () => {
    await program('getent', 'exit 0');
    await program('nc', `[ -e ${folder}/once ] && echo k3f9; : > ${folder}/once`);
    assert.equal((await run('1')).code, 20);
    await rm(join(folder, 'once'));
    assert.equal((await run('2')).code, 0);
  });

  it('reads nslookup where there is no getent', async () => {
    await program('nc', 'echo k3f9');
    await program('nslookup', 'echo "Name: $1"; echo "Address: 10.96.0.1"');
    assert.equal((await run()).code, 0);
    await program('nslookup', 'echo "Address: 10.96.0.10"; echo "** server can\'t find $1: NXDOMAIN"');
    assert.equal((await run()).code, 10);
  });

  it('says what the image lacks', async () => {
    assert.deepEqual(await run(), { code: 69, text: 'the image has no nc' });
    await program('nc', 'echo k3f9');
    assert.deepEqual(await run(), { code: 69, text: 'the image has neither getent nor nslookup' });
  });
});

describe('the listener of the network probe', () => {
  it('answers one connection after the other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'network-probe-'));
    await writeFile(join(folder, 'nc'), '#!/bin/sh\nread -r answer\necho "$* $answer"\n', { mode: 0o755 });
    const [, , script = '', ...args] = commandOf(listenerJob(place));
    const listener = spawn('/bin/sh', ['-c', script, ...args], { env: { PATH: folder } });
    const lines: string[] = [];
    for await (const chunk of listener.stdout) {
      lines.push(...String(chunk).trim().split('\n'));
      if (lines.length >= 2) break;
    }
    listener.kill('SIGKILL');
    await rm(folder, { recursive: true });
    assert.deepEqual(lines.slice(0, 2), ['-l -p 8080 k3f9', '-l -p 8080 k3f9']);
  });
});
