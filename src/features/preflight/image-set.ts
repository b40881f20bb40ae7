import { command } from '../../kernel/argv.ts';
import type { Verdict } from '../../kernel/check.ts';
import { jsonAt } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { OperatorCrossings } from '../../kernel/operator-names.ts';
import { isOlder } from '../../kernel/release.ts';
import { folderOf } from '../../manifest/images.ts';
import { recordsIn } from '../../manifest/prepare.ts';
import { evidenceOf, failIfAny } from '../survey/index.ts';

/** A set that the operator of the release refuses, or that lacks an image which it runs in every cluster. */
export function judgeImageSet(set: KubeObject, { folders, wanted, until }: OperatorCrossings['imageSet'], release: string): Verdict {
  const images = recordsIn(jsonAt(set.spec, 'images'));
  const named = images.map(({ image }) => String(image));
  const faults = [
    ...named.filter((image) => !folders.includes(folderOf(image))).map((image) => `${image} is no image of the operator`),
    ...images.filter(({ digest }) => !/^sha256:/.test(String(digest))).map(({ image }) => `${String(image)} has no digest sha256:…`),
    ...wanted.filter((image) => isOlder(release, until) && !named.includes(image)).map((image) => `${image} is missing`),
  ];
  const ref = refText(refOf(set));
  return failIfAny(
    faults.map((fault) => evidenceOf(set, fault)),
    `${ref} is there; it must list every image`,
    () => ({
      because: `the new operator stays degraded with ${ref} as it is now`,
      hint: `List every image of the target there under its own name, such as ${wanted[0]}: without your registry and prefix. From where it is pulled is set in the Installation (spec.registry, imagePath and imagePrefix).`,
      next: command`kubectl netsvc-upgrade plan -o images`,
    }),
  );
}
