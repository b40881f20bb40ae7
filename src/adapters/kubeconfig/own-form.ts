import type { KubeconfigDocument } from './connection.ts';
import { scalar, Unclear } from './plain.ts';
import { byName, data, text } from './read.ts';

/** Parts of a file as kubectl writes them: its keys are sorted. */
const FORM = {
  cluster: /- cluster:\n(?: {4}certificate-authority-data: (\S+)\n)? {4}server: (\S+)\n {2}name: (\S+)\n/y,
  context: /- context:\n {4}cluster: (\S+)\n(?: {4}namespace: (\S+)\n)? {4}user: (\S+)\n {2}name: (\S+)\n/y,
  middle: /current-context: (\S+)\nkind: Config\n(?:preferences: \{\}\n)?users:\n/y,
  user: /- name: (\S+)\n {2}user:\n(?: {4}client-certificate-data: (\S+)\n)?(?: {4}client-key-data: (\S+)\n)?(?: {4}token: (\S+)\n)?/y,
};

/**
 * A file's content as `readDocument` gives it, from a text that kubectl wrote and that holds certificates and tokens alone; undefined for any other. With hundreds
 * of contexts this is several times quicker than line by line.
 */
export function readOwnForm(content: string): KubeconfigDocument | undefined {
  const written = content.endsWith('\n') ? content : `${content}\n`;
  let at = 0;
  const takes = (start: string): boolean => {
    const is = written.startsWith(start, at);
    if (is) at += start.length;
    return is;
  };
  const next = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const found = form.exec(written);
    if (found) at = form.lastIndex;
    return found;
  };
  const all = <Entry>(form: RegExp, entry: (found: RegExpExecArray) => Entry): readonly Entry[] => {
    const read: Entry[] = [];
    for (let found = next(form); found; found = next(form)) read.push(entry(found));
    return read;
  };
  const word = (name: string, value: string | undefined, read = text) => (value === undefined ? {} : { [name]: read(scalar(value)) });
  const textOf = (value: string | undefined): string => text(scalar(value ?? ''));
  try {
    if (!takes('apiVersion: v1\nclusters:\n')) return undefined;
    const clusters = all(FORM.cluster, ([, authority, server, name]) => ({
      name: textOf(name),
      cluster: { ...word('certificate-authority-data', authority, data), server: textOf(server) },
    }));
    if (!takes('contexts:\n')) return undefined;
    const contexts = all(FORM.context, ([, cluster, namespace, user, name]) => ({
      name: textOf(name),
      context: { cluster: textOf(cluster), ...word('namespace', namespace), user: textOf(user) },
    }));
    const current = next(FORM.middle)?.[1];
    const users = all(FORM.user, ([, name, certificate, key, token]) => {
      // Nothing, or something else than these: kubectl knows what it means.
      if (certificate === undefined && key === undefined && token === undefined) throw new Unclear();
      const user = {
        ...word('client-certificate-data', certificate, data),
        ...word('client-key-data', key, data),
        ...word('token', token),
      };
      return { name: textOf(name), user };
    });
    if (current === undefined || at < written.length) return undefined;
    return { clusters: byName(clusters), users: byName(users), contexts: byName(contexts), 'current-context': textOf(current) };
  } catch (thrown) {
    if (thrown instanceof Unclear) return undefined;
    throw thrown;
  }
}
