import assert from 'node:assert/strict';
import { readLog } from '../../../src/features/network-probe/kept-said.ts';

describe('the log of a pod that keeps connections', () => {
  it('says of each connection what its last report says', () => {
    const log = ['beat 0.2', 'link 1 1000 yes 0 5 21 900 999', 'link 2 1000 no 1 4 300 950 700', 'link 1 1500 yes 0 30 25 1400 1499'].join(
      '\n',
    );
    const { links, beatMs } = readLog(log);
    assert.equal(beatMs, 200);
    assert.deepEqual(links.get(1), {
      link: 1,
      now: 15_000,
      joined: true,
      broken: 0,
      beats: 30,
      longestMs: 250,
      when: 14_000,
      last: 14_990,
    });
    assert.deepEqual(links.get(2), {
      link: 2,
      now: 10_000,
      joined: false,
      broken: 1,
      beats: 4,
      longestMs: 3000,
      when: 9500,
      last: 7000,
      fell: 7000,
    });
  });

  it('says when a connection broke that was made again at once', () => {
    const log = ['link 1 1000 no 1 5 21 900 980', 'link 1 1020 no 1 5 21 900 980', 'link 1 1100 yes 1 6 120 1100 1100'];
    assert.equal(readLog(log.join('\n')).links.get(1)?.fell, 9800);
    const again = [...log, 'link 1 1500 no 2 8 120 1100 1490', 'link 1 1510 yes 2 8 120 1100 1510'];
    assert.equal(readLog(again.join('\n')).links.get(1)?.fell, 14_900);
    assert.equal(readLog(again.slice(-1).join('\n')).links.get(1)?.fell, undefined);
  });

  it('is input of a stranger: what is no report, or cannot be true, is left out', () => {
    for (const line of [
      'link 1 1000 yes 0 5 21 900',
      'link 1 1000 perhaps 0 5 21 900 999',
      'link 1 1000 yes 0 5 21 1001 999',
      'link 1 1000 yes 0 5 21 900 1001',
      'link 1 1000 yes 0 5 901 900 999',
      'link 1 1000 yes -1 5 21 900 999',
      `link 1 ${'9'.repeat(40)} yes 0 5 21 900 999`,
      ' link 1 1000 yes 0 5 21 900 999',
      '\u001b[31mlink 1 1000 yes 0 5 21 900 999',
    ])
      assert.equal(readLog(line).links.size, 0, line);
    assert.equal(readLog('beat 0.01').beatMs, undefined);
    assert.equal(readLog(`says 1 ${'x'.repeat(300)}`).says.size, 0);
  });
});
