import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** As kubectl does: the longest name of the leading words that is on PATH, with `_` for each dash within a word; flags end the name. */
const STARTER = `#!/bin/sh
name=\${0##*/} found= used=0 count=0
for word; do
  case $word in -*) break ;; esac
  count=$((count + 1)) name=$name-$(printf %s "$word" | tr - _)
  if command -v "$name" >/dev/null; then found=$name used=$count; fi
done
[ -n "$found" ] || { echo "error: unknown command" >&2; exit 1; }
shift $used
exec "$found" "$@"
`;

/** A stand-in for a CLI that starts plugins from PATH. */
export function writePluginStarter(folder: string, name: 'kubectl' | 'netsvcctl'): void {
  writeFileSync(join(folder, name), STARTER, { mode: 0o755 });
}
