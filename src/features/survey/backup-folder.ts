import type { Context } from '../../kernel/context.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    readonly backupDir?: string;
  }
}

/** Where this command puts what it backs up: the user's folder, or one of its own in the work folder. */
export function backupFolder({ options, workFolder, startedAt }: Pick<Context, 'options' | 'workFolder' | 'startedAt'>): string {
  const stamp = startedAt.toISOString().replace(/[-:]|\.\d+/g, '');
  return options.backupDir?.replace(/(?<=.)[/\\]+$/, '') ?? `${workFolder}/backup-${stamp}`;
}
