import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChainPoint, type CleanChain, chainTrial, cleanChain } from './chain-sweep.ts';
import { releasesWithServer } from './upgrade-sandbox.ts';

/** What a sweep over the chain works with, made before its tests. */
export interface ChainGround {
  readonly clean: CleanChain;
  /** One fault and one re-run; rejects where they do not come to the clean run's end. */
  trial(point: ChainPoint): Promise<void>;
}

/** The clean run of strip, upgrade and restore, in a folder of its own that goes after the tests. */
export function chainGround(): () => ChainGround {
  let folder = '';
  let ground: ChainGround | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'upgrade-'));
    const releases = await releasesWithServer(folder);
    const clean = await cleanChain(releases, folder);
    ground = { clean, trial: (point) => chainTrial(point, clean, releases, folder) };
  });
  after(() => rm(folder, { recursive: true, force: true }));
  return () => ground ?? assert.fail('the clean run has not ended');
}

/** Describes a whole sweep: every point that is picked. One that fails does not end it. */
export function describeChainSweep(title: string, pick: (points: readonly ChainPoint[]) => readonly ChainPoint[]): void {
  describe(`owned objects through strip, upgrade and restore: every fault at ${title}`, function () {
    this.timeout(WHOLE_MS);
    const ground = chainGround();

    it('is fixed by one more run, and no reference is nowhere at any moment', async () => {
      const { clean, trial } = ground();
      const failures: string[] = [];
      for (const point of pick(clean.points)) await trial(point).catch((thrown: unknown) => void failures.push(String(thrown)));
      assert.deepEqual(failures, []);
    });
  });
}

/** Some 3,500 points at half a second each; milliseconds. */
const WHOLE_MS = 5_400_000;
