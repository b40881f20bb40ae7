import { notApplicable, ok } from '../../kernel/check.ts';
import { defineCheck, failed, PROGRAM } from '../survey/index.ts';

/** What the stage `cli` knows about the new CLI before it fetches it. */
export interface NewCliFacts {
  readonly fresh: { readonly url: string; readonly sum?: { readonly from: string } } | { readonly missing: string };
}

export const cliSumKnown = defineCheck<NewCliFacts>('NS-309', {
  category: 'tools',
  severity: 'error',
  ref: '§4.4/4',
  judge: ({ fresh }) => {
    if ('missing' in fresh) return notApplicable(fresh.missing);
    if (fresh.sum !== undefined) return ok(`the sum of the new CLI is known from ${fresh.sum.from}`);
    const file = fresh.url.slice(fresh.url.lastIndexOf('/') + 1);
    return failed(
      `no checksum is known for ${fresh.url}: the download could not be checked`,
      `Give the sum that the release publishes: --artifact-digest ${file}=SHA256. Or put a SHA256SUMS file beside it, or name the list as cli.checksums in the profile.`,
      { next: `${PROGRAM} explain NS-309`, evidence: [{ text: file, detail: fresh.url }], byName: true },
    );
  },
});
