import { counted } from '../../kernel/counted.ts';
import { announced, type EffectTypes } from '../../kernel/effect-type.ts';
import { sizeOf } from '../../kernel/hidden.ts';

/** Files of a backup, with a checksum list beside them; 0600. */
interface Backup {
  readonly type: 'backup';
  readonly folder: string;
  readonly files: readonly BackupFile[];
}

export interface BackupFile {
  /** Path below the folder. */
  readonly name: string;
  readonly content: string;
}

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly backup: Backup;
  }
}

export const backupEffects: Pick<EffectTypes, 'backup'> = {
  backup: {
    does: 'files',
    isFixed: false,
    async perform({ machine }, { folder, files }) {
      await machine.writeFolder(folder, files);
      return { detail: `${counted(files.length, 'file')} in ${folder}` };
    },
    dryRun: announced,
    text: ({ folder, files }) => `write ${counted(files.length, 'file')} to ${folder}`,
    mask: (effect) => ({ ...effect, files: effect.files.map(({ name, content }) => ({ name, content: sizeOf(content) })) }),
    digest: ({ type, files }) => ({ type, files: files.map(({ name }) => name) }),
  },
};
