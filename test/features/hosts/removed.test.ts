import assert from 'node:assert/strict';
import { hasRemoved, keptEndpoints, type Remover } from '../../../src/features/hosts/removed.ts';
import type { KeptItem, KeptOutcome } from '../../../src/kernel/run-record.ts';
import { object } from '../../fixtures/facts.ts';

const hep = (name: string) => object('crd.projectcalico.org/v1', `HostEndpoint/${name}`, {});
const item = (content: object, outcome?: KeptOutcome): KeptItem => ({ id: 'r/hep/x#1', content, ...(outcome ? { outcome } : {}) });
const removal = (outcome?: KeptOutcome, ...names: readonly string[]) =>
  item({ endpoints: (names.length > 0 ? names : ['a']).map(hep) }, outcome);
const back = (outcome?: KeptOutcome) => item({ recreated: 'a' }, outcome);
const enabled = item({ configuration: { name: 'default' } }, { done: true });

const [DONE, UNTOUCHED] = [{ done: true }, { done: false }];

/** What was kept, who removed `a`, and whether the next removal is the first of all. */
const rows: Readonly<Record<string, readonly [kept: readonly KeptItem[], remover: Remover | undefined, removed: boolean]>> = {
  'nothing was kept': [[], undefined, false],
  'it was done': [[enabled, removal(DONE)], 'migration', true],
  'it found nothing to do': [[enabled, removal(UNTOUCHED)], 'other', false],
  'nothing tells what became of it, as in records of before': [[enabled, removal()], 'untold', false],
  'it was gone, beside another that was removed': [[removal({ done: true, except: ['a'] }, 'a', 'b')], 'other', true],
  'it was removed, beside another that was gone': [[removal({ done: true, except: ['b'] }, 'a', 'b')], 'migration', true],
  'both were gone': [[removal({ done: false, except: ['a', 'b'] }, 'a', 'b')], 'other', false],
  'it was changed at first, and then removed': [[removal(UNTOUCHED), removal(DONE)], 'migration', true],
  'it was removed, made again, and gone when its turn came again': [[removal(DONE), removal(UNTOUCHED)], 'other', true],
  'nobody knows whether the first program did it, and the second found it gone': [[removal(), removal(UNTOUCHED)], 'untold', false],
  'it was put back': [[enabled, removal(DONE), back(DONE)], 'other', true],
  'nobody knows whether it was put back': [[enabled, removal(DONE), back()], 'migration', true],
  'it was put back and removed by another migration': [[enabled, removal(DONE), back(DONE), enabled, removal(DONE)], 'migration', true],
  'it was put back, and another migration has begun': [[enabled, removal(DONE), back(DONE), enabled], 'other', false],
  'it was put back, automatic ones were switched off, and a person switched them on': [
    [enabled, removal(DONE), back(DONE), item({ switchedOff: true }, DONE)],
    'other',
    false,
  ],
  'it was put back and the labels removed, where a person had switched automatic ones on': [
    [removal(DONE), back(DONE), item({ unlabelled: [] }, DONE)],
    'other',
    false,
  ],
  'nobody knows whether they were switched off': [[enabled, removal(DONE), item({ switchedOff: true })], 'migration', true],
};

describe('who removed an old endpoint', () => {
  for (const [title, [kept, remover, removed]] of Object.entries(rows)) {
    it(`is ${remover ?? 'nobody'} where ${title}`, () => {
      assert.equal(keptEndpoints(kept).get('a')?.remover, remover);
      assert.equal(hasRemoved(kept), removed);
    });
  }
});
