import { announced, type EffectTypes, type GuardTypes, whole } from '../../kernel/effect-type.ts';
import type { InstallCli } from './install-cli.ts';
import { installCli } from './install-cli.ts';
import { assertSameStore } from './same-store.ts';
import type { StoreExpected } from './store-identity.ts';
import type { WriteCliConfig } from './write-cli-config.ts';
import { writeCliConfig } from './write-cli-config.ts';

interface RemoveFile {
  readonly type: 'remove-file';
  readonly file: string;
  readonly keepAs: string;
}

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'install-cli': InstallCli;
    readonly 'write-cli-config': WriteCliConfig;
    readonly 'remove-file': RemoveFile;
  }
  interface Exec {
    /** The store that the service's CLI must reach in the moment of the write. */
    readonly store?: StoreExpected;
  }
  interface Guards {
    readonly 'same-store': Exec;
  }
}

export const cliEffects: Pick<EffectTypes, 'install-cli' | 'write-cli-config' | 'remove-file'> = {
  'install-cli': {
    does: 'writes',
    isFixed: true,
    perform: installCli,
    dryRun: announced,
    text: ({ url, sha256, to, replaces }) =>
      `download ${url} (sha256 ${sha256 ?? 'not published: not checked'}) as ${to}${replaces ? `, in place of ${replaces}` : ''}`,
    mask: whole,
    digest: withoutCopy,
  },
  'write-cli-config': {
    does: 'writes',
    isFixed: true,
    perform: async (ports, effect) => ({ detail: await writeCliConfig(ports, effect) }),
    dryRun: announced,
    text: ({ to, certificates }) => `write ${[...Object.keys(certificates?.files ?? {}), to].join(', ')} (0600)`,
    mask: whole,
    digest: whole,
  },
  'remove-file': {
    does: 'writes',
    isFixed: true,
    async perform({ machine }, { file, keepAs }) {
      await machine.moveAside(file, keepAs);
      return { detail: `kept as ${keepAs}` };
    },
    dryRun: announced,
    text: ({ file, keepAs }) => `move ${file} to ${keepAs}`,
    mask: whole,
    digest: withoutCopy,
  },
};

/** Names of copies carry the time of the run. */
function withoutCopy(effect: InstallCli | RemoveFile): unknown {
  return { ...effect, keepAs: undefined };
}

export const cliGuards: Pick<GuardTypes, 'same-store'> = {
  'same-store': { of: 'exec', assert: assertSameStore },
};
