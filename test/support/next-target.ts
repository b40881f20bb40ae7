import { registerHooks } from 'node:module';

/**
 * Moves each profile's target to a release that there is not, of a line after the last, with the manifests of the last:
 * `mocha --require test/support/next-target.ts FILE` fails where a test or its support names the target by a number.
 */
process.env.TEST_NEXT_TARGET = '1';

const CHANGES: Readonly<Record<string, (text: string) => string>> = {
  'calico-releases.ts': (text) => {
    const last = text.slice(text.lastIndexOf("line: 'v3."), text.indexOf('\n];'));
    const [, minor = '', kubernetes = '', operator = ''] =
      /line: 'v3\.(\d+)'[\s\S]*(kubernetes: \[[^\]]+\],(?:\s*floor: '[^']+',)?)[\s\S]*operator: 'v1\.(\d+)'/.exec(last) ?? [];
    const [next, by] = [`v3.${Number(minor) + 1}`, `v1.${Number(operator) + 2}`];
    const row = `{ line: '${next}', newest: '${next}.9', ${kubernetes} operator: '${by}', tags: { '${by}.0': '${next}.9' } }`;
    return minor === '' ? text : text.replace('\n];', `\n${row},\n];`);
  },
  'netsvc.ts': (text) => {
    const [, newest = '', minor = ''] = /NEWEST = '(v3\.(\d+)\.\d+)'/.exec(text) ?? [];
    // Another one than Calico's: whoever takes one for the other is found.
    const next = `v3.${Number(minor) + 2}`;
    return text
      .replace(`NEWEST = '${newest}'`, `NEWEST = '${next}.9'`)
      .replace(`testedLines: [{ line: 'v3.${minor}'`, `testedLines: [{ line: '${next}'`);
  },
};

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const [, name = ''] = /\/src\/profiles\/([\w-]+\.ts)$/.exec(url) ?? [];
    const change = CHANGES[name];
    if (!change) return loaded;
    const text = String(loaded.source instanceof Uint8Array ? Buffer.from(loaded.source) : loaded.source);
    const source = change(text);
    if (source === text) throw new Error(`${name} has another form than this knows`);
    return { ...loaded, source };
  },
});
