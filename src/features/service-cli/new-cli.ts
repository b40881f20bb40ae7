import { notApplicable, ok } from '../../kernel/check.ts';
import { defineCheck, failed, PROGRAM } from '../survey/define-check.ts';

/** What the stage `cli` knows about the new CLI before it fetches it. */
export interface NewCliFacts {
  readonly fresh: { readonly url: string; readonly sum?: object } | { readonly missing: string };
}

export const cliSumPublished = defineCheck<NewCliFacts>('NS-309', {
  category: 'tools',
  severity: 'warning',
  ref: '§4.4/4',
  judge: ({ fresh }) => {
    if ('missing' in fresh) return notApplicable(fresh.missing);
    if (fresh.sum !== undefined) return ok('the sum of the new CLI is published beside it');
    return failed(
      `no checksum is published for ${fresh.url}: the download will not be checked against one`,
      'Put a SHA256SUMS file beside it, or name the list as cli.checksums in the profile; without one, compare the sha256 that the run reports and records.',
      { next: `${PROGRAM} cli --dry-run=server` },
    );
  },
});
