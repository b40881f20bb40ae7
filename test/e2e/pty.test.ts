import assert from 'node:assert/strict';
import { describeWhere, NO_TERMINAL } from '../support/needs.ts';
import { inPipe, inPty, type SeenCluster, seenCluster, steadied } from '../support/pty.ts';
import { ownReleases } from '../support/releases.ts';

const source = ['--manifest-url', ownReleases];

describeWhere(NO_TERMINAL, 'the built program in a pseudo-terminal', function () {
  this.timeout(120_000);
  let cluster: SeenCluster;
  before(async () => {
    cluster = await seenCluster();
  });
  after(() => cluster.close());

  it('asks a person, and is told no', async () => {
    const { exit, text } = await inPty(['run', ...source], { answers: [{ when: /\[y\/N\]/, type: 'no\r' }] }, cluster);
    assert.match(steadied(text), /\(http:\/\/127\.0\.0\.1:PORT, 2 nodes\).*\[y\/N\] no$/ms);
    assert.match(text, /declined/);
    assert.equal(exit, 5);
  });

  it('is interrupted by a key', async () => {
    const { exit, text } = await inPty(['run', ...source], { answers: [{ when: /\[y\/N\]/, type: '\u0003' }] }, cluster);
    assert.match(text, /error: stopped: nothing was changed by this command\nNext:\s+kubectl netsvc-upgrade run /);
    assert.equal(exit, 130);
  });

  it('shows no line wider than the terminal says it is, and keeps what scrolled away', async () => {
    const { text, screen } = await inPty(['plan', ...source], { columns: 200, rows: 10 }, cluster);
    assert.ok(text.split('\n').some((line) => line.length > 80 && line.length <= 200));
    assert.equal(screen.split('\n').length, 10);
    assert.ok(text.endsWith(screen) && text.length > screen.length);
  });

  it('paints, but not with NO_COLOR or TERM=dumb, in the live view neither', async () => {
    const styles = async (env: Readonly<Record<string, string>>) => (await inPty(['preflight', ...source], { env }, cluster)).styles;
    const painted = await styles({});
    assert.ok(painted.length > 0);
    assert.deepEqual(await styles({ NO_COLOR: '' }), painted);
    assert.deepEqual([await styles({ NO_COLOR: '1' }), await styles({ TERM: 'dumb' })], [[], []]);
  });

  it('keeps to pipes where there is no terminal', async () => {
    const { exit, stdout } = await inPipe(['preflight', ...source], cluster);
    assert.equal(exit, 0);
    assert.match(stdout, /Next: /);
  });
});
