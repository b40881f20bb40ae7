import assert from 'node:assert/strict';
import { type IpamFault, keptIpam, newFaults, readKeptIpam } from '../../../src/features/ipam/index.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { Records } from '../../../src/kernel/run-record.ts';
import { object } from '../../fixtures/facts.ts';
import { RECORD } from '../../fixtures/stored-record.ts';

const fault = (text: string, ...nodes: readonly string[]): IpamFault => ({ kind: 'tunnel', text, detail: 'd', nodes });
const facts = (...faults: readonly IpamFault[]) => ({ blocks: 1, faults, moves: [], youngestNode: '2026-01-02T00:00:00Z' });
const node = (name: string, day: number): KubeObject =>
  object('v1', `Node/${name}`, { metadata: { creationTimestamp: `2026-01-0${day}T00:00:00Z` } });
const NODES = [node('old', 1), node('youngest', 2), node('new', 3)];
const compare = (before: readonly IpamFault[], ...now: readonly IpamFault[]) =>
  newFaults(keptIpam(facts(...before)).content, facts(...now), NODES);

describe('what a run keeps of the bookkeeping of addresses', () => {
  it('tells what is wrong now and was not before', () => {
    const { faults, uncompared } = compare([fault('a', 'old')], fault('a', 'old'), fault('b', 'old'), fault('c', 'youngest'));
    assert.deepEqual(
      faults.map(({ text }) => text),
      ['b', 'c'],
    );
    assert.deepEqual(uncompared, []);
  });

  it('leaves out nodes that were added or removed meanwhile, and what concerns them with others', () => {
    assert.deepEqual(compare([], fault('a', 'new'), fault('b', 'old', 'new'), fault('c', 'gone')).faults, []);
  });

  it('is bounded: of which more was wrong is not compared, and that is said', () => {
    const many = Array.from({ length: 2_001 }, (_, index) => fault(`t${index}`, 'old'));
    const { faults, uncompared } = compare(many, fault('another', 'old'));
    assert.deepEqual([faults, uncompared], [[], ['tunnel']]);
    assert.ok(JSON.stringify(keptIpam(facts(...many)).content).length < 200);
  });

  it('is read of the run that kept it, and refused where it is something else', async () => {
    const stored: unknown[] = [];
    const records = { kept: async (id: string) => (id === 'r/backup/ipam#1' ? stored[0] : assert.fail(id)) } as unknown as Records;
    const record = { ...RECORD, kept: ['r/backup/ipam#1'] };
    const { content } = keptIpam(facts(fault('a', 'old')));
    stored[0] = content;
    assert.deepEqual(await readKeptIpam(records, record), content);
    for (const wrong of [
      undefined,
      3,
      {},
      { youngestNode: 'x', faults: { tunnel: [] } },
      { ...content, faults: { ...content.faults, tunnel: [3] } },
    ]) {
      stored[0] = wrong;
      assert.equal(await readKeptIpam(records, record), undefined);
    }
    assert.equal(await readKeptIpam(records, { ...RECORD, kept: ['r/backup/other#1'] }), undefined);
    assert.equal(await readKeptIpam(records, undefined), undefined);
  });
});
