import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Notification } from '../../../src/cli/notify/notices.ts';
import { command } from '../../../src/kernel/argv.ts';
import { Fault, PodFault } from '../../../src/kernel/fault.ts';
import type { AnyStage } from '../../../src/kernel/stage.ts';
import { look, text } from '../../../src/kernel/step.ts';
import { applies, type CommandBench, commandBench, fakeStage, interruptedRun } from '../../support/command-bench.ts';
import { shapeOf } from '../../support/document-shape.ts';
import { testFolder } from '../../support/folders.ts';
import { type Loopback, serve } from '../../support/loopback-server.ts';
import { NETSVC_TARGET, pattern } from '../../support/target.ts';

const failed = { status: 'failed', because: 'the server is gone', hint: 'fix it', next: command`kubectl cluster-info` } as const;
const upgrade = (): readonly AnyStage[] => [
  fakeStage('preflight', { readOnly: true }),
  fakeStage('apply', { plan: applies('upgrade.yaml') }),
  fakeStage('verify', { readOnly: true, judgesResult: true }),
];
const SECRET = 'T0/geheim';
/** It has every field. */
const [, example = ''] = /^```json\n([\s\S]*?)^```$/m.exec(readFileSync('docs/use/notifications.md', 'utf8')) ?? [];

describe('run --notify', () => {
  const folder = testFolder('notify-');
  let server: Loopback;
  let answer: (response: ServerResponse) => void;

  before(async () => {
    server = await serve((_request, response) => answer(response));
  });
  beforeEach(() => {
    server.seen.length = 0;
    answer = (response) => void response.end('ok');
  });
  after(async () => {
    await server.close();
  });

  const address = () => `${server.url}/${SECRET}`;
  const told = (): readonly Notification[] => {
    const documents = server.seen.map(({ body }) => JSON.parse(body) as Notification);
    const known = new Set(shapeOf(JSON.parse(example)));
    for (const document of documents)
      assert.deepEqual(
        shapeOf(document).filter((place) => !known.has(place)),
        [],
        'see docs/use/notifications.md',
      );
    return documents;
  };
  const events = () => told().map(({ event }) => event);
  /** The address is on no screen and in nothing that the run keeps. */
  const notShown = ({ engine, out, err }: CommandBench) =>
    assert.doesNotMatch(out() + err() + JSON.stringify([engine.calls, engine.saved, ...engine.kept]), /geheim/);

  it('tells the start and the end of a run', async () => {
    const bench = commandBench(upgrade());
    assert.equal(await bench.run('run', '--yes', '--notify', address()), 0);
    const [start, end] = told();
    const { runId, at: _, ...rest } = start ?? assert.fail();
    assert.deepEqual(rest, {
      apiVersion: 'output.netsvc-upgrade/v1',
      kind: 'Notification',
      event: 'started',
      text: `Upgrade v3.26.4 → ${NETSVC_TARGET} of context "test" started`,
      context: 'test',
      clusterUid: '2c9e0000-0000-4000-8000-000000000001',
      to: NETSVC_TARGET,
      from: 'v3.26.4',
    });
    assert.deepEqual(
      [end?.event, end?.runId, end?.from, end?.exit, end?.text],
      ['done', runId, 'v3.26.4', { code: 'done', number: 0 }, `Upgrade v3.26.4 → ${NETSVC_TARGET} of context "test" is done`],
    );
    assert.equal(end?.next, 'kubectl netsvc-upgrade report');
    assert.deepEqual(end?.nextStep, { kind: 'do', text: end?.next, command: ['kubectl', 'netsvc-upgrade', 'report'] });
    assert.equal(server.seen.length, 2);
    notShown(bench);
  });

  it('takes the address from the environment', async () => {
    const bench = commandBench(upgrade());
    process.env.NETSVC_UPGRADE_NOTIFY = address();
    await bench.run('run', '--yes').finally(() => {
      delete process.env.NETSVC_UPGRADE_NOTIFY;
    });
    assert.deepEqual(events(), ['started', 'done']);
    notShown(bench);
  });

  it('tells only the end of a run with nothing to do', async () => {
    const bench = commandBench([fakeStage('preflight', { readOnly: true }), fakeStage('apply')]);
    await bench.run('run', '--yes', `--notify=${address()}`);
    assert.deepEqual(events(), ['done']);
  });

  it('tells a failure with its stage, its cause and the next step, without credentials', async () => {
    const bench = commandBench(upgrade());
    bench.engine.ports.tools.run = async () => {
      const log = look(text`look at the log: ${command`kubectl logs calico-node-x`}`);
      throw new Fault('failed', 'kubectl failed: https://anna:hunter2@mirror/', [log]);
    };
    assert.equal(await bench.run('run', '--yes', `--notify=${address()}`), 1);
    const [, end] = told();
    const [first = ''] = end?.suggestions ?? [];
    assert.deepEqual([end?.event, end?.stage, first], ['failed', 'apply', 'look at the log: kubectl logs calico-node-x']);
    assert.deepEqual(end?.steps, [{ kind: 'look', text: first, command: ['kubectl', 'logs', 'calico-node-x'] }]);
    assert.match(end?.text ?? '', pattern`^Upgrade v3\.26\.4 → ${NETSVC_TARGET} of context "test" failed at stage apply: .*kubectl failed`);
    assert.doesNotMatch(JSON.stringify(end), /hunter2/);
    notShown(bench);
  });

  it('tells that checks stop the run before anything is changed', async () => {
    const bench = commandBench([fakeStage('backup', { plan: applies('a.yaml') }), fakeStage('apply', { verdict: failed })]);
    assert.equal(await bench.run('run', '--yes', `--notify=${address()}`), 3);
    const [end, ...more] = told();
    assert.deepEqual([end?.event, end?.exit?.number, end?.next, more], ['stopped', 3, 'kubectl cluster-info', []]);
  });

  it('tells that a part of the upgrade is done, and not the upgrade; another part of it is not either', async () => {
    const bench = commandBench(upgrade());
    const part = ['run', '--yes', '--through', 'apply', `--notify=${address()}`];
    assert.equal(await bench.run(...part), 0);
    bench.chain = [
      fakeStage('preflight', { readOnly: true }),
      fakeStage('apply'),
      fakeStage('verify', { readOnly: true, judgesResult: true }),
    ];
    assert.equal(await bench.run(...part), 0);
    assert.deepEqual(events(), ['started', 'part-done', 'part-done']);
    assert.match(told()[1]?.text ?? '', / is done as far as it was asked for$/);
    assert.equal(await bench.run('run', '--yes', `--notify=${address()}`), 0);
    assert.equal(events().at(-1), 'done');
  });

  for (const code of ['stopped', 'timeout'] as const)
    it(`tells that pods which are not ready make it stuck (${code})`, async () => {
      const bench = commandBench(upgrade());
      bench.engine.ports.tools.run = async () => {
        throw new PodFault(code, '1 pod failed', [], [{ namespace: 'kube-system', name: 'calico-node-x' }]);
      };
      await bench.run('run', '--yes', `--notify=${address()}`);
      assert.deepEqual(events(), ['started', 'stuck']);
      assert.match(told()[1]?.text ?? '', / is stuck: pods do not become ready at stage apply: 1 pod failed$/);
    });

  it('tells that a person declined', async () => {
    const bench = commandBench(upgrade());
    bench.answers = [false];
    assert.equal(await bench.run('run', `--notify=${address()}`), 5);
    assert.deepEqual(events(), ['stopped']);
  });

  it('tells that it was interrupted, and continues without the address in the command', async () => {
    const bench = commandBench(upgrade());
    interruptedRun(bench);
    assert.equal(await bench.run('run', '--yes', '--notify', address()), 130);
    assert.deepEqual(events(), ['started', 'interrupted']);
    assert.match(bench.out(), /Next: kubectl netsvc-upgrade run\n$/);
    notShown(bench);
  });

  it('tells a failure from before the cluster is known', async () => {
    const bench = commandBench(upgrade());
    bench.seams.compose = async () => {
      throw new Fault('failed', 'no answer from the API server', [look(text`see it: ${command`kubectl cluster-info`}`)]);
    };
    assert.equal(await bench.run('run', '--yes', `--notify=${address()}`), 1);
    const [end] = told();
    assert.deepEqual([end?.event, end?.clusterUid, end?.text], ['failed', undefined, 'Upgrade failed: no answer from the API server']);
    const [step] = end?.steps ?? [];
    assert.deepEqual(step, { kind: 'look', text: 'see it: kubectl cluster-info', command: ['kubectl', 'cluster-info'] });
    assert.ok(end?.next !== undefined && bench.err().endsWith(`Next: ${end.next}\n`), bench.err());
    assert.deepEqual(end?.nextStep && { ...end.nextStep }.text, end?.next);
  });

  it('tells nothing of a dry run', async () => {
    await commandBench(upgrade()).run('run', '--dry-run=server', `--notify=${address()}`);
    await commandBench(upgrade()).run('run', '--dry-run=client', `--notify=${address()}`);
    assert.deepEqual(events(), []);
  });

  it('ends as it would have, with one warning for each document that is not delivered', async () => {
    answer = (response) => void response.writeHead(404).end();
    const bench = commandBench(upgrade());
    assert.equal(await bench.run('run', '--yes', `--notify=${address()}`), 0);
    for (const event of ['started', 'done']) {
      const line = `Warning: the notification "${event}" was not delivered to ${server.url}/(hidden): the server answered 404\n`;
      assert.equal(bench.err().split(line).length, 2, bench.err());
    }
    notShown(bench);
  });

  it('starts a program, which cannot fail the run either', async () => {
    const [hook, log] = [join(folder, 'hook.sh'), join(folder, 'log')];
    writeFileSync(hook, `#!/bin/sh\n{ cat; echo; } >> ${log}\necho full >&2\nexit 7\n`);
    chmodSync(hook, 0o755);
    const bench = commandBench(upgrade());
    assert.equal(await bench.run('run', '--yes', `--notify=${hook}`), 0);
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as Notification).event),
      ['started', 'done'],
    );
    assert.match(bench.err(), /Warning: the notification "done" was not delivered to .*hook\.sh: it ended with exit code 7: full\n/);
  });

  for (const [value, because] of [
    ['http://hooks.example/geheim', /error: --notify: http:\/\/hooks\.example\/\(hidden\) is not https\n/],
    ['notify.sh --to me', /error: --notify: a command has no arguments and no spaces.*\nwrite a script/],
  ] as const)
    it(`refuses ${value} before the cluster is asked`, async () => {
      const bench = commandBench(upgrade());
      assert.equal(await bench.run('run', '--yes', '--notify', value), 64);
      assert.match(bench.err(), because);
      assert.deepEqual(bench.requests, []);
      notShown(bench);
    });
});
