import type { Context } from '../../kernel/context.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    readonly upgradeFile?: string;
  }
}

/** The file that the user finished (`--upgrade-file`): it is applied as it is, so nothing is merged into it and nothing kept for a rollback. */
export const finishedFile = ({ options }: Pick<Context, 'options'>): string | undefined => options.upgradeFile;
