import { execa } from 'execa';
import { programFile } from '../adapters/tools/files-of.ts';
import { quoteArgument } from '../kernel/quoting.ts';
import { carriedNames } from './carried.ts';
import { forPrograms } from './command-line.ts';
import type { LiveNames, Row } from './flag.ts';
import { FLAGS } from './flags.ts';

/** Milliseconds that kubectl may take, credential plugin included: then nothing is offered. */
const LIMIT_MS = 3000;

/** One a line. */
const OF_KUBECONFIG = (list: string) => ['config', 'view', '-o', `go-template={{range .${list}}}{{.name}}{{"\\n"}}{{end}}`];
/** More than the user would look through. Asked as it is, kubectl does not first find out what the server has. */
const OF_CLUSTER = (plural: string) => ['get', '--raw', `/api/v1/${plural}?limit=500`];

/** Asks kubectl, which knows the user's kubeconfig best. Whatever goes wrong, there are no names. */
export async function liveNames(names: LiveNames, before: readonly string[]): Promise<readonly string[]> {
  const isOfCluster = names === 'nodes' || names === 'namespaces';
  const question = isOfCluster ? OF_CLUSTER(names) : OF_KUBECONFIG(names);
  const options = { env: forPrograms(process.env), extendEnv: false, timeout: LIMIT_MS };
  try {
    const kubectl = await programFile('kubectl', options.env);
    if (kubectl === undefined) return [];
    const { stdout } = await execa(kubectl, [...connectionOf(before), ...question], options);
    // A shell puts what is offered on the command line as it is: a name that it would read as more than one word is not offered.
    return (isOfCluster ? namesOf(stdout) : stdout.split('\n')).filter((name) => isPlain(name));
  } catch {
    return [];
  }
}

const isPlain = (name: string): boolean => name !== '' && !name.startsWith('-') && quoteArgument(name) === name;

function namesOf(list: string): readonly string[] {
  const { items } = JSON.parse(list) as { readonly items: readonly { readonly metadata: { readonly name: string } }[] };
  return items.map(({ metadata }) => metadata.name);
}

/** Flags of the connection, which kubectl has under the same names. */
const CONNECTION = [...carriedNames('kubectl'), 'token'];

/** Those that are typed already, as they are written. */
export function connectionOf(words: readonly string[]): readonly string[] {
  return words.flatMap((word, index) => {
    const [, name = '', value] = /^--([a-z-]+)(=.*)?$/s.exec(word) ?? [];
    if (!CONNECTION.includes(name)) return [];
    const { type }: Row = FLAGS[name as keyof typeof FLAGS];
    return value !== undefined || type === 'boolean' ? [word] : [word, words[index + 1] ?? ''];
  });
}
