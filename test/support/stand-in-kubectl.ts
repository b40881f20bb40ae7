import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const VERSION = '{"clientVersion":{"major":"1","minor":"36","gitVersion":"v1.36.1"}}';

/**
 * A kubectl in this folder that knows its own version and what stands in the file of `KUBECONFIG`, which has to be JSON. Tests of the built
 * program have it alone on PATH, and see by `started` that nothing else was asked of it.
 */
export function putKubectl(folder: string): { readonly started: () => readonly string[] } {
  const log = join(folder, 'kubectl-log');
  const text = `#!/bin/sh
echo "$*" >> '${log}'
case $1 in config) exec /bin/cat "$KUBECONFIG" ;; *) echo '${VERSION}' ;; esac
`;
  writeFileSync(join(folder, 'kubectl'), text, { mode: 0o755 });
  return { started: () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []) };
}
