import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventOf, SAID } from '../../../src/cli/notify/notices.ts';
import { EXIT, type ExitName } from '../../../src/kernel/fault.ts';
import { testFolder } from '../../support/folders.ts';
import { describeWhere, lacksProgram } from '../../support/needs.ts';

const page = readFileSync('docs/use/notifications.md', 'utf8');
const [, json = ''] = /^```json\n([\s\S]*?)^```$/m.exec(page) ?? [];
const example = JSON.parse(json) as Record<string, unknown>;
const script = (name: string) =>
  new RegExp(`^\`\`\`sh\\n(#!/bin/sh\\n# ${name}[\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? assert.fail(name);

describeWhere(lacksProgram('jq'), 'the scripts for notifications', () => {
  const folder = testFolder('recipes-');
  const sent = join(folder, 'sent.json');

  /** Runs a script of the page with curl replaced: what it would send, to where; undefined if it sends nothing. */
  function send(name: string, document: object, status = 0) {
    rmSync(sent, { force: true });
    writeFileSync(join(folder, 'curl'), `#!/bin/sh\ncat > ${sent}\nfor last; do :; done\necho "$last" > ${sent}.url\nexit ${status}\n`);
    writeFileSync(join(folder, 'script'), script(name));
    for (const file of ['curl', 'script']) chmodSync(join(folder, file), 0o755);
    const env = { PATH: `${folder}:${process.env.PATH}`, TEAMS_URL: 'https://teams.example/hook', PAGERDUTY_KEY: 'k"1' };
    const ran = spawnSync(join(folder, 'script'), { input: JSON.stringify(document), env, encoding: 'utf8' });
    if (!existsSync(sent)) return { ran };
    return { ran, body: JSON.parse(readFileSync(sent, 'utf8')), url: readFileSync(`${sent}.url`, 'utf8').trim() };
  }

  it('make an adaptive card for Teams', () => {
    const { ran, body, url } = send('notify-teams.sh', example);
    assert.deepEqual([ran.status, ran.stderr, url], [0, '', 'https://teams.example/hook']);
    const [card] = body.attachments;
    assert.deepEqual(
      [body.type, card.contentType, card.content.type],
      ['message', 'application/vnd.microsoft.card.adaptive', 'AdaptiveCard'],
    );
    assert.deepEqual(
      card.content.body.map(({ text }: { text: string }) => text),
      [example.text, `Next: ${example.next}`],
    );
  });

  const SENT = [
    ['stuck', 'trigger', 'critical'],
    ['failed', 'trigger', 'critical'],
    ['canary-failed', 'trigger', 'critical'],
    ['canary-held', 'trigger', 'warning'],
    ['stopped', 'trigger', 'warning'],
    ['interrupted', 'trigger', 'warning'],
    ['done', 'resolve', 'warning'],
  ] as const;
  const NOT_SENT = ['started', 'soak-over', 'part-done'];

  it('are tried with every event of the page', () => {
    const events = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].flatMap(([, event = '']) => (event === 'event' ? [] : event));
    assert.deepEqual(events.toSorted(), [...SENT.map(([event]) => event), ...NOT_SENT].sort());
    assert.deepEqual(events.toSorted(), Object.keys(SAID).sort());
  });

  it('have the exit codes of the page', () => {
    const ends = (Object.keys(EXIT) as ExitName[]).flatMap((exit) =>
      [true, false].flatMap((isPart) => [true, false].map((isStuck) => [eventOf(exit, { isPart, isStuck }), EXIT[exit]] as const)),
    );
    for (const [event, found] of Map.groupBy(ends, ([event]) => event)) {
      // Only a plan ends with 2.
      const codes = [...new Set(found.map(([, code]) => code))].filter((code) => code !== EXIT.pending).sort((a, b) => a - b);
      assert.match(page, new RegExp(`^\\| \`${event}\` \\| .* \\| ${codes.join(', ')} \\|$`, 'm'));
    }
  });

  for (const [event, action, severity] of SENT)
    it(`${action} an incident of PagerDuty by ${event}`, () => {
      const { ran, body, url } = send('notify-pagerduty.sh', { ...example, event });
      assert.deepEqual([ran.status, ran.stderr, url], [0, '', 'https://events.pagerduty.com/v2/enqueue']);
      assert.deepEqual(body, {
        ...{ routing_key: 'k"1', dedup_key: `calico-upgrade-${example.clusterUid}`, event_action: action },
        payload: { summary: example.text, source: 'prod', severity },
      });
    });

  for (const event of NOT_SENT)
    it(`send PagerDuty nothing of ${event}`, () => {
      const { ran, body } = send('notify-pagerduty.sh', { ...example, event });
      assert.deepEqual([ran.status, body], [0, undefined]);
    });

  it('say that nothing was delivered', () => {
    for (const name of ['notify-teams.sh', 'notify-pagerduty.sh']) assert.equal(send(name, example, 22).ran.status, 22);
  });
});
