import type { SupportPart } from '../../features/support/index.ts';
import { counted } from '../../kernel/counted.ts';
import { withoutNamedCredentials } from '../../kernel/hidden-values.ts';
import type { Palette } from '../../report/colour.ts';
import { clip } from '../../report/columns.ts';

interface Written {
  readonly file: string;
  readonly files: number;
  readonly bytes: number;
  readonly parts: readonly SupportPart[];
  readonly palette: Palette;
}

/** Of what could not be read; the index has the rest. */
const SHOWN = 5;

/** What was written, what is in it, what is not, and what to do before it is sent to somebody. */
export function screenLines({ file, files, bytes, parts, palette }: Written): readonly string[] {
  const missing = parts.filter(({ unread }) => unread !== undefined);
  return [
    `${palette.good('✔')} ${file}: ${counted(files, 'file')}, ${sizeText(bytes)}, readable by you alone`,
    `  ${heldText(parts)}`,
    ...(missing.length > 0 ? [palette.warn(`${counted(missing.length, 'entry', 'entries')} could not be read and are left out:`)] : []),
    ...missing.slice(0, SHOWN).map(({ path, unread = '' }) => `  ${path}: ${clip(withoutNamedCredentials(unread), 160)}`),
    ...(missing.length > SHOWN ? [`  and ${missing.length - SHOWN} more, in index.txt of the bundle`] : []),
    'Look through it before you send it to somebody: it holds names of nodes, pods and images, and lines of logs.',
    'Secrets of the cluster were not read, and what looks like a credential is masked.',
    'Nothing was changed by this command, and nothing was sent anywhere.',
  ];
}

function heldText(parts: readonly SupportPart[]): string {
  const held = parts.filter(({ content }) => content !== undefined);
  const under = (folder: string) => held.filter(({ path }) => path.startsWith(folder)).length;
  const isThere = (path: string) => held.some((one) => one.path === path);
  return [
    isThere('report.json') ? 'report (JSON, Markdown, HTML)' : 'no report',
    isThere('record.json') ? 'run record' : 'no run record',
    ...(isThere('lock.yaml') ? ['lock'] : []),
    counted(under('workloads/'), 'workload'),
    counted(under('pods/'), 'pod'),
    under('logs/') === 0 ? 'no logs' : `${counted(under('logs/'), 'log')} of containers that are not ready`,
    `events of ${counted(under('events/'), 'namespace')}`,
    ...(isThere('nodes.json') ? ['nodes'] : []),
    'versions and profile',
  ].join(', ');
}

function sizeText(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
