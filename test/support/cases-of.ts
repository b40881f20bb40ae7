type Body = (this: unknown) => unknown;

/** What a test file registers with the runner is run here instead, in order, for what it leaves behind; what fails is that file's to tell. */
export async function runCasesOf(files: readonly URL[]): Promise<void> {
  const bodies: Body[] = [];
  const stub = { timeout: () => stub, slow: () => stub, skip: () => undefined };
  const group = (_title: string, body?: Body) => body?.call(stub);
  const test = (_title: string, body?: Body) => body && bodies.push(body);
  const names = {
    describe: group,
    it: test,
    before: () => undefined,
    after: () => undefined,
    beforeEach: () => undefined,
    afterEach: () => undefined,
  };
  const kept = Object.fromEntries(Object.keys(names).map((name) => [name, Reflect.get(globalThis, name)]));
  Object.assign(globalThis, names);
  try {
    for (const file of files) await import(`${file.href}?cases`);
  } finally {
    Object.assign(globalThis, kept);
  }
  for (const body of bodies)
    await Promise.resolve()
      .then(() => body.call(stub))
      .catch(() => undefined);
}
