import type { Trace } from '../../kernel/edit-trace.ts';
import type { AddOn } from '../../kernel/profile.ts';
import type { CarriedEdits } from '../../manifest/carried-file.ts';
import type { Manifest } from '../../manifest/manifest.ts';

/** One file of the target. */
export interface TargetFile {
  /** The name that it gets in the work folder; `upgrade.yaml` is the procedure's own. */
  readonly file: string;
  readonly url: string;
  /** Of the file as it was fetched, before any edit is carried into it. */
  readonly sha256: string;
  readonly text: string;
  readonly manifest: Manifest;
}

interface TargetAddOn extends TargetFile {
  readonly id: AddOn['id'];
}

/** What the cluster becomes: the full manifest of its variant, and the manifests of what is installed beside it (§4.1). */
export interface Target extends TargetFile {
  readonly release: string;
  readonly addOns: readonly TargetAddOn[];
  /** What names the namespace of the operator instead of the release's. */
  readonly moved?: readonly Trace[];
  /** The edits that its files carry. */
  readonly carried?: CarriedEdits;
  /** They were kept by another machine than this. */
  readonly fromElsewhere?: true;
}
