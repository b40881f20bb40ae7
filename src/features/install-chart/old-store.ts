import type { Installation } from '../../kernel/installation.ts';
import { refText } from '../../kernel/object.ts';
import { imageRelease } from '../../kernel/release.ts';
import { parseManifest } from '../../manifest/manifest.ts';
import { containersOf } from '../survey/index.ts';
import type { StoredRelease } from './chart-facts.ts';
import { type HelmRecord, isPending } from './helm-record.ts';

/** Why a release in ConfigMaps may be a leftover of a move to unreadable Secrets, which helm does not mark (domain §2.2). */
export function oldBecause(
  { record, base }: StoredRelease,
  installation: Pick<Installation, 'components' | 'operator'>,
): string | undefined {
  if (!isLast(record)) return `it is ${record.status}`;
  const running = runningOperator(installation);
  if (running === undefined) return 'no operator runs by which it could be told';
  // A failed upgrade may have installed its operator, or not.
  return [record, base].some((one) => hasImage(one, running)) ? undefined : `it has not the operator that runs (${running})`;
}

function runningOperator({ components, operator }: Pick<Installation, 'components' | 'operator'>): string | undefined {
  const workload = operator && refText({ kind: 'Deployment', ...operator });
  return components.find((one) => one.component === 'operator' && one.workload === workload)?.image;
}

/** Any other status has a revision after it, or nothing. */
function isLast(record: HelmRecord): boolean {
  return record.status === 'deployed' || record.status === 'failed' || isPending(record);
}

/** By the tag: admission may have put another registry before it. A digest tells none, and has to be the same. */
function hasImage({ manifest }: HelmRecord, running: string): boolean {
  const tag = imageRelease(running);
  const images = parseManifest(manifest, 'the stored release').documents.flatMap(({ object }) =>
    containersOf(object).map(({ image = '' }) => image),
  );
  return images.some((image) => image === running || (tag !== undefined && imageRelease(image) === tag));
}
